// The coordinator's end of all agents' links over gRPC: one server, two services (control and
// records), two connections per agent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/links.h"

namespace plimsoll {

struct GrpcFleetServerOptions {
  std::string listen = "127.0.0.1:0";  // "host:port"; port 0: any free one.
  // Without TLS everything is readable on the way, so other hosts are refused unless this says that
  // the network between is trusted.
  bool allow_plaintext = false;
  // How long the destructor waits for streams to end by themselves before it cuts them.
  Duration shutdown_wait = 500ms;
  // How long a link that was ended in order may take to end before it is cut.
  Duration linger = 2s;
};

// All methods, and the destructor, run on the scheduler's thread, and so do the events; they never
// run from inside a method, nor after the destructor.
//
// A link begins with its agent's Hello, the first call of OnMessage for it. A stream that begins
// with anything else, or with an incarnation that is attached already, or with nothing for ten
// seconds, is ended with words and never reported. Batches and messages each keep their order. Once
// limits::kBatchWindow batches of a link wait for Ack, no more are read.
// OnClosed: OK when either side ended the link in order; Unavailable when a stream broke;
// InvalidArgument when the agent sent what cannot be. Batches that had arrived come before it.
class GrpcFleetServer final : public AgentLinks {
 public:
  // Listens. `scheduler` and `events` outlive the server; the first event runs in a later turn.
  // InvalidArgument: the address, or plain text beyond loopback; Unavailable: it cannot be bound.
  static StatusOr<std::unique_ptr<GrpcFleetServer>> Listen(GrpcFleetServerOptions options,
                                                           Scheduler& scheduler,
                                                           AgentLinkEvents& events);
  // Ends all links without events, and waits: at most shutdown_wait and some milliseconds.
  ~GrpcFleetServer() override;

  // "host:port" with the port that was given or found.
  std::string address() const;

  // More than 8,192 messages or 512 MiB waiting for one agent closes its link: ResourceExhausted.
  void Send(LinkId link, CoordinatorMessage message) override;
  void Ack(LinkId link, std::uint64_t sequence) override;
  // What was sent is written first, and what the agent has sent is read; the link is cut after
  // `linger`.
  void Close(LinkId link) override;

 private:
  class Impl;
  explicit GrpcFleetServer(std::shared_ptr<Impl> impl);
  // Shared with tasks that are running when the server is destroyed from one of its own events.
  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll
