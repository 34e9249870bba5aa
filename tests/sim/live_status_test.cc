// What a running run looks like from outside, second by second, against how it ended.
#include <algorithm>
#include <map>
#include <optional>

#include "gtest/gtest.h"
#include "tests/sim/fleet_sim.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

struct Seen {
  std::vector<LiveStatus> all;
  RunResult result;
};

Seen RunAndWatch(SimOptions options) {
  Seen seen;
  FleetSim sim(std::move(options));
  sim.Watch([&](const LiveStatus& status) { seen.all.push_back(status); });
  seen.result = sim.Run();
  return seen;
}

TEST(LiveStatus, StepsComeInOrderAndTheirPartsToo) {
  const SimOptions options = SmallRun();
  const Seen seen = RunAndWatch(options);
  ASSERT_EQ(seen.result.steps.size(), 3u);
  std::uint32_t place = 0;
  std::map<std::uint32_t, std::map<StepPart, int>> seconds;
  StepPart part = StepPart::kPriming;
  for (const LiveStatus& status : seen.all) {
    EXPECT_EQ(status.steps_planned, options.settings.sessions.size());
    if (!status.step.has_value()) continue;
    ASSERT_GE(status.place, place);
    ASSERT_TRUE(status.place > place || status.part >= part) << "time runs one way";
    place = status.place;
    part = status.part;
    EXPECT_EQ(status.sessions, options.settings.sessions[place - 1]);
    EXPECT_EQ(status.steps_judged, place - 1);
    ++seconds[place][part];
  }
  EXPECT_EQ(place, options.settings.sessions.size());
  for (const auto& [step, parts] : seconds) {
    for (const auto& [which, length] :
         {std::pair{StepPart::kWarmUp, options.settings.step.warm_up},
          std::pair{StepPart::kMeasured, options.settings.step.measure}}) {
      EXPECT_NEAR(parts.count(which) > 0 ? parts.at(which) : 0, ToSeconds(length), 1.01)
          << "step " << step << ", " << Name(which);
    }
  }
}

TEST(LiveStatus, TimeLeftFallsByTheSecondAndIsNeverTooShort) {
  const Seen seen = RunAndWatch(SmallRun());
  const LiveStatus* before = nullptr;
  ASSERT_FALSE(seen.all.empty());
  const Duration ended = seen.all.back().running_for;
  for (const LiveStatus& status : seen.all) {
    // A second for the looks, some for words on the way.
    EXPECT_GE(status.running_for + status.run_left + 3s, ended);
    if (before != nullptr && before->step == status.step && status.step.has_value() &&
        before->step_left.has_value() && *before->step_left > Duration(1s)) {
      EXPECT_EQ(*before->step_left - *status.step_left, Duration(1s));
      if (before->part == status.part) {
        EXPECT_EQ(*before->part_left - *status.part_left, Duration(1s));
      }
    }
    before = &status;
  }
}

TEST(LiveStatus, NumbersGrowIntoThoseOfTheReport) {
  const Seen seen = RunAndWatch(SmallRun());
  std::map<std::uint32_t, LiveNumbers> last;
  for (const LiveStatus& status : seen.all) {
    if (!status.step.has_value()) continue;
    if (last.count(*status.step) > 0) {
      EXPECT_GE(status.numbers.attempts, last[*status.step].attempts);
    }
    if (status.part == StepPart::kPriming || status.part == StepPart::kWarmUp) {
      EXPECT_EQ(status.numbers.attempts, 0u) << "warm-up does not count";
    }
    last[*status.step] = status.numbers;
  }
  ASSERT_EQ(last.size(), seen.result.steps.size());
  for (const RunStep& step : seen.result.steps) {
    const LiveNumbers& numbers = last[step.summary.plan.step];
    // The last look is at most a second and a batch's age before the step closed.
    EXPECT_GT(numbers.ttft_n, step.summary.ttft.n / 2);
    EXPECT_LE(numbers.ttft_n, step.summary.ttft.n);
    ASSERT_TRUE(numbers.ttft_p90_s.has_value());
    EXPECT_NEAR(*numbers.ttft_p90_s, *step.summary.ttft.p90_s.value,
                *step.summary.ttft.p90_s.value);
    ASSERT_FALSE(numbers.parts.empty());
    EXPECT_EQ(numbers.parts[0].value.value, numbers.ttft_p90_s) << "the bar's quantile is P90";
  }
}

TEST(LiveStatus, AgentsAreCountedAsTheirPongsSay) {
  const SimOptions options = SmallRun();
  const Seen seen = RunAndWatch(options);
  int measured = 0;
  for (const LiveStatus& status : seen.all) {
    EXPECT_EQ(status.agents_planned, options.settings.agents);
    if (!status.step.has_value() || status.part != StepPart::kMeasured) continue;
    ++measured;
    ASSERT_EQ(status.agents.size(), options.settings.agents);
    EXPECT_EQ(status.lanes, status.sessions);
    EXPECT_GT(status.calls_in_flight, 0u);
    for (const LiveAgent& agent : status.agents) {
      EXPECT_TRUE(agent.alive);
      EXPECT_FALSE(agent.name.empty());
      EXPECT_LT(agent.silent_for, Duration(2s));
    }
  }
  EXPECT_GT(measured, 60);
}

TEST(LiveStatus, ASilentAgentIsSeenBeforeItIsLost) {
  FleetSim sim(SmallRun());
  sim.SilenceAgentAt(40s, 1);
  Duration longest{0};
  Duration last{0};
  sim.Watch([&](const LiveStatus& status) {
    if (status.agents.size() < 2) return;
    last = status.agents[1].silent_for;
    longest = std::max(longest, last);
  });
  sim.Run();
  EXPECT_GT(longest, Duration(10s));
  EXPECT_LT(last, Duration(2s)) << "its successor is heard";
}

}  // namespace
}  // namespace plimsoll
