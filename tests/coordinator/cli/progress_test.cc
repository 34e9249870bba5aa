// Progress as text: the block against golden files (PLIMSOLL_UPDATE_GOLDEN=1 rewrites them; review
// the diff), its width whatever the terminal, and the plain lines of a log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/cli/progress_lines.h"
#include "coordinator/report/text_layout.h"
#include "tests/fakes/golden.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::ExpectGolden;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Bar kBar{.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 1},
                          {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 6},
                          {.metric = Metric::kErrors, .value = 0.05}}};

LiveStatus Measuring() {
  LiveStatus s;
  s.phase = RunPhase::kStep;
  s.running_for = 245s;
  s.step = 1;
  s.part = StepPart::kMeasured;
  s.sessions = 12;
  s.steps_planned = 4;
  s.steps_judged = 1;
  s.place = 2;
  s.lanes = 12;
  s.calls_in_flight = 11;
  s.numbers.attempts = 313;
  s.numbers.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 310;
  s.numbers.outcomes[static_cast<std::size_t>(Outcome::kRefused)] = 2;
  s.numbers.outcomes[static_cast<std::size_t>(Outcome::kCut)] = 1;
  s.numbers.ttft_n = 313;
  s.numbers.ttft_p90_s = 0.1123;
  s.numbers.rate_n = 294;
  s.numbers.rate_reached_by_90_tok_s = 5.27;
  s.numbers.parts = {{kBar.limits[0], 313, {.value = 0.1123}},
                     {kBar.limits[1], 294, {.value = 5.27}},
                     {kBar.limits[2], 313, {.value = 3.0 / 313}}};
  s.measured = 133s;
  s.step_left = s.part_left = 167s;
  s.run_left = 1267s;
  s.agents_planned = s.agents_present = 2;
  s.agents = {{.slot = 0, .name = "local-00.1", .alive = true, .lanes = 6, .silent_for = 400ms},
              {.slot = 1, .name = "local-01.2", .alive = true, .lanes = 6, .silent_for = 5s}};
  return s;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::vector<LiveStatus> EveryKind() {
  std::vector<LiveStatus> all;
  LiveStatus warm_up = Measuring();
  warm_up.part = StepPart::kWarmUp;
  warm_up.part_left = 12s;
  warm_up.numbers = {};
  warm_up.measured.reset();
  LiveStatus few = Measuring();
  few.numbers.parts[0] = {kBar.limits[0], 17, {.value = {}, .infinite = true}};
  few.numbers.parts[1].n = 17;
  few.agents[0].alive = false;
  few.agents_present = 1;
  LiveStatus cool_down = Measuring();
  cool_down.part = StepPart::kCoolDown;
  cool_down.part_left = 20s;
  LiveStatus priming = warm_up;
  priming.part = StepPart::kPriming;
  all = {Measuring(), warm_up, few, cool_down, priming};
  for (const RunPhase phase : {RunPhase::kPreflight, RunPhase::kGather, RunPhase::kPrepareRun,
                               RunPhase::kReplace, RunPhase::kStop}) {
    LiveStatus outside = Measuring();
    outside.phase = phase;
    outside.step.reset();
    all.push_back(outside);
  }
  return all;
}

TEST(ProgressBlock, MatchesTheGoldenFiles) {
  std::string wide;
  std::string coloured;
  std::string narrow;
  for (const LiveStatus& status : EveryKind()) {
    wide += Joined(ProgressBlock(status, kBar, {.columns = 100, .rows = 40})) + "--\n";
    coloured += Joined(ProgressBlock(status, kBar, {.columns = 80, .rows = 40, .colour = true}));
    narrow += Joined(ProgressBlock(status, kBar, {.columns = 40, .rows = 40}));
  }
  ExpectGolden("progress/wide.txt", wide);
  ExpectGolden("progress/coloured.txt", coloured);
  ExpectGolden("progress/narrow.txt", narrow);
}

TEST(ProgressBlock, NeverReachesTheLastColumn) {
  for (LiveStatus status : EveryKind()) {
    for (LiveAgent& agent : status.agents) {
      agent.name = std::string(200, 'n');
      agent.silent_for = 9s;
    }
    for (std::size_t columns = 1; columns <= 200; ++columns) {
      for (const bool colour : {false, true}) {
        const ProgressStyle style{.columns = columns, .rows = 40, .colour = colour};
        const auto block = ProgressBlock(status, kBar, style);
        EXPECT_LE(block.size(), 7u);
        EXPECT_EQ(block.size() == 1, columns < 60);
        for (const std::string& line : block) {
          EXPECT_LE(ColumnsShown(line), std::max<std::size_t>(1, columns - 1)) << line;
          EXPECT_EQ(line.find('\x1b') != std::string::npos && !colour, false);
        }
      }
    }
  }
}

TEST(ProgressBlock, AFlatTerminalGetsOneLine) {
  EXPECT_EQ(ProgressBlock(Measuring(), kBar, {.columns = 100, .rows = 8}).size(), 1u);
}

TEST(ProgressBlock, NamesOfPeersCannotSteerTheTerminal) {
  LiveStatus status = Measuring();
  status.agents[1].name = "a\x1b[2J\nb";
  const std::string text = Joined(ProgressBlock(status, kBar, {.columns = 200, .rows = 40}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("a\\x1b[2J\\nb is silent for 5s"));
}

TEST(ProgressLog, SaysWhatBeginsAndEveryFifteenSeconds) {
  ProgressLog log;
  std::vector<std::string> said;
  const auto look = [&](StepPart part, Duration measured, Duration left) {
    LiveStatus status = Measuring();
    status.part = part;
    status.measured = part >= StepPart::kMeasured ? std::optional(measured) : std::nullopt;
    status.part_left = left;
    status.step_left = Duration(40s) - measured;
    if (const auto line = log.Next(status, kBar)) said.push_back(*line);
  };
  LiveStatus outside = Measuring();
  outside.step.reset();
  EXPECT_FALSE(log.Next(outside, kBar).has_value());
  look(StepPart::kPriming, 0s, 5s);
  for (int s = 10; s > 0; --s) look(StepPart::kWarmUp, 0s, std::chrono::seconds(s));
  for (int s = 0; s < 40; ++s) {
    look(StepPart::kMeasured, std::chrono::seconds(s), std::chrono::seconds(40 - s));
  }
  look(StepPart::kCoolDown, 40s, 20s);
  look(StepPart::kCoolDown, 40s, 19s);
  EXPECT_THAT(said,
              ElementsAre("  warm-up, 10s left", "  measuring, 40s left",
                          HasSubstr("measuring, 15s of 40s: 12 of 12 lanes, 11 in flight; "
                                    "TTFT P90 0.112 s (limit 1 s, n 313); interactivity P90 "
                                    "5.27 tok/s (limit 6 tok/s, n 294); errors 0.96% (limit "
                                    "5%, n 313): 2 refused, 1 cut"),
                          HasSubstr("measuring, 30s of 40s"), "  cool-down, at most 20s left"));
}

}  // namespace
}  // namespace plimsoll
