#include "common/wire/message_codec.h"

#include <bitset>
#include <utility>

#include "common/wire/checks.h"
#include "common/wire/parse.h"
#include "common/wire/plan_codec.h"
#include "common/wire/tally_codec.h"
#include "plimsoll/v1/control.pb.h"

namespace plimsoll {
namespace {

using wire::Checks;

// Agent to coordinator.

void Write(const Hello& hello, v1::AgentMessage* out) {
  v1::Hello* to = out->mutable_hello();
  to->set_protocol_version(hello.protocol_version);
  to->set_build(hello.build);
  to->set_name(wire::SafeText(hello.name));
  to->set_incarnation(hello.incarnation);
  to->set_cores(hello.cores);
  to->set_memory_bytes(hello.memory_bytes);
  to->set_descriptors_max(hello.descriptors_max);
  to->set_ports(hello.ports);
  for (const std::string& digest : hello.corpora) to->add_corpora(digest);
}
void Write(const Pong& pong, v1::AgentMessage* out) {
  v1::Pong* to = out->mutable_pong();
  to->set_sequence(pong.sequence);
  to->set_agent_ns(pong.agent_ns);
  to->set_calls_in_flight(pong.calls_in_flight);
  to->set_lanes(pong.lanes);
}
void Write(const RunReady&, v1::AgentMessage* out) {
  out->mutable_run_ready();
}
void Write(const EvalsAsked& asked, v1::AgentMessage* out) {
  out->mutable_evals_asked()->set_asked(asked.asked);
  out->mutable_evals_asked()->set_left(asked.left);
  out->mutable_evals_asked()->set_last_sequence(asked.last_sequence);
}
void Write(const StepReady& ready, v1::AgentMessage* out) {
  v1::StepReady* to = out->mutable_step_ready();
  to->set_step(ready.step);
  to->set_primers_wanted(ready.primers_wanted);
  to->set_primers_failed(ready.primers_failed);
  to->set_lanes_ended(ready.lanes_ended);
  to->set_calls_cut(ready.calls_cut);
}
void Write(const StepClosed& closed, v1::AgentMessage* out) {
  v1::StepClosed* to = out->mutable_step_closed();
  ToProto(closed.tally, to->mutable_tally());
  to->set_last_sequence(closed.last_sequence);
}
void Write(const Stopped& stopped, v1::AgentMessage* out) {
  out->mutable_stopped()->set_last_sequence(stopped.last_sequence);
}
void Write(const AgentFault& fault, v1::AgentMessage* out) {
  out->mutable_fault()->set_message(wire::SafeText(fault.message));
}

StatusOr<AgentMessage> Read(const v1::Hello& in) {
  Checks checks("Hello");
  Hello hello;
  hello.protocol_version = in.protocol_version();
  hello.build = checks.Line(in.build(), wire::kNameBytesMax, "build");
  hello.name = checks.Name(in.name(), "name");
  checks.Require(in.incarnation() != 0, "incarnation", "set");
  hello.incarnation = in.incarnation();
  hello.cores = in.cores();
  hello.memory_bytes = in.memory_bytes();
  hello.descriptors_max = in.descriptors_max();
  hello.ports = in.ports();
  checks.Require(static_cast<std::size_t>(in.corpora_size()) <= wire::kCorporaHeldMax, "corpora",
                 "at most 4096");
  if (!checks.ok()) return checks.status();
  for (const std::string& digest : in.corpora()) {
    hello.corpora.push_back(checks.Digest(digest, "corpora"));
  }
  if (!checks.ok()) return checks.status();
  return AgentMessage(std::move(hello));
}
StatusOr<AgentMessage> Read(const v1::Pong& in) {
  Checks checks("Pong");
  Pong pong;
  pong.sequence = in.sequence();
  pong.agent_ns = checks.Instant(in.agent_ns(), "agent_ns");
  pong.calls_in_flight = in.calls_in_flight();
  pong.lanes = checks.Below(in.lanes(), limits::kLanesMax + 1, "lanes");
  if (!checks.ok()) return checks.status();
  return AgentMessage(pong);
}
StatusOr<AgentMessage> Read(const v1::EvalsAsked& in) {
  constexpr std::uint32_t kTurnsMax = limits::kEvalCasesMax * kEvalRepeatsMax;
  Checks checks("EvalsAsked");
  EvalsAsked asked{.asked = checks.Below(in.asked(), kTurnsMax + 1, "asked"),
                   .left = checks.Below(in.left(), kTurnsMax + 1, "left"),
                   .last_sequence = in.last_sequence()};
  if (!checks.ok()) return checks.status();
  return AgentMessage(asked);
}
StatusOr<AgentMessage> Read(const v1::StepReady& in) {
  Checks checks("StepReady");
  StepReady ready;
  ready.step = checks.Below(in.step(), limits::kStepsMax, "step");
  ready.primers_wanted = in.primers_wanted();
  checks.Require(in.primers_failed() <= in.primers_wanted(), "primers_failed",
                 "at most primers_wanted");
  ready.primers_failed = in.primers_failed();
  ready.lanes_ended = checks.Below(in.lanes_ended(), limits::kLanesMax + 1, "lanes_ended");
  ready.calls_cut = in.calls_cut();
  if (!checks.ok()) return checks.status();
  return AgentMessage(ready);
}
StatusOr<AgentMessage> Read(const v1::StepClosed& in) {
  if (!in.has_tally()) return absl::InvalidArgumentError("StepClosed.tally: must be set");
  ASSIGN_OR_RETURN(StepTally tally, FromProto(in.tally()));
  return AgentMessage(StepClosed{.tally = std::move(tally), .last_sequence = in.last_sequence()});
}
StatusOr<AgentMessage> Read(const v1::AgentFault& in) {
  Checks checks("AgentFault");
  AgentFault fault{.message = checks.Text(in.message(), "message")};
  if (!checks.ok()) return checks.status();
  return AgentMessage(std::move(fault));
}

// Coordinator to agent.

void Write(const Welcome& welcome, v1::CoordinatorMessage* out) {
  out->mutable_welcome()->set_agent_slot(welcome.agent_slot);
}
void Write(const Refuse& refuse, v1::CoordinatorMessage* out) {
  out->mutable_refuse()->set_reason(wire::SafeText(refuse.reason));
}
void Write(const Ping& ping, v1::CoordinatorMessage* out) {
  out->mutable_ping()->set_sequence(ping.sequence);
}
void Write(const PrepareRun& prepare, v1::CoordinatorMessage* out) {
  ToProto(prepare.plan, out->mutable_prepare_run()->mutable_plan());
}
void Write(const CorpusChunk& chunk, v1::CoordinatorMessage* out) {
  v1::CorpusChunk* to = out->mutable_corpus_chunk();
  to->set_digest(chunk.digest);
  to->set_total_bytes(chunk.total_bytes);
  to->set_offset_bytes(chunk.offset);
  to->set_data(chunk.bytes);
}
void Write(const AskEvals& ask, v1::CoordinatorMessage* out) {
  v1::AskEvals* to = out->mutable_ask_evals();
  to->set_part(ask.part);
  to->set_parts(ask.parts);
  to->set_at_once(ask.at_once);
  to->set_limit_ns(ask.limit.count());
}
void Write(const PrepareStep& prepare, v1::CoordinatorMessage* out) {
  v1::PrepareStep* to = out->mutable_prepare_step();
  ToProto(prepare.step, to->mutable_step());
  for (const LaneSpec& lane : prepare.lanes) ToProto(lane, to->add_lanes());
  to->set_fresh(prepare.fresh);
}
void Write(const CommitStep& commit, v1::CoordinatorMessage* out) {
  v1::CommitStep* to = out->mutable_commit_step();
  to->set_step(commit.step);
  to->set_start_agent_ns(commit.start_agent_ns);
}
void Write(const EndMeasure& end, v1::CoordinatorMessage* out) {
  out->mutable_end_measure()->set_step(end.step);
  out->mutable_end_measure()->set_measure_ns(end.measure.count());
}
void Write(const Stop& stop, v1::CoordinatorMessage* out) {
  v1::Stop* to = out->mutable_stop();
  to->set_kind(stop.kind == StopKind::kAbort ? v1::Stop::KIND_ABORT : v1::Stop::KIND_DRAIN);
  to->set_drain_limit_ns(stop.drain_limit.count());
}

StatusOr<CoordinatorMessage> Read(const v1::Welcome& in) {
  Checks checks("Welcome");
  Welcome welcome{.agent_slot = checks.Below(in.agent_slot(), limits::kAgentsMax, "agent_slot")};
  if (!checks.ok()) return checks.status();
  return CoordinatorMessage(welcome);
}
StatusOr<CoordinatorMessage> Read(const v1::Refuse& in) {
  Checks checks("Refuse");
  Refuse refuse{.reason = checks.Text(in.reason(), "reason")};
  if (!checks.ok()) return checks.status();
  return CoordinatorMessage(std::move(refuse));
}
StatusOr<CoordinatorMessage> Read(const v1::PrepareRun& in) {
  if (!in.has_plan()) return absl::InvalidArgumentError("PrepareRun.plan: must be set");
  ASSIGN_OR_RETURN(RunPlan plan, FromProto(in.plan()));
  return CoordinatorMessage(PrepareRun{.plan = std::move(plan)});
}
StatusOr<CoordinatorMessage> Read(const v1::CorpusChunk& in) {
  Checks checks("CorpusChunk");
  CorpusChunk chunk;
  chunk.digest = checks.Digest(in.digest(), "digest");
  checks.Require(in.total_bytes() > 0 && in.total_bytes() <= limits::kCorpusBytesMax, "total_bytes",
                 "1 to 256 MiB");
  chunk.total_bytes = in.total_bytes();
  checks.Require(!in.data().empty() && in.data().size() <= limits::kCorpusChunkBytes, "data",
                 "1 byte to 1 MiB");
  checks.Require(in.offset_bytes() < in.total_bytes() &&
                     in.data().size() <= in.total_bytes() - in.offset_bytes(),
                 "offset_bytes", "such that the piece ends within the file");
  if (!checks.ok()) return checks.status();
  chunk.offset = in.offset_bytes();
  chunk.bytes = in.data();
  return CoordinatorMessage(std::move(chunk));
}
StatusOr<CoordinatorMessage> Read(const v1::AskEvals& in) {
  Checks checks("AskEvals");
  AskEvals ask;
  ask.parts = checks.Between(in.parts(), 1, limits::kAgentsMax, "parts");
  checks.Require(in.part() < in.parts(), "part", "below parts");
  ask.part = in.part();
  ask.at_once = checks.Between(in.at_once(), 1, 64, "at_once");
  ask.limit = checks.PositiveSpan(in.limit_ns(), "limit_ns");
  if (!checks.ok()) return checks.status();
  return CoordinatorMessage(ask);
}
StatusOr<CoordinatorMessage> Read(const v1::PrepareStep& in) {
  Checks checks("PrepareStep");
  checks.Require(in.has_step(), "step", "set");
  checks.Require(static_cast<std::uint32_t>(in.lanes_size()) <= limits::kLanesMax, "lanes",
                 "at most 16384");
  if (!checks.ok()) return checks.status();
  PrepareStep prepare;
  ASSIGN_OR_RETURN(prepare.step, FromProto(in.step()));
  prepare.fresh = in.fresh();
  prepare.lanes.reserve(static_cast<std::size_t>(in.lanes_size()));
  std::bitset<limits::kLanesMax> seen;
  for (const v1::LaneSpec& lane : in.lanes()) {
    ASSIGN_OR_RETURN(const LaneSpec read, FromProto(lane));
    checks.Require(read.lane < prepare.step.sessions, "lanes.lane", "below the step's sessions");
    checks.Require(!seen[read.lane], "lanes.lane", "listed once");
    if (!checks.ok()) return checks.status();
    seen.set(read.lane);
    prepare.lanes.push_back(read);
  }
  return CoordinatorMessage(std::move(prepare));
}
StatusOr<CoordinatorMessage> Read(const v1::CommitStep& in) {
  Checks checks("CommitStep");
  CommitStep commit;
  commit.step = checks.Below(in.step(), limits::kStepsMax, "step");
  commit.start_agent_ns = checks.Instant(in.start_agent_ns(), "start_agent_ns");
  if (!checks.ok()) return checks.status();
  return CoordinatorMessage(commit);
}
StatusOr<CoordinatorMessage> Read(const v1::EndMeasure& in) {
  Checks checks("EndMeasure");
  EndMeasure end;
  end.step = checks.Below(in.step(), limits::kStepsMax, "step");
  end.measure = checks.PositiveSpan(in.measure_ns(), "measure_ns");
  if (!checks.ok()) return checks.status();
  return CoordinatorMessage(end);
}
StatusOr<CoordinatorMessage> Read(const v1::Stop& in) {
  Checks checks("Stop");
  checks.Require(in.kind() == v1::Stop::KIND_DRAIN || in.kind() == v1::Stop::KIND_ABORT, "kind",
                 "a known kind");
  Stop stop;
  stop.kind = in.kind() == v1::Stop::KIND_ABORT ? StopKind::kAbort : StopKind::kDrain;
  stop.drain_limit = checks.Span(in.drain_limit_ns(), "drain_limit_ns");
  if (!checks.ok()) return checks.status();
  return CoordinatorMessage(stop);
}

}  // namespace

void ToProto(const AgentMessage& message, v1::AgentMessage* out) {
  out->Clear();
  std::visit([out](const auto& kind) { Write(kind, out); }, message);
}

void ToProto(const CoordinatorMessage& message, v1::CoordinatorMessage* out) {
  out->Clear();
  std::visit([out](const auto& kind) { Write(kind, out); }, message);
}

StatusOr<AgentMessage> FromProto(const v1::AgentMessage& in) {
  switch (in.kind_case()) {
    case v1::AgentMessage::kHello:
      return Read(in.hello());
    case v1::AgentMessage::kPong:
      return Read(in.pong());
    case v1::AgentMessage::kRunReady:
      return AgentMessage(RunReady{});
    case v1::AgentMessage::kStepReady:
      return Read(in.step_ready());
    case v1::AgentMessage::kStepClosed:
      return Read(in.step_closed());
    case v1::AgentMessage::kStopped:
      return AgentMessage(Stopped{.last_sequence = in.stopped().last_sequence()});
    case v1::AgentMessage::kFault:
      return Read(in.fault());
    case v1::AgentMessage::kEvalsAsked:
      return Read(in.evals_asked());
    case v1::AgentMessage::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("AgentMessage: of no known kind");
}

StatusOr<CoordinatorMessage> FromProto(const v1::CoordinatorMessage& in) {
  switch (in.kind_case()) {
    case v1::CoordinatorMessage::kWelcome:
      return Read(in.welcome());
    case v1::CoordinatorMessage::kRefuse:
      return Read(in.refuse());
    case v1::CoordinatorMessage::kPing:
      return CoordinatorMessage(Ping{.sequence = in.ping().sequence()});
    case v1::CoordinatorMessage::kPrepareRun:
      return Read(in.prepare_run());
    case v1::CoordinatorMessage::kCorpusChunk:
      return Read(in.corpus_chunk());
    case v1::CoordinatorMessage::kPrepareStep:
      return Read(in.prepare_step());
    case v1::CoordinatorMessage::kCommitStep:
      return Read(in.commit_step());
    case v1::CoordinatorMessage::kStop:
      return Read(in.stop());
    case v1::CoordinatorMessage::kEndMeasure:
      return Read(in.end_measure());
    case v1::CoordinatorMessage::kAskEvals:
      return Read(in.ask_evals());
    case v1::CoordinatorMessage::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("CoordinatorMessage: of no known kind");
}

std::string EncodeMessage(const AgentMessage& message) {
  v1::AgentMessage proto;
  ToProto(message, &proto);
  return proto.SerializeAsString();
}

std::string EncodeMessage(const CoordinatorMessage& message) {
  v1::CoordinatorMessage proto;
  ToProto(message, &proto);
  return proto.SerializeAsString();
}

StatusOr<AgentMessage> DecodeAgentMessage(std::string_view bytes) {
  v1::AgentMessage proto;
  if (!wire::Parse(bytes, &proto)) return absl::InvalidArgumentError("AgentMessage: not a message");
  return FromProto(proto);
}

StatusOr<CoordinatorMessage> DecodeCoordinatorMessage(std::string_view bytes) {
  v1::CoordinatorMessage proto;
  if (!wire::Parse(bytes, &proto))
    return absl::InvalidArgumentError("CoordinatorMessage: not a message");
  return FromProto(proto);
}

}  // namespace plimsoll
