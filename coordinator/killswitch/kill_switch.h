// The kill switch's rules over servers' pages: when a run ends at once, whatever it measures. Pure:
// instants are those of the pages.
//
// - Each page is judged by itself: a rule is about one engine, or one process of a gateway, and the
//   reason names it.
// - Gauges trip once every page over the rule's time showed more; rates and shares by what was
//   counted over that time. Pages that could not be read for longer than that begin it anew.
// - The level before the run is the most that a gauge showed, or a rate's mean, until the load
//   began. A rule on it cannot trip before, nor where nothing was seen then, which is said.
// - What cannot be read trips nothing, and is said; unless `unread` asks for it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/scenario/kill_switch_spec.h"
#include "coordinator/signals/step_readings.h"
#include "coordinator/signals/target_reading.h"

namespace plimsoll {

// Whether a page of this kind has what the rule reads, and is of the side that it is about.
bool Watches(const KillRule& rule, const TargetSeries& target);

class KillSwitch {
 public:
  struct News {
    std::vector<std::string> said;      // Once each: what cannot be read, and that it can again.
    std::optional<std::string> reason;  // It trips: which rule, value, since when, which page.
  };

  // `begun`: pages are awaited from then on.
  KillSwitch(KillSwitchSpec spec, MonoTime begun);

  // The first step is prepared; pages after `at` are under load. Only the first call counts.
  void LoadBegins(MonoTime at);
  // Samples that were seen before are passed over, so that spans may overlap. Once a reason was
  // given nothing more is.
  News OnPages(const SignalHistory& pages, MonoTime now);
  // From where on the next pages are wanted: the last sample of the page that is most behind, at
  // most a minute.
  MonoTime wanted_from() const { return wanted_from_; }

 private:
  struct Counted {
    MonoTime from{};
    MonoTime to{};
    double part = 0;  // Cancellations, errors.
    double all = 0;   // Answers; only of kErrors.
  };
  // One rule on one page.
  struct Track {
    std::size_t rule = 0;
    std::optional<double> before;  // The level before the run.
    Counted sum_before;            // Of rates and shares: from which it is made.
    std::optional<MonoTime> since;
    std::deque<Counted> window;
    MonoTime had{};   // A value, last.
    std::string why;  // There was none since; empty: there was.
    bool said = false;
  };
  struct Page {
    std::optional<TargetSample> last;  // Readable.
    MonoTime seen{};                   // The last sample of any kind.
    MonoTime read{};                   // The last readable one; at first when pages were awaited.
    bool gap = false;                  // One that could not be read came since.
    std::string why;
    bool said = false;
    std::vector<Track> tracks;
  };

  Page& PageOf(const TargetSeries& target);
  void Take(const TargetSeries& target, Page& page, const TargetSample& sample);
  void TakeValue(const std::string& name, Track& track, const TargetSample& sample,
                 const TargetReading& now, const std::optional<TargetReading>& step, Duration gap);
  void TakeCounted(const std::string& name, Track& track, const TargetReading& step, MonoTime from,
                   MonoTime to);
  void TakeGauge(const std::string& name, Track& track, double value, MonoTime at);
  std::optional<double> LimitOf(const Track& track) const;
  void Trip(const std::string& name, const Track& track, double value, double limit, Duration held,
            const std::string& more);
  void LookForSilence(const TargetSeries& target, Page& page, MonoTime now);
  bool UnderLoad(MonoTime at) const { return load_ && at >= *load_; }

  const KillSwitchSpec spec_;
  const MonoTime begun_;
  std::optional<MonoTime> load_;
  std::map<std::pair<std::string, std::string>, Page> pages_;  // By source and name.
  MonoTime wanted_from_{};
  News news_;
  bool tripped_ = false;
};

// Of the last sample of each page: which rules are watched where, and which can never trip here,
// with what to do. Of `spec` with rules.
std::vector<Finding> KillSwitchFindings(const KillSwitchSpec& spec, const SignalHistory& pages);

}  // namespace plimsoll
