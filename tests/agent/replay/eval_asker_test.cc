// Evals beside the load and before it: how many, which, how they are judged; and that the load is
// what it is without them.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kCases = 12;

std::string Set(std::uint32_t cases = kCases) {
  std::string text;
  for (std::uint32_t i = 0; i < cases; ++i) {
    text += fmt::format(
        R"({{"id":"case-{}","kind":"sum","prompt":"What is {} + 1?","expect":{{"number":{}}},)"
        R"("reference":"{}","wrong":["{}"]}})"
        "\n",
        i, i, i + 1, i + 1, i);
  }
  return text;
}

RunPlan PlanWith(double share, std::uint32_t repeats = 1) {
  RunPlan plan;
  plan.evals =
      EvalPlan{.set_text = Set(), .share = share, .repeats = repeats, .deadline = Duration(20s)};
  return plan;
}

StepPlan LongStep(const Rig& rig) {
  StepPlan plan = rig.Plan(0);
  plan.measure = 1200s;
  return plan;
}

std::uint64_t MeasuredEvals(const Rig& rig) {
  return static_cast<std::uint64_t>(std::count_if(
      rig.sink.evals.begin(), rig.sink.evals.end(),
      [](const EvalRecord& e) { return e.block != kWarmUpBlock && e.block != kCoolDownBlock; }));
}

TEST(EvalTrickleBesideLoad, TheShareIsKeptAndTheTallySaysSo) {
  Rig rig(6, PlanWith(0.1), {Tree()});
  rig.StartPlan(LongStep(rig));
  rig.RunToClose();
  const double evals = static_cast<double>(rig.tally->evals_asked);
  // The calls' first attempts; none fails here, so each is one attempt.
  const double calls = static_cast<double>(rig.tally->attempts_released);
  ASSERT_GT(calls, 3000);
  EXPECT_NEAR(evals / (evals + calls), 0.1, 0.01);
  EXPECT_EQ(rig.tally->evals.passed(), rig.tally->evals_asked);
  EXPECT_EQ(MeasuredEvals(rig), rig.tally->evals_asked);
  // Each case about as often as another.
  std::map<std::string, int> by_case;
  for (const EvalAnswers::Sent& sent : rig.transport.evals.sent) ++by_case[sent.id];
  EXPECT_EQ(by_case.size(), kCases);
  for (const auto& [id, n] : by_case) EXPECT_NEAR(n, evals / kCases, evals / kCases * 0.25) << id;
  // Every one is a request of its own, at an instant of its own.
  std::set<std::uint64_t> keys;
  for (const EvalAnswers::Sent& sent : rig.transport.evals.sent) {
    EXPECT_TRUE(keys.insert(sent.call_key).second);
    EXPECT_EQ(sent.deadline, Duration(20s));
    EXPECT_EQ(sent.at, sent.released);
  }
}

TEST(EvalTrickleBesideLoad, TheLoadIsTheSameToTheByteWithAndWithoutThem) {
  const auto play = [](Rig& rig) {
    rig.StartStep(0);
    rig.RunToClose();
  };
  // Slow ones, so that a lane which waited for one would show.
  Rig with(8, PlanWith(0.2), {Tree()});
  with.transport.evals.service = 7s;
  play(with);
  Rig without(8, ThinkTime::kNone, {Tree()});
  play(without);
  ASSERT_GT(with.tally->evals_asked, 40u);
  EXPECT_EQ(without.tally->evals_asked, 0u);
  EXPECT_EQ(with.transport.evals.in_flight_max, 8u) << "one a lane, all at work at once";
  // Whatever was asked for evals only can come after the step's own end.
  ASSERT_GE(with.transport.sent.size(), without.transport.sent.size());
  for (std::size_t i = 0; i < without.transport.sent.size(); ++i) {
    const FixedTransport::Sent& a = with.transport.sent[i];
    const FixedTransport::Sent& b = without.transport.sent[i];
    ASSERT_EQ(std::tie(a.at, a.released, a.play_id, a.max_tokens, a.call_key, a.planned_tokens),
              std::tie(b.at, b.released, b.play_id, b.max_tokens, b.call_key, b.planned_tokens))
        << i;
  }
  const auto measured = [](const Rig& rig) {
    std::vector<CallRecord> records;
    for (const CallRecord& r : rig.sink.records) {
      if (r.block != kCoolDownBlock) records.push_back(r);
    }
    return records;
  };
  EXPECT_EQ(measured(with), measured(without));
  StepTally bare = *with.tally;
  bare.evals_asked = 0;
  bare.evals = {};
  EXPECT_EQ(bare, *without.tally) << "lane states, requests in flight, lateness and all";
}

TEST(EvalTrickleBesideLoad, WrongRefusedAndEmptyAnswersAreToldApartAndNeverTriedAgain) {
  Rig rig(4, PlanWith(0.2), {Tree()});
  rig.transport.evals.answer = [](const EvalCase& eval, MonoTime, std::size_t n) {
    if (n % 4 == 0) return RightAnswer(eval);
    if (n % 4 == 1) return WrongAnswer(eval);
    if (n % 4 == 2) return Refusal();
    return CallResult{.outcome = Outcome::kEmpty, .http_status = 200};
  };
  rig.StartPlan(LongStep(rig));
  rig.RunToClose();
  const EvalCounts& counts = rig.tally->evals;
  const std::uint64_t asked = rig.tally->evals_asked;
  ASSERT_GT(asked, 400u);
  for (const EvalOutcome outcome :
       {EvalOutcome::kPass, EvalOutcome::kWrong, EvalOutcome::kUnanswered, EvalOutcome::kEmpty}) {
    EXPECT_NEAR(static_cast<double>(counts.of(outcome)), static_cast<double>(asked) / 4, 6);
  }
  EXPECT_EQ(counts.judged() + counts.of(EvalOutcome::kUnanswered), asked);
  for (const EvalRecord& r : rig.sink.evals) {
    if (r.outcome == EvalOutcome::kUnanswered) {
      EXPECT_EQ(r.call, Outcome::kRefused);
      EXPECT_EQ(r.http_status, 429);
    }
    EXPECT_EQ(r.end - r.released, Duration(300ms).count());
  }
  // The load neither failed nor backed off.
  ExpectConserved(*rig.tally, LongStep(rig).measure.count());
  for (const LaneTally& lane : rig.tally->lanes) {
    EXPECT_EQ(lane.state_ns[static_cast<std::size_t>(LaneState::kRefused)], 0);
  }
  EXPECT_EQ(rig.tally->outcomes[static_cast<std::size_t>(Outcome::kOk)],
            rig.tally->attempts_released);
}

TEST(EvalTrickleBesideLoad, ALaneHasOneInFlightAndTheStepWaitsForItToTheDrainLimit) {
  Rig rig(3, PlanWith(0.2), {Tree()});
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 11s);
  rig.transport.evals.service = 1000s;  // From the measured time on none ends by itself.
  rig.RunToClose();
  EXPECT_EQ(rig.transport.evals.in_flight_max, 3u);
  EXPECT_EQ(rig.scheduler.Now() - rig.start, Duration(10s + 60s + 30s)) << "the drain limit";
  EXPECT_EQ(rig.tally->evals.of(EvalOutcome::kUnanswered), 3u);
  std::size_t cut = 0;
  for (const EvalRecord& r : rig.sink.evals) cut += r.call == Outcome::kCut ? 1 : 0;
  EXPECT_EQ(cut, 3u);
  EXPECT_EQ(rig.tally->outcomes[static_cast<std::size_t>(Outcome::kCut)], 0u) << "no call's";
}

TEST(EvalTrickleBesideLoad, ADeadManAsksNothingAndAStopHangsUp) {
  Rig rig(4, PlanWith(0.2), {Tree()});
  rig.transport.evals.service = 2s;
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 20s);
  rig.replayer->Pause();
  rig.scheduler.RunUntil(rig.start + 24s);  // What was on its way ends.
  const std::size_t before = rig.transport.evals.sent.size();
  rig.scheduler.RunUntil(rig.start + 40s);
  EXPECT_EQ(rig.transport.evals.sent.size(), before);
  rig.replayer->Resume();
  rig.scheduler.RunUntil(rig.start + 50s);
  EXPECT_GT(rig.transport.evals.sent.size(), before);
  bool stopped = false;
  rig.replayer->Stop(30s, [&] { stopped = true; });
  EXPECT_EQ(rig.transport.evals.in_flight, 0u) << "at once: they are no load";
  const std::size_t at_stop = rig.transport.evals.sent.size();
  rig.scheduler.RunUntil(rig.start + 200s);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(rig.transport.evals.sent.size(), at_stop);
  EXPECT_EQ(rig.sink.evals.size(), at_stop) << "each has its record";
}

TEST(EvalTrickleBesideLoad, ALaneThatIsMadeAgainAsksOtherCasesFirst) {
  const auto first_cases = [](std::uint32_t first_play) {
    Rig rig(1, PlanWith(0.2), {Tree()});
    rig.specs[0].first_play = first_play;
    rig.StartStep();
    rig.RunToClose();
    std::vector<std::string> ids;
    for (const auto& sent : rig.transport.evals.sent) ids.push_back(sent.id);
    return ids;
  };
  const auto fresh = first_cases(0);
  const auto again = first_cases(1u << 20);
  ASSERT_GE(fresh.size(), 3u);
  EXPECT_NE(fresh, again);
}

// The mini run.

struct Asked {
  EvalAsker::MiniRunResult result;
  bool done = false;
};

void Ask(Rig& rig, const EvalAsker::MiniRunPart& part, Asked* asked) {
  rig.asker->AskMiniRun(part, [asked](const EvalAsker::MiniRunResult& result) {
    EXPECT_FALSE(asked->done);
    asked->result = result;
    asked->done = true;
  });
  EXPECT_FALSE(asked->done) << "never from inside";
}

TEST(MiniRunOfEvals, PartsTogetherAskEachCaseAsOftenAsTold) {
  std::map<std::string, int> by_case;
  for (const std::uint32_t part : {0u, 1u, 2u}) {
    Rig rig(1, PlanWith(0.1, /*repeats=*/3), {Tree()});
    Asked asked;
    Ask(rig, {.part = part, .parts = 3, .at_once = 2, .limit = 60s}, &asked);
    rig.scheduler.RunUntil(rig.scheduler.Now() + 60s);
    ASSERT_TRUE(asked.done);
    EXPECT_EQ(asked.result.asked, kCases);
    EXPECT_EQ(asked.result.left, 0u);
    EXPECT_EQ(rig.transport.evals.in_flight_max, 2u);
    EXPECT_EQ(rig.sink.evals.size(), kCases);
    for (const auto& sent : rig.transport.evals.sent) ++by_case[sent.id];
    for (const EvalRecord& r : rig.sink.evals) {
      EXPECT_EQ(r.step, kEvalMiniRun);
      EXPECT_EQ(r.outcome, EvalOutcome::kPass);
      EXPECT_GE(r.released, 0);
    }
    EXPECT_TRUE(rig.sink.records.empty());
  }
  EXPECT_EQ(by_case.size(), kCases);
  for (const auto& [id, n] : by_case) EXPECT_EQ(n, 3) << id;
}

TEST(MiniRunOfEvals, ItsLimitCutsWhatIsOpenAndSaysWhatWasLeft) {
  Rig rig(1, PlanWith(0.1), {Tree()});
  rig.transport.evals.service = 4s;
  Asked asked;
  Ask(rig, {.at_once = 2, .limit = 10s}, &asked);
  rig.scheduler.RunUntil(rig.scheduler.Now() + 60s);
  ASSERT_TRUE(asked.done);
  EXPECT_EQ(asked.result.asked, 6u) << "two at 0 s, at 4 s and at 8 s";
  EXPECT_EQ(asked.result.left, kCases - 6);
  std::size_t cut = 0;
  for (const EvalRecord& r : rig.sink.evals) cut += r.call == Outcome::kCut ? 1 : 0;
  EXPECT_EQ(cut, 2u);
  EXPECT_EQ(rig.sink.evals.size(), 6u);
  EXPECT_EQ(rig.transport.evals.in_flight, 0u);
}

TEST(MiniRunOfEvals, AStopEndsItSilently) {
  Rig rig(1, PlanWith(0.1), {Tree()});
  Asked asked;
  Ask(rig, {.at_once = 4, .limit = 60s}, &asked);
  rig.scheduler.RunUntil(rig.scheduler.Now() + 100ms);
  bool stopped = false;
  rig.replayer->Stop(Duration{0}, [&] { stopped = true; });
  rig.scheduler.RunUntil(rig.scheduler.Now() + 120s);
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(asked.done);
  EXPECT_EQ(rig.transport.evals.sent.size(), 4u);
  EXPECT_EQ(rig.sink.evals.size(), 4u);
}

}  // namespace
}  // namespace plimsoll
