// The agent's state machine between a recording link and a transport that does as it is told, in
// virtual time.
#include "agent/control/agent.h"

#include "common/base/limits.h"
#include "gtest/gtest.h"
#include "tests/agent/control/agent_rig.h"

namespace plimsoll {
namespace {

TEST(Agent, SaysHelloWithTheCorporaItHolds) {
  AgentRig rig;
  EXPECT_TRUE(rig.link.Of<Hello>()[0].corpora.empty());
  ASSERT_TRUE(rig.shelf.Add(rig.plan.corpus_digest, rig.bytes).ok());
  Link link;
  Agent agent({.scheduler = rig.scheduler,
               .self_load = rig.load,
               .shelf = rig.shelf,
               .make_transport = {},
               .finished = [](const Status&) {}},
              Hello{.name = "b"});
  agent.Attach(link);
  EXPECT_EQ(link.Of<Hello>()[0].corpora, std::vector<std::string>{rig.plan.corpus_digest});
}

TEST(Agent, PlaysAStepAndClosesItWithItsRecordsSent) {
  AgentRig rig;
  rig.StartStep();
  rig.Advance(40s);
  ASSERT_EQ(rig.link.Of<StepClosed>().size(), 1u) << rig.link.Faults();
  const StepClosed closed = rig.link.Of<StepClosed>()[0];
  EXPECT_EQ(closed.tally.step, 4u);
  EXPECT_EQ(closed.tally.lanes.size(), 2u);
  EXPECT_EQ(closed.tally.attempts_released, 40u);
  std::size_t records = 0;
  for (const RecordBatch& batch : rig.link.batches) {
    EXPECT_EQ(batch.agent_slot, 2u);
    EXPECT_EQ(batch.incarnation, 7u);
    if (batch.sequence <= closed.last_sequence) records += batch.records.size();
  }
  EXPECT_GE(records, 40u);
  const Pong pong = rig.link.Of<Pong>().back();
  EXPECT_EQ(pong.sequence, rig.pings);
  EXPECT_EQ(pong.agent_ns, rig.scheduler.Now().time_since_epoch().count());
  EXPECT_EQ(pong.lanes, 2u);
  EXPECT_EQ(pong.calls_in_flight, 2u);
}

TEST(Agent, ARefusalEndsItInWords) {
  AgentRig rig;
  rig.agent->OnMessage(Refuse{"the fleet is complete"});
  EXPECT_TRUE(rig.finished.empty()) << "from a turn of its own";
  rig.agent->OnClosed(absl::UnavailableError("closed"));
  rig.scheduler.Advance(1s);
  ASSERT_EQ(rig.finished.size(), 1u);
  EXPECT_NE(MessageOf(rig.finished[0]).find("the fleet is complete"), std::string_view::npos);
}

TEST(Agent, WhatItCannotDoItSaysInWords) {
  struct {
    const char* what;
    void (*does)(AgentRig*);
    const char* words;
  } const cases[] = {
      {"step before run", [](AgentRig* r) { r->agent->OnMessage(PrepareStep{}); },
       "a step before its run"},
      {"start before run", [](AgentRig* r) { r->agent->OnMessage(CommitStep{}); },
       "a start before its run"},
      {"second run",
       [](AgentRig* r) {
         r->Prepare();
         r->agent->OnMessage(PrepareRun{r->plan});
       },
       "a second run"},
      {"unprepared step",
       [](AgentRig* r) {
         r->Prepare();
         r->agent->OnMessage(CommitStep{.step = 3});
       },
       "step 3 was not prepared"},
      {"a gap between chunks",
       [](AgentRig* r) {
         r->agent->OnMessage(PrepareRun{r->plan});
         r->agent->OnMessage(r->Chunk(0, 10));
         r->agent->OnMessage(r->Chunk(20, 10));
       },
       "does not follow"},
      {"a chunk twice",
       [](AgentRig* r) {
         r->agent->OnMessage(PrepareRun{r->plan});
         r->agent->OnMessage(r->Chunk(0, 10));
         r->agent->OnMessage(r->Chunk(0, 10));
       },
       "does not follow"},
      {"more bytes than announced",
       [](AgentRig* r) {
         r->agent->OnMessage(PrepareRun{r->plan});
         CorpusChunk chunk = r->Chunk(0, 10);
         chunk.total_bytes = 9;
         r->agent->OnMessage(chunk);
       },
       "does not follow"},
      {"a corpus beyond the bound",
       [](AgentRig* r) {
         r->agent->OnMessage(PrepareRun{r->plan});
         CorpusChunk chunk = r->Chunk(0, 10);
         chunk.total_bytes = limits::kCorpusBytesMax + 1;
         r->agent->OnMessage(chunk);
       },
       "does not follow"},
      {"a damaged corpus",
       [](AgentRig* r) {
         r->bytes[12] = static_cast<char>(r->bytes[12] ^ 1);
         r->agent->OnMessage(PrepareRun{r->plan});
         r->agent->OnMessage(r->Chunk(0, std::string::npos));
       },
       "arrived damaged"},
      {"a target that it may not reach",
       [](AgentRig* r) {
         r->may = absl::PermissionDeniedError("start it with --allow gw");
         r->agent->OnMessage(PrepareRun{r->plan});
         r->agent->OnMessage(r->Chunk(0, std::string::npos));
       },
       "start it with --allow gw"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    AgentRig rig;
    c.does(&rig);
    EXPECT_EQ(rig.link.Of<AgentFault>().size(), 1u);
    EXPECT_NE(rig.link.Faults().find(c.words), std::string::npos) << rig.link.Faults();
    rig.scheduler.Advance(1s);
    EXPECT_TRUE(rig.finished.empty()) << "the coordinator decides what becomes of the run";
  }
}

TEST(Agent, ChunksOfNoRunOrAnotherCorpusAreIgnored) {
  AgentRig rig;
  rig.agent->OnMessage(rig.Chunk(0, 10));
  rig.agent->OnMessage(PrepareRun{rig.plan});
  CorpusChunk other = rig.Chunk(0, 10);
  other.digest = "other";
  rig.agent->OnMessage(other);
  rig.agent->OnMessage(rig.Chunk(0, std::string::npos));
  EXPECT_EQ(rig.link.Of<RunReady>().size(), 1u);
  EXPECT_EQ(rig.link.Faults(), "");
}

TEST(Agent, PausesAfterTenSilentSecondsAndGoesOnWhenItHears) {
  AgentRig rig;
  rig.StartStep();
  rig.Advance(8s);
  rig.scheduler.Advance(10s);
  const std::size_t before = rig.transport.sent.size();
  rig.scheduler.Advance(2s);  // The watch looks once a second.
  rig.scheduler.Advance(1500ms);
  EXPECT_EQ(rig.transport.in_flight, 0u);
  const std::size_t paused = rig.transport.sent.size();
  EXPECT_LE(paused, before + 4);
  rig.agent->OnMessage(Ping{1});
  EXPECT_EQ(rig.transport.sent.size(), paused + 2) << "both lanes go on at once";
  rig.Advance(30s);
  ASSERT_EQ(rig.link.Of<StepClosed>().size(), 1u);
  std::int64_t dead_man = 0;
  const StepTally tally = rig.link.Of<StepClosed>()[0].tally;
  for (const LaneTally& lane : tally.lanes) {
    dead_man += lane.state_ns[static_cast<std::size_t>(LaneState::kDeadMan)];
  }
  EXPECT_GT(dead_man, 0);
}

TEST(Agent, HangsUpAfterFifteenSilentSecondsAndLeaves) {
  AgentRig rig;
  rig.transport.answer = [](std::size_t n) {
    return FixedTransport::Answer{.service = n < 2 ? Duration(1s) : Duration(1h)};
  };
  rig.StartStep();
  rig.Advance(5s);
  EXPECT_EQ(rig.transport.in_flight, 2u);
  rig.scheduler.Advance(14s);
  EXPECT_EQ(rig.transport.in_flight, 2u);
  rig.scheduler.Advance(3s);
  EXPECT_EQ(rig.transport.in_flight, 0u);
  EXPECT_EQ(rig.transport.hung_up, 2u);
  // Its end is heard of, so that another one takes its place.
  ASSERT_EQ(rig.finished.size(), 1u);
  EXPECT_EQ(rig.finished[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(MessageOf(rig.finished[0]).find("silent for more than 15 s"), std::string_view::npos);
  std::size_t cut = 0;
  for (const RecordBatch& batch : rig.link.batches) {
    for (const CallRecord& r : batch.records) cut += r.outcome == Outcome::kCut ? 1 : 0;
  }
  EXPECT_EQ(cut, 2u) << "what it hung up on is handed over";
}

TEST(Agent, LeavesAfterTheSilenceThatThePlanSays) {
  AgentRig rig;
  rig.plan.liveness_percent = 20;
  rig.transport.answer = [](std::size_t n) {
    return FixedTransport::Answer{.service = n < 2 ? Duration(1s) : Duration(1h)};
  };
  rig.StartStep();
  rig.Advance(5s);
  EXPECT_EQ(rig.transport.in_flight, 2u);
  rig.scheduler.Advance(2900ms);
  EXPECT_TRUE(rig.finished.empty());
  rig.scheduler.Advance(500ms);
  EXPECT_EQ(rig.transport.in_flight, 0u);
  ASSERT_EQ(rig.finished.size(), 1u);
  EXPECT_NE(MessageOf(rig.finished[0]).find("silent for more than 3 s"), std::string_view::npos);
}

TEST(Agent, AStopDrainsOrAbortsAndAnswersOnce) {
  for (const StopKind kind : {StopKind::kDrain, StopKind::kAbort}) {
    AgentRig rig;
    rig.StartStep();
    rig.Advance(10s);
    rig.scheduler.Advance(300ms);
    ASSERT_EQ(rig.transport.in_flight, 2u);
    const std::size_t sent = rig.transport.sent.size();
    rig.agent->OnMessage(Stop{kind, 20s});
    rig.scheduler.Advance(1ms);
    EXPECT_EQ(rig.link.Of<Stopped>().size(), kind == StopKind::kAbort ? 1u : 0u);
    rig.Advance(3s);
    ASSERT_EQ(rig.link.Of<Stopped>().size(), 1u);
    EXPECT_EQ(rig.link.Of<Stopped>()[0].last_sequence, rig.link.batches.back().sequence);
    EXPECT_EQ(rig.transport.sent.size(), sent);
    EXPECT_EQ(rig.transport.hung_up, kind == StopKind::kAbort ? 2u : 0u);
    rig.agent->OnClosed(absl::UnavailableError("closed"));
    rig.scheduler.Advance(1s);
    ASSERT_EQ(rig.finished.size(), 1u);
    EXPECT_TRUE(rig.finished[0].ok()) << "an orderly end";
  }
}

TEST(Agent, ASignalDrainsHandsOverItsRecordsAndFinishes) {
  for (const StopKind kind : {StopKind::kDrain, StopKind::kAbort}) {
    AgentRig rig;
    rig.StartStep();
    rig.Advance(10s);
    rig.scheduler.Advance(300ms);
    const std::size_t sent = rig.transport.sent.size();
    rig.agent->Shutdown(kind);
    rig.scheduler.Advance(Agent::kShutdownDrain + 1s);
    EXPECT_EQ(rig.transport.sent.size(), sent) << "nothing is released after the signal";
    ASSERT_EQ(rig.finished.size(), 1u);
    EXPECT_EQ(rig.finished[0].code(), absl::StatusCode::kCancelled);
    std::size_t records = 0;
    bool cut = false;
    for (const RecordBatch& batch : rig.link.batches) {
      records += batch.records.size();
      for (const CallRecord& r : batch.records) cut |= r.outcome == Outcome::kCut;
    }
    EXPECT_GT(records, 0u);
    EXPECT_EQ(cut, kind == StopKind::kAbort);
  }
}

TEST(Agent, AStopBeforeAnyRunIsAnswered) {
  AgentRig rig;
  rig.agent->OnMessage(Stop{});
  EXPECT_EQ(rig.link.Of<Stopped>().size(), 1u);
}

TEST(Agent, WithoutItsCoordinatorItHangsUpAndEndsWithTheReason) {
  AgentRig rig;
  rig.StartStep();
  rig.Advance(6s);
  ASSERT_GT(rig.transport.in_flight, 0u);
  const std::size_t sent = rig.link.sent.size();
  rig.agent->OnClosed(absl::UnavailableError("connection reset"));
  rig.agent->OnClosed(absl::UnavailableError("twice"));
  rig.scheduler.Advance(1s);
  EXPECT_EQ(rig.transport.in_flight, 0u);
  ASSERT_EQ(rig.finished.size(), 1u);
  EXPECT_EQ(MessageOf(rig.finished[0]), "connection reset");
  rig.agent->OnMessage(Ping{9});
  EXPECT_EQ(rig.link.sent.size(), sent) << "nothing is sent on a link that is gone";
}

// Hanging up ends what the step was waiting for, so it closes; nobody is left to hear of it.
TEST(Agent, ALinkThatEndsInTheCoolDownOrWhilePrimingIsNotWrittenTo) {
  for (const Duration after : {Duration(26900ms), Duration(27300ms), Duration(28100ms)}) {
    AgentRig rig;
    rig.transport.answer = [](std::size_t n) {
      return FixedTransport::Answer{.service = n < 40 ? Duration(1s) : Duration(8s)};
    };
    rig.StartStep();
    rig.Advance(after);
    const std::size_t sent = rig.link.sent.size();
    rig.agent->OnClosed(absl::UnavailableError("connection reset"));
    rig.scheduler.Advance(60s);
    EXPECT_EQ(rig.link.sent.size(), sent);
    EXPECT_EQ(rig.finished.size(), 1u);
  }
  AgentRig rig;
  rig.Prepare();
  rig.agent->OnMessage(PrepareStep{.step = {.step = 4,
                                            .sessions = 1,
                                            .warm_up = 5s,
                                            .measure = 20s,
                                            .block = 10s,
                                            .drain_limit = 10s,
                                            .prime_limit = 10s},
                                   .lanes = {{.lane = 0, .rank = 0}}});
  const std::size_t sent = rig.link.sent.size();
  rig.agent->OnClosed(absl::UnavailableError("connection reset"));
  rig.scheduler.Advance(60s);
  EXPECT_EQ(rig.link.sent.size(), sent);
}

}  // namespace
}  // namespace plimsoll
