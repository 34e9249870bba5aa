// Preflight's calls, one after another, as preflight_rules want them. A few seconds; its report
// blocks the run or lets it begin.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "common/chat/http_call_transport.h"
#include "common/http/transport.h"
#include "coordinator/run/model_list.h"
#include "coordinator/run/preflight_rules.h"

namespace plimsoll {

// A prompt of generated words in so many messages (at least one word each), salted by `key`. Ends
// with the user's turn; begins with a system message if that is asked for.
Prompt ProbePrompt(std::uint64_t key, std::uint32_t words, std::uint32_t messages,
                   bool system_first);

struct PreflightDeps {
  HttpTransport& http;
  CallTransport& calls;  // Of `target`.
  Scheduler& scheduler;
  TargetPlan target;
  HttpCallOptions secrets;
};

class Preflight final : public CallObserver {
 public:
  // `first` is the load's longest first prompt; `key` salts all others apart from every lane's.
  // `setup`'s facts of the first prompt are taken from it. `done` is called once, later; it must
  // not destroy this.
  Preflight(PreflightDeps deps, PreflightSetup setup, Prompt first, std::uint64_t key,
            std::function<void(PreflightReport)> done);
  ~Preflight() override;

  void OnCallEnded(const CallResult& result) override;

 private:
  void Go();

  PreflightDeps deps_;
  Prompt first_;
  const std::uint64_t key_;
  const bool system_first_;
  PreflightRules rules_;
  std::function<void(PreflightReport)> done_;
  std::uint64_t calls_made_ = 0;
  Prompt prompt_;  // Of the probe under way.
  std::unique_ptr<ModelList> models_;
  std::unique_ptr<CallTransport::Call> call_;
  Timer next_;
};

}  // namespace plimsoll
