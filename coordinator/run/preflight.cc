#include "coordinator/run/preflight.h"

#include <algorithm>
#include <utility>

#include "common/base/limits.h"
#include "common/base/rng.h"

namespace plimsoll {
namespace {

bool BeginsWithSystem(const Prompt& prompt) {
  return !prompt.messages.empty() && prompt.messages.front().role == Role::kSystem;
}

PreflightSetup Completed(PreflightSetup setup, const Prompt& first) {
  setup.first_tokens = first.tokens;
  setup.first_messages = static_cast<std::uint32_t>(first.messages.size());
  setup.system_first = BeginsWithSystem(first);
  return setup;
}

}  // namespace

Prompt ProbePrompt(std::uint64_t key, std::uint32_t words, std::uint32_t messages,
                   bool system_first) {
  Prompt prompt;
  prompt.tokens = std::max(words, messages);
  prompt.spans = {{key, 0, (prompt.tokens + limits::kBlockTokens - 1) / limits::kBlockTokens}};
  for (std::uint32_t m = 0; m < messages; ++m) {
    // From the end, so that the last is the user's whatever the first.
    const Role turn = (messages - m) % 2 == 1 ? Role::kUser : Role::kAssistant;
    const auto at = [&](std::uint64_t n) {
      return static_cast<std::uint32_t>(n * prompt.tokens / messages);
    };
    prompt.messages.push_back({m == 0 && system_first ? Role::kSystem : turn, at(m), at(m + 1)});
  }
  return prompt;
}

Preflight::Preflight(PreflightDeps deps, PreflightSetup setup, Prompt first, std::uint64_t key,
                     std::function<void(PreflightReport)> done)
    : deps_(std::move(deps)),
      first_(std::move(first)),
      key_(key),
      system_first_(BeginsWithSystem(first_)),
      rules_(Completed(std::move(setup), first_)),
      done_(std::move(done)) {
  next_ = deps_.scheduler.After(Duration{0}, [this] { Go(); });
}

Preflight::~Preflight() = default;

void Preflight::Go() {
  const auto probe = rules_.Next();
  if (!probe) {
    if (const auto done = std::exchange(done_, nullptr)) done(rules_.Report());
    return;
  }
  if (probe->kind == ProbeKind::kModels) {
    models_ =
        std::make_unique<ModelList>(deps_.http, deps_.scheduler, deps_.target, deps_.secrets,
                                    [this](const ModelsAnswer& answer) {
                                      rules_.OnModels(answer);
                                      next_ = deps_.scheduler.After(Duration{0}, [this] { Go(); });
                                    });
    return;
  }
  // Another key for each, so that none finds another's text in a cache.
  const std::uint64_t key = MixKey(key_, ++calls_made_);
  prompt_ = probe->kind == ProbeKind::kFirstPrompt
                ? first_
                : ProbePrompt(key, probe->words, probe->messages, system_first_);
  call_ = deps_.calls.Start({.prompt = &prompt_,
                             .max_tokens = probe->max_tokens,
                             .min_tokens = probe->min_tokens,
                             .ignore_eos = probe->ignore_eos,
                             .play_id = key,
                             .call_key = key,
                             .released = deps_.scheduler.Now()},
                            *this);
}

void Preflight::OnCallEnded(const CallResult& result) {
  rules_.OnCall(result);
  // In a turn of its own: this one is still the call's.
  next_ = deps_.scheduler.After(Duration{0}, [this] { Go(); });
}

}  // namespace plimsoll
