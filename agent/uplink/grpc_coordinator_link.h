// The agent's link to its coordinator over gRPC: one connection for control, one for records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/scheduler.h"
#include "common/base/time.h"
#include "common/plan/links.h"

namespace plimsoll {

struct GrpcCoordinatorLinkOptions {
  std::string coordinator;        // "host:port".
  std::uint64_t incarnation = 0;  // As in the Hello that the agent will send; not 0.
  std::uint64_t seed = 0;         // Of the back-off between attempts to connect.
  // How long to keep trying: the coordinator may not be up yet.
  Duration patience = 60s;
  // Between attempts, doubled by each up to the maximum, then drawn from its upper half.
  Duration back_off_min = 100ms;
  Duration back_off_max = 2s;
  // How long an end in order may take before the streams are cut.
  Duration linger = 2s;
};

// Starts to connect when made. What is sent before the connection stands waits for it, in order.
// The records connection is opened when the coordinator's first message has come, which shows that
// it knows this agent. All methods, and the destructor, run on the scheduler's thread, and so do
// the events; they never run from inside a method, nor after the destructor.
//
// OnClosed comes once: OK when either side ended the link in order and the coordinator took all
// batches that were sent; else Unavailable, DeadlineExceeded or what the coordinator answered, in
// words with its address and what may be lost. A link that broke is not made again.
// A message that cannot be sent within the bounds (8,192 messages or 512 MiB of control waiting,
// limits::kBatchesKeptMax batches) closes the link with ResourceExhausted.
class GrpcCoordinatorLink final : public CoordinatorLink {
 public:
  // `scheduler` and `events` outlive the link.
  GrpcCoordinatorLink(GrpcCoordinatorLinkOptions options, Scheduler& scheduler,
                      CoordinatorLinkEvents& events);
  // Cuts what is open and waits for gRPC's last callback: a matter of milliseconds.
  ~GrpcCoordinatorLink() override;

  void Send(AgentMessage message) override;
  void SendBatch(const RecordBatch& batch) override;
  // Ends the link in order: what was sent is written first, and read by the coordinator. OnClosed
  // follows, within `linger` even if the coordinator does not answer, and says what was not taken;
  // before the first connection stands that is everything. What is sent after it is dropped.
  void Close();

 private:
  class Impl;
  // Shared with tasks that are running when the link is destroyed from one of its own events.
  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll
