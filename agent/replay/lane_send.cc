// A lane's calls on their way out and back: prompts with their live history, requests, records.
#include <algorithm>

#include "agent/replay/attempt_record.h"
#include "agent/replay/lane_call.h"
#include "common/base/rng.h"
#include "common/plan/output_length.h"

namespace plimsoll {

void Lane::FirstRelease(ActiveCall& call, bool measured) {
  StepWindow& window = *call.window;
  call.released = true;
  call.first_released = call.due;
  play_->CountRelease(call.due, window.measure_begin, window.measure_end);
  if (measured) {
    call.call_window = &window;
    ++window.calls_open;
    fidelity_.pauses += call.pause.paused && call.pause.pause_recorded > Duration{0} ? 1 : 0;
    fidelity_.pause_recorded_ns += call.pause.pause_recorded.count();
    fidelity_.pause_removed_ns += call.pause.pause_removed.count();
  }
  const PromptKeys keys = KeysFor(context_.plan, spec_.lane, play_->number());
  const bool live = context_.plan.history == History::kLive;
  context_.index.prompts(play_->session())
      .Build(call.call, keys, &call.prompt, live ? &call.answers : nullptr);
  // Fixed here: another attempt sends the same bytes, whatever was answered meanwhile.
  call.planned_tokens =
      live ? live_history_.Fill(call.prompt, call.answers, &call.live) : call.prompt.tokens;
}

void Lane::Send(ActiveCall& call) {
  const PromptKeys keys = KeysFor(context_.plan, spec_.lane, play_->number());
  const Call& recorded = context_.index.session(play_->session()).calls[call.call];
  const StreamIds ids = IdsOf(keys, recorded.stream);
  CallRequest request;
  request.prompt = &call.prompt;
  request.live = call.live;
  request.planned_tokens = call.planned_tokens;
  if (context_.plan.history == History::kLive) request.content_bytes_max = live_history_.room();
  const OutputAsk ask = AskFor(context_.plan, recorded.tokens_out);
  request.max_tokens = ask.max_tokens;
  request.min_tokens = ask.min_tokens;
  request.ignore_eos = ask.ignore_eos;
  request.play_id = ids.own;
  request.parent_play_id = ids.parent;
  request.call_key = MixKey(keys.play, call.call, call.attempt);
  request.released = call.due;
  call.transfer = context_.transport.Start(request, call);
}

void Lane::KeepAnswer(const ActiveCall& call, const CallResult& result) {
  FidelityCounts counts;
  live_history_.Keep(call.call, result, &counts);
  if (call.window == context_.window && call.window->Measures(call.due)) fidelity_.Add(counts);
}

void Lane::Record(const ActiveCall& call, const CallResult& result, bool last_attempt) {
  const Call& recorded = context_.index.session(play_->session()).calls[call.call];
  context_.sink.Add(RecordOf(spec_,
                             {.window = *call.window,
                              .play = play_->number(),
                              .session = play_->session(),
                              .call = call.call,
                              .stream = recorded.stream,
                              .number = call.attempt,
                              .first_released = call.first_released,
                              .released = call.due,
                              .tokens_planned = call.planned_tokens,
                              .tokens_asked = AskFor(context_.plan, recorded.tokens_out).asked,
                              .messages = static_cast<std::uint32_t>(call.prompt.messages.size()),
                              .last = last_attempt},
                             result));
}

}  // namespace plimsoll
