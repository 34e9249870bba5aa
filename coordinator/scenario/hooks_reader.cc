#include "coordinator/scenario/hooks_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/quantities.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr Duration kDeadlineMax = 24h;
constexpr Duration kGraceMax = 1h;
constexpr std::uint64_t kTriesMax = 20;
constexpr std::string_view kOurs = "PLIMSOLL_";
// A rollback that fails once is worth another try; a rollout that fails is seen by a person.
constexpr std::uint32_t kRollbackTries = 3;

bool IsName(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && (text.front() < '0' || text.front() > '9') &&
         std::all_of(text.begin(), text.end(), good);
}

void TakeArgv(FieldReader& fields, std::string_view key, HookSpec& hook) {
  auto argv = fields.Texts(key);
  if (!argv) return;
  if (argv->empty() || argv->front().empty()) {
    fields.Problem(key, "names no program, write e.g. [hooks/apply, recipe.yaml]");
    return;
  }
  hook.argv = *std::move(argv);
}

// One of the two, as an argv.
void TakeProgram(FieldReader& fields, HookSpec& hook) {
  const bool has_run = fields.Find("run") != nullptr;
  const bool has_shell = fields.Find("shell") != nullptr;
  if (has_run == has_shell) {
    fields.Problem(has_run ? "shell" : "run",
                   has_run ? "stands beside run, and a hook is one program: take one of them out"
                           : "is missing, write e.g. [hooks/apply, recipe.yaml], or shell: \"…\"");
    return;
  }
  if (has_shell) {
    if (auto line = fields.Text("shell")) {
      hook.shell = true;
      hook.argv = {*std::move(line)};
    }
    return;
  }
  TakeArgv(fields, "run", hook);
}

void TakeEnv(FieldReader& fields, HookSpec& hook) {
  std::optional<FieldReader> env = fields.Map("env");
  if (!env) return;
  for (auto& [name, value] : env->AllTexts()) {
    if (!IsName(name)) {
      env->Problem(name, "is no name of a variable, write e.g. NAMESPACE");
    } else if (name.starts_with(kOurs)) {
      env->Problem(name, fmt::format("begins with {}, which is how the run tells a hook about "
                                     "itself: take another name",
                                     kOurs));
    } else {
      hook.env.emplace_back(name, std::move(value));
    }
  }
  env->Finish();
}

void ReadHook(FieldReader& hooks, std::string_view key, std::string_view folder,
              std::uint32_t tries, HookSpec& into) {
  const ConfigNode* node = hooks.Find(key);
  if (node == nullptr) return;
  HookSpec hook{.tries = tries};
  hook.directory = std::string(folder);
  if (node->kind == ConfigNode::Kind::kList) {
    TakeArgv(hooks, key, hook);
    into = std::move(hook);
    return;
  }
  std::optional<FieldReader> fields = hooks.Map(key);
  if (!fields) return;
  TakeProgram(*fields, hook);
  if (const std::optional<Duration> deadline = fields->Time("deadline")) {
    if (*deadline > Duration{0} && *deadline <= kDeadlineMax) {
      hook.deadline = *deadline;
    } else {
      fields->Problem("deadline",
                      fmt::format("is {}, it must be above zero and at most {}",
                                  PrintDuration(*deadline), PrintDuration(kDeadlineMax)));
    }
  }
  if (const auto count = fields->Count("tries", 1, kTriesMax)) {
    hook.tries = static_cast<std::uint32_t>(*count);
  }
  TakeEnv(*fields, hook);
  fields->Finish();
  into = std::move(hook);
}

}  // namespace

void ReadHooks(FieldReader& top, std::string_view folder, RunHooks& hooks, Duration& grace) {
  std::optional<FieldReader> fields = top.Map("hooks");
  if (!fields) return;
  ReadHook(*fields, "rollout", folder, 1, hooks.rollout);
  ReadHook(*fields, "promote", folder, 1, hooks.promote);
  ReadHook(*fields, "rollback", folder, kRollbackTries, hooks.rollback);
  if (const std::optional<Duration> time = fields->Time("grace")) {
    if (*time >= Duration{0} && *time <= kGraceMax) {
      grace = *time;
    } else {
      fields->Problem("grace", fmt::format("is {}, it must be at most {}", PrintDuration(*time),
                                           PrintDuration(kGraceMax)));
    }
  }
  fields->Finish();
  if (hooks.rollback.empty() && !(hooks.rollout.empty() && hooks.promote.empty())) {
    top.Problem("hooks",
                "bring a deployment up, and nothing takes it down again, write e.g. "
                "rollback: [hooks/rollback], or [\"true\"] if it shall stay");
  }
}

}  // namespace plimsoll
