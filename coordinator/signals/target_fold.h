// Folds one target's samples into a TargetReading, page by page. Pure; the rules stand in
// target_reading.h.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/signals/target_reading.h"

namespace plimsoll {

class TargetFold {
 public:
  // `mapping` outlives this.
  explicit TargetFold(const Mapping& mapping);

  // Ascending in time.
  void Add(const TargetSample& sample);
  TargetReading Finish() const;

 private:
  struct Child {
    std::vector<double> edges;
    std::vector<double> numbers;  // As they last were.
    double peak = 0;              // All it had counted before it first fell.
    bool fell = false;
    bool recovered = false;  // Has been at its peak again since.
    bool here = true;        // On the last page.
  };
  struct State {
    Missing missing = Missing::kNoName;  // On the last page.
    bool found = false;                  // On any page.
    std::size_t alternative = 0;
    std::map<std::string, Child> children;
    std::map<std::string, double> increases;  // Of counters, by child.
    std::vector<BucketCounts> histograms;
    double counted = 0;
    double uncertainty = 0;
    double weighted = 0;  // Of a lifetime mean: sums of m2*n2 - m1*n1 and n2 - n1.
    double weight = 0;
    bool no_infinity = false;
    bool too_many_lists = false;  // Of buckets.
    std::vector<TrackPoint> track;
    // By point: a page after it, before the next one's, could not be read or had no value.
    std::vector<bool> missed;
  };
  // What a page shows against the one before it.
  struct Falls {
    std::size_t moved = 0;  // Children that had counted something.
    std::size_t fell = 0;
    std::string first;  // In words.
    bool alternates = false;
  };

  Falls LookForFalls(const TargetSample& sample);
  void LookAtChild(const std::string& key, Child& child, const double* now, Falls& falls);
  bool StartMoved(const TargetSample& sample);
  // A process that starts anew begins at 0 each time: that is no other server's count.
  void ForgetFalls();
  void Judge(const Falls& falls, bool start_moved);
  void Take(std::size_t signal, const TargetSample& sample, bool from_zero);
  void TakeChild(std::size_t signal, const Selection::Child& child, const double* now,
                 bool from_zero);
  void TakeHistogram(State& state, const Selection::Child& child, const double* now,
                     const double* before, double scale);
  void TakeGauge(std::size_t signal, const Selection::Entry& entry, const TargetSample& sample);
  static void Miss(State& state) {
    if (!state.missed.empty()) state.missed.back() = true;
  }
  SignalReading Reading(Signal signal) const;
  void Fill(const SignalMapping& mapping, const State& state, SignalReading& reading) const;
  static void FillHistogram(const State& state, SignalReading& reading);
  void FillCounter(const SignalMapping& mapping, const State& state, SignalReading& reading) const;
  void FillGauge(const SignalMapping& mapping, const State& state, SignalReading& reading) const;
  // How far a number of the page may be from what was counted, since it has few digits.
  double PrintError(double value) const;

  const Mapping& mapping_;
  std::vector<State> states_;  // One a mapped signal.
  TargetReading reading_;      // Without its signals.
  bool began_readable_ = false;
  bool ended_readable_ = false;
  std::string unreadable_why_;
  std::size_t seen_ = 0;
  std::optional<double> start_time_;
  std::set<double> start_times_;
};

}  // namespace plimsoll
