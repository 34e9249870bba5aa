#include "gateway/server/metrics_desk.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "common/base/text.h"
#include "gateway/metrics/page_writer.h"

namespace plimsoll {
namespace {

constexpr std::string_view kPages = "/metrics";
constexpr std::string_view kCopyPages = "/metrics/engine/";
constexpr std::string_view kEnvoyPath = "/stats/prometheus";  // Envoy's own.

// As prometheus_client chooses: whoever lists it gets it, whatever its weight.
bool WantsOpenMetrics(std::string_view accept) {
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    std::string_view type = accept.substr(0, comma);
    type = type.substr(0, type.find(';'));
    while (type.starts_with(' ')) type.remove_prefix(1);
    while (type.ends_with(' ')) type.remove_suffix(1);
    if (LowerAscii(type) == "application/openmetrics-text") return true;
    accept.remove_prefix(std::min(comma + 1, accept.size()));
  }
  return false;
}

std::string_view ContentType(MetricKind kind, bool open_metrics) {
  if (open_metrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  switch (kind) {
    case MetricKind::kLlamaCpp:
      return "text/plain; version=0.0.4";
    case MetricKind::kEnvoy:
      return "text/plain; charset=UTF-8";
    case MetricKind::kAiGateway:
      return "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    case MetricKind::kVllm:
    case MetricKind::kSglang:
      break;
  }
  return "text/plain; version=0.0.4; charset=utf-8";
}

void NotFound(HttpResponder& responder, std::string_view why) {
  responder.Send(404, {{"Content-Type", "text/plain; charset=utf-8"}}, fmt::format("{}\n", why));
}

}  // namespace

MetricsDesk::MetricsDesk(Scheduler& scheduler, const Clock& clock, const GatewayConfig& config,
                         const Engine& engine, std::function<void()> sync)
    : scheduler_(scheduler),
      clock_(clock),
      config_(config),
      sync_(std::move(sync)),
      start_(scheduler.Now()),
      gateway_(config.stats_flush),
      reset_done_(config.faults.size()) {
  for (std::uint32_t copy = 0; copy < engine.copies(); ++copy) {
    copies_.push_back(std::make_unique<EngineDisplay>(
        engine, copy, EngineKind().value_or(MetricKind::kVllm), clock.WallNow()));
  }
}

std::optional<MetricKind> MetricsDesk::EngineKind() const {
  const auto found = std::find_if(config_.metrics.begin(), config_.metrics.end(), IsEngine);
  if (found == config_.metrics.end()) return std::nullopt;
  return *found;
}

bool MetricsDesk::Serves(std::string_view path) {
  return path == kPages || path == kEnvoyPath ||
         (path.starts_with(kPages) && path.substr(kPages.size()).starts_with('/'));
}

std::optional<MetricsDesk::Target> MetricsDesk::TargetOf(std::string_view path) const {
  if (path == kPages) return Target{config_.metrics.front(), std::nullopt};
  if (path.starts_with(kCopyPages)) {
    const std::string_view number = path.substr(kCopyPages.size());
    std::uint32_t copy = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), copy);
    const bool whole = error == std::errc() && end == number.data() + number.size();
    if (!whole || copy >= copies_.size() || !EngineKind()) return std::nullopt;
    return Target{*EngineKind(), copy};
  }
  const auto kind = path == kEnvoyPath ? std::optional(MetricKind::kEnvoy)
                                       : MetricKindNamed(path.substr(kPages.size() + 1));
  if (!kind ||
      std::find(config_.metrics.begin(), config_.metrics.end(), *kind) == config_.metrics.end()) {
    return std::nullopt;
  }
  return Target{*kind, std::nullopt};
}

FaultPage MetricsDesk::PageOf(const Target& target) const {
  return {.gateway = !IsEngine(target.kind),
          .copy = target.copy,
          .copies = static_cast<std::uint32_t>(copies_.size())};
}

void MetricsDesk::OnRequest(const HttpServerRequest& request, HttpResponder responder,
                            const FaultMoment& moment, const CopyOutages& outages) {
  const std::optional<Target> target = TargetOf(request.Path());
  if (!target) return NotFound(responder, "no such page of metrics: see the setting metrics");
  if (target->kind == MetricKind::kLlamaCpp && !target->copy && copies_.size() > 1) {
    return NotFound(responder, "llama.cpp's page is of one copy: /metrics/engine/0 and so on");
  }
  if (Missing(*target, moment, responder)) return;
  sync_();
  Send(*target, request, moment, outages, responder);
}

bool MetricsDesk::Missing(const Target& target, const FaultMoment& moment,
                          HttpResponder& responder) {
  const FaultRule* const rule =
      PageFault(config_.faults, FaultKind::kMetricsMissing, PageOf(target), moment);
  if (rule == nullptr) return false;
  if (rule->form == FaultForm::kHang) {
    const std::uint64_t number = ++hung_;
    HttpResponder& kept = hanging_.emplace(number, std::move(responder)).first->second;
    kept.OnHangUp([this, number] { hanging_.erase(number); });
  } else if (rule->form == FaultForm::kNoAnswer) {
    responder.Abort();
  } else {
    NotFound(responder, "not found");
  }
  return true;
}

void MetricsDesk::Send(const Target& target, const HttpServerRequest& request,
                       const FaultMoment& moment, const CopyOutages& outages,
                       HttpResponder& responder) {
  const FaultRule* const partial =
      PageFault(config_.faults, FaultKind::kMetricsPartial, PageOf(target), moment);
  const bool cut = partial != nullptr && partial->form != FaultForm::kFamilies;
  std::span<const std::string> without;
  if (partial != nullptr) without = partial->families;
  const bool python = target.kind == MetricKind::kVllm || target.kind == MetricKind::kSglang;
  const bool open_metrics = python && WantsOpenMetrics(request.Header("accept"));
  HttpHeaders headers = {{"Content-Type", std::string(ContentType(target.kind, open_metrics))}};
  std::string page;
  if (IsEngine(target.kind)) {
    std::vector<EngineState> states;
    for (std::uint32_t copy = 0; copy < copies_.size(); ++copy) {
      const bool wanted = !target.copy || *target.copy == copy;
      if (wanted && !outages.Down(copy)) states.push_back(copies_[copy]->Show(scheduler_.Now()));
    }
    if (states.empty()) return responder.Abort();  // Nobody is there to answer.
    if (target.kind == MetricKind::kLlamaCpp) {
      const auto started = std::chrono::duration_cast<std::chrono::seconds>(
          states.front().started.time_since_epoch());
      headers.emplace_back("Process-Start-Time-Unix", fmt::format("{}", started.count()));
    }
    page = EngineText(target, std::move(states), open_metrics, without);
  } else {
    page = GatewayText(target.kind, without);
  }
  responder.Send(200, headers, cut ? CutInTheMiddle(page) : page);
}

std::string MetricsDesk::EngineText(const Target& target, std::vector<EngineState> states,
                                    bool open_metrics, std::span<const std::string> without) const {
  return EnginePageOf(target.kind, {.model = config_.model,
                                    .prefix = config_.prefix,
                                    .kv_blocks = config_.engine.kv_blocks,
                                    .prefix_cache = config_.engine.prefix_cache,
                                    .copies = states,
                                    .one_of_many = target.copy.has_value(),
                                    .open_metrics = open_metrics,
                                    .without = without});
}

std::string MetricsDesk::GatewayText(MetricKind kind, std::span<const std::string> without) {
  GatewayCounts& counts = stale_gateway_ ? stale_gateway_->counts : gateway_;
  const Duration up = stale_gateway_ ? stale_gateway_->up : scheduler_.Now() - start_;
  const GatewayPage page{.model = config_.model, .up = up, .without = without};
  return kind == MetricKind::kEnvoy ? EnvoyPage(counts, page) : AiGatewayPage(counts, page);
}

void MetricsDesk::Follow(const FaultMoment& moment) {
  sync_();
  const MonoTime now = scheduler_.Now();
  const auto count = static_cast<std::uint32_t>(copies_.size());
  for (std::size_t i = 0; i < config_.faults.size(); ++i) {
    const FaultRule& rule = config_.faults[i];
    if (rule.kind != FaultKind::kMetricsReset || reset_done_[i] || !ActiveAt(rule, moment))
      continue;
    reset_done_[i] = true;
    const std::span<const FaultRule> only(&rule, 1);
    for (std::uint32_t copy = 0; copy < count; ++copy) {
      if (PageFault(only, rule.kind, {.copy = copy, .copies = count}, moment) == nullptr) continue;
      if (rule.form == FaultForm::kRestart) {
        copies_[copy]->Restart(now, clock_.WallNow());
      } else {
        copies_[copy]->Reset(now);
      }
    }
    if (PageFault(only, rule.kind, {.gateway = true}, moment) != nullptr) gateway_.Clear();
  }
  const auto stale = [&](const FaultPage& page) {
    return PageFault(config_.faults, FaultKind::kMetricsStale, page, moment) != nullptr;
  };
  for (std::uint32_t copy = 0; copy < count; ++copy) {
    copies_[copy]->SetStale(stale({.copy = copy, .copies = count}), now);
  }
  if (!stale({.gateway = true})) {
    stale_gateway_.reset();
  } else if (!stale_gateway_) {
    stale_gateway_ = StaleGateway{.counts = gateway_, .up = now - start_};
  }
}

void MetricsDesk::Restart(std::uint32_t copy) {
  copies_[copy]->Restart(scheduler_.Now(), clock_.WallNow());
}

}  // namespace plimsoll
