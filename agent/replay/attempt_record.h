// The record of one attempt, made of what its lane knows and what the transport saw. Pure.
#pragma once

#include "agent/replay/step_window.h"
#include "common/chat/call_transport.h"
#include "common/plan/plan.h"
#include "common/record/call_record.h"

namespace plimsoll {

// What a lane knows of an attempt.
struct Attempt {
  const StepWindow& window;  // In which it was released.
  std::uint32_t play = 0;
  std::uint32_t session = 0;
  std::uint32_t call = 0;
  std::uint32_t stream = 0;
  std::uint8_t number = 1;
  MonoTime first_released{};  // Of the call.
  MonoTime released{};        // Of this attempt.
  std::uint32_t tokens_planned = 0;
  std::uint32_t tokens_asked = 0;  // 0: the length was left to the model.
  std::uint32_t messages = 0;      // Of the prompt.
  bool last = false;               // No further attempt follows.
};

CallRecord RecordOf(const LaneSpec& lane, const Attempt& attempt, const CallResult& result);

}  // namespace plimsoll
