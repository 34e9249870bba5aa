#include "agent/replay/attempt_record.h"

namespace plimsoll {

CallRecord RecordOf(const LaneSpec& lane, const Attempt& attempt, const CallResult& result) {
  const StepWindow& window = attempt.window;
  const auto offset = [&](MonoTime t) {
    return t == CallResult::kNever ? kAbsentNanos : window.Offset(t);
  };
  CallRecord r;
  r.step = window.plan.step;
  r.lane = lane.lane;
  r.play = attempt.play;
  r.session = attempt.session;
  r.call = attempt.call;
  r.stream = static_cast<std::uint16_t>(attempt.stream);
  r.attempt = attempt.number;
  r.tier = lane.tier;
  r.block = window.BlockOf(attempt.released);
  r.first_released = window.Offset(attempt.first_released);
  r.released = window.Offset(attempt.released);
  r.connecting = offset(result.connecting);
  r.sent = offset(result.sent);
  r.upload_done = offset(result.upload_done);
  r.headers = offset(result.headers);
  r.first_chunk = offset(result.first_chunk);
  r.first_token = offset(result.first_token);
  r.last_token = offset(result.last_token);
  r.end = window.Offset(result.end);
  r.tokens_in = result.tokens_in;
  r.tokens_cached = result.tokens_cached;
  r.tokens_out = result.tokens_out;
  r.tokens_first_chunk = result.tokens_first_chunk;
  r.chunks = result.chunks;
  r.tokens_planned = attempt.tokens_planned;
  r.messages = attempt.messages;
  r.tokens_asked = attempt.tokens_asked;
  r.http_status = result.http_status;
  r.outcome = result.outcome;
  r.resends = result.resends;
  r.answer = result.answer;
  r.tool_faults = result.tool_faults;
  if (result.retry_after >= Duration{0}) r.answer |= kRetryAfterSeen;
  r.flags = static_cast<std::uint8_t>(result.flags | (attempt.last ? kLastAttempt : 0));
  return r;
}

}  // namespace plimsoll
