// Serves the gateway's pages of metrics: each copy's of the engine, that of all copies, and the
// gateway's own, with the faults that strike pages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/scheduler.h"
#include "common/http/server/http_server.h"
#include "gateway/faults/copy_outages.h"
#include "gateway/faults/faults.h"
#include "gateway/metrics/engine_display.h"
#include "gateway/metrics/gateway_counts.h"
#include "gateway/server/gateway_config.h"

namespace plimsoll {

class MetricsDesk {
 public:
  // `sync` brings counts of what is under way up to date; it is called before any are read. All
  // references outlive the desk.
  MetricsDesk(Scheduler& scheduler, const Clock& clock, const GatewayConfig& config,
              const Engine& engine, std::function<void()> sync);
  MetricsDesk(const MetricsDesk&) = delete;
  MetricsDesk& operator=(const MetricsDesk&) = delete;

  MonoTime start() const { return start_; }
  GatewayCounts& gateway() { return gateway_; }
  EngineDisplay& copy(std::uint32_t copy) { return *copies_[copy]; }

  // Whether such a path is the desk's to answer.
  static bool Serves(std::string_view path);
  void OnRequest(const HttpServerRequest& request, HttpResponder responder,
                 const FaultMoment& moment, const CopyOutages& outages);

  // Time has come to `moment`: pages become stale or are again what they should be, counters reset.
  void Follow(const FaultMoment& moment);
  // A copy is back after a crash.
  void Restart(std::uint32_t copy);

 private:
  struct Target {
    MetricKind kind = MetricKind::kVllm;
    std::optional<std::uint32_t> copy;  // Of an engine's page; absent: all of them.
  };

  std::optional<Target> TargetOf(std::string_view path) const;
  std::optional<MetricKind> EngineKind() const;
  FaultPage PageOf(const Target& target) const;
  // Not the page but what a fault makes of it; false: none does.
  bool Missing(const Target& target, const FaultMoment& moment, HttpResponder& responder);
  void Send(const Target& target, const HttpServerRequest& request, const FaultMoment& moment,
            const CopyOutages& outages, HttpResponder& responder);
  std::string EngineText(const Target& target, std::vector<EngineState> states, bool open_metrics,
                         std::span<const std::string> without) const;
  std::string GatewayText(MetricKind kind, std::span<const std::string> without);

  Scheduler& scheduler_;
  const Clock& clock_;
  const GatewayConfig& config_;
  const std::function<void()> sync_;
  const MonoTime start_;
  std::vector<std::unique_ptr<EngineDisplay>> copies_;
  GatewayCounts gateway_;
  struct StaleGateway {
    GatewayCounts counts;
    Duration up;
  };
  std::optional<StaleGateway> stale_gateway_;
  std::vector<bool> reset_done_;                              // By rule.
  std::unordered_map<std::uint64_t, HttpResponder> hanging_;  // Until their callers give up.
  std::uint64_t hung_ = 0;
};

}  // namespace plimsoll
