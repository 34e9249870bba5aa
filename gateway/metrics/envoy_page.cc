// Envoy's own statistics (/stats/prometheus of its admin port): no HELP, plain decimals, times in
// milliseconds. One listener, one cluster.
#include <fmt/format.h>

#include "gateway/metrics/page_writer.h"
#include "gateway/metrics/pages.h"

namespace plimsoll {

std::string EnvoyPage(GatewayCounts& counts, const GatewayPage& page) {
  PageWriter out({.dialect = PageDialect::kEnvoy, .open_metrics = false, .without = page.without});
  const MetricLabels listener = {{"envoy_http_conn_manager_prefix", "http-10080"}};
  const MetricLabels cluster = {
      {"envoy_cluster_name", fmt::format("httproute/{}/rule/0", page.model)}};
  const auto with = [](MetricLabels labels, std::size_t status_class) {
    labels.emplace_back("envoy_response_code_class", fmt::format("{}", status_class));
    return labels;
  };
  const auto one = [&](const MetricLabels& labels, std::string_view name, std::string_view type,
                       std::uint64_t value) {
    out.Single(name, type, "", labels, static_cast<double>(value));
  };
  one(cluster, "envoy_cluster_upstream_rq_active", "gauge", counts.forwarded_open);
  one(cluster, "envoy_cluster_upstream_rq_pending_active", "gauge", 0);
  one(cluster, "envoy_cluster_upstream_rq_total", "counter", counts.forwarded);
  one(cluster, "envoy_cluster_upstream_rq_cancelled", "counter", counts.forwarded_cancelled);
  one(cluster, "envoy_cluster_upstream_rq_timeout", "counter", 0);
  one(cluster, "envoy_cluster_upstream_rq_pending_overflow", "counter", 0);
  one(cluster, "envoy_cluster_upstream_rq_retry", "counter", counts.retries);
  one(cluster, "envoy_cluster_upstream_rq_rx_reset", "counter", counts.forwarded_broken);
  one(cluster, "envoy_cluster_upstream_rq_tx_reset", "counter", counts.forwarded_cancelled);
  out.Family("envoy_cluster_upstream_rq_xx", "counter", "");
  for (std::size_t i = 1; i < counts.forwarded_answers.size(); ++i) {
    // Made with the first answer of its class.
    if (counts.forwarded_answers[i] == 0) continue;
    out.Sample(with(cluster, i), static_cast<double>(counts.forwarded_answers[i]));
  }
  one(listener, "envoy_http_downstream_rq_active", "gauge", counts.open);
  one(listener, "envoy_http_downstream_rq_total", "counter", counts.requests);
  one(listener, "envoy_http_downstream_rq_rx_reset", "counter", counts.hung_up);
  one(listener, "envoy_http_downstream_rq_timeout", "counter", 0);
  out.Family("envoy_http_downstream_rq_xx", "counter", "");
  for (std::size_t i = 1; i < counts.answers.size(); ++i) {
    out.Sample(with(listener, i), static_cast<double>(counts.answers[i]));
  }
  out.Family("envoy_http_downstream_rq_time", "histogram", "");
  out.Histogram(listener, counts.duration_ms.At(page.up));
  one({}, "envoy_server_uptime", "gauge",
      static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::seconds>(page.up).count()));
  return out.Finish();
}

}  // namespace plimsoll
