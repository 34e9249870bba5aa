// What all targets said so far, in memory, within a bound: written by the scraper's thread, read by
// the run's.
//
// A sample is a few hundred numbers (an engine's page: about 1.3 KB). All samples together take at
// most kBytesMax, one target's at most kTargetBytesMax. A target that would exceed its part gives
// up every second sample of the older half of its time, never its first one and never the newer
// half: over the whole run counters lose nothing by that, and recent time keeps every page. 64
// targets read each second keep about 50 minutes whole before anything is thinned, 8 or fewer far
// more than a window of two hours.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/signals/step_readings.h"

namespace plimsoll {

class SignalLog {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{256} << 20;
  static constexpr std::size_t kTargetBytesMax = std::size_t{32} << 20;

  explicit SignalLog(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // Its number; numbers count from 0 in the order of the calls.
  std::size_t AddTarget(std::string source, std::string name,
                        std::shared_ptr<const Mapping> mapping);
  // The target was a stand-in, or is no more: it is left out from now on.
  void Retire(std::size_t target);
  // Samples of one target are added in the order of their time; one that is not is dropped.
  void Add(std::size_t target, TargetSample sample);
  std::size_t targets() const;
  // What is odd about a target's page and does not keep it from being read: said once each.
  void Note(std::size_t target, std::string_view text);
  // "engine-0:8000 of engines: …", in the order in which they came.
  std::vector<std::string> Notes() const;

  // Something that asks (a page, a Prometheus server); its number. Until it has asked it is waited
  // for.
  std::size_t AddAsker();
  // An exchange that began at `at` has ended. `failing`: it is asked less often now, and is not
  // waited for.
  void Asked(std::size_t asker, MonoTime at, bool failing);

  // As SignalFeed says.
  SignalHistory Between(MonoTime from, MonoTime to) const;
  bool AskedSince(MonoTime at) const;
  // An estimate of what the samples take.
  std::size_t bytes() const;

 private:
  using SamplePointer = std::shared_ptr<const TargetSample>;
  struct Target {
    std::string source;
    std::string name;
    std::shared_ptr<const Mapping> mapping;
    std::vector<SamplePointer> samples;
    std::vector<std::size_t> bytes;  // Of each.
    std::size_t bytes_in_all = 0;
    bool retired = false;
    std::string note;  // The last one.
  };
  struct Asker {
    bool asked = false;
    MonoTime at{};
    bool failing = false;
  };

  void ThinOut(Target& target) const;

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // Guards all below; held for pointers only, never for copies.
  std::vector<Target> targets_;
  std::vector<Asker> askers_;
  std::vector<std::string> notes_;
};

}  // namespace plimsoll
