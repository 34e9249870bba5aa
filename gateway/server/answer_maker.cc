#include "gateway/server/answer_maker.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "gateway/answers/tool_calls.h"

namespace plimsoll {
namespace {

// More pieces than this come joined: of a question's answer, however long its text.
constexpr std::size_t kPiecesMax = 100'000;

ToolFault ToolFaultOf(FaultForm form) {
  switch (form) {
    case FaultForm::kEmptyDelta:
      return ToolFault::kEmptyDelta;
    case FaultForm::kMissingName:
      return ToolFault::kMissingName;
    case FaultForm::kUnknownTool:
      return ToolFault::kUnknownTool;
    case FaultForm::kBlankRequired:
      return ToolFault::kBlankRequired;
    case FaultForm::kSchemaMismatch:
      return ToolFault::kSchemaMismatch;
    case FaultForm::kFinishWithoutCall:
      return ToolFault::kFinishWithoutCall;
    default:
      return ToolFault::kMalformedJson;
  }
}

}  // namespace

const FaultRule* AnswerMaker::Struck(FaultKind kind, const FaultTarget& target,
                                     const FaultMoment& moment) const {
  return FaultFor(config_.faults, {&kind, 1}, config_.seed, target, moment);
}

// What the answer says; absent: words of some length. `asked`: it is a question of the answers'
// file.
std::optional<AnswerPlan> AnswerMaker::PlanOf(const ChatRequest& chat, const FaultTarget& target,
                                              const FaultMoment& moment, bool* asked) const {
  const EvalCase* const eval =
      config_.answers ? config_.answers->Find(chat.last_user_hash) : nullptr;
  *asked = eval != nullptr;
  std::optional<AnswerPlan> plan;
  if (eval != nullptr) {
    const bool wrong = Struck(FaultKind::kWrongAnswers, target, moment) != nullptr;
    plan = wrong ? AnswerBook::Wrong(*eval, MixKey(config_.seed, 6, target.number))
                 : AnswerBook::Right(*eval);
  } else if (chat.has_tools &&
             Rng(MixKey(config_.seed, 5, target.number)).Chance(config_.tool_call_probability)) {
    plan = AnswerPlan{.content = "", .calls = {SampleCall(chat.tools_json)}, .says_calls = true};
  }
  const FaultRule* const broken = Struck(FaultKind::kMalformedToolCalls, target, moment);
  // A question that wants no call is answered without one, whatever is broken.
  const bool calls = !plan || !plan->calls.empty();
  const bool breaks = broken != nullptr && calls;
  if (breaks && !plan) plan = AnswerPlan{.content = "", .calls = {SampleCall(chat.tools_json)}};
  if (!plan) return plan;
  for (std::size_t i = 0; i < plan->calls.size(); ++i) {
    plan->calls[i].id = fmt::format("call-{:016x}-{}", MixKey(config_.seed, 3, target.number), i);
  }
  if (breaks) plan = Malformed(*std::move(plan), chat.tools_json, ToolFaultOf(broken->form));
  return plan;
}

ChatStreamOptions AnswerMaker::Make(const ChatRequest& chat, const FaultTarget& target,
                                    const FaultMoment& moment, WallTime now) const {
  ChatStreamOptions options;
  std::uint32_t output = OutputOf(chat, target.number);
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  options.head = {fmt::format("chatcmpl-{:016x}", MixKey(config_.seed, 3, target.number)),
                  config_.model, created.count()};
  options.stream = chat.stream;
  options.include_usage = chat.include_usage;
  options.length_limited = chat.max_tokens && output == *chat.max_tokens;
  options.prompt_tokens = PromptTokens(chat);
  bool asked = false;
  const std::optional<AnswerPlan> plan = PlanOf(chat, target, moment, &asked);
  if (asked) {
    // As long as it is, and no longer than its cap.
    options.script.emplace(*plan, kPiecesMax);
    const auto pieces = static_cast<std::uint32_t>(options.script->size());
    output = std::min(pieces, chat.max_tokens.value_or(pieces));
    options.length_limited = output < pieces;
  } else if (plan) {
    // A cap cuts a call in its middle; an answer of a natural or forced length holds it whole.
    const bool cut = options.length_limited && !Forces(chat) &&
                     Struck(FaultKind::kMalformedToolCalls, target, moment) == nullptr;
    options.script.emplace(*plan, cut ? kPiecesMax : output);
  }
  options.output_tokens = output;
  if (const FaultRule* const fault =
          FaultFor(config_.faults, kAnswerFaults, config_.seed, target, moment)) {
    options.fault = *fault;
  }
  const FaultRule* const uncapped = Struck(FaultKind::kUncapped, target, moment);
  if (uncapped != nullptr && !asked) {
    options.output_tokens = std::max(output, std::min(uncapped->tokens, RoomOf(chat)));
    options.length_limited = false;
  }
  options.orphan = Struck(FaultKind::kOrphan, target, moment) != nullptr;
  return options;
}

// With what the chat template adds.
std::uint32_t AnswerMaker::PromptTokens(const ChatRequest& chat) const {
  const double tokens =
      config_.template_request_tokens +
      static_cast<double>(config_.template_message_tokens) * chat.messages +
      std::round(config_.tokens_per_word * static_cast<double>(chat.prompt.tokens()));
  return static_cast<std::uint32_t>(std::min(tokens, 4e9));
}

bool AnswerMaker::Forces(const ChatRequest& chat) const {
  return config_.output_switches == OutputSwitches::kHonour &&
         ((chat.ignore_eos && chat.max_tokens) || chat.min_tokens > 0);
}

// Where an answer ends by itself: at its natural length, or a token earlier by chance.
std::uint32_t AnswerMaker::NaturalLength(std::uint64_t number) const {
  const double p = config_.stop_probability;
  if (p <= 0) return config_.output_natural;
  const double u = Rng(MixKey(config_.seed, 4, number)).Uniform();
  const double length = 1 + std::floor(std::log1p(-u) / std::log1p(-p));
  return static_cast<std::uint32_t>(std::min<double>(config_.output_natural, length));
}

// ignore_eos and min_tokens force a length; otherwise the answer ends by itself.
std::uint32_t AnswerMaker::OutputOf(const ChatRequest& chat, std::uint64_t number) const {
  const std::uint32_t most = chat.max_tokens.value_or(RoomOf(chat));
  const std::uint32_t natural = std::max(1u, std::min(most, NaturalLength(number)));
  if (!Forces(chat)) return natural;
  return chat.ignore_eos && chat.max_tokens ? most : std::max(chat.min_tokens, natural);
}

std::uint32_t AnswerMaker::RoomOf(const ChatRequest& chat) const {
  const std::uint32_t prompt = PromptTokens(chat);
  return config_.context_limit > prompt ? config_.context_limit - prompt : 1;
}

std::uint64_t AnswerMaker::Limit() const {
  return std::min<std::uint64_t>(config_.context_limit,
                                 std::uint64_t{config_.engine.kv_blocks} * limits::kBlockTokens);
}

}  // namespace plimsoll
