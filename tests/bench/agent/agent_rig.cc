#include "tests/bench/agent/agent_rig.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "common/plan/lanes.h"
#include "common/wire/corpus_codec.h"

namespace plimsoll::bench {

Corpus MakeCorpus(const LoadOptions& options) {
  Session session;
  session.id = "bench";
  session.tier = Tier::kHeavy;
  session.streams.push_back(Stream{});
  constexpr std::uint32_t kGrowth = 192;  // Three blocks a turn.
  std::uint32_t tokens = options.prompt_tokens;
  for (std::uint32_t c = 0; c < options.calls_a_session; ++c) {
    Call call;
    call.ref = static_cast<std::int32_t>(c) - 1;
    call.kept_blocks = c == 0 ? 0 : session.calls.back().blocks();
    call.tokens_in = tokens;
    call.tokens_out = 600;
    call.start_ms = c * 20'000;
    call.delay_ms = c == 0 ? 0 : options.delay_ms;
    call.service_ms = 1000;
    session.calls.push_back(call);
    tokens += kGrowth;
  }
  Corpus corpus;
  corpus.source = "benchmark";
  corpus.license = "none";
  corpus.models = {"bench"};
  corpus.sessions.push_back(std::move(session));
  return corpus;
}

RunPlan MakePlan(const std::string& digest, std::uint32_t port) {
  RunPlan plan;
  plan.run_id = "bench";
  plan.seed = 1;
  plan.nonce = 2;
  plan.corpus_digest = digest;
  plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1}};
  plan.think_time = ThinkTime::kRecorded;
  plan.target.url = fmt::format("http://127.0.0.1:{}/v1", port);
  plan.target.model = "bench";
  plan.target.affinity_play_header = "x-play";
  return plan;
}

AgentRig::AgentRig(EventLoop& loop, const std::string& program, const LoadOptions& options,
                   const Shared& shared)
    : loop_(loop), options_(options), corpus_(EncodeCorpus(MakeCorpus(options))) {
  plan_ = MakePlan(Sha256Hex(corpus_), shared.port);
  auto server = GrpcFleetServer::Listen({}, loop_, *this);
  if (!server.ok()) {
    fmt::print(stderr, "{}\n", MessageOf(server.status()));
    std::exit(1);
  }
  server_ = *std::move(server);
  agent_ = Child({program, "--coordinator", server_->address()});
}

AgentRig::~AgentRig() {
  agent_ = Child();
}

void AgentRig::Ping() {
  server_->Send(link_, plimsoll::Ping{.sequence = ++pings_});
  ping_ = loop_.After(200ms, [this] { Ping(); });
}

void AgentRig::OnMessage(LinkId link, AgentMessage message) {
  link_ = link;
  if (std::holds_alternative<Hello>(message)) {
    SendRun(link);
  } else if (std::holds_alternative<RunReady>(message)) {
    if (on_run_ready) on_run_ready();
    SendStep(link);
  } else if (std::holds_alternative<StepReady>(message)) {
    start_ = loop_.Now() + 1s;
    server_->Send(link, CommitStep{.step = 0, .start_agent_ns = start_.time_since_epoch().count()});
    begin_ = loop_.At(start_, [this] {
      if (on_start) on_start();
    });
  } else if (const auto* pong = std::get_if<Pong>(&message)) {
    calls_in_flight_ = pong->calls_in_flight;
    calls_in_flight_max_ = std::max(calls_in_flight_max_, pong->calls_in_flight);
  } else if (auto* closed = std::get_if<StepClosed>(&message)) {
    tally_ = std::move(closed->tally);
    if (on_closed) on_closed();
  } else if (auto* fault = std::get_if<AgentFault>(&message)) {
    fault_ = std::move(fault->message);
    loop_.Stop();
  }
}

void AgentRig::SendRun(LinkId link) {
  server_->Send(link, Welcome{.agent_slot = 0});
  server_->Send(link, PrepareRun{.plan = plan_});
  server_->Send(link, CorpusChunk{.digest = plan_.corpus_digest,
                                  .total_bytes = corpus_.size(),
                                  .offset = 0,
                                  .bytes = corpus_});
  Ping();
}

void AgentRig::SendStep(LinkId link) {
  PrepareStep prepare;
  prepare.step = {.step = 0,
                  .sessions = options_.lanes,
                  .warm_up = 1s,
                  .measure = options_.measure,
                  .block = options_.measure,
                  .drain_limit = 60s,
                  .prime_limit = 120s};
  const std::vector<std::uint32_t> slots = {0};
  prepare.lanes = AssignLanes(plan_.tiers, options_.lanes, slots);
  server_->Send(link, std::move(prepare));
}

void AgentRig::OnBatch(LinkId link, RecordBatch batch) {
  records_.insert(records_.end(), batch.records.begin(), batch.records.end());
  server_->Ack(link, batch.sequence);
}

void AgentRig::OnClosed(LinkId, const Status& reason) {
  fault_ = "the agent is gone: " + std::string(MessageOf(reason));
  loop_.Stop();
}

}  // namespace plimsoll::bench
