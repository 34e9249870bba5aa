#include "coordinator/api/hook_messages.h"

#include "common/base/text.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {

void FillHook(const HookOutcome& hook, v1::Hook* out) {
  out->set_phase(Name(hook.phase));
  out->set_attempt(hook.attempt);
  out->set_state(Name(hook.state));
  if (hook.exit_code) out->set_exit_code(*hook.exit_code);
  if (hook.signal) out->set_signal(*hook.signal);
  const auto since = hook.started.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  out->mutable_started_at()->set_seconds(seconds.count());
  out->mutable_started_at()->set_nanos(static_cast<int>((since - seconds).count()));
  out->set_duration_s(ToSeconds(hook.duration));
  out->set_output(ValidUtf8(hook.output));
  out->set_output_cut_bytes(hook.output_cut_bytes);
  out->set_note(ValidUtf8(hook.note));
}

}  // namespace plimsoll
