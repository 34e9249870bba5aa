#include "coordinator/scenario/scenario_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "common/base/text.h"
#include "common/config/quantities.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/scenario/url_form.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Where the rules put their findings.
class Checker {
 public:
  Checker(const ConfigNode& document, Problems& problems)
      : document_(document), problems_(problems) {}

  // True if none of the fields has a problem so far.
  bool Clean(std::initializer_list<std::string_view> paths) const {
    return std::none_of(paths.begin(), paths.end(),
                        [this](std::string_view path) { return problems_.Touches(path); });
  }
  void Add(std::string path, std::string message) {
    const int line = LineOf(document_, path);
    problems_.Add(line, std::move(path), std::move(message));
  }
  // Adds a problem unless the duration is above zero.
  void Positive(std::string path, Duration duration, std::string_view example) {
    if (!Clean({path}) || duration > Duration::zero()) return;
    Add(std::move(path), fmt::format("is zero, write e.g. {}", example));
  }

 private:
  const ConfigNode& document_;
  Problems& problems_;
};

// RFC 9110's token.
bool IsHeaderName(std::string_view name) {
  if (name.empty() || name.size() > 128) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsAlnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Headers that the client sets itself: a second one would break the request or leak a secret.
bool IsOurHeader(const std::string& lower) {
  static const std::set<std::string_view> kOurs = {
      "accept", "accept-encoding", "connection", "content-length", "content-type",      "expect",
      "host",   "keep-alive",      "te",         "trailer",        "transfer-encoding", "upgrade"};
  return kOurs.count(lower) > 0;
}

// Headers whose values are secrets: a scenario is stored and shown with every run.
bool IsSecretHeader(const std::string& lower) {
  static const std::set<std::string_view> kSecret = {"authorization", "proxy-authorization",
                                                     "x-api-key", "api-key", "cookie"};
  return kSecret.count(lower) > 0;
}

void CheckHeader(const std::string& path, const std::string& name, Checker& checker) {
  const std::string lower = LowerAscii(name);
  if (!IsHeaderName(name)) {
    checker.Add(path, "is not a header name, write letters, digits and dashes");
  } else if (IsSecretHeader(lower)) {
    checker.Add(path, "would put a secret into the scenario, use auth.bearer_env");
  } else if (IsOurHeader(lower)) {
    checker.Add(path, "is a header that every request has already, take it out");
  }
}

void CheckTarget(const TargetPlan& target, Checker& checker) {
  if (checker.Clean({"target.url"})) {
    if (const std::string_view fault = UrlFault(target.url); !fault.empty()) {
      // The URL is not repeated: it might hold a secret.
      checker.Add("target.url", fmt::format("{}, write e.g. \"https://host/v1\"", fault));
    }
  }
  if (!target.bearer_env.empty() && !IsVariableName(target.bearer_env)) {
    // Neither is this: whoever misreads the key writes the token itself.
    checker.Add("target.auth.bearer_env",
                "is not the name of an environment variable, write e.g. PLIMSOLL_TARGET_TOKEN and "
                "put the token into that variable");
  }
  std::set<std::string> seen;
  for (const auto& [name, value] : target.headers) {
    const std::string path = fmt::format("target.headers.{}", name);
    CheckHeader(path, name, checker);
    if (!seen.insert(LowerAscii(name)).second) checker.Add(path, "is given twice, keep one");
    const bool control = std::any_of(value.begin(), value.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (control) checker.Add(path, "has a control byte in its value, write printable text");
  }
  if (!target.affinity_play_header.empty()) {
    CheckHeader("target.affinity.play", target.affinity_play_header, checker);
  }
  if (!target.affinity_parent_header.empty()) {
    CheckHeader("target.affinity.parent", target.affinity_parent_header, checker);
  }
  checker.Positive("target.connect_timeout", target.connect_timeout, "10s");
  checker.Positive("target.idle_timeout", target.idle_timeout, "120s");
  checker.Positive("target.call_deadline", target.call_deadline, "10m");
}

std::uint32_t SyntheticSessions(const CorpusSource& corpus, Tier tier) {
  return tier == Tier::kHeavy ? corpus.heavy : tier == Tier::kLight ? corpus.light : corpus.mid;
}

void CheckCorpusAndMix(const Scenario& scenario, Checker& checker) {
  const CorpusSource& corpus = scenario.corpus;
  if (checker.Clean({"mix"})) {
    std::uint64_t sum = 0;
    for (const TierPlan& tier : scenario.mix) sum += tier.share;
    if (sum != 1'000'000) {
      checker.Add("mix", fmt::format("its shares are {} in all, they must be 100%",
                                     PrintShare(static_cast<double>(sum) / 1e6)));
    }
  }
  if (corpus.synthetic.empty() || !checker.Clean({"mix", "corpus"})) return;
  for (const TierPlan& tier : scenario.mix) {
    if (SyntheticSessions(corpus, tier.tier) > 0) continue;
    checker.Add(fmt::format("mix.{}", tier.name),
                fmt::format("has no sessions in the synthetic corpus, write e.g. corpus.{}: 32",
                            tier.name));
  }
}

void CheckSessions(const Sweep& sweep, Checker& checker) {
  if (!checker.Clean({"sweep.sessions"})) return;
  for (std::size_t i = 1; i < sweep.sessions.size(); ++i) {
    if (sweep.sessions[i] > sweep.sessions[i - 1]) continue;
    checker.Add(fmt::format("sweep.sessions[{}]", i),
                fmt::format("is {} after {}, each step must have more sessions than the last",
                            sweep.sessions[i], sweep.sessions[i - 1]));
  }
  if (sweep.sessions.size() > limits::kStepsMax) {
    checker.Add("sweep.sessions", fmt::format("has {} steps, at most {} are possible",
                                              sweep.sessions.size(), limits::kStepsMax));
  }
  if (!checker.Clean({"sweep.target"}) || !sweep.target.has_value()) return;
  if (std::find(sweep.sessions.begin(), sweep.sessions.end(), *sweep.target) ==
      sweep.sessions.end()) {
    checker.Add("sweep.target", fmt::format("is {}, it must be one of sweep.sessions ({})",
                                            *sweep.target, fmt::join(sweep.sessions, ", ")));
  }
}

// Steps and budget, over all ladders.
void CheckLadders(const Scenario& scenario, Checker& checker) {
  const Sweep& sweep = scenario.sweep;
  const std::size_t steps = sweep.sessions.size() * (1 + scenario.tier_ladders.size());
  if (checker.Clean({"ladders", "sweep.sessions"}) && steps > limits::kStepsMax) {
    checker.Add("ladders", fmt::format("make {} steps in all, at most {} are possible", steps,
                                       limits::kStepsMax));
  }
  for (const TierPlan& tier : scenario.tier_ladders) {
    if (!checker.Clean({"ladders", "corpus"}) || scenario.corpus.synthetic.empty()) continue;
    if (SyntheticSessions(scenario.corpus, tier.tier) > 0) continue;
    checker.Add("ladders", fmt::format("{} has no sessions in the synthetic corpus, write e.g. "
                                       "corpus.{}: 32",
                                       tier.name, tier.name));
  }
  if (!checker.Clean({"sweep"}) || !sweep.budget) return;
  const Duration step = sweep.prime_limit + limits::kStartAhead + sweep.warm_up + sweep.measure +
                        (sweep.drain_between_steps ? 2 : 1) * sweep.drain_limit;
  if (*sweep.budget < step) {
    checker.Add("sweep.budget", fmt::format("is {}, and a single step may take {}; write that much "
                                            "or more",
                                            PrintDuration(*sweep.budget), PrintDuration(step)));
  } else if (*sweep.budget > 7 * 24h) {
    checker.Add("sweep.budget",
                fmt::format("is {}, it must be at most 168h", PrintDuration(*sweep.budget)));
  }
}

void CheckTimes(const Sweep& sweep, Checker& checker) {
  checker.Positive("sweep.block", sweep.block, "1m");
  checker.Positive("sweep.measure", sweep.measure, "5m");
  checker.Positive("sweep.drain_limit", sweep.drain_limit, "2m");
  checker.Positive("sweep.prime_limit", sweep.prime_limit, "1m");
  const std::array<std::pair<std::string_view, Duration>, 5> all = {
      {{"sweep.warm_up", sweep.warm_up},
       {"sweep.measure", sweep.measure},
       {"sweep.block", sweep.block},
       {"sweep.drain_limit", sweep.drain_limit},
       {"sweep.prime_limit", sweep.prime_limit}}};
  for (const auto& [path, duration] : all) {
    if (duration <= kPhaseMax) continue;
    checker.Add(std::string(path), fmt::format("is {}, it must be at most {}",
                                               PrintDuration(duration), PrintDuration(kPhaseMax)));
  }
  if (!checker.Clean({"sweep.block", "sweep.measure"})) return;
  if (sweep.measure % sweep.block != Duration::zero()) {
    const Duration fewer = sweep.measure - sweep.measure % sweep.block;
    const Duration right = fewer == Duration::zero() ? sweep.block : fewer;
    checker.Add("sweep.measure", fmt::format("is {}, it must be a whole number of blocks of {}, "
                                             "write e.g. {}",
                                             PrintDuration(sweep.measure),
                                             PrintDuration(sweep.block), PrintDuration(right)));
  } else if (sweep.measure / sweep.block > static_cast<std::int64_t>(limits::kBlocksMax)) {
    checker.Add("sweep.block", fmt::format("makes {} blocks of a step, at most {} are possible",
                                           sweep.measure / sweep.block, limits::kBlocksMax));
  }
}

void CheckBar(const Bar& bar, Checker& checker) {
  if (!checker.Clean({"bar"})) return;
  if (bar.limits.empty()) {
    checker.Add("bar", "has no limit, write e.g. {ttft_p90: 5.3s, errors: 2%}");
  }
  for (const Limit& limit : bar.limits) {
    if (limit.origin.has_value()) continue;  // Its value comes from baseline runs.
    const std::string path = "bar." + PartKey(limit);
    if (IsBadShare(limit.metric)) {
      if (limit.value <= 0 || limit.value >= 1) {
        checker.Add(path, "must lie between 0% and 100%, both excluded, write e.g. 2%");
      }
    } else if (limit.value <= 0) {
      checker.Add(path, "is zero, write a limit that can be kept");
    }
  }
}

// What one part asks of another.
void CheckTogether(const Scenario& scenario, Checker& checker) {
  for (const Limit& limit : scenario.bar.limits) {
    if (limit.metric != Metric::kToolCalls || scenario.target.tools) continue;
    const std::string path = "bar." + PartKey(limit);
    if (!checker.Clean({"target", path})) continue;
    checker.Add(path, "can only be judged where requests offer a tool, write target: {tools: on}");
  }
  for (const TierPlan& alone : scenario.tier_ladders) {
    const auto& limits = scenario.bar.limits;
    const bool judged = std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) {
      return limit.tier.empty() || limit.tier == alone.name;
    });
    if (judged || limits.empty() || !checker.Clean({"ladders", "bar"})) continue;
    checker.Add("ladders", fmt::format("{} alone has no limit in the bar; write one for all calls, "
                                       "or e.g. bar: {{{}: {{ttft_p90: 5s}}}}",
                                       alone.name, alone.name));
  }
  const ReplaySpec& replay = scenario.replay;
  if (replay.output_mode != OutputMode::kRecorded && replay.output_divisor > 1) {
    checker.Add("replay.output_divisor",
                "divides recorded lengths, and replay.output asks for others; take one out");
  }
  if (replay.output_mode == OutputMode::kFixed && checker.Clean({"replay", "target.max_tokens"}) &&
      replay.output_tokens > scenario.target.max_tokens) {
    checker.Add("replay.output", fmt::format("asks for {} tokens, above target.max_tokens, {}",
                                             replay.output_tokens, scenario.target.max_tokens));
  }
}

void CheckFleet(const Scenario& scenario, Checker& checker) {
  const FleetSpec& fleet = scenario.fleet;
  checker.Positive("fleet.wait", fleet.wait, "60s");
  if (!checker.Clean({"fleet.listen"})) return;
  const std::optional<HostPort> listen = SplitHostPort(fleet.listen);
  if (!listen.has_value() || !IsPort(listen->port, true)) {
    checker.Add("fleet.listen", "is not HOST:PORT, write e.g. 127.0.0.1:7420");
    return;
  }
  // Without TLS nothing listens beyond this machine (design section 5).
  if (listen->host != "localhost" && listen->host != "::1" && !listen->host.starts_with("127.")) {
    checker.Add("fleet.listen",
                "is not on the loopback; this version has no TLS, so listen on 127.0.0.1 and let "
                "agents come through a tunnel");
  }
}

void CheckFailure(const FailurePolicy& failure, Checker& checker) {
  checker.Positive("failure.back_off_min", failure.back_off_min, "1s");
  for (const auto& [path, duration] :
       {std::pair{"failure.back_off_max", failure.back_off_max},
        std::pair{"failure.retry_after_max", failure.retry_after_max}}) {
    if (!checker.Clean({path}) || duration <= limits::kRetryAfterMax) continue;
    checker.Add(path, fmt::format("is {}, it must be at most {}", PrintDuration(duration),
                                  PrintDuration(limits::kRetryAfterMax)));
  }
  if (!checker.Clean({"failure.back_off_min", "failure.back_off_max"})) return;
  if (failure.back_off_max < failure.back_off_min) {
    checker.Add("failure.back_off_max", fmt::format("is {}, it must be at least back_off_min, {}",
                                                    PrintDuration(failure.back_off_max),
                                                    PrintDuration(failure.back_off_min)));
  }
}

}  // namespace

void CheckScenario(const Scenario& scenario, const ConfigNode& document, Problems& problems) {
  Checker checker(document, problems);
  CheckTarget(scenario.target, checker);
  CheckCorpusAndMix(scenario, checker);
  CheckSessions(scenario.sweep, checker);
  CheckTimes(scenario.sweep, checker);
  CheckLadders(scenario, checker);
  CheckBar(scenario.bar, checker);
  CheckFleet(scenario, checker);
  CheckFailure(scenario.replay.failure, checker);
  CheckTogether(scenario, checker);
}

}  // namespace plimsoll
