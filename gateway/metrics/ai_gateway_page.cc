// The Envoy AI Gateway's external processor: four histograms by OpenTelemetry's GenAI conventions,
// as its Go exporter prints them. A series is made with its first observation.
#include <utility>

#include <fmt/format.h>

#include "gateway/metrics/page_writer.h"
#include "gateway/metrics/pages.h"

namespace plimsoll {
namespace {

// Sorted by name; of failures the answer's model is unknown.
MetricLabels Labels(std::string_view model, bool failed, std::string_view token_type = "") {
  MetricLabels labels;
  if (failed) labels.emplace_back("error_type", "_OTHER");
  labels.emplace_back("gen_ai_operation_name", "chat");
  labels.emplace_back("gen_ai_original_model", model);
  labels.emplace_back("gen_ai_provider_name", "openai");
  labels.emplace_back("gen_ai_request_model", model);
  labels.emplace_back("gen_ai_response_model", failed ? "unknown" : model);
  if (!token_type.empty()) labels.emplace_back("gen_ai_token_type", token_type);
  labels.emplace_back("otel_scope_name", "envoyproxy/ai-gateway");
  labels.emplace_back("otel_scope_schema_url", "");
  labels.emplace_back("otel_scope_version", "");
  return labels;
}

}  // namespace

std::string AiGatewayPage(const GatewayCounts& counts, const GatewayPage& page) {
  PageWriter out({.dialect = PageDialect::kGo, .open_metrics = false, .without = page.without});
  // The exporter makes a family with its first series.
  const auto family =
      [&](std::string_view name, std::string_view help,
          std::initializer_list<std::pair<MetricLabels, const MetricHistogram*>> all) {
        bool begun = false;
        for (const auto& [labels, histogram] : all) {
          if (histogram->count() == 0) continue;
          if (!std::exchange(begun, true)) out.Family(name, "histogram", help);
          out.Histogram(labels, *histogram);
        }
      };
  family("gen_ai_client_token_usage", "Number of tokens processed.",
         {{Labels(page.model, false, "cache_creation_input"), &counts.tokens_created},
          {Labels(page.model, false, "cached_input"), &counts.tokens_cached},
          {Labels(page.model, false, "input"), &counts.tokens_in},
          {Labels(page.model, false, "output"), &counts.tokens_out}});
  family(
      "gen_ai_server_request_duration_seconds",
      "Generative AI server request duration such as time-to-last byte or last output token.",
      {{Labels(page.model, true), &counts.failed}, {Labels(page.model, false), &counts.succeeded}});
  family("gen_ai_server_time_per_output_token_seconds",
         "Time per output token generated after the first token for successful responses.",
         {{Labels(page.model, false), &counts.per_token}});
  family("gen_ai_server_time_to_first_token_seconds",
         "Time to receive first token in streaming responses.",
         {{Labels(page.model, false), &counts.ttft}});
  out.Single("target_info", "gauge", "Target metadata",
             {{"service_name", "ai-gateway-extproc"},
              {"telemetry_sdk_language", "go"},
              {"telemetry_sdk_name", "opentelemetry"},
              {"telemetry_sdk_version", "1.40.0"}},
             1);
  return out.Finish();
}

}  // namespace plimsoll
