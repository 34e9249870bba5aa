// Agent: the state machine between a coordinator's messages and the replayer. Knows neither sockets
// nor gRPC; runs in tests/sim as it does in the process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/replay/replayer.h"
#include "agent/uplink/uplink.h"
#include "common/plan/links.h"

namespace plimsoll {

// Corpora this process holds, by digest. Real: corpus_shelf.
class CorpusShelf {
 public:
  virtual ~CorpusShelf() = default;
  virtual std::vector<std::string> digests() const = 0;
  // Null if not held.
  virtual std::shared_ptr<const Corpus> Find(const std::string& digest) const = 0;
  // Decodes and keeps a corpus; refuses bytes that do not have the digest or are no corpus.
  virtual Status Add(const std::string& digest, std::string bytes) = 0;
};

struct AgentDeps {
  Scheduler& scheduler;
  SelfLoad& self_load;
  CorpusShelf& shelf;
  // The way to the deployment of a plan: refuses a host that is not on the allow-list, a missing
  // token.
  std::function<StatusOr<std::unique_ptr<CallTransport>>(const RunPlan&)> make_transport;
  // The agent is done: OK after an orderly stop, else why. Called once, from a turn of its own.
  std::function<void(Status)> finished;
};

// What an agent does now, for its /metrics page.
struct AgentNow {
  bool in_run = false;  // The plan and its corpus are here.
  std::uint32_t slot = 0;
  std::uint32_t lanes = 0;
  std::uint32_t calls_in_flight = 0;
  UplinkCounts records;
  Duration coordinator_silent_for{};
};

class Agent final : public CoordinatorLinkEvents {
 public:
  Agent(AgentDeps deps, Hello hello);
  ~Agent() override;

  // Says Hello. `link` outlives the agent.
  void Attach(CoordinatorLink& link);
  // A signal to this process: releases nothing more, lets calls in flight end (kDrain: at most
  // kShutdownDrain) or hangs up (kAbort), hands the last records over, and finishes.
  void Shutdown(StopKind kind);
  static constexpr Duration kShutdownDrain = 10s;

  AgentNow Now() const;

  void OnMessage(CoordinatorMessage message) override;
  void OnAck(std::uint64_t sequence) override;
  void OnClosed(const Status& reason) override;

 private:
  struct Run;

  void Handle(Welcome message);
  void Handle(const Refuse& message);
  void Handle(Ping message);
  void Handle(PrepareRun message);
  void Handle(const CorpusChunk& message);
  void Handle(const AskEvals& message);
  void Handle(const PrepareStep& message);
  void Handle(CommitStep message);
  void Handle(const EndMeasure& message);
  void Handle(Stop message);

  Status MakeRun();
  void StopReplay(Duration drain_limit);
  void Fault(const Status& status);
  void WatchCoordinator();
  LivenessTimes liveness() const;
  void GiveUp();
  void Finish(const Status& status);

  AgentDeps deps_;
  Hello hello_;
  CoordinatorLink* link_ = nullptr;
  std::uint32_t slot_ = 0;
  std::unique_ptr<RunPlan> plan_;
  std::string corpus_bytes_;  // While chunks arrive.
  std::unique_ptr<Run> run_;
  MonoTime heard_{};
  bool paused_ = false;
  bool finished_ = false;
  Timer watch_;
  Timer finish_;
};

}  // namespace plimsoll
