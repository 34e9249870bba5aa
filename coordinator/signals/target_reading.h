// What one target's pages say of a time: its signals, from the first of the pages to the last.
// Pure.
//
// Counters and histograms are differences of raw numbers of the same series; nothing is averaged
// over time or extrapolated, so that counts stay whole. The pages between the first and the last
// are used as well: for gauges, and so that a counter that fell and rose again is seen.
// - A series that was not there before began at 0, since the target was already being read without
//   it. What stood on the first page is the baseline.
// - A number that fell, or a series that is gone, is a reset: what stands there now counts from 0,
//   what was done between the last page and the fall is lost. Where nine of ten counters fell,
//   or the process says another start time, it is a restart. Both are outcomes: a step in which a
//   target restarted has at best no data from it.
// - Counters that fall, come back and fall again, or start times that alternate, are several
// servers
//   behind one address: nothing can be read from such a target.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "coordinator/signals/buckets.h"
#include "coordinator/signals/continuity.h"
#include "coordinator/signals/mapping.h"
#include "coordinator/signals/missing.h"
#include "coordinator/signals/target_sample.h"

namespace plimsoll {

struct TrackPoint {
  MonoTime at{};
  double value = 0;
  // Until when it is taken to stand: the next page that had a value, or for a while where none came
  // or could be read (LetStand). Of the last one maybe later than anything was seen.
  MonoTime until = MonoTime::max();
};

// A value outlives so many of the usual times between two pages, where one could not be read or
// lacked it; where nobody asked meanwhile, since an exchange took long, at least kStandsUnasked.
inline constexpr int kStandsIntervals = 2;
inline constexpr Duration kStandsUnasked = 5s;

// A gauge is what the server last wrote, not what is now: its largest value and its mean over time
// mean something, a single one little.
struct GaugeReading {
  std::vector<TrackPoint> track;  // One a page that had a value.
  double last = 0;
  double min = 0;
  double max = 0;
  double mean = 0;  // Each value weighed by the time for which it stood.
};
// Of a track with at least one point.
GaugeReading GaugeOf(std::vector<TrackPoint> track);
// The longest time, from page to page, in which every page showed at least `threshold`, without a
// time of which nothing is known. A single page shows no time.
Duration LongestAtLeast(const GaugeReading& gauge, double threshold);

struct SignalReading {
  Signal signal = Signal::kTtft;
  Missing missing = Missing::kNotMapped;
  std::string why;   // Of what is missing: the reason, the names looked for, the read's error.
  std::string name;  // The series' name on the page.
  bool trusted = true;
  Moves moves = Moves::kUnsaid;
  Combine combine = Combine::kSum;
  // A counter's increase in the signal's unit, and how far it may be off since the server prints
  // few digits.
  double increase = 0;
  double uncertainty = 0;
  GaugeReading gauge;
  // Of a histogram: one for each list of edges, since lists that differ are not merged. One is the
  // rule.
  std::vector<BucketCounts> histograms;
  double counted = 0;  // Of a histogram: the increase of _count; NaN: there is none.

  bool here() const { return missing == Missing::kNot; }
  // Over all of `histograms`.
  std::uint64_t observations() const {
    std::uint64_t n = 0;
    for (const BucketCounts& counts : histograms) n += counts.n;
    return n;
  }
};

struct TargetReading {
  Continuity continuity = Continuity::kWhole;
  std::string continuity_why;  // "vllm:prompt_tokens_total{…} fell from 38773 to 12001".
  MonoTime first{};            // Of the pages that could be read; both 0 if none could.
  MonoTime last{};
  Duration first_uncertainty{};  // Half of each one's exchange.
  Duration last_uncertainty{};
  std::size_t pages = 0;  // That could be read.
  std::size_t unreadable = 0;
  std::vector<SignalReading> signals;  // Every signal, in AllSignals()'s order.

  const SignalReading& Of(Signal signal) const;
};

// The samples from the one nearest to `from` to the one nearest to `to`: of a block, or of a step,
// out of those of a run. Ascending in time; empty if there are none.
std::span<const TargetSample> SamplesBetween(std::span<const TargetSample> samples, MonoTime from,
                                             MonoTime to);

// `samples` of one target, ascending in time, from the page at the time's start to that at its end.
// Where one of these two could not be read, counters and histograms are missing (kNoPage).
TargetReading ReadTarget(const Mapping& mapping, std::span<const TargetSample> samples);

}  // namespace plimsoll
