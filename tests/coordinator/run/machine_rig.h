// A run machine with what a test of it needs: its settings, its actions by kind, and short cuts to
// every phase.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/run/run_machine.h"
#include "gtest/gtest.h"

namespace plimsoll {

inline StepVerdict VerdictOf(Verdict verdict) {
  return {.verdict = verdict, .reasons = {"a test says so"}};
}

struct MachineRig {
  static RunSettings Settings(bool local = true) {
    RunSettings settings;
    settings.sessions = {5, 10};
    settings.target = 10;
    settings.step = {
        .warm_up = 10s, .measure = 60s, .block = 20s, .drain_limit = 30s, .prime_limit = 20s};
    settings.agents = 2;
    settings.local_agents = local;
    settings.gather_limit = 40s;
    settings.replace_limit = 50s;
    return settings;
  }

  explicit MachineRig(bool local = true) : machine(Settings(local)) {}
  explicit MachineRig(const RunSettings& settings) : machine(settings) {}

  void Feed(const MachineEvent& e) {
    actions = machine.Apply(e, now);
    for (const MachineAction& a : actions) all.push_back(a);
  }
  // Of the last event.
  template <typename T>
  std::vector<T> Did() const {
    return Pick<T>(actions);
  }
  // Of all events.
  template <typename T>
  std::vector<T> DidEver() const {
    return Pick<T>(all);
  }
  RunPhase phase() const { return machine.state().phase; }
  std::uint32_t step() const { return machine.state().step.step; }
  std::string Said() const {
    std::string said;
    for (const auto& say : Did<action::Say>()) said += say.line + "\n";
    return said;
  }
  void ExpectFinish(ExitCode code, const std::string& words) const {
    const auto finish = DidEver<action::Finish>();
    ASSERT_EQ(finish.size(), 1u);
    EXPECT_EQ(finish[0].code, code) << finish[0].reason;
    EXPECT_NE(finish[0].reason.find(words), std::string::npos) << finish[0].reason;
    EXPECT_EQ(phase(), RunPhase::kDone);
  }

  void ToGather() {
    Feed(event::Begin{});
    Feed(event::PreflightDone{absl::OkStatus()});
  }
  void ToPrepareRun() {
    ToGather();
    Feed(event::FleetComplete{});
  }
  void ToPrepareStep() {
    ToPrepareRun();
    for (const std::uint32_t slot : {0u, 1u}) Feed(event::RunReadyBy{slot});
  }
  void ReadyAll() {
    for (const std::uint32_t slot : {0u, 1u}) Feed(event::StepReadyBy{slot, step()});
  }
  void ToStep() {
    ToPrepareStep();
    ReadyAll();
  }
  void CloseAll() {
    for (const std::uint32_t slot : {0u, 1u}) Feed(event::StepClosedBy{slot, step()});
  }
  void JudgeAs(Verdict verdict) { Feed(event::StepJudged{VerdictOf(verdict), 4.5}); }
  void ToReplace() {
    ToPrepareStep();
    Feed(event::AgentLost{1, "reset"});
  }
  void ToStop() {
    ToStep();
    CloseAll();
    JudgeAs(Verdict::kFail);
  }
  // Any phase but those that few runs have, and kDone.
  void To(RunPhase wanted) {
    switch (wanted) {
      case RunPhase::kPreflight:
        return Feed(event::Begin{});
      case RunPhase::kGather:
        return ToGather();
      case RunPhase::kPrepareRun:
        return ToPrepareRun();
      case RunPhase::kPrepareStep:
        return ToPrepareStep();
      case RunPhase::kStep:
        return ToStep();
      case RunPhase::kReplace:
        return ToReplace();
      case RunPhase::kStop:
        return ToStop();
      case RunPhase::kRollout:
      case RunPhase::kPromote:
      case RunPhase::kRollBack:
      case RunPhase::kMiniEvals:
      case RunPhase::kSettle:
      case RunPhase::kDone:
        ADD_FAILURE() << "no way there";
    }
  }

  RunMachine machine;
  Duration now{};  // Since the run's begin, as the machine is told.
  std::vector<MachineAction> actions;
  std::vector<MachineAction> all;

 private:
  template <typename T>
  static std::vector<T> Pick(const std::vector<MachineAction>& from) {
    std::vector<T> picked;
    for (const MachineAction& a : from) {
      if (const auto* t = std::get_if<T>(&a)) picked.push_back(*t);
    }
    return picked;
  }
};

}  // namespace plimsoll
