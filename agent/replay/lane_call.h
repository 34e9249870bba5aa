// A call of a lane, as lane.cc and lane_send.cc see it. Internal to agent/replay.
#pragma once

#include <memory>
#include <vector>

#include "agent/replay/lane.h"

namespace plimsoll {

// One call between the moment it may be released and the end of its last attempt.
class Lane::ActiveCall final : public CallObserver {
 public:
  explicit ActiveCall(Lane& lane) : lane_(lane) {}
  void OnCallEnded(const CallResult& result) override { lane_.OnEnded(*this, result); }

  std::uint32_t call = 0;
  std::uint8_t attempt = 1;
  MonoTime due{};                     // Of this attempt.
  MonoTime first_released{};          // Of the first attempt.
  MonoTime first_failed{};            // End of the first attempt, if that failed.
  StepWindow* window = nullptr;       // At this attempt's release.
  StepWindow* call_window = nullptr;  // At the first release, if it lies in the measured time.
  bool released = false;              // At least once.
  bool in_flight = false;
  Play::Due pause;  // Of the call, until its first release.
  Prompt prompt;
  std::vector<AnswerRange> answers;  // Live history only, as is `live`.
  std::vector<LiveMessage> live;
  std::uint32_t planned_tokens = 0;
  std::unique_ptr<CallTransport::Call> transfer;
  Timer timer;

 private:
  Lane& lane_;
};

}  // namespace plimsoll
