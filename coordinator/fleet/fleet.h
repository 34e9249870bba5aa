// Fleet: who is here, in which slot, alive or lost, and how its clock lies to ours. Knows links and
// messages, not runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/scheduler.h"
#include "common/plan/links.h"
#include "common/plan/liveness.h"
#include "coordinator/fleet/clock_offset.h"

namespace plimsoll {

class FleetEvents {
 public:
  virtual ~FleetEvents() = default;
  // The fleet has all its agents: every slot is taken. Once.
  virtual void OnFleetComplete() = 0;
  virtual void OnAgentLost(std::uint32_t slot, const std::string& reason) = 0;
  // Another incarnation took a slot that was lost.
  virtual void OnAgentReplaced(std::uint32_t slot) = 0;
  // Everything but Hello and Pong.
  virtual void OnAgentMessage(std::uint32_t slot, AgentMessage message) = 0;
  virtual void OnAgentBatch(std::uint32_t slot, RecordBatch batch) = 0;
  // Somebody was turned away; for the log.
  virtual void OnAgentRefused(const std::string& name, const std::string& reason) = 0;
};

class Fleet final : public AgentLinkEvents {
 public:
  // `size` slots are filled in the fleet's size order: most cores first, then memory, then name.
  // `build` is this program's version; an agent of another one is refused. `liveness` as the plan
  // says.
  Fleet(Scheduler& scheduler, AgentLinks& links, FleetEvents& events, std::uint32_t size,
        std::string build, LivenessTimes liveness = {});

  std::uint32_t size() const { return size_; }
  std::uint32_t present() const;  // Agents that said Hello and are alive.
  bool alive(std::uint32_t slot) const;
  // True once every slot is taken: from then on each has a Hello, of a lost agent its last one.
  bool complete() const { return !slots_.empty(); }
  const Hello& hello(std::uint32_t slot) const { return slots_[slot].hello; }
  ClockOffset::Estimate clock(std::uint32_t slot) const;
  // True once every agent alive has answered enough pings for a common start.
  bool clocks_known() const;
  std::uint32_t calls_in_flight() const;
  // As the last pong of the slot's agent says; 0 of a lost one.
  std::uint32_t lanes(std::uint32_t slot) const;
  std::uint32_t calls_in_flight(std::uint32_t slot) const;
  // Since the slot's agent was last heard, also of a lost one; 0 before the fleet is complete.
  Duration silent_for(std::uint32_t slot) const;

  void Send(std::uint32_t slot, CoordinatorMessage message);
  void SendAll(const CoordinatorMessage& message);
  void Ack(std::uint32_t slot, std::uint64_t sequence);
  // Ends every link; nobody is reported as lost any more.
  void Disband();

  void OnMessage(LinkId link, AgentMessage message) override;
  void OnBatch(LinkId link, RecordBatch batch) override;
  void OnClosed(LinkId link, const Status& reason) override;

 private:
  static constexpr std::uint32_t kPingsForStart = 3;
  struct Member {
    LinkId link = 0;
    bool alive = false;
    Hello hello;
    MonoTime heard{};
    ClockOffset clock;
    std::uint32_t pongs = 0;
    std::map<std::uint64_t, MonoTime> pings;  // On the way, by sequence.
    std::uint32_t calls_in_flight = 0;
    std::uint32_t lanes = 0;
  };

  void OnHello(LinkId link, Hello hello);
  void OnPong(Member& member, const Pong& pong);
  void TakeSlot(std::uint32_t slot, Member member);
  void FillSlots();
  void Lose(std::uint32_t slot, const std::string& reason);
  void Tick();
  std::string WhyRefused(const Hello& hello) const;
  Member* Find(LinkId link, std::uint32_t* slot);

  Scheduler& scheduler_;
  AgentLinks& links_;
  FleetEvents& events_;
  const std::uint32_t size_;
  const std::string build_;
  const LivenessTimes liveness_;
  std::vector<Member> waiting_;  // Before the fleet is complete.
  std::vector<Member> slots_;    // size_ of them once it is.
  bool disbanded_ = false;
  std::uint64_t next_ping_ = 1;
  MonoTime next_tick_{};
  Timer tick_;
};

}  // namespace plimsoll
