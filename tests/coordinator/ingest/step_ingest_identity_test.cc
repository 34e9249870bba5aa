// The identities of a step: they hold on a whole one, and each shows when it is broken on purpose.
#include <algorithm>

#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

struct Whole {
  Whole() {
    records = {OkCall(12), OkCall(14, 1), FailedCall(16, Outcome::kRefused)};
    CallRecord early = OkCall(5, 2);
    early.lane = 1;
    early.tier = 1;
    early.play = 6;
    records.push_back(early);
    tally.step = 3;
    tally.attempts_released = 3;
    tally.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 2;
    tally.outcomes[static_cast<std::size_t>(Outcome::kRefused)] = 1;
    tally.in_flight_request_ns = Sec(90);
    tally.lanes = {
        {.lane = 0,
         .tier = 0,
         .state_ns = {Sec(50), 0, Sec(10)},
         .plays = {.plays = 1,
                   .calls_total = 10,
                   .calls_skipped = 2,
                   .calls_before = 1,
                   .calls_released = 3,
                   .calls_remaining = 4,
                   .mixed = 3 * MixedPlay(0, 0)},
         .failed_plays = {{.block = 0, .calls_remaining = 4, .silent_ns = Sec(1)}}},
        {.lane = 1,
         .tier = 1,
         .state_ns = {Sec(60)},
         .plays = {.plays = 1, .calls_total = 4, .calls_before = 1, .calls_remaining = 3}}};
  }
  StepEvidence Close(bool lost = false) const {
    StepIngest ingest = MakeIngest();
    for (const CallRecord& r : records) ingest.Add(r);
    ingest.Add(tally);
    return ingest.Close({{.slot = 0, .lost = lost}});
  }
  std::vector<CallRecord> records;
  StepTally tally;
};

std::vector<std::string> Broken(const StepEvidence& e) {
  std::vector<std::string> names;
  for (const Identity& identity : e.identities) {
    if (!identity.holds()) names.push_back(identity.name);
  }
  return names;
}

TEST(StepIngestIdentity, AllHoldOnAWholeStep) {
  const StepEvidence e = Whole().Close();
  EXPECT_EQ(e.identities.size(), 6u);
  EXPECT_EQ(Broken(e), std::vector<std::string>{});
  EXPECT_EQ(e.planned_lane_ns, Sec(120));
  EXPECT_EQ(e.lane_state_ns[0], Sec(110));
  EXPECT_EQ(e.lane_state_ns[2], Sec(10));
  EXPECT_DOUBLE_EQ(e.requests_in_flight_mean, 1.5);
  EXPECT_EQ(e.tier_names, (std::vector<std::string>{"heavy", "light"}));
}

TEST(StepIngestIdentity, EachShowsWhenBroken) {
  struct {
    const char* what;
    void (*breaks)(Whole*);
    const char* name;
  } const cases[] = {
      {"an attempt that never ended", [](Whole* w) { ++w->tally.attempts_released; },
       "attempts released = attempts ended"},
      {"a lost record", [](Whole* w) { w->records.erase(w->records.begin()); }, "records stored"},
      {"a record too many", [](Whole* w) { w->records.push_back(OkCall(20, 5)); },
       "records stored"},
      {"another outcome", [](Whole* w) { w->records[0].outcome = Outcome::kTruncated; },
       "outcomes that differ"},
      {"a call nobody accounts for", [](Whole* w) { ++w->tally.lanes[1].plays.calls_total; },
       "calls of plays"},
      {"a call of another play", [](Whole* w) { ++w->tally.lanes[0].plays.mixed; },
       "each in its own"},
      {"a record of another play", [](Whole* w) { w->records[1].play = 4; }, "calls of plays"},
      {"a nanosecond of a lane", [](Whole* w) { ++w->tally.lanes[0].state_ns[4]; },
       "planned lane-time"},
      {"a lane without a tally", [](Whole* w) { w->tally.lanes.pop_back(); }, "planned lane-time"},
  };
  for (const auto& c : cases) {
    Whole whole;
    c.breaks(&whole);
    const std::vector<std::string> broken = Broken(whole.Close());
    EXPECT_TRUE(std::any_of(broken.begin(), broken.end(), [&](const std::string& name) {
      return name.find(c.name) != std::string::npos;
    })) << c.what;
  }
}

TEST(StepIngestIdentity, WithALostAgentNothingIsCompared) {
  EXPECT_TRUE(Whole().Close(/*lost=*/true).identities.empty());
}

}  // namespace
}  // namespace plimsoll
