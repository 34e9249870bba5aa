// Preflight's one call: is there a gateway that streams chat completions of this model, with usage,
// for a prompt as long as the first ones of the load? Its answer, in words, blocks the run or lets
// it begin.
#pragma once

#include <functional>
#include <memory>

#include "common/base/status.h"
#include "common/chat/call_transport.h"

namespace plimsoll {

class Preflight final : public CallObserver {
 public:
  // Sends a one-token call; `done` is called once, later. The prompt is owned by the preflight.
  Preflight(CallTransport& transport, Prompt prompt, std::uint64_t key, MonoTime now,
            std::function<void(Status)> done);
  ~Preflight() override;

  void OnCallEnded(const CallResult& result) override;
  // What a result means for the run: OK, or what is wrong and what to do.
  static Status Judge(const CallResult& result, std::uint32_t prompt_tokens);

 private:
  Prompt prompt_;
  std::function<void(Status)> done_;
  std::unique_ptr<CallTransport::Call> call_;
};

}  // namespace plimsoll
