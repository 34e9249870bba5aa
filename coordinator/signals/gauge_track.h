// How long the values of a gauge stand where pages are missing (TrackPoint::until). Pure.
#pragma once

#include <vector>

#include "coordinator/signals/target_reading.h"

namespace plimsoll {

// Says until when each of the track's values stands. `missed` has an entry a point: whether a page
// between it and the next point, or after the last one, could not be read or had no value.
void LetStand(const std::vector<bool>& missed, std::vector<TrackPoint>& track);

}  // namespace plimsoll
