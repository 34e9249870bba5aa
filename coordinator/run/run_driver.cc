#include "coordinator/run/run_driver.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/plan/lanes.h"
#include "coordinator/run/ladders.h"

namespace plimsoll {
namespace {

// Plays of a slot's later generations count from here, far beyond what one generation can play.
constexpr std::uint32_t kPlaysPerGeneration = 1u << 20;

// Beside the load's: their share of what it has open, at most one a lane.
LaneNeeds WithEvals(LaneNeeds needs, double share) {
  const double expected = static_cast<double>(needs.expected.connections) * share / (1 - share);
  needs.expected.connections += static_cast<std::uint64_t>(std::ceil(expected));
  needs.most.connections += needs.most.lanes;
  return needs;
}

}  // namespace

RunDriver::RunDriver(RunSpec spec, RunDeps deps)
    : spec_(std::move(spec)),
      deps_(std::move(deps)),
      machine_(spec_.settings),
      fleet_(deps_.scheduler, deps_.links, *this, spec_.settings.agents, spec_.build,
             LivenessAt(spec_.plan.liveness_percent)),
      slots_(spec_.settings.agents),
      replay_facts_(spec_.plan, *spec_.corpus),
      evals_(MakeEvalIngest(spec_.evals.get())),
      servers_(deps_.scheduler, deps_.signals, spec_.servers) {
  if (deps_.spawner != nullptr) {
    deps_.spawner->on_exit = [this](std::uint32_t index, const std::string& how) {
      // Of an agent that was here its link tells, as of any other.
      if (fleet_.alive(index)) return;
      Feed(event::AgentFailedToStart{how});
    };
  }
}

RunDriver::~RunDriver() = default;

LiveStatus RunDriver::Live() const {
  LiveTimes times = times_;
  times.now = deps_.scheduler.Now();
  LiveStatus status =
      MakeLiveStatus(spec_.settings, machine_.state(), fleet_, ingest_.get(), spec_.bar, times);
  status.records_acked = records_acked_;
  return status;
}

void RunDriver::Start() {
  times_.begun = deps_.scheduler.Now();
  Feed(event::Begin{});
}

void RunDriver::RequestStop(int count) {
  Feed(event::StopRequested{count});
}

void RunDriver::Trip(const std::string& reason) {
  Feed(event::KillSwitchTripped{reason});
}

// Actions may raise events at once (a store that fails, a step judged); they wait their turn, so
// that the machine is never entered from inside itself.
void RunDriver::Feed(const MachineEvent& event) {
  if (finished_) return;
  queue_.push_back(event);
  if (feeding_) return;
  feeding_ = true;
  for (std::size_t i = 0; i < queue_.size() && !finished_; ++i) {
    const MachineEvent next = queue_[i];
    const bool begun = times_.begun != MonoTime{};
    const Duration now = begun ? deps_.scheduler.Now() - times_.begun : Duration{0};
    for (const MachineAction& action : machine_.Apply(next, now)) {
      std::visit([this](const auto& a) { Do(a); }, action);
    }
  }
  queue_.clear();
  feeding_ = false;
}

void RunDriver::Do(const action::RunPreflight&) {
  deps_.preflight([this](PreflightReport report) {
    spec_.plan.target.min_tokens_accepted = report.summary.min_tokens;
    spec_.plan.target.ignore_eos_accepted = report.summary.ignore_eos;
    fit_ = report.summary.fit.value_or(TemplateFit{});
    servers_.BeforeLoad();
    Feed(event::PreflightDone{std::move(report.status)});
  });
}

void RunDriver::Do(const action::GatherFleet&) {
  if (deps_.spawner == nullptr) {
    // They may have dialled in while preflight was at work, when nobody waited for them.
    if (fleet_.present() == spec_.settings.agents) OnFleetComplete();
    return;
  }
  for (std::uint32_t i = 0; i < spec_.settings.agents; ++i) Do(action::RestartAgent{i});
}

void RunDriver::Do(const action::RestartAgent& a) {
  if (const Status status = deps_.spawner->Start(a.slot); !status.ok()) {
    Feed(event::AgentFailedToStart{std::string(MessageOf(status))});
  }
}

void RunDriver::Do(const action::PrepareRun& a) {
  fleet_.Send(a.slot, PrepareRun{.plan = spec_.plan});
  const std::vector<std::string>& held = fleet_.hello(a.slot).corpora;
  if (std::find(held.begin(), held.end(), spec_.plan.corpus_digest) != held.end()) return;
  const std::string& bytes = spec_.corpus_bytes;
  for (std::size_t offset = 0; offset < bytes.size(); offset += limits::kCorpusChunkBytes) {
    fleet_.Send(a.slot, CorpusChunk{.digest = spec_.plan.corpus_digest,
                                    .total_bytes = bytes.size(),
                                    .offset = offset,
                                    .bytes = bytes.substr(offset, limits::kCorpusChunkBytes)});
  }
}

std::vector<LaneSpec> RunDriver::LanesOf(std::uint32_t sessions, std::size_t ladder) const {
  std::vector<std::uint32_t> slots(slots_.size());
  std::iota(slots.begin(), slots.end(), 0u);
  std::vector<LaneSpec> lanes =
      AssignLanes(TiersOf(spec_.plan.tiers, spec_.settings, ladder), sessions, slots);
  for (LaneSpec& lane : lanes) {
    lane.first_play = slots_[lane.agent_slot].generation * kPlaysPerGeneration;
  }
  return lanes;
}

void RunDriver::Do(const action::PrepareStep& a) {
  times_.prepared = deps_.scheduler.Now();
  times_.step_start.reset();
  if (evals_ != nullptr && !steps_from_) SayMiniRun();
  if (!steps_from_) steps_from_ = times_.prepared;
  servers_.LoadBegins();
  looks_.clear();
  finding_.reset();
  StartGenerationIfLanesEnd(a);
  const std::size_t ladder = machine_.state().ladder;
  lanes_ = LanesOf(a.plan.sessions, ladder);
  ingest_ = std::make_unique<StepIngest>(a.plan, lanes_, replay_facts_.tier_names(),
                                         replay_facts_.recorded_cycles(), spec_.bar, fit_,
                                         spec_.plan.target.max_tokens);
  ingest_->Expect(replay_facts_.cache_forecast());
  if (evals_ != nullptr) evals_->BeginStep(a.plan);
  ingest_->LeaveOut(TiersLeftOut(spec_.plan.tiers, spec_.settings, ladder));
  deps_.say(fmt::format("step {}: {} sessions{}", steps_.size() + 1, a.plan.sessions,
                        a.note.empty() ? "" : " (" + a.note + ")"));
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot].closing.reset();
    slots_[slot].tally.reset();
    slots_[slot].lost = false;
    PrepareStep message{.step = a.plan, .lanes = {}, .fresh = a.fresh};
    for (const LaneSpec& lane : lanes_) {
      if (lane.agent_slot == slot) message.lanes.push_back(lane);
    }
    fleet_.Send(slot, std::move(message));
  }
}

// A lane that is made again counts its plays on from a number of its own, as a lost agent's does.
void RunDriver::StartGenerationIfLanesEnd(const action::PrepareStep& a) {
  if (!a.fresh && a.plan.sessions >= lanes_.size()) return;
  std::uint32_t next = 0;
  for (const SlotState& slot : slots_) next = std::max(next, slot.generation + 1);
  for (SlotState& slot : slots_) slot.generation = next;
}

void RunDriver::Do(const action::CommitStep&) {
  if (!fleet_.clocks_known()) {
    commit_ = deps_.scheduler.After(100ms, [this] { Do(action::CommitStep{}); });
    return;
  }
  const MonoTime start = deps_.scheduler.Now() + limits::kStartAhead;
  times_.step_start = start;
  if (deps_.clock != nullptr) wall_.emplace(*deps_.clock);
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    const ClockOffset::Estimate clock = fleet_.clock(slot);
    slots_[slot].clock_uncertainty = clock.uncertainty;
    fleet_.Send(slot,
                CommitStep{.step = machine_.state().step.step,
                           .start_agent_ns = (start + clock.offset).time_since_epoch().count()});
  }
  FindClocks();
  PlanLooks();
  PlanReads();
}

void RunDriver::Do(const action::StopAgents& a) {
  times_.stopped_by = deps_.scheduler.Now() + a.drain_limit;
  fleet_.SendAll(Stop{.kind = a.kind, .drain_limit = a.drain_limit});
  // An agent that has stopped says so once, however often it is asked.
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) StopIfComplete(slot);
}

void RunDriver::Do(const action::SetDeadline& a) {
  deadline_ = deps_.scheduler.After(a.after, [this] { Feed(event::DeadlinePassed{}); });
}

void RunDriver::Do(const action::ClearDeadline&) {
  deadline_.Cancel();
}

void RunDriver::Do(const action::Say& a) {
  deps_.say(a.line);
}

void RunDriver::Do(const action::Finish& a) {
  FinishJudging();
  finished_ = true;
  commit_.Cancel();
  window_.Cancel();
  servers_.Cancel();
  SayDrain();
  SayWhatIsMissing();
  KeepBrokenOffStep();
  fleet_.Disband();
  if (deps_.spawner != nullptr) deps_.spawner->EndAll();
  // In a turn of its own: whoever is told may destroy this driver.
  finish_ = deps_.scheduler.After(Duration{0}, [this, a] {
    deps_.finished({.code = a.code,
                    .reason = a.reason,
                    .steps = std::move(steps_),
                    .history = machine_.state().history,
                    .drain = servers_.drain()});
  });
}

// What a slot has to hold in the largest step of each ladder.
std::vector<LaneNeeds> RunDriver::NeedsOf(std::uint32_t slot) const {
  std::vector<LaneNeeds> needs;
  for (std::size_t ladder = 0; ladder <= spec_.settings.tier_ladders.size(); ++ladder) {
    const std::vector<std::uint32_t>& sessions = SessionsOf(spec_.settings, ladder);
    std::vector<std::uint32_t> per_tier(spec_.plan.tiers.size(), 0);
    for (const LaneSpec& lane : LanesOf(
             sessions.empty() ? 0 : *std::max_element(sessions.begin(), sessions.end()), ladder)) {
      if (lane.agent_slot == slot) ++per_tier[lane.tier];
    }
    needs.push_back(replay_facts_.NeedsOf(per_tier));
    if (spec_.plan.evals) needs.back() = WithEvals(needs.back(), spec_.plan.evals->share);
  }
  return needs;
}

// For its lanes of the largest step; if not, the run ends with that in words.
bool RunDriver::HasRoom(std::uint32_t slot) {
  const Hello& hello = fleet_.hello(slot);
  const std::vector<LaneNeeds> needs = NeedsOf(slot);
  for (const LaneNeeds& of_ladder : needs) {
    const std::string why = WhyItHasNoRoom(hello, of_ladder.expected);
    if (why.empty()) continue;
    Feed(event::AgentFaulted{slot, why});
    return false;
  }
  for (const LaneNeeds& of_ladder : needs) {
    // Hardly ever all at once, and if it comes to that, calls that find no room void their step.
    const std::string at_worst = WhyItHasNoRoom(hello, of_ladder.most);
    if (at_worst.empty()) continue;
    deps_.say(
        fmt::format("warning: {}: enough room for what is expected, not for every lane at "
                    "its busiest at once: {}",
                    hello.name, at_worst));
    break;
  }
  return true;
}

void RunDriver::OnFleetComplete() {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!HasRoom(slot)) return;
  }
  FindFleet();
  event::FleetComplete complete;
  for (std::uint32_t slot = 0; slot < fleet_.size(); ++slot) {
    complete.names.push_back(fleet_.hello(slot).name);
  }
  Feed(complete);
}

void RunDriver::OnAgentLost(std::uint32_t slot, const std::string& reason) {
  ++slots_[slot].generation;
  slots_[slot].lost = true;
  slots_[slot].gate = BatchGate{};
  slots_[slot].closing.reset();
  slots_[slot].evals_asked.reset();
  slots_[slot].stopped.reset();
  Feed(event::AgentLost{slot, fmt::format("{}: {}", fleet_.hello(slot).name, reason)});
}

void RunDriver::OnAgentReplaced(std::uint32_t slot) {
  if (!HasRoom(slot)) return;
  Feed(event::AgentReplaced{slot, fleet_.hello(slot).name});
}

void RunDriver::OnAgentRefused(const std::string& name, const std::string& reason) {
  deps_.say(fmt::format("agent {} was turned away: {}", name, reason));
}

void RunDriver::OnAgentMessage(std::uint32_t slot, AgentMessage message) {
  if (std::holds_alternative<RunReady>(message)) {
    Feed(event::RunReadyBy{slot});
  } else if (const auto* ready = std::get_if<StepReady>(&message)) {
    if (ready->primers_failed > 0) {
      deps_.say(fmt::format("agent {}: {} of {} priming calls did not end well in time", slot,
                            ready->primers_failed, ready->primers_wanted));
    }
    if (ready->lanes_ended > 0) {
      deps_.say(fmt::format("agent {}: {} lanes ended{}", slot, ready->lanes_ended,
                            ready->calls_cut == 0
                                ? ""
                                : fmt::format(", {} of their calls were hung up at the drain limit",
                                              ready->calls_cut)));
    }
    Feed(event::StepReadyBy{slot, ready->step});
  } else if (const auto* asked = std::get_if<EvalsAsked>(&message)) {
    slots_[slot].evals_asked = *asked;
    EvalsIfComplete(slot);
  } else if (auto* closed = std::get_if<StepClosed>(&message)) {
    slots_[slot].closing = std::move(*closed);
    CloseIfComplete(slot);
  } else if (const auto* fault = std::get_if<AgentFault>(&message)) {
    Feed(event::AgentFaulted{slot, fault->message});
  } else if (const auto* stopped = std::get_if<Stopped>(&message)) {
    slots_[slot].stopped = *stopped;
    StopIfComplete(slot);
  }
}

void RunDriver::OnAgentBatch(std::uint32_t slot, RecordBatch batch) {
  SlotState& state = slots_[slot];
  if (store_failed_ || batch.incarnation != fleet_.hello(slot).incarnation) return;
  const BatchGate::Decision decision = state.gate.Offer(batch.sequence);
  if (decision == BatchGate::Decision::kAccept) {
    if (const Status kept = deps_.journal.Append(batch); !kept.ok()) return FailStore(kept);
    state.gate.Accept();
    if (ingest_ != nullptr) {
      for (const CallRecord& record : batch.records) ingest_->Add(record);
    }
    if (evals_ != nullptr) {
      for (const EvalRecord& record : batch.evals) evals_->Add(record);
    }
    records_acked_ += batch.size();
  }
  fleet_.Ack(slot, state.gate.accepted());
  EvalsIfComplete(slot);
  CloseIfComplete(slot);
  StopIfComplete(slot);
}

void RunDriver::CloseIfComplete(std::uint32_t slot) {
  SlotState& state = slots_[slot];
  if (!state.closing.has_value() || state.gate.accepted() < state.closing->last_sequence) return;
  const StepClosed closed = *std::exchange(state.closing, std::nullopt);
  if (ingest_ == nullptr || closed.tally.step != machine_.state().step.step) return;
  ingest_->Add(closed.tally);
  if (evals_ != nullptr) evals_->Add(closed.tally);
  state.tally = closed.tally;
  Feed(event::StepClosedBy{slot, closed.tally.step});
}

void RunDriver::SayWhatIsMissing() {
  if (store_failed_) return;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    const SlotState& state = slots_[slot];
    if (!state.stopped.has_value()) continue;
    const std::uint64_t first = state.gate.accepted() + 1;
    const std::uint64_t last = state.stopped->last_sequence;
    if (first > last) continue;
    deps_.say(fmt::format("agent {}: batches {} to {} did not come in time, their records are lost",
                          slot, first, last));
  }
}

void RunDriver::StopIfComplete(std::uint32_t slot) {
  const SlotState& state = slots_[slot];
  if (!state.stopped.has_value()) return;
  if (!store_failed_ && state.gate.accepted() < state.stopped->last_sequence) return;
  Feed(event::StoppedBy{slot});
}

// Said once: the run ends with it, and agents that have stopped are waited for no longer.
void RunDriver::FailStore(const Status& status) {
  if (std::exchange(store_failed_, true)) return;
  Feed(event::StoreFailed{std::string(MessageOf(status))});
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) StopIfComplete(slot);
}

}  // namespace plimsoll
