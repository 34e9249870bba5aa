// Whole runs in virtual time in each mode of the replay: think time, failure policies, context
// limits with and without a server that has one, live history. Identities hold in all of them.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "common/base/rng.h"
#include "common/plan/context_limit.h"
#include "gtest/gtest.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

// A run of one step.
SimOptions OneStep() {
  SimOptions options = SmallRun();
  options.settings.sessions = {8};
  return options;
}

FidelityCounts Sum(const StepSummary& step) {
  FidelityCounts sum;
  for (const TierReplay& tier : step.replay.tiers) sum.Add(tier.fidelity);
  return sum;
}

// A limit that half of the heavy sessions meet: with one of their calls, or with their first.
std::uint32_t HalfMeet(const RunPlan& plan, bool first_call) {
  std::vector<std::uint64_t> all;
  for (const Session& session : ScaledCorpus()->sessions) {
    if (session.tier != Tier::kHeavy) continue;
    std::uint64_t most = 0;
    for (const Call& call : session.calls) {
      if (!first_call || &call == &session.calls.front()) {
        most = std::max(most, ContextTokens(plan, call));
      }
    }
    all.push_back(most);
  }
  std::sort(all.begin(), all.end());
  return static_cast<std::uint32_t>(all[all.size() / 2] - 1);
}

TEST(ReplaySim, ThinkTimeIsOfferedLoadAndItsCapIsCounted) {
  struct {
    ThinkTime think;
    Duration cap;
  } const cases[] = {{ThinkTime::kNone, 60s}, {ThinkTime::kRecorded, 3s}};
  for (const auto& c : cases) {
    SimOptions options = OneStep();
    options.plan.think_time = c.think;
    options.plan.think_time_cap = c.cap;
    FleetSim sim(options);
    const RunResult result = sim.Run();
    ASSERT_EQ(result.steps.size(), 1u) << result.reason;
    ExpectIdentities(result);
    const StepSummary& step = result.steps[0].summary;
    EXPECT_FALSE(step.verdict.is_void) << "pauses that the plan wants are no idling";
    EXPECT_GT(step.verdict.sent_share, 0.99);
    EXPECT_EQ(step.replay.think_time, c.think);
    ASSERT_EQ(step.replay.tiers.size(), 2u);
    for (const TierReplay& tier : step.replay.tiers) {
      const FidelityCounts& f = tier.fidelity;
      EXPECT_GT(f.pauses, 0u) << tier.name;
      EXPECT_GT(f.pause_removed_ns, 0) << tier.name;
      // No pause is longer than the cap, and without think time there is none.
      const std::int64_t kept = f.pause_recorded_ns - f.pause_removed_ns;
      const Duration most = c.think == ThinkTime::kNone ? Duration{0} : c.cap;
      EXPECT_LE(kept, static_cast<std::int64_t>(f.pauses) * most.count()) << tier.name;
      EXPECT_EQ(kept > 0, c.think == ThinkTime::kRecorded) << tier.name;
    }
  }
}

TEST(ReplaySim, AContextLimitMetMidSweepFailsTheStepOnErrors) {
  SimOptions options = SmallRun();
  options.settings.target = 6;
  options.target.context_limit = HalfMeet(options.plan, /*first_call=*/true) / 2;
  options.target.context_from = MonoTime{} + 110s;  // Within the second step.
  options.clock_spread = 0s;                        // The transport reads its agent's clock.
  FleetSim sim(options);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << result.reason;
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kPass);
  const StepSummary& step = result.steps[1].summary;
  EXPECT_EQ(step.verdict.verdict, Verdict::kFail);
  EXPECT_EQ(Part(step, Metric::kErrors).verdict, Verdict::kFail);
  EXPECT_GT(step.errors.outcomes[static_cast<std::size_t>(Outcome::kContextOverflow)], 0u);
  EXPECT_GT(step.errors.unsent, 0u) << "what the ended plays would have sent";
  if (step.verdict.sent_share < 0.95) {
    EXPECT_EQ(Part(step, Metric::kTtft).verdict, Verdict::kNoData);
  }
  ExpectIdentities(result);
}

class ContextPolicy : public ::testing::TestWithParam<OverLimit> {};

TEST_P(ContextPolicy, MeetsTheServersLimitOnlyWhereItSendsCallsOverIt) {
  SimOptions options = OneStep();
  options.plan.context_limit = {HalfMeet(options.plan, GetParam() == OverLimit::kDropLongStarts),
                                GetParam()};
  options.target.context_limit = options.plan.context_limit.tokens;
  FleetSim sim(options);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 1u) << result.reason;
  ExpectIdentities(result);
  const StepSummary& step = result.steps[0].summary;
  EXPECT_FALSE(step.verdict.is_void)
      << (step.verdict.reasons.empty() ? "" : step.verdict.reasons[0]);
  std::uint64_t over = 0;
  std::uint64_t left_out = 0;
  std::uint64_t over_sent = 0;
  for (const TierReplay& tier : step.replay.tiers) {
    left_out += tier.context.calls_left_out;
    over_sent += tier.context.calls_over;
  }
  const Corpus& corpus = *ScaledCorpus();
  std::set<std::pair<std::uint32_t, std::uint32_t>> sent;
  for (const CallRecord& r : sim.records()) {
    const Call& call = corpus.sessions[r.session].calls[r.call];
    over += ContextTokens(options.plan, call) > options.plan.context_limit.tokens ? 1 : 0;
    EXPECT_TRUE(ContextFilter(options.plan, corpus).Plays(r.session, r.call) ||
                !sent.insert({r.session, r.call}).second)
        << "left out, and sent: " << r.session << " " << r.call;
  }
  const std::uint64_t overflows =
      step.errors.outcomes[static_cast<std::size_t>(Outcome::kContextOverflow)];
  const bool sends = GetParam() == OverLimit::kSend || GetParam() == OverLimit::kDropLongStarts;
  EXPECT_EQ(over > 0, sends);
  EXPECT_EQ(over_sent > 0, sends);
  EXPECT_EQ(overflows > 0, sends);
  EXPECT_EQ(left_out > 0, GetParam() != OverLimit::kSend);
  // A few overflows may be too few to fail on; they are never a pass.
  EXPECT_EQ(step.verdict.verdict == Verdict::kPass, !sends);
}

INSTANTIATE_TEST_SUITE_P(Policies, ContextPolicy,
                         ::testing::Values(OverLimit::kSend, OverLimit::kSkipCalls,
                                           OverLimit::kEndSession, OverLimit::kDropSessions,
                                           OverLimit::kDropLongStarts),
                         [](const auto& p) { return std::string(Name(p.param)); });

TEST(ReplaySim, LiveHistoryIsAnsweredCountedAndConserved) {
  SimOptions options = OneStep();
  options.plan.history = History::kLive;
  std::size_t live = 0;
  options.target.on_start = [&live](MonoTime, const CallRequest& request) {
    live += request.live.size();
    for (const LiveMessage& m : request.live) {
      EXPECT_EQ(request.prompt->messages.at(m.message).role, Role::kAssistant);
      EXPECT_TRUE(m.json.find("word ") != m.json.npos || m.json.size() < 12) << m.json;
    }
  };
  FleetSim sim(options);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 1u) << result.reason;
  EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
  ExpectIdentities(result);
  const StepSummary& step = result.steps[0].summary;
  const FidelityCounts counts = Sum(step);
  EXPECT_GT(live, 100u);
  EXPECT_GT(counts.turns_live, 100u);
  EXPECT_LE(counts.turns_live, live);
  // Plays that start inside their sessions have a past that no server answered.
  EXPECT_GT(counts.turns_recorded, 0u);
  EXPECT_EQ(counts.answers_kept, step.errors.ok);
  for (const CallRecord& r : sim.records()) {
    if (r.outcome == Outcome::kOk) {
      EXPECT_EQ(r.tokens_in, r.tokens_planned);
    }
  }
}

TEST(ReplaySim, FaultsUnderEveryFailurePolicyConserve) {
  struct {
    const char* what;
    void (*set)(FailurePolicy*);
  } const cases[] = {
      {"one attempt", [](FailurePolicy* p) { p->attempts_max = 1; }},
      {"streams are silent", [](FailurePolicy* p) { p->silence = Silence::kStream; }},
      {"nothing ends a play", [](FailurePolicy* p) { p->end_play = {}; }},
      {"nothing is tried again", [](FailurePolicy* p) { p->retry = {}; }},
      {"go on, by stream",
       [](FailurePolicy* p) {
         p->end_play = {};
         p->retry = {Outcome::kRefused};
         p->silence = Silence::kStream;
       }},
      {"retry after ignored", [](FailurePolicy* p) { p->honour_retry_after = false; }}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    SimOptions options = OneStep();
    c.set(&options.plan.failure);
    Rng rng(23);
    const Outcome outcomes[] = {Outcome::kRefused, Outcome::kHttpError, Outcome::kTruncated,
                                Outcome::kContextOverflow};
    options.target.fault = [&](MonoTime) -> std::optional<EngineTransportOptions::Fault> {
      if (!rng.Chance(0.2)) return std::nullopt;
      return EngineTransportOptions::Fault{.outcome = outcomes[rng.Below(4)], .retry_after = 4s};
    };
    FleetSim sim(options);
    const RunResult result = sim.Run();
    ASSERT_EQ(result.steps.size(), 1u)
        << result.reason << "; "
        << fmt::format("{}", fmt::join(result.steps[0].summary.verdict.reasons, "; "));
    ExpectIdentities(result);
    const StepSummary& step = result.steps[0].summary;
    EXPECT_FALSE(step.verdict.is_void);
    EXPECT_EQ(Part(step, Metric::kErrors).verdict, Verdict::kFail);
    std::set<std::uint8_t> attempts;
    for (const CallRecord& r : sim.records()) attempts.insert(r.attempt);
    const bool once =
        options.plan.failure.attempts_max == 1 || options.plan.failure.retry == OutcomeSet{};
    EXPECT_EQ(attempts.size() == 1, once);
    if (options.plan.failure.end_play == OutcomeSet{}) {
      EXPECT_EQ(step.errors.unsent, 0u);
    }
  }
}

TEST(ReplaySim, ClientErrorsVoidTheStepAndAreNoErrorsOfTheServer) {
  SimOptions options = OneStep();
  const MonoTime from = MonoTime{} + 45s;
  options.clock_spread = 0s;
  options.target.fault = [from](MonoTime now) -> std::optional<EngineTransportOptions::Fault> {
    if (now < from) return std::nullopt;
    return EngineTransportOptions::Fault{.outcome = Outcome::kClientError, .status = 0};
  };
  FleetSim sim(options);
  const RunResult result = sim.Run();
  ASSERT_GE(result.steps.size(), 1u) << result.reason;
  ExpectIdentities(result);
  const StepSummary& step = result.steps[0].summary;
  EXPECT_TRUE(step.verdict.is_void);
  EXPECT_GT(step.errors.client_errors, 0u);
  EXPECT_EQ(step.errors.failed, 0u);
  EXPECT_EQ(step.errors.unsent, 0u);
}

}  // namespace
}  // namespace plimsoll
