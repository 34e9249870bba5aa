#include "coordinator/store/hook_codec.h"

#include <algorithm>

#include "plimsoll/v1/hooks.pb.h"

namespace plimsoll {

std::string EncodeHook(const HookOutcome& outcome) {
  v1::StoredHook out;
  out.set_phase(static_cast<v1::StoredHookPhase>(static_cast<int>(outcome.phase) + 1));
  out.set_attempt(outcome.attempt);
  // The same numbers on both sides, and both say "never renumber".
  out.set_state(static_cast<v1::StoredHookState>(outcome.state));
  if (outcome.exit_code) out.set_exit_code(*outcome.exit_code);
  if (outcome.signal) out.set_signal(*outcome.signal);
  out.set_started_wall_ns(outcome.started.time_since_epoch().count());
  out.set_duration_ns(outcome.duration.count());
  const std::size_t cut =
      outcome.output.size() - std::min(outcome.output.size(), kHookTailBytesMax);
  out.set_output(outcome.output.substr(cut));
  out.set_output_cut_bytes(outcome.output_cut_bytes + cut);
  out.set_note(outcome.note);
  return out.SerializeAsString();
}

StatusOr<HookOutcome> DecodeHook(std::string_view bytes) {
  v1::StoredHook in;
  const bool sound = in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
                     v1::StoredHookPhase_IsValid(in.phase()) && in.phase() != 0 &&
                     v1::StoredHookState_IsValid(in.state()) && in.state() != 0 &&
                     in.attempt() > 0 && in.duration_ns() >= 0 &&
                     in.output().size() <= kHookTailBytesMax;
  if (!sound) return absl::DataLossError("a stored hook is damaged");
  HookOutcome outcome;
  outcome.phase = static_cast<HookPhase>(in.phase() - 1);
  outcome.attempt = in.attempt();
  outcome.state = static_cast<HookState>(in.state());
  if (in.has_exit_code()) outcome.exit_code = in.exit_code();
  if (in.has_signal()) outcome.signal = in.signal();
  outcome.started = WallTime(Duration(in.started_wall_ns()));
  outcome.duration = Duration(in.duration_ns());
  outcome.output = in.output();
  outcome.output_cut_bytes = in.output_cut_bytes();
  outcome.note = in.note();
  return outcome;
}

}  // namespace plimsoll
