#include "coordinator/rehearse/rows_outside.h"

#include <iterator>
#include <string>
#include <utility>

namespace plimsoll::rehearse {
namespace {

using Rows = std::vector<Row>;

// No data, a repeated step, and what came of that.
Expected Repeated(const std::string& words) {
  return {.exit_code = 0, .verdicts = {"no data", "pass"}, .words = {words}};
}

Rows Agents() {
  const Settings two = {{"fleet", "{local: 2}"}};
  return {
      {.name = "agent-killed",
       .fault = "SIGKILL to an agent in the middle of a step",
       .scenario = two,
       .strike = {.kind = StrikeKind::kKillAgent, .after = "measuring, ", .wait = 1s},
       .expect = Repeated("another one took its place")},
      {.name = "agent-frozen",
       .fault = "SIGSTOP to an agent in the middle of a step, for good",
       .scenario = {{"fleet", "{local: 2}"}, {"sweep.measure", "7s"}},
       .strike = {.kind = StrikeKind::kFreezeAgent, .after = "measuring, ", .wait = 500ms},
       .expect = Repeated("another one took its place")},
      {.name = "agent-saturated",
       .fault = "an agent gets a quarter of the processor time that it needs",
       .strike = {.kind = StrikeKind::kThrottleAgent, .after = "step 1: ", .wait = 2s},
       .expect = {.exit_code = 3,
                  .verdicts = {"no data", "no data"},
                  .words = {"generator-limited"}}},
      {.name = "agent-late",
       .fault = "an agent stands still while the step's common start passes",
       .liveness_percent = 100,
       .strike =
           {.kind = StrikeKind::kPauseAgent, .after = "step 1: ", .wait = 1700ms, .lasts = 3s},
       .expect = Repeated("off the common start")},
      {.name = "agent-absent",
       .fault = "no agent dials in",
       .scenario = {{"fleet", R"({agents: 1, listen: "127.0.0.1:0", wait: 2s})"}},
       .expect = {.exit_code = 4, .words = {"not all 1 agents came within 2s"}}},
      {.name = "records-lost",
       .fault = "the network swallows what an agent sends of its records; another agent dials in",
       .scenario = {{"fleet", R"({agents: 1, listen: "127.0.0.1:0", wait: 30s})"}},
       .dialled = true,
       .strike = {.kind = StrikeKind::kDropRecords, .after = "measuring, ", .wait = 1s},
       .expect = Repeated("was lost during the step")},
  };
}

Rows Coordinators() {
  return {
      {.name = "coordinator-killed",
       .fault = "SIGKILL to the coordinator in the middle of a step",
       .scenario = {{"sweep.measure", "20s"}},
       .lists_runs = true,
       .strike = {.kind = StrikeKind::kKillCoordinator, .after = "measuring, ", .wait = 1s},
       .expect = {.killed = true, .words = {"broken off: its coordinator died"}}},
      {.name = "full-disk",
       .fault = "the disk of the store is full to the last byte in the middle of a step",
       .scenario = {{"sweep.measure", "20s"}},
       .small_disk = true,
       .strike = {.kind = StrikeKind::kFillDisk, .after = "measuring, ", .wait = 500ms},
       .expect = {.exit_code = 4, .verdicts = {"no data"}, .words = {"the disk is full"}}},
      {.name = "wall-clock-steps",
       .fault = "the coordinator's wall clock jumps an hour ahead in the middle of a step",
       .clock_step = 1h,
       .strike = {.kind = StrikeKind::kStepClock, .after = "measuring, ", .wait = 500ms},
       .expect = {.verdicts = {"pass"}, .words = {"wall clock"}}},
      {.name = "wall-clock-steps-back",
       .fault = "the coordinator's wall clock jumps an hour back in the middle of a step",
       .clock_step = -1h,
       .strike = {.kind = StrikeKind::kStepClock, .after = "measuring, ", .wait = 500ms},
       .expect = {.verdicts = {"pass"}, .words = {"wall clock"}}},
      {.name = "daylight-saving",
       .fault = "local time goes an hour back during the step (Europe/Berlin, October 2026)",
       .time_zone = "Europe/Berlin",
       .clock_from_s = 1'792'890'000 - 6,
       .expect = {.verdicts = {"pass"},
                  .words = {"started 2026-10-25 00:59:5"},
                  .unsaid = {"wall clock"}}},
      {.name = "daylight-saving-spring",
       .fault = "local time goes an hour ahead during the step (Europe/Berlin, March 2027)",
       .time_zone = "Europe/Berlin",
       .clock_from_s = 1'806'195'600 - 6,
       .expect = {.verdicts = {"pass"},
                  .words = {"started 2027-03-28 00:59:5"},
                  .unsaid = {"wall clock"}}},
  };
}

constexpr char kRollBack[] = "#!/bin/sh\necho rolled back >> \"$(dirname \"$0\")/rolled-back\"\n";
constexpr char kRollOut[] = "#!/bin/sh\nexit 0\n";

Rows Hooks() {
  const Settings hooks = {
      {"hooks", "{rollout: [\"{folder}/rollout.sh\"], rollback: [\"{folder}/rollback.sh\"]}"}};
  const auto with = [&](Settings more) {
    Settings all = hooks;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  return {
      {.name = "coordinator-dies-hooks",
       .fault = "SIGKILL to the coordinator of a run with hooks: its guardian rolls back",
       .scenario = with({{"sweep.measure", "20s"}}),
       .files = {{"rollout.sh", kRollOut}, {"rollback.sh", kRollBack}},
       .lists_runs = true,
       .rolled_back = "rolled-back",
       .needs = "hooks",
       .strike = {.kind = StrikeKind::kKillCoordinator, .after = "measuring, ", .wait = 1s},
       .expect = {.killed = true, .words = {"broken off"}}},
      {.name = "hook-hangs",
       .fault = "the rollout hook never ends",
       .scenario = {{"hooks",
                     "{rollout: {run: [\"{folder}/rollout.sh\"], deadline: 3s}, "
                     "rollback: [\"{folder}/rollback.sh\"]}"}},
       .files = {{"rollout.sh", "#!/bin/sh\nexec sleep 600\n"}, {"rollback.sh", kRollBack}},
       .rolled_back = "rolled-back",
       .needs = "hooks",
       .expect = {.exit_code = 4, .words = {"rollout"}}},
      {.name = "hook-fails",
       .fault = "the rollout hook exits with 3",
       .scenario = hooks,
       .files = {{"rollout.sh", "#!/bin/sh\necho no such node\nexit 3\n"},
                 {"rollback.sh", kRollBack}},
       .rolled_back = "rolled-back",
       .needs = "hooks",
       .expect = {.exit_code = 4, .words = {"rollout"}}},
      {.name = "window-too-short",
       .fault = "the window is shorter than the first step and the rollback's reserve",
       .scenario = with({{"window", "{length: 5s}"}}),
       .files = {{"rollout.sh", kRollOut}, {"rollback.sh", kRollBack}},
       .needs = "window",
       .expect = {.exit_code = 4, .words = {"window"}}},
  };
}

}  // namespace

std::vector<Row> OutsideRows() {
  Rows rows;
  for (Rows group : {Agents(), Coordinators(), Hooks()}) {
    rows.insert(rows.end(), std::make_move_iterator(group.begin()),
                std::make_move_iterator(group.end()));
  }
  return rows;
}

}  // namespace plimsoll::rehearse
