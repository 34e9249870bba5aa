#include "gateway/server/engine_metrics.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr double kTtftBounds[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                                  1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
constexpr double kTokenBounds[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
                                   0.75, 1,     2.5,  5,     7.5, 10,   20,  40,  80};
constexpr double kRequestBounds[] = {0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                                     30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680};

// As the Prometheus client of the real engine prints: whole numbers keep their ".0".
std::string Number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

// As the text format has it, quotes included.
std::string LabelValue(std::string_view text) {
  std::string value = "\"";
  for (const char c : ValidUtf8(text)) {
    if (c == '"' || c == '\\') value += '\\';
    value += c == '\n' ? "\\n" : std::string(1, c);
  }
  return value + '"';
}

using SampleOf = std::function<double(std::size_t copy)>;

class Page {
 public:
  explicit Page(const MetricsPage& page) : page_(page), model_(LabelValue(page.model)) {}

  std::string Labels(std::size_t copy, std::string_view more = "") const {
    return fmt::format(R"(engine="{}",{}model_name={})", copy, more, model_);
  }
  void Head(std::string_view name, std::string_view type, std::string_view help) {
    out_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void Simple(std::string_view name, std::string_view type, std::string_view help,
              const SampleOf& sample) {
    Head(name, type, help);
    for (std::size_t i = 0; i < page_.copies.size(); ++i) {
      out_ += fmt::format("{}{{{}}} {}\n", name, Labels(i), Number(sample(i)));
    }
  }
  void Histogram(std::string_view name, std::string_view help,
                 MetricHistogram CopyMetrics::*which) {
    Head(name, "histogram", help);
    for (std::size_t i = 0; i < page_.copies.size(); ++i) {
      (page_.copies[i].*which).Append(name, Labels(i), &out_);
    }
  }
  void Finished() {
    Head("vllm:request_success_total", "counter", "Count of successfully processed requests.");
    for (std::size_t i = 0; i < page_.copies.size(); ++i) {
      const std::pair<std::string_view, std::uint64_t> reasons[] = {
          {"stop", page_.copies[i].stop},
          {"length", page_.copies[i].length},
          {"abort", 0},  // As in the real one, a client's hang-up is not counted here.
          {"error", 0}};
      for (const auto& [reason, count] : reasons) {
        out_ += fmt::format("vllm:request_success_total{{{}}} {}\n",
                            Labels(i, fmt::format(R"(finished_reason="{}",)", reason)),
                            Number(static_cast<double>(count)));
      }
    }
  }
  void CacheInfo() {
    Head("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig");
    for (std::size_t i = 0; i < page_.copies.size(); ++i) {
      out_ += fmt::format(
          R"(vllm:cache_config_info{{block_size="{}",enable_prefix_caching="{}",engine="{}",)"
          "num_gpu_blocks=\"{}\"}} 1.0\n",
          limits::kBlockTokens, page_.prefix_cache ? "True" : "False", i, page_.kv_blocks);
    }
  }
  std::string& out() { return out_; }

 private:
  const MetricsPage& page_;
  std::string model_;
  std::string out_;
};

}  // namespace

void MetricHistogram::Observe(double value, std::uint64_t times) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)] += times;
  sum_ += value * static_cast<double>(times);
}

void MetricHistogram::Append(std::string_view name, std::string_view labels,
                             std::string* page) const {
  // The label `le` stands in its place by the alphabet, before model_name.
  const std::size_t split = labels.find("model_name");
  const std::string_view before = labels.substr(0, split);
  const std::string_view after = labels.substr(split);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    sum += counts_[i];
    *page += fmt::format("{}_bucket{{{}le=\"{}\",{}}} {}.0\n", name, before,
                         i < bounds_.size() ? Number(bounds_[i]) : "+Inf", after, sum);
  }
  *page +=
      fmt::format("{0}_count{{{1}}} {2}.0\n{0}_sum{{{1}}} {3}\n", name, labels, sum, Number(sum_));
}

CopyMetrics::CopyMetrics()
    : ttft(kTtftBounds),
      inter_token(kTokenBounds),
      per_output_token(kTokenBounds),
      end_to_end(kRequestBounds) {}

std::string FormatMetrics(const MetricsPage& in) {
  Page page(in);
  page.Head("process_start_time_seconds", "gauge",
            "Start time of the process since unix epoch in seconds.");
  page.out() += fmt::format("process_start_time_seconds {}\n",
                            Number(ToSeconds(in.started.time_since_epoch())));
  const auto of = [&in](auto EngineGauges::*field) {
    return [&in, field](std::size_t i) { return static_cast<double>(in.gauges[i].*field); };
  };
  page.Simple("vllm:num_requests_running", "gauge",
              "Number of requests in model execution batches.", of(&EngineGauges::running));
  page.Simple("vllm:num_requests_waiting", "gauge", "Number of requests waiting to be processed.",
              of(&EngineGauges::waiting));
  page.Simple("vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.",
              of(&EngineGauges::kv_usage));
  page.Simple("vllm:prefix_cache_queries_total", "counter",
              "Prefix cache queries, in terms of number of queried tokens.", [&in](std::size_t i) {
                return in.prefix_cache ? static_cast<double>(in.gauges[i].prompt_tokens) : 0.0;
              });
  page.Simple("vllm:prefix_cache_hits_total", "counter",
              "Prefix cache hits, in terms of number of cached tokens.",
              of(&EngineGauges::cached_tokens));
  page.Simple("vllm:num_preemptions_total", "counter",
              "Cumulative number of preemption from the engine.", of(&EngineGauges::preemptions));
  page.Simple("vllm:prompt_tokens_total", "counter", "Number of prefill tokens processed.",
              of(&EngineGauges::prompt_tokens));
  page.Simple("vllm:generation_tokens_total", "counter", "Number of generation tokens processed.",
              of(&EngineGauges::generated_tokens));
  page.Finished();
  page.Histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
                 &CopyMetrics::ttft);
  page.Histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
                 &CopyMetrics::inter_token);
  page.Histogram("vllm:request_time_per_output_token_seconds",
                 "Histogram of time_per_output_token_seconds per request.",
                 &CopyMetrics::per_output_token);
  page.Histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.",
                 &CopyMetrics::end_to_end);
  page.CacheInfo();
  return std::move(page.out());
}

}  // namespace plimsoll
