// The two ends of a link between coordinator and agent. Real: gRPC (agent/uplink,
// coordinator/fleet). Virtual: tests/fakes/memory_link, with delay and loss. All calls and
// callbacks happen on the owning loop's thread; a callback never runs from inside a call on the
// link.
#pragma once

#include "common/base/status.h"
#include "common/plan/messages.h"

namespace plimsoll {

// The agent's end.
class CoordinatorLink {
 public:
  virtual ~CoordinatorLink() = default;
  virtual void Send(AgentMessage message) = 0;
  // Records travel on a connection of their own, so that results never delay a stop.
  virtual void SendBatch(const RecordBatch& batch) = 0;
};
class CoordinatorLinkEvents {
 public:
  virtual ~CoordinatorLinkEvents() = default;
  virtual void OnMessage(CoordinatorMessage message) = 0;
  // Every batch up to and including `sequence` is in the coordinator's log.
  virtual void OnAck(std::uint64_t sequence) = 0;
  // The link is gone for good; nothing more is called.
  virtual void OnClosed(const Status& reason) = 0;
};

// The coordinator's end of one agent's link. Known by a number that is never reused in a process.
using LinkId = std::uint64_t;
class AgentLinks {
 public:
  virtual ~AgentLinks() = default;
  // Sending to a link that is gone does nothing: OnClosed is on its way.
  virtual void Send(LinkId link, CoordinatorMessage message) = 0;
  virtual void Ack(LinkId link, std::uint64_t sequence) = 0;
  // Ends the link; OnClosed follows.
  virtual void Close(LinkId link) = 0;
};
class AgentLinkEvents {
 public:
  virtual ~AgentLinkEvents() = default;
  // The first message of a link is always Hello.
  virtual void OnMessage(LinkId link, AgentMessage message) = 0;
  virtual void OnBatch(LinkId link, RecordBatch batch) = 0;
  // Last call for this link.
  virtual void OnClosed(LinkId link, const Status& reason) = 0;
};

}  // namespace plimsoll
