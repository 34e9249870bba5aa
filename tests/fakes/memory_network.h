// Links between one coordinator and many agents in virtual time: order is kept, each message takes
// a seeded delay, batches may be lost on the way, and a link can break as a killed process breaks
// it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "common/base/rng.h"
#include "common/base/scheduler.h"
#include "common/plan/links.h"

namespace plimsoll {

struct MemoryNetworkOptions {
  Duration delay_min = 100us;
  Duration delay_max = 2ms;
  double batch_loss = 0;  // Of batches and of acks.
  std::uint64_t seed = 1;
  // Messages and batches travel as bytes through common/wire, so that what a real peer would refuse
  // ends the link here too. Off where only speed counts.
  bool through_codec = false;
};

class MemoryNetwork final : public AgentLinks {
 public:
  // What the coordinator hears, it hears on `coordinator`; agents on `agents`.
  MemoryNetwork(Scheduler& agents, Scheduler& coordinator, const MemoryNetworkOptions& options);
  ~MemoryNetwork() override;

  void SetServer(AgentLinkEvents& server) { server_ = &server; }
  // The agent's end of a new link. Destroying it is what a killed process does: the coordinator
  // hears that the link closed.
  std::unique_ptr<CoordinatorLink> Dial(CoordinatorLinkEvents& agent);
  // The agent ends its link in order: the coordinator hears that it left, after all it was sent.
  void HangUp(LinkId link);
  // A partition: nothing passes in either direction any more, and nobody is told.
  void Silence(LinkId link);
  // From now on, as the option says it; 1: no batch and no ack passes, while all else does.
  void SetBatchLoss(double share) { batch_loss_ = share; }
  LinkId last_link() const { return next_link_ - 1; }

  void Send(LinkId link, CoordinatorMessage message) override;
  void Ack(LinkId link, std::uint64_t sequence) override;
  void Close(LinkId link) override;

 private:
  class AgentEnd;
  // Delivers in order, each at its time.
  class Pipe {
   public:
    Pipe(Scheduler& scheduler, MemoryNetwork& network) : scheduler_(scheduler), network_(network) {}
    void Push(std::function<void()> deliver);
    void Clear();

   private:
    void Arm();
    struct Item {
      MonoTime at;
      std::function<void()> deliver;
    };
    Scheduler& scheduler_;
    MemoryNetwork& network_;
    std::deque<Item> items_;
    MonoTime last_{};
    Timer timer_;
  };
  struct Link {
    CoordinatorLinkEvents* agent = nullptr;  // Null once its end is gone.
    std::unique_ptr<Pipe> to_agent;
    std::unique_ptr<Pipe> to_coordinator;
    bool silent = false;
    bool closed = false;
  };
  Duration Delay();
  bool Lost() { return batch_loss_ > 0 && rng_.Chance(batch_loss_); }
  void AgentGone(LinkId id);
  void Refused(LinkId id, const Status& why);

  Scheduler& agents_;
  Scheduler& coordinator_;
  const MemoryNetworkOptions options_;
  double batch_loss_;
  Rng rng_;
  AgentLinkEvents* server_ = nullptr;
  std::map<LinkId, Link> links_;
  LinkId next_link_ = 1;
};

}  // namespace plimsoll
