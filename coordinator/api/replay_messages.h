// ReplaySummary → plimsoll.v1.Replay. Part of api_messages.
#pragma once

#include "coordinator/judge/replay_summary.h"

namespace plimsoll {
namespace v1 {
class Replay;
}

// `told`: whether what lanes counted is known; else it is left absent. Pure.
void FillReplay(const ReplaySummary& replay, bool told, v1::Replay* out);

}  // namespace plimsoll
