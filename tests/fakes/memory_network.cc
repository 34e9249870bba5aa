#include "tests/fakes/memory_network.h"

#include <algorithm>
#include <utility>

#include "common/wire/message_codec.h"
#include "common/wire/record_codec.h"

namespace plimsoll {

class MemoryNetwork::AgentEnd final : public CoordinatorLink {
 public:
  AgentEnd(MemoryNetwork& network, LinkId id) : network_(network), id_(id) {}
  ~AgentEnd() override { network_.AgentGone(id_); }

  void Send(AgentMessage message) override {
    Link& link = network_.links_.at(id_);
    if (link.silent || link.closed) return;
    if (network_.options_.through_codec) {
      auto decoded = DecodeAgentMessage(EncodeMessage(message));
      if (!decoded.ok()) return network_.Refused(id_, decoded.status());
      message = *std::move(decoded);
    }
    link.to_coordinator->Push(
        [this_network = &network_, id = id_, m = std::move(message)]() mutable {
          this_network->server_->OnMessage(id, std::move(m));
        });
  }
  void SendBatch(const RecordBatch& batch) override {
    Link& link = network_.links_.at(id_);
    if (link.silent || link.closed || network_.Lost()) return;
    if (network_.options_.through_codec) {
      const auto decoded = DecodeBatch(EncodeBatch(batch));
      if (!decoded.ok()) return network_.Refused(id_, decoded.status());
    }
    link.to_coordinator->Push(
        [this_network = &network_, id = id_, copy = RecordBatch(batch)]() mutable {
          this_network->server_->OnBatch(id, std::move(copy));
        });
  }

 private:
  MemoryNetwork& network_;
  const LinkId id_;
};

MemoryNetwork::MemoryNetwork(Scheduler& agents, Scheduler& coordinator,
                             const MemoryNetworkOptions& options)
    : agents_(agents),
      coordinator_(coordinator),
      options_(options),
      batch_loss_(options.batch_loss),
      rng_(options.seed) {}

MemoryNetwork::~MemoryNetwork() = default;

Duration MemoryNetwork::Delay() {
  return options_.delay_min +
         FromSeconds(ToSeconds(options_.delay_max - options_.delay_min) * rng_.Uniform());
}

void MemoryNetwork::Pipe::Push(std::function<void()> deliver) {
  last_ = std::max(last_, scheduler_.Now() + network_.Delay());
  items_.push_back({last_, std::move(deliver)});
  if (items_.size() == 1) Arm();
}

void MemoryNetwork::Pipe::Arm() {
  timer_ = scheduler_.At(items_.front().at, [this] {
    const std::function<void()> deliver = std::move(items_.front().deliver);
    items_.pop_front();
    if (!items_.empty()) Arm();
    deliver();
  });
}

void MemoryNetwork::Pipe::Clear() {
  items_.clear();
  timer_.Cancel();
}

std::unique_ptr<CoordinatorLink> MemoryNetwork::Dial(CoordinatorLinkEvents& agent) {
  const LinkId id = next_link_++;
  links_[id] = {.agent = &agent,
                .to_agent = std::make_unique<Pipe>(agents_, *this),
                .to_coordinator = std::make_unique<Pipe>(coordinator_, *this)};
  return std::make_unique<AgentEnd>(*this, id);
}

void MemoryNetwork::HangUp(LinkId id) {
  Link& link = links_.at(id);
  if (link.closed) return;
  link.agent = nullptr;
  link.closed = true;
  if (link.silent) return;
  link.to_coordinator->Push([this, id] { server_->OnClosed(id, absl::OkStatus()); });
}

void MemoryNetwork::Silence(LinkId id) {
  Link& link = links_.at(id);
  link.silent = true;
  link.to_agent->Clear();
  link.to_coordinator->Clear();
}

void MemoryNetwork::Send(LinkId id, CoordinatorMessage message) {
  Link& link = links_.at(id);
  if (link.silent || link.closed || link.agent == nullptr) return;
  if (options_.through_codec) {
    auto decoded = DecodeCoordinatorMessage(EncodeMessage(message));
    if (!decoded.ok()) return Refused(id, decoded.status());
    message = *std::move(decoded);
  }
  link.to_agent->Push([&link, m = std::move(message)]() mutable {
    if (link.agent != nullptr) link.agent->OnMessage(std::move(m));
  });
}

void MemoryNetwork::Ack(LinkId id, std::uint64_t sequence) {
  Link& link = links_.at(id);
  if (link.silent || link.closed || link.agent == nullptr || Lost()) return;
  link.to_agent->Push([&link, sequence] {
    if (link.agent != nullptr) link.agent->OnAck(sequence);
  });
}

void MemoryNetwork::Close(LinkId id) {
  Link& link = links_.at(id);
  if (link.closed) return;
  link.closed = true;
  if (link.silent) {
    coordinator_.Post([this, id] { server_->OnClosed(id, absl::UnavailableError("closed")); });
    return;
  }
  link.to_agent->Push([&link] {
    if (link.agent != nullptr) link.agent->OnClosed(absl::UnavailableError("the link was closed"));
  });
  link.to_coordinator->Push(
      [this, id] { server_->OnClosed(id, absl::UnavailableError("closed")); });
}

void MemoryNetwork::Refused(LinkId id, const Status& why) {
  Link& link = links_.at(id);
  link.closed = true;
  link.to_agent->Push([&link, why] {
    if (link.agent != nullptr) link.agent->OnClosed(why);
  });
  link.to_coordinator->Push([this, id, why] { server_->OnClosed(id, why); });
}

void MemoryNetwork::AgentGone(LinkId id) {
  Link& link = links_.at(id);
  link.agent = nullptr;
  if (link.silent || link.closed) return;
  link.to_coordinator->Push(
      [this, id] { server_->OnClosed(id, absl::UnavailableError("connection reset")); });
}

}  // namespace plimsoll
