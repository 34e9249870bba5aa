// llama.cpp's server (tools/server): no labels, no histograms, six significant digits.
#include <algorithm>
#include <cmath>

#include "gateway/metrics/page_writer.h"
#include "gateway/metrics/pages.h"

namespace plimsoll {

std::string LlamaCppPage(const EnginePage& page) {
  if (page.copies.empty()) return {};
  const EngineState& c = page.copies.front();
  PageWriter out(
      {.dialect = PageDialect::kSixDigits, .open_metrics = false, .without = page.without});
  const auto one = [&out](std::string_view name, std::string_view type, std::string_view help,
                          double value) { out.Single(name, type, help, {}, value); };
  const auto millis = [](double seconds) { return std::floor(seconds * 1000) / 1000; };
  one("llamacpp:prompt_tokens_total", "counter", "Number of prompt tokens processed.",
      static_cast<double>(c.gauges.prompt_tokens - c.gauges.cached_tokens));
  one("llamacpp:prompt_seconds_total", "counter", "Prompt process time",
      millis(c.counts.prefill_seconds));
  one("llamacpp:tokens_predicted_total", "counter", "Number of generation tokens processed.",
      static_cast<double>(c.counts.predicted));
  one("llamacpp:tokens_predicted_seconds_total", "counter", "Predict process time",
      millis(c.counts.predicted_seconds));
  one("llamacpp:n_decode_total", "counter", "Total number of llama_decode() calls",
      std::floor(c.gauges.steps));
  one("llamacpp:n_tokens_max", "counter", "Largest observed n_tokens.",
      static_cast<double>(c.counts.longest));
  one("llamacpp:prompt_tokens_seconds", "gauge", "Average prompt throughput in tokens/s.",
      c.prompt_rate);
  one("llamacpp:predicted_tokens_seconds", "gauge", "Average generation throughput in tokens/s.",
      c.output_rate);
  one("llamacpp:requests_processing", "gauge", "Number of requests processing.", c.gauges.running);
  one("llamacpp:requests_deferred", "gauge", "Number of requests deferred.", c.gauges.waiting);
  one("llamacpp:n_busy_slots_per_decode", "gauge",
      "Average number of busy slots per llama_decode() call",
      c.gauges.busy_steps / std::max(1.0, c.gauges.steps));
  return out.Finish();
}

std::string EnginePageOf(MetricKind kind, const EnginePage& page) {
  if (kind == MetricKind::kSglang) return SglangPage(page);
  return kind == MetricKind::kLlamaCpp ? LlamaCppPage(page) : VllmPage(page);
}

}  // namespace plimsoll
