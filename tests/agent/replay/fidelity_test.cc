// How true a replay is to its session: pauses and what their cap removes, every setting of the
// failure policy, the context limit, and histories of the server's own answers.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "agent/replay/live_history.h"
#include "common/base/rng.h"
#include "common/chat/chat_body.h"
#include "common/json/json.h"
#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

using Answer = FixedTransport::Answer;

Session Chain(std::int32_t calls) {
  Session s;
  s.id = "chain";
  s.tier = Tier::kLight;
  s.streams = {{}};
  for (std::int32_t c = 0; c < calls; ++c) {
    s.calls.push_back(MakeCall(0, c - 1, c == 0 ? 0 : 3u + 2u * (static_cast<unsigned>(c) - 1),
                               200u + 128u * static_cast<unsigned>(c)));
  }
  return s;
}

FidelityCounts Sum(const StepTally& tally) {
  FidelityCounts sum;
  for (const LaneTally& lane : tally.lanes) sum.Add(lane.fidelity);
  return sum;
}

// Records whose call was first released in the measured time, first attempts only.
template <typename Each>
void ForMeasuredCalls(const Rig& rig, const Each& each) {
  for (const CallRecord& r : rig.sink.records) {
    const Duration at{r.first_released};
    if (r.attempt == 1 && at >= 10s && at < 70s) each(r);
  }
}

TEST(Fidelity, CountsThePausesOfTheMeasuredTimeAndWhatTheCapRemoved) {
  struct {
    const char* what;
    ThinkTime think;
    Duration cap;
    Duration kept;  // Of the 500 ms before each call.
  } const cases[] = {{"none", ThinkTime::kNone, 60s, 0s},
                     {"capped", ThinkTime::kRecorded, 200ms, 200ms},
                     {"whole", ThinkTime::kRecorded, 60s, 500ms}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    RunPlan plan;
    plan.think_time = c.think;
    plan.think_time_cap = c.cap;
    Rig rig(3, plan, {Tree()});
    rig.StartStep();
    rig.RunToClose();
    std::uint64_t pauses = 0;
    ForMeasuredCalls(rig, [&](const CallRecord& r) {
      // The first call of a play waits for none.
      pauses += r.call > 0 && r.play > 0 ? 1 : 0;
    });
    ASSERT_GT(pauses, 20u);
    const FidelityCounts counts = Sum(*rig.tally);
    EXPECT_EQ(counts.pauses, pauses);
    EXPECT_EQ(counts.pause_recorded_ns,
              static_cast<std::int64_t>(pauses) * Duration(500ms).count());
    EXPECT_EQ(counts.pause_removed_ns,
              static_cast<std::int64_t>(pauses) * Duration(500ms - c.kept).count());
    ExpectConserved(*rig.tally, Duration(60s).count());
  }
}

TEST(Fidelity, OnlyTheOutcomesOfThePolicyAreTriedAgainAndOnlySomeEndThePlay) {
  for (const bool retried : {false, true}) {
    for (const bool ends : {false, true}) {
      SCOPED_TRACE(testing::Message() << "retried " << retried << ", ends the play " << ends);
      RunPlan plan;
      plan.failure.attempts_max = 2;
      plan.failure.retry = retried ? OutcomeSet{Outcome::kHttpError} : OutcomeSet{};
      plan.failure.end_play = ends ? OutcomeSet{Outcome::kHttpError} : OutcomeSet{};
      Rig rig(1, plan, {Chain(6)});
      rig.transport.answer = [&](std::size_t n) {
        const bool bad = rig.transport.sent[n].prompt.tokens == 200u + 128u * 2;  // Call 2.
        return Answer{.outcome = bad ? Outcome::kHttpError : Outcome::kOk, .service = 500ms};
      };
      rig.StartStep();
      rig.RunToClose();
      std::map<std::uint32_t, int> attempts;
      int later = 0;
      StepNanos failed_end = 0;
      for (const CallRecord& r : rig.sink.records) {
        if (r.play != 1) continue;
        ++attempts[r.call];
        if (r.call == 2) failed_end = r.end;
        later += r.call > 2 ? 1 : 0;
        if (r.call == 3) {
          EXPECT_GE(r.released, failed_end + Duration(1s).count()) << "silent";
        }
      }
      EXPECT_EQ(attempts[2], retried ? 2 : 1);
      EXPECT_EQ(later, ends ? 0 : 3);
      EXPECT_EQ(!rig.tally->lanes[0].failed_plays.empty(), ends);
      ExpectConserved(*rig.tally, Duration(60s).count());
    }
  }
}

TEST(Fidelity, ASilentStreamLetsTheOthersOfItsLaneGoOn) {
  for (const Silence silence : {Silence::kLane, Silence::kStream}) {
    RunPlan plan;
    plan.failure.silence = silence;
    Rig rig(1, plan, {Tree()});
    // Call 1 (a subagent's) is refused for 5 s; calls 2 and 3 (another's) would come meanwhile.
    std::set<std::uint64_t> refused;
    rig.transport.answer = [&](std::size_t n) {
      const auto& sent = rig.transport.sent[n];
      const bool first_of_1 =
          sent.prompt.tokens == 100 && refused.insert(sent.parent_play_id).second;
      return Answer{.outcome = first_of_1 ? Outcome::kRefused : Outcome::kOk, .retry_after = 5s};
    };
    rig.StartStep();
    rig.RunToClose();
    StepNanos refusal_end = 0;
    std::size_t within = 0;
    for (const CallRecord& r : rig.sink.records) {
      if (r.play != 1) continue;
      if (r.outcome == Outcome::kRefused) refusal_end = r.end;
    }
    ASSERT_GT(refusal_end, 0);
    for (const CallRecord& r : rig.sink.records) {
      const StepNanos after = r.released - refusal_end;
      if (r.play == 1 && after >= 0 && after < Duration(5s).count()) ++within;
    }
    if (silence == Silence::kLane) {
      EXPECT_EQ(within, 0u);
    } else {
      EXPECT_GT(within, 0u);
    }
    ExpectConserved(*rig.tally, Duration(60s).count());
  }
}

TEST(Fidelity, APlayThatOurOwnFaultEndsIsNotBookedAsTheServers) {
  for (const Outcome outcome : {Outcome::kClientError, Outcome::kHttpError}) {
    Rig rig(1, RunPlan{}, {Chain(6)});
    bool bad = false;
    rig.transport.answer = [&](std::size_t) {
      return Answer{.outcome = bad ? outcome : Outcome::kOk};
    };
    rig.StartStep();
    rig.scheduler.RunUntil(rig.start + 30s);
    bad = true;
    rig.scheduler.Advance(12s);
    bad = false;
    rig.RunToClose();
    const LaneTally& lane = rig.tally->lanes[0];
    EXPECT_GT(lane.plays.calls_remaining, 0u);
    EXPECT_EQ(lane.failed_plays.empty(), outcome == Outcome::kClientError);
    ExpectConserved(*rig.tally, Duration(60s).count());
  }
}

TEST(Fidelity, WhatTheContextLimitLeavesOutIsNeverSentAndTheRestIsPlayedInOrder) {
  for (const OverLimit policy : {OverLimit::kSkipCalls, OverLimit::kEndSession}) {
    RunPlan plan;
    // Calls 2 (100), 3 (150), 5 (300) and 6 (400) of the tree are the longer ones, each + 20.
    plan.context_limit = {320, policy};
    Rig rig(2, plan, {Tree(), Chain(4)});
    rig.StartStep();
    rig.RunToClose();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> plays;
    ForMeasuredCalls(rig, [&](const CallRecord& r) {
      EXPECT_LE(r.tokens_planned + 20, 320u);
      plays[{r.lane, r.play}].insert(r.call + 100 * r.session);
    });
    bool whole = false;
    for (const auto& [key, calls] : plays) {
      whole |= calls == std::set<std::uint32_t>{0, 1, 2, 3, 4, 5};
    }
    EXPECT_TRUE(whole) << "the tree without its call 6";
    for (const LaneTally& lane : rig.tally->lanes) {
      // Every play has six calls or one.
      EXPECT_EQ((lane.plays.calls_total - lane.plays.plays) % 5, 0u);
      EXPECT_LE(lane.plays.calls_total, 6 * lane.plays.plays);
    }
    ExpectConserved(*rig.tally, Duration(60s).count());
  }
}

// --- Live history.

std::string BodyOf(const FixedTransport::Sent& sent) {
  std::vector<LiveMessage> live;
  for (const auto& [message, json] : sent.live) live.push_back({message, json});
  ChatBody body(sent.prompt, {.model = "m", .max_tokens = sent.max_tokens, .live = live});
  std::string bytes(body.size(), '\0');
  std::size_t at = 0;
  while (const std::size_t n = body.Read(bytes.data() + at, 313)) at += n;
  EXPECT_EQ(at, bytes.size()) << "the length that was announced";
  return bytes;
}

// Text that needs every kind of escape, and is a function of the call alone.
std::string AnswerText(const FixedTransport::Sent& sent) {
  return fmt::format("answer \"{:016x}\"\n\tpath C:\\x\x01 é \U0001F600 end", sent.call_key);
}

RunPlan Live() {
  RunPlan plan;
  plan.history = History::kLive;
  return plan;
}

TEST(LiveHistory, PromptsHoldTheServersOwnAnswersAndOnlyGrow) {
  Rig rig(3, Live(), {Chain(6), Tree()});
  rig.transport.content = AnswerText;
  rig.StartStep();
  rig.RunToClose();
  std::map<std::uint64_t, nlohmann::json> last;  // By stream.
  std::map<std::uint64_t, std::string> answered;
  std::size_t grown = 0;
  for (std::size_t i = rig.primers_wanted; i < rig.transport.sent.size(); ++i) {
    const auto& sent = rig.transport.sent[i];
    const std::string body = BodyOf(sent);
    const auto json = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
    ASSERT_FALSE(json.is_discarded()) << body;
    EXPECT_EQ(body, BodyOf(sent)) << "the same bytes for the same answers";
    const nlohmann::json& messages = json["messages"];
    const auto before = last.find(sent.play_id);
    if (before != last.end()) {
      ASSERT_GE(messages.size(), before->second.size() + 1);
      for (std::size_t m = 0; m < before->second.size(); ++m) {
        ASSERT_EQ(messages[m], before->second[m]) << "append-only, message " << m;
      }
      const nlohmann::json& turn = messages[before->second.size()];
      EXPECT_EQ(turn["role"], "assistant");
      EXPECT_EQ(turn["content"], answered[sent.play_id]);
      ++grown;
    }
    last[sent.play_id] = messages;
    answered[sent.play_id] = AnswerText(sent);
    // Every answer has as many tokens as were asked for, so the plan is the recorded length.
    EXPECT_EQ(sent.planned_tokens, sent.prompt.tokens);
  }
  EXPECT_GT(grown, 50u);
  const FidelityCounts counts = Sum(*rig.tally);
  EXPECT_GT(counts.turns_live, 50u);
  EXPECT_GT(counts.answers_kept, 50u);
  EXPECT_EQ(counts.answers_over_limit + counts.answers_without_content, 0u);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(LiveHistory, RecordedHistoryAsksForNoContentAndSendsNone) {
  Rig rig(1, RunPlan{}, {Chain(6)});
  rig.transport.content = AnswerText;
  rig.StartStep();
  rig.RunToClose();
  for (const auto& sent : rig.transport.sent) {
    EXPECT_TRUE(sent.live.empty());
    EXPECT_EQ(sent.content_bytes_max, 0u);
  }
  EXPECT_EQ(Sum(*rig.tally),
            (FidelityCounts{.pauses = Sum(*rig.tally).pauses,
                            .pause_recorded_ns = Sum(*rig.tally).pause_recorded_ns,
                            .pause_removed_ns = Sum(*rig.tally).pause_removed_ns}));
}

TEST(LiveHistory, AnotherAttemptSendsTheSameBytes) {
  Rig rig(1, Live(), {Tree()});
  rig.transport.content = AnswerText;
  rig.transport.answer = [&](std::size_t n) {
    const bool first = rig.transport.sent[n].prompt.tokens == 400 && n % 3 != 0;
    return Answer{.outcome = first ? Outcome::kRefused : Outcome::kOk};
  };
  rig.StartStep();
  rig.RunToClose();
  std::map<std::uint64_t, std::string> first;
  std::size_t again = 0;
  for (std::size_t i = rig.primers_wanted; i < rig.transport.sent.size(); ++i) {
    const auto& sent = rig.transport.sent[i];
    if (sent.prompt.tokens != 400) continue;
    const auto [it, added] = first.emplace(sent.play_id, BodyOf(sent));
    if (added) continue;
    EXPECT_EQ(BodyOf(sent), it->second);
    ++again;
  }
  EXPECT_GT(again, 0u);
}

CallResult Said(std::string text, std::uint32_t tokens) {
  CallResult result;
  result.content = std::move(text);
  result.content_tokens = tokens;
  return result;
}

TEST(LiveHistory, PastItsLimitItFallsBackCountsAndStaysSo) {
  LiveHistory history(10);
  FidelityCounts counts;
  history.Keep(0, Said("12345678", 3), &counts);
  history.Keep(1, Said("abc", 3), &counts);  // 11 in all.
  history.Keep(2, Said("\n", 3), &counts);   // Six bytes as JSON.
  history.Keep(3, Said("de", 1), &counts);
  history.Keep(4, Said("", 0), &counts);
  CallResult cut = Said("", 9);
  cut.content_too_long = true;
  history.Keep(5, cut, &counts);
  EXPECT_EQ(history.room(), 0u);
  EXPECT_EQ(counts, (FidelityCounts{
                        .answers_kept = 2, .answers_over_limit = 3, .answers_without_content = 1}));
  Prompt prompt;
  prompt.tokens = 100;
  prompt.messages = {{Role::kUser, 0, 10},  {Role::kAssistant, 10, 30},
                     {Role::kUser, 30, 40}, {Role::kAssistant, 40, 60},
                     {Role::kUser, 60, 70}, {Role::kAssistant, 70, 80},
                     {Role::kUser, 80, 100}};
  const std::vector<AnswerRange> answers = {{1, 0, 20}, {3, 1, 20}, {5, 3, 20}};
  std::vector<LiveMessage> live;
  // 20 recorded tokens became 3; half of 1 is 0 where 10 of 20 were kept.
  EXPECT_EQ(history.Fill(prompt, answers, &live), 100u - 20 + 3 - 10 + 0);
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].message, 1u);
  EXPECT_EQ(live[0].json, "12345678");
  EXPECT_EQ(live[1].message, 5u);
  EXPECT_EQ(live[1].json, "d") << "cut as the recorded client cut it";
  history.Clear();
  EXPECT_EQ(history.room(), 10u);
  EXPECT_EQ(history.Fill(prompt, answers, &live), 100u);
  EXPECT_TRUE(live.empty());
}

TEST(LiveHistory, CutsBetweenCharactersAndEscapes) {
  Rng rng(11);
  const std::vector<std::string> pieces = {"a", "\\\\", "\\\"", "\\u0001", "é", "\U0001F600", "€"};
  for (int n = 0; n < 200; ++n) {
    std::string json;
    while (json.size() < 40) json += pieces[rng.Below(pieces.size())];
    for (std::size_t bytes = 0; bytes <= json.size() + 1; ++bytes) {
      const std::string_view cut = CutJson(json, bytes);
      ASSERT_LE(cut.size(), bytes);
      ASSERT_TRUE(json.starts_with(cut));
      ASSERT_GT(cut.size() + 6, std::min(bytes, json.size()));
      const auto parsed = nlohmann::json::parse("\"" + std::string(cut) + "\"", nullptr, false);
      ASSERT_FALSE(parsed.is_discarded()) << json << " at " << bytes;
    }
  }
}

}  // namespace
}  // namespace plimsoll
