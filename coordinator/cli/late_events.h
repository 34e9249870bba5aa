// AgentLinkEvents for links that exist before whoever hears of them.
#pragma once

#include <utility>

#include "common/plan/links.h"

namespace plimsoll {

// Links exist before the driver that hears of them, and the driver before the server that makes
// them.
class LateEvents final : public AgentLinkEvents {
 public:
  void Bind(AgentLinkEvents& events) { events_ = &events; }
  void OnMessage(LinkId link, AgentMessage message) override {
    events_->OnMessage(link, std::move(message));
  }
  void OnBatch(LinkId link, RecordBatch batch) override {
    events_->OnBatch(link, std::move(batch));
  }
  void OnClosed(LinkId link, const Status& reason) override { events_->OnClosed(link, reason); }

 private:
  AgentLinkEvents* events_ = nullptr;
};

}  // namespace plimsoll
