// Two event loops on threads of their own, one for the coordinator's end and one for the agent's,
// joined by real gRPC over loopback; and events that are recorded for the test to wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/uplink/grpc_coordinator_link.h"
#include "common/loop/event_loop.h"
#include "coordinator/fleet/grpc_fleet_server.h"
#include "gtest/gtest.h"

namespace plimsoll::test {

inline constexpr std::chrono::seconds kPatience{20};  // For what must come.
inline constexpr std::uint64_t kIncarnation = 0xABCDEF;

class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.Run(); }) {}
  ~LoopThread() {
    loop_.Stop();
    thread_.join();
  }
  EventLoop& loop() { return loop_; }
  // Runs `task` on the loop and returns when it has run.
  void Do(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  EventLoop loop_;
  std::thread thread_;
};

// What both ends' recorders share: a lock, and waiting for a condition.
class Recorder {
 public:
  // True once `holds()` did, within kPatience; it is asked with the lock.
  bool WaitFor(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, holds);
  }

 protected:
  void Note(const std::function<void()>& change) {
    const std::scoped_lock lock(mutex_);
    change();
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class AgentRecorder final : public CoordinatorLinkEvents, public Recorder {
 public:
  std::vector<CoordinatorMessage> messages;
  std::vector<std::uint64_t> acks;
  std::vector<Status> closed;
  std::function<void(const CoordinatorMessage&)> on_message;  // On the loop, after noting.

  void OnMessage(CoordinatorMessage message) override {
    Note([&] { messages.push_back(message); });
    if (on_message) on_message(message);
  }
  void OnAck(std::uint64_t sequence) override {
    Note([&] { acks.push_back(sequence); });
  }
  void OnClosed(const Status& reason) override {
    Note([&] { closed.push_back(reason); });
  }
};

class FleetRecorder final : public AgentLinkEvents, public Recorder {
 public:
  std::vector<std::pair<LinkId, AgentMessage>> messages;
  std::vector<RecordBatch> batches;
  std::vector<std::pair<LinkId, Status>> closed;
  std::size_t batches_at_close = 0;
  std::function<void(LinkId, const AgentMessage&)> on_message;  // On the loop, after noting.
  std::function<void(LinkId, const RecordBatch&)> on_batch;

  void OnMessage(LinkId link, AgentMessage message) override {
    Note([&] { messages.emplace_back(link, message); });
    if (on_message) on_message(link, message);
  }
  void OnBatch(LinkId link, RecordBatch batch) override {
    Note([&] { batches.push_back(batch); });
    if (on_batch) on_batch(link, batch);
  }
  void OnClosed(LinkId link, const Status& reason) override {
    Note([&] {
      closed.emplace_back(link, reason);
      batches_at_close = batches.size();
    });
  }
};

class Rig : public testing::Test {
 protected:
  ~Rig() override {
    if (link) HangUp();
    if (server) StopServer();
  }
  void StartServer(const std::string& listen = "127.0.0.1:0") {
    fleet_loop.Do([&] {
      auto made =
          GrpcFleetServer::Listen({.listen = listen, .shutdown_wait = 200ms, .linger = kPatience},
                                  fleet_loop.loop(), fleet);
      ASSERT_TRUE(made.ok()) << made.status();
      server = *std::move(made);
      address = server->address();
    });
  }
  void StopServer() {
    fleet_loop.Do([&] { server.reset(); });
  }
  void Dial(Duration patience = kPatience, Duration linger = kPatience) {
    agent_loop.Do([&] {
      link = std::make_unique<GrpcCoordinatorLink>(
          GrpcCoordinatorLinkOptions{.coordinator = address,
                                     .incarnation = kIncarnation,
                                     .seed = 7,
                                     .patience = patience,
                                     .linger = linger},
          agent_loop.loop(), agent);
    });
  }
  void SendBatches(std::uint64_t first, std::uint64_t last) {
    agent_loop.Do([&] {
      for (std::uint64_t i = first; i <= last; ++i) link->SendBatch(ABatch(i));
    });
  }
  void Close() {
    agent_loop.Do([&] { link->Close(); });
  }
  // Destroys the agent's end without a word, as its process would vanish.
  void HangUp() {
    agent_loop.Do([&] { link.reset(); });
  }
  void Send(AgentMessage message) {
    agent_loop.Do([&] { link->Send(message); });
  }
  void Answer(LinkId to, CoordinatorMessage message) {
    fleet_loop.Do([&] { server->Send(to, message); });
  }
  // Server, link, Hello and Welcome; the link's id.
  LinkId Attach() {
    StartServer();
    Dial();
    Send(AHello());
    EXPECT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 1; }));
    const LinkId id = fleet.messages.empty() ? 0 : fleet.messages[0].first;
    Answer(id, Welcome{.agent_slot = 3});
    EXPECT_TRUE(agent.WaitFor([&] { return agent.messages.size() == 1; }));
    return id;
  }
  static Hello AHello() {
    return Hello{.build = "0.1.0", .name = "host:1", .incarnation = kIncarnation, .cores = 2};
  }
  static RecordBatch ABatch(std::uint64_t sequence, std::size_t records = 1) {
    RecordBatch batch{.agent_slot = 3, .incarnation = kIncarnation, .sequence = sequence};
    for (std::size_t i = 0; i < records; ++i) {
      CallRecord record;
      record.call = static_cast<std::uint32_t>(i);
      record.released = record.first_released = static_cast<StepNanos>(sequence * 1000 + i);
      record.end = record.released + 5;
      record.outcome = Outcome::kOk;
      batch.records.push_back(record);
    }
    return batch;
  }

  FleetRecorder fleet;
  AgentRecorder agent;
  LoopThread fleet_loop;
  LoopThread agent_loop;
  std::string address;
  std::unique_ptr<GrpcFleetServer> server;
  std::unique_ptr<GrpcCoordinatorLink> link;
};

}  // namespace plimsoll::test
