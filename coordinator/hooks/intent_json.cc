// EncodeIntent and DecodeIntent of intent.h.
#include <limits>

#include <fmt/format.h>

#include "common/json/json.h"
#include "coordinator/hooks/intent.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kHooksMax = 10'000;

Json ToJson(const HookSpec& hook) {
  Json env = Json::array();
  for (const auto& [name, value] : hook.env) env.push_back(Json::array({name, value}));
  return {{"argv", hook.argv},           {"shell", hook.shell},
          {"directory", hook.directory}, {"deadline_ns", hook.deadline.count()},
          {"env", std::move(env)},       {"tries", hook.tries}};
}

Json ToJson(const ProcessMark& mark) {
  return {{"pid", mark.pid}, {"start_ticks", mark.start_ticks}, {"place", mark.place}};
}

Json ToJson(const NotedHook& hook) {
  const HookOutcome& outcome = hook.outcome;
  Json json = {{"phase", Name(outcome.phase)},
               {"attempt", outcome.attempt},
               {"process", ToJson(hook.process)},
               {"started_wall_ns", outcome.started.time_since_epoch().count()},
               {"ended", hook.ended}};
  if (!hook.ended) return json;
  json["state"] = Name(outcome.state);
  if (outcome.exit_code) json["exit_code"] = *outcome.exit_code;
  if (outcome.signal) json["signal"] = *outcome.signal;
  json["duration_ns"] = outcome.duration.count();
  json["note"] = outcome.note;
  return json;
}

// Takes an object apart; the first thing that is wrong stays, and everything after it is a default.
class Reader {
 public:
  Reader(const Json& json, Status& problem) : json_(json), problem_(problem) {
    if (!json_.is_object()) Wrong("an object", "it");
  }
  std::string Text(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr || !value->is_string()) return Wrong("a text", key), "";
    return value->get<std::string>();
  }
  bool Flag(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr || !value->is_boolean()) return Wrong("true or false", key), false;
    return value->get<bool>();
  }
  template <typename Integer>
  Integer Number(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr || !Fits<Integer>(*value)) return Wrong("a number in bounds", key), 0;
    return value->get<Integer>();
  }
  std::optional<int> MaybeNumber(const char* key) {
    if (Find(key) == nullptr) return std::nullopt;
    return Number<int>(key);
  }
  Duration Time(const char* key) { return Duration(Number<std::int64_t>(key)); }
  WallTime Instant(const char* key) { return WallTime(Time(key)); }
  const Json& Object(const char* key) {
    const Json* value = Find(key);
    return value == nullptr ? Nothing() : *value;  // Said by who reads it.
  }
  const Json& List(const char* key, std::size_t size_max) {
    const Json* value = Find(key);
    if (value != nullptr && value->is_array() && value->size() <= size_max) return *value;
    Wrong("a list in bounds", key);
    return Nothing();
  }
  template <typename Enum>
  Enum OneOf(const char* key, std::initializer_list<Enum> values) {
    const std::string name = Text(key);
    for (const Enum value : values) {
      if (name == Name(value)) return value;
    }
    Wrong("a word that is known", key);
    return *values.begin();
  }
  void Wrong(std::string_view wanted, std::string_view key) {
    if (problem_.ok()) {
      problem_ = absl::DataLossError(fmt::format("{} is not {}", key, wanted));
    }
  }

 private:
  static const Json& Nothing() {
    static const Json nothing;
    return nothing;
  }
  const Json* Find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto it = json_.find(key);
    return it == json_.end() ? nullptr : &*it;
  }
  template <typename Integer>
  static bool Fits(const Json& value) {
    using Limits = std::numeric_limits<Integer>;
    if (value.is_number_unsigned()) {
      return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
    }
    if (!value.is_number_integer()) return false;
    const auto number = value.get<std::int64_t>();
    return number >= 0 || (Limits::is_signed && number >= static_cast<std::int64_t>(Limits::min()));
  }

  const Json& json_;
  Status& problem_;
};

HookSpec ReadHook(const Json& json, Status& problem) {
  Reader in(json, problem);
  HookSpec hook;
  for (const Json& word : in.List("argv", kIntentWordsMax)) {
    if (!word.is_string()) in.Wrong("a list of texts", "argv");
    hook.argv.push_back(word.is_string() ? word.get<std::string>() : "");
  }
  hook.shell = in.Flag("shell");
  hook.directory = in.Text("directory");
  hook.deadline = in.Time("deadline_ns");
  for (const Json& pair : in.List("env", kIntentWordsMax)) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      in.Wrong("a list of pairs", "env");
      break;
    }
    hook.env.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  }
  hook.tries = in.Number<std::uint32_t>("tries");
  return hook;
}

ProcessMark ReadMark(const Json& json, Status& problem) {
  Reader in(json, problem);
  return {.pid = in.Number<int>("pid"),
          .start_ticks = in.Number<std::uint64_t>("start_ticks"),
          .place = in.Text("place")};
}

NotedHook ReadNoted(const Json& json, Status& problem) {
  Reader in(json, problem);
  NotedHook hook;
  hook.process = ReadMark(in.Object("process"), problem);
  hook.ended = in.Flag("ended");
  HookOutcome& outcome = hook.outcome;
  outcome.phase =
      in.OneOf("phase", {HookPhase::kRollout, HookPhase::kPromote, HookPhase::kRollBack});
  outcome.attempt = in.Number<std::uint32_t>("attempt");
  if (outcome.attempt < 1 || outcome.attempt > kHooksMax) in.Wrong("in bounds", "attempt");
  outcome.started = in.Instant("started_wall_ns");
  if (!hook.ended) return hook;
  outcome.state = in.OneOf("state", {HookState::kOk, HookState::kFailed, HookState::kTimedOut,
                                     HookState::kCouldNotStart, HookState::kKilled});
  outcome.exit_code = in.MaybeNumber("exit_code");
  outcome.signal = in.MaybeNumber("signal");
  outcome.duration = in.Time("duration_ns");
  outcome.note = in.Text("note");
  return hook;
}

IntentSpec ReadSpec(const Json& json, Status& problem) {
  Reader in(json, problem);
  IntentSpec spec;
  spec.run_id = in.Text("run");
  spec.scenario = in.Text("scenario");
  spec.recipe = in.Text("recipe");
  spec.recipe_digest = in.Text("recipe_digest");
  Reader hooks(in.Object("hooks"), problem);
  spec.hooks.rollout = ReadHook(hooks.Object("rollout"), problem);
  spec.hooks.promote = ReadHook(hooks.Object("promote"), problem);
  spec.hooks.rollback = ReadHook(hooks.Object("rollback"), problem);
  Reader rules(in.Object("rules"), problem);
  spec.rules = {.grace = rules.Time("grace_ns"),
                .kill_after = rules.Time("kill_after_ns"),
                .retry_wait = rules.Time("retry_wait_ns"),
                .retry_wait_max = rules.Time("retry_wait_max_ns")};
  return spec;
}

}  // namespace

std::string EncodeIntent(const Intent& intent) {
  const IntentSpec& spec = intent.spec;
  Json json = {{"version", kVersion},
               {"run", spec.run_id},
               {"scenario", spec.scenario},
               {"recipe", spec.recipe},
               {"recipe_digest", spec.recipe_digest},
               {"hooks",
                {{"rollout", ToJson(spec.hooks.rollout)},
                 {"promote", ToJson(spec.hooks.promote)},
                 {"rollback", ToJson(spec.hooks.rollback)}}},
               {"rules",
                {{"grace_ns", spec.rules.grace.count()},
                 {"kill_after_ns", spec.rules.kill_after.count()},
                 {"retry_wait_ns", spec.rules.retry_wait.count()},
                 {"retry_wait_max_ns", spec.rules.retry_wait_max.count()}}},
               {"token", intent.token},
               {"created_wall_ns", intent.created.time_since_epoch().count()},
               {"state", Name(intent.state)},
               {"holder_kind", Name(intent.holder_kind)},
               {"holder", ToJson(intent.holder)},
               {"started", Json::array()},
               {"said", Json::array()}};
  for (const NotedHook& hook : intent.hooks) json["started"].push_back(ToJson(hook));
  for (const IntentLine& line : intent.said) {
    json["said"].push_back(
        {{"at_wall_ns", line.at.time_since_epoch().count()}, {"text", line.text}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<Intent> DecodeIntent(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  Status problem;
  Reader in(json, problem);
  if (in.Number<int>("version") != kVersion) in.Wrong(fmt::format("{}", kVersion), "version");
  Intent intent;
  intent.spec = ReadSpec(json, problem);
  intent.token = in.Text("token");
  intent.created = in.Instant("created_wall_ns");
  intent.state = in.OneOf("state", {IntentState::kOpen, IntentState::kRolledBack,
                                    IntentState::kPromoted, IntentState::kFailed});
  intent.holder_kind = in.OneOf(
      "holder_kind", {HolderKind::kCoordinator, HolderKind::kGuardian, HolderKind::kRecover});
  intent.holder = ReadMark(in.Object("holder"), problem);
  for (const Json& hook : in.List("started", kHooksMax)) {
    intent.hooks.push_back(ReadNoted(hook, problem));
  }
  for (const Json& line : in.List("said", kHooksMax)) {
    Reader said(line, problem);
    intent.said.push_back({said.Instant("at_wall_ns"), said.Text("text")});
  }
  RETURN_IF_ERROR(problem);
  if (const Status status = CheckIntent(intent.spec); !status.ok()) {
    return absl::DataLossError(std::string(MessageOf(status)));
  }
  return intent;
}

}  // namespace plimsoll
