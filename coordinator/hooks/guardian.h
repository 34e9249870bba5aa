// The guardian: a process of its own, started before the rollout, that rolls back when the
// coordinator dies and nobody starts again. It opens no store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

class ProcessWatch;

// The program: sees to the run until nothing is owed any more. Writes a line to standard output
// once it watches, what it does to hooks/RUN_ID/guardian.log and, if a rollback failed for good, to
// standard error too. 0: nothing is owed, or somebody else sees to it and ended it; 6: a rollback
// failed for good.
int GuardRun(const std::string& store_folder, const std::string& run_id);

// The coordinator's side: a guardian as long as the object lives, another one if it is killed. The
// object's end leaves it alone: it ends by itself once the intent is gone or kept as paid.
class GuardianKeeper {
 public:
  // `program` is plimsoll's path. The intent of the run has been written. Unavailable or NotFound:
  // no guardian begins; then there must be no rollout. `say` gets a sentence if one was lost.
  static StatusOr<std::unique_ptr<GuardianKeeper>> Start(
      EventLoop& loop, const std::string& program, const std::string& store_folder,
      const std::string& run_id, std::function<void(const std::string&)> say);
  ~GuardianKeeper();
  GuardianKeeper(const GuardianKeeper&) = delete;
  GuardianKeeper& operator=(const GuardianKeeper&) = delete;

  int pid() const { return pid_; }
  // The run is over and its intent settled: the guardian looks at once instead of in a moment.
  void Dismiss();

 private:
  GuardianKeeper(EventLoop& loop, std::vector<std::string> argv,
                 std::function<void(const std::string&)> say);
  Status Begin();
  void OnGone();

  EventLoop& loop_;
  const std::vector<std::string> argv_;
  std::function<void(const std::string&)> say_;
  int pid_ = 0;
  int lost_ = 0;
  std::unique_ptr<ProcessWatch> watch_;
};

}  // namespace plimsoll
