#include "coordinator/fleet/fleet.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {
namespace {

// Before every agent is known, clocks are sampled faster: three pings in less than a second.
constexpr Duration kFirstPings = 200ms;

}  // namespace

Fleet::Fleet(Scheduler& scheduler, AgentLinks& links, FleetEvents& events, std::uint32_t size,
             std::string build, LivenessTimes liveness)
    : scheduler_(scheduler),
      links_(links),
      events_(events),
      size_(size),
      build_(std::move(build)),
      liveness_(liveness) {
  next_tick_ = scheduler_.Now();
  Tick();
}

std::uint32_t Fleet::present() const {
  const auto alive = [](const Member& m) { return m.alive; };
  return static_cast<std::uint32_t>(std::count_if(slots_.begin(), slots_.end(), alive) +
                                    std::count_if(waiting_.begin(), waiting_.end(), alive));
}

bool Fleet::alive(std::uint32_t slot) const {
  return slot < slots_.size() && slots_[slot].alive;
}

ClockOffset::Estimate Fleet::clock(std::uint32_t slot) const {
  return slots_[slot].clock.estimate().value_or(ClockOffset::Estimate{});
}

bool Fleet::clocks_known() const {
  return std::all_of(slots_.begin(), slots_.end(),
                     [](const Member& m) { return !m.alive || m.pongs >= kPingsForStart; });
}

std::uint32_t Fleet::calls_in_flight() const {
  std::uint32_t sum = 0;
  for (const Member& m : slots_) sum += m.alive ? m.calls_in_flight : 0;
  return sum;
}

std::uint32_t Fleet::lanes(std::uint32_t slot) const {
  return alive(slot) ? slots_[slot].lanes : 0;
}

std::uint32_t Fleet::calls_in_flight(std::uint32_t slot) const {
  return alive(slot) ? slots_[slot].calls_in_flight : 0;
}

Duration Fleet::silent_for(std::uint32_t slot) const {
  return slot < slots_.size() ? scheduler_.Now() - slots_[slot].heard : Duration{0};
}

void Fleet::Send(std::uint32_t slot, CoordinatorMessage message) {
  if (alive(slot)) links_.Send(slots_[slot].link, std::move(message));
}

void Fleet::SendAll(const CoordinatorMessage& message) {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) Send(slot, message);
}

void Fleet::Ack(std::uint32_t slot, std::uint64_t sequence) {
  if (alive(slot)) links_.Ack(slots_[slot].link, sequence);
}

void Fleet::Disband() {
  disbanded_ = true;
  tick_.Cancel();
  for (const Member& m : slots_) {
    if (m.alive) links_.Close(m.link);
  }
  for (const Member& m : waiting_) links_.Close(m.link);
}

Fleet::Member* Fleet::Find(LinkId link, std::uint32_t* slot) {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].alive && slots_[i].link == link) {
      *slot = i;
      return &slots_[i];
    }
  }
  for (Member& m : waiting_) {
    if (m.link == link) {
      *slot = size_;
      return &m;
    }
  }
  return nullptr;
}

void Fleet::OnMessage(LinkId link, AgentMessage message) {
  if (disbanded_) return;
  if (auto* hello = std::get_if<Hello>(&message)) return OnHello(link, std::move(*hello));
  std::uint32_t slot = 0;
  Member* member = Find(link, &slot);
  if (member == nullptr) return;
  member->heard = scheduler_.Now();
  if (const auto* pong = std::get_if<Pong>(&message)) return OnPong(*member, *pong);
  if (slot < size_) events_.OnAgentMessage(slot, std::move(message));
}

void Fleet::OnBatch(LinkId link, RecordBatch batch) {
  if (disbanded_) return;
  std::uint32_t slot = 0;
  Member* member = Find(link, &slot);
  if (member == nullptr || slot >= size_) return;
  member->heard = scheduler_.Now();
  events_.OnAgentBatch(slot, std::move(batch));
}

void Fleet::OnHello(LinkId link, Hello hello) {
  if (const std::string reason = WhyRefused(hello); !reason.empty()) {
    events_.OnAgentRefused(hello.name, reason);
    links_.Send(link, Refuse{.reason = reason});
    links_.Close(link);
    return;
  }
  Member member;
  member.link = link;
  member.alive = true;
  member.hello = std::move(hello);
  member.heard = scheduler_.Now();
  if (!slots_.empty()) {
    const auto lost =
        std::find_if(slots_.begin(), slots_.end(), [](const Member& m) { return !m.alive; });
    const auto slot = static_cast<std::uint32_t>(lost - slots_.begin());
    TakeSlot(slot, std::move(member));
    events_.OnAgentReplaced(slot);
    return;
  }
  waiting_.push_back(std::move(member));
  if (waiting_.size() == size_) FillSlots();
}

std::string Fleet::WhyRefused(const Hello& hello) const {
  if (hello.protocol_version != kProtocolVersion) {
    return fmt::format("it speaks protocol {}, this coordinator {}: install the same version",
                       hello.protocol_version, kProtocolVersion);
  }
  if (hello.build != build_) {
    return fmt::format("it is build {}, this coordinator {}: install the same version", hello.build,
                       build_);
  }
  const auto same_name = [&](const Member& m) { return m.alive && m.hello.name == hello.name; };
  if (std::any_of(slots_.begin(), slots_.end(), same_name) ||
      std::any_of(waiting_.begin(), waiting_.end(), same_name)) {
    return fmt::format("an agent named {} is already here", hello.name);
  }
  if (!slots_.empty() &&
      std::all_of(slots_.begin(), slots_.end(), [](const Member& m) { return m.alive; })) {
    return fmt::format("the fleet is complete with {} agents", size_);
  }
  return {};
}

void Fleet::FillSlots() {
  std::sort(waiting_.begin(), waiting_.end(), [](const Member& a, const Member& b) {
    return std::tie(b.hello.cores, b.hello.memory_bytes, a.hello.name) <
           std::tie(a.hello.cores, a.hello.memory_bytes, b.hello.name);
  });
  slots_.resize(size_);
  for (std::uint32_t slot = 0; slot < size_; ++slot) TakeSlot(slot, std::move(waiting_[slot]));
  waiting_.clear();
  events_.OnFleetComplete();
}

void Fleet::TakeSlot(std::uint32_t slot, Member member) {
  slots_[slot] = std::move(member);
  links_.Send(slots_[slot].link, Welcome{.agent_slot = slot});
}

void Fleet::OnPong(Member& member, const Pong& pong) {
  const auto ping = member.pings.find(pong.sequence);
  if (ping == member.pings.end()) return;
  member.clock.Add(ping->second, scheduler_.Now(), MonoTime(Duration(pong.agent_ns)));
  ++member.pongs;
  member.calls_in_flight = pong.calls_in_flight;
  member.lanes = pong.lanes;
  // Pongs come in order, so older pings will not be answered any more.
  member.pings.erase(member.pings.begin(), std::next(ping));
}

void Fleet::OnClosed(LinkId link, const Status& reason) {
  if (disbanded_) return;
  std::uint32_t slot = 0;
  if (Find(link, &slot) == nullptr) return;
  if (slot < size_) return Lose(slot, reason.ok() ? "it left" : std::string(MessageOf(reason)));
  std::erase_if(waiting_, [&](const Member& m) { return m.link == link; });
}

void Fleet::Lose(std::uint32_t slot, const std::string& reason) {
  slots_[slot].alive = false;
  events_.OnAgentLost(slot, reason);
}

void Fleet::Tick() {
  const MonoTime now = scheduler_.Now();
  // If this process itself stalled, nobody was late but us: all leases are extended by the stall.
  const Duration stalled = now - next_tick_ > liveness_.heartbeat ? now - next_tick_ : Duration{0};
  bool young = slots_.empty();
  const auto ping = [&](Member& m) {
    if (!m.alive) return;
    m.heard += stalled;
    young |= m.pongs < kPingsForStart;
    m.pings.emplace(next_ping_, now);
    links_.Send(m.link, Ping{.sequence = next_ping_++});
  };
  for (Member& m : waiting_) ping(m);
  for (std::uint32_t slot = 0; slot < slots_.size() && !disbanded_; ++slot) {
    Member& m = slots_[slot];
    ping(m);
    if (m.alive && now - m.heard > liveness_.lost) {
      links_.Close(m.link);
      Lose(slot, fmt::format("silent for {:.0f} s", ToSeconds(now - m.heard)));
    }
  }
  if (disbanded_) return;  // By whoever heard of a loss.
  next_tick_ = now + (young ? std::min(kFirstPings, liveness_.heartbeat) : liveness_.heartbeat);
  tick_ = scheduler_.At(next_tick_, [this] { Tick(); });
}

}  // namespace plimsoll
