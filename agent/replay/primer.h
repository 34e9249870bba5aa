// Priming: one-token calls that put the history of lanes which start inside their sessions into the
// engine's cache, before the step begins. Bounded in number at once and in time; counted apart from
// the load, and never in a record.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "agent/replay/lane.h"
#include "common/chat/call_transport.h"

namespace plimsoll {

class Primer {
 public:
  struct Result {
    std::uint32_t wanted = 0;
    std::uint32_t failed = 0;  // Of them: not ok, or not done when the limit passed.
  };
  // At once, over one agent: priming must not be a burst that the load itself would never be.
  static constexpr std::size_t kAtOnce = 4;

  explicit Primer(LaneContext& context);
  ~Primer();

  // Primes `lanes`; `done` is called once, never from inside Run(), when all have ended or `limit`
  // passed. One run at a time.
  void Run(const std::vector<Lane*>& lanes, Duration limit,
           std::function<void(const Result&)> done);
  // After a dead-man pause, in which nothing more is started.
  void Resume() { StartMore(); }
  // Hangs up on all and forgets `done`.
  void Cancel();

 private:
  class Shot;
  struct Job {
    std::uint32_t lane;
    std::uint32_t play;
    std::uint32_t session;
    std::uint32_t call;
  };
  void StartMore();
  void Finish();

  LaneContext& context_;
  std::deque<Job> jobs_;
  std::vector<std::unique_ptr<Shot>> shots_;
  Result result_;
  std::function<void(const Result&)> done_;
  Timer limit_;
  Timer finish_;
};

}  // namespace plimsoll
