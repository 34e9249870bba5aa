// A real agent process under load, with this process as its coordinator: real gRPC, real records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/corpus/session.h"
#include "common/loop/event_loop.h"
#include "common/plan/plan.h"
#include "common/record/call_record.h"
#include "common/record/tally.h"
#include "coordinator/fleet/grpc_fleet_server.h"
#include "tests/bench/agent/machine.h"

namespace plimsoll::bench {

struct LoadOptions {
  std::uint32_t lanes = 1000;
  std::uint32_t prompt_tokens = 1000;
  std::uint32_t calls_a_session = 1;
  std::uint32_t delay_ms = 0;  // Between the calls of a session.
  Duration measure = 30s;
};

// The plan and the corpus of one load: every session alike, each call a little longer than the one
// before.
Corpus MakeCorpus(const LoadOptions& options);
RunPlan MakePlan(const std::string& digest, std::uint32_t port);

class AgentRig final : public AgentLinkEvents {
 public:
  // Starts `program` (plimsoll-agent) and leads it to the start of its load.
  AgentRig(EventLoop& loop, const std::string& program, const LoadOptions& options,
           const Shared& shared);
  ~AgentRig() override;

  // Called once each, on the loop.
  std::function<void()> on_run_ready;  // Plan and corpus are there; no lane is.
  std::function<void()> on_start;      // The common start has come.
  std::function<void()> on_closed;     // The step's tally has come.

  pid_t pid() const { return agent_.pid(); }
  const RunPlan& plan() const { return plan_; }
  MonoTime start() const { return start_; }
  std::uint32_t calls_in_flight() const { return calls_in_flight_; }
  std::uint32_t calls_in_flight_max() const { return calls_in_flight_max_; }
  const std::vector<CallRecord>& records() const { return records_; }
  const StepTally& tally() const { return tally_; }
  const std::string& fault() const { return fault_; }

  void OnMessage(LinkId link, AgentMessage message) override;
  void OnBatch(LinkId link, RecordBatch batch) override;
  void OnClosed(LinkId link, const Status& reason) override;

 private:
  void SendRun(LinkId link);
  void SendStep(LinkId link);
  void Ping();

  EventLoop& loop_;
  const LoadOptions options_;
  std::string corpus_;
  RunPlan plan_;
  std::unique_ptr<GrpcFleetServer> server_;
  LinkId link_ = 0;
  MonoTime start_{};
  std::uint32_t calls_in_flight_ = 0;
  std::uint32_t calls_in_flight_max_ = 0;
  std::uint64_t pings_ = 0;
  std::vector<CallRecord> records_;
  StepTally tally_;
  std::string fault_;
  Timer ping_;
  Timer begin_;
  Child agent_;
};

}  // namespace plimsoll::bench
