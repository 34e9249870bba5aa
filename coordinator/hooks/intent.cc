#include "coordinator/hooks/intent.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

// Also the name of files and of a folder: nothing that leads elsewhere.
bool IsId(std::string_view id) {
  if (id.empty() || id.size() > 64 || id == "." || id == "..") return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

// A zero byte would end an argument early, and other bytes would come back as other ones.
bool Carries(std::string_view text) {
  return text.find('\0') == std::string_view::npos && ValidUtf8(text) == text;
}

Status CheckHook(HookPhase phase, const HookSpec& hook) {
  const auto wrong = [&](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("the {} hook: {}", Name(phase), what));
  };
  if (hook.empty()) return absl::OkStatus();
  if (hook.argv[0].empty()) return wrong("its program has no name");
  if (hook.argv.size() > kIntentWordsMax || hook.env.size() > kIntentWordsMax) {
    return wrong(fmt::format("more than {} arguments or variables", kIntentWordsMax));
  }
  if (hook.deadline <= Duration{} || hook.deadline > kHookDeadlineMax) {
    return wrong("its deadline is not between 0 and 24h");
  }
  if (hook.tries < 1 || hook.tries > kHookTriesMax) {
    return wrong(fmt::format("its tries are not from 1 to {}", kHookTriesMax));
  }
  bool carried = Carries(hook.directory);
  for (const std::string& word : hook.argv) carried = carried && Carries(word);
  for (const auto& [name, value] : hook.env) {
    carried = carried && Carries(name) && Carries(value);
    if (name.empty() || name.find('=') != std::string::npos) {
      return wrong("a variable's name is empty or holds a '='");
    }
  }
  return carried ? absl::OkStatus() : wrong("text that is not UTF-8, or holds a zero byte");
}

Status CheckRules(const HookRules& rules) {
  for (const Duration time :
       {rules.grace, rules.kill_after, rules.retry_wait, rules.retry_wait_max}) {
    if (time < Duration{} || time > kHookDeadlineMax) {
      return absl::InvalidArgumentError("a time of the hooks' rules is not between 0 and 24h");
    }
  }
  return absl::OkStatus();
}

}  // namespace

const char* Name(IntentState state) {
  switch (state) {
    case IntentState::kOpen:
      return "open";
    case IntentState::kRolledBack:
      return "rolled back";
    case IntentState::kPromoted:
      return "promoted";
    case IntentState::kFailed:
      return "rollback failed";
  }
  return "unknown";
}

const char* Name(HolderKind kind) {
  switch (kind) {
    case HolderKind::kCoordinator:
      return "coordinator";
    case HolderKind::kGuardian:
      return "guardian";
    case HolderKind::kRecover:
      return "recover";
  }
  return "unknown";
}

std::uint32_t Intent::NextAttempt(HookPhase phase) const {
  std::uint32_t last = 0;
  for (const NotedHook& hook : hooks) {
    if (hook.outcome.phase == phase) last = std::max(last, hook.outcome.attempt);
  }
  return last + 1;
}

bool Intent::Succeeded(HookPhase phase) const {
  return std::any_of(hooks.begin(), hooks.end(), [&](const NotedHook& hook) {
    return hook.ended && hook.outcome.phase == phase && hook.outcome.ok();
  });
}

Status CheckIntent(const IntentSpec& spec) {
  if (!IsId(spec.run_id)) {
    return absl::InvalidArgumentError(
        "a run's id is 1 to 64 of letters, digits, dots, dashes and underscores");
  }
  if (spec.hooks.rollback.empty()) {
    return absl::InvalidArgumentError("a run with hooks needs a rollback hook");
  }
  for (const HookPhase phase : kHookPhases) RETURN_IF_ERROR(CheckHook(phase, spec.hooks.of(phase)));
  RETURN_IF_ERROR(CheckRules(spec.rules));
  if (!Carries(spec.scenario) || !Carries(spec.recipe) || !Carries(spec.recipe_digest)) {
    return absl::InvalidArgumentError(
        "the scenario's name or the recipe's paths are not UTF-8, or hold a zero byte");
  }
  return absl::OkStatus();
}

}  // namespace plimsoll
