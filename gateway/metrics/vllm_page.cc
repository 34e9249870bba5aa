// vLLM's V1 engine (vllm/v1/metrics/loggers.py), with the API server's http_requests_total.
#include <fmt/format.h>

#include "common/base/limits.h"
#include "gateway/metrics/page_writer.h"
#include "gateway/metrics/pages.h"

namespace plimsoll {
namespace {

class Writer {
 public:
  explicit Writer(const EnginePage& page)
      : page_(page),
        out_({.dialect = PageDialect::kPython,
              .open_metrics = page.open_metrics,
              .without = page.without}) {}

  // Labels of one copy's series, with one more at its place by the alphabet.
  MetricLabels Labels(const EngineState& copy, std::string_view name = "",
                      std::string_view value = "") const {
    MetricLabels labels = {{"engine", fmt::format("{}", page_.one_of_many ? 0 : copy.copy)}};
    if (!name.empty() && name < "model_name") labels.emplace_back(name, value);
    labels.emplace_back("model_name", page_.model);
    if (!name.empty() && name > "model_name") labels.emplace_back(name, value);
    return labels;
  }

  template <typename Of>
  void Simple(std::string_view name, std::string_view type, std::string_view help, const Of& of) {
    out_.Family(name, type, help);
    for (const EngineState& copy : page_.copies) {
      out_.Sample(Labels(copy), static_cast<double>(of(copy)));
    }
  }
  // A family with a series for each value of a label.
  template <typename Of>
  void Split(std::string_view name, std::string_view type, std::string_view help,
             std::string_view label, std::initializer_list<std::string_view> values, const Of& of) {
    out_.Family(name, type, help);
    for (const EngineState& copy : page_.copies) {
      for (const std::string_view value : values) {
        out_.Sample(Labels(copy, label, value), static_cast<double>(of(copy, value)));
      }
    }
  }
  void Histogram(std::string_view name, std::string_view help,
                 MetricHistogram EngineCounts::*which) {
    out_.Family(name, "histogram", help);
    for (const EngineState& copy : page_.copies) {
      out_.Histogram(Labels(copy), copy.counts.*which);
    }
  }
  PageWriter& out() { return out_; }

 private:
  const EnginePage& page_;
  PageWriter out_;
};

void Gauges(Writer& w) {
  w.Simple("vllm:num_requests_running", "gauge", "Number of requests in model execution batches.",
           [](const EngineState& c) { return c.gauges.running; });
  w.Simple("vllm:num_requests_waiting", "gauge", "Number of requests waiting to be processed.",
           [](const EngineState& c) { return c.gauges.waiting; });
  w.Split("vllm:num_requests_waiting_by_reason", "gauge", "Number of requests waiting, by reason.",
          "reason", {"capacity", "deferred"}, [](const EngineState& c, std::string_view reason) {
            return reason == "capacity" ? c.gauges.waiting : 0;
          });
  w.Split("vllm:engine_sleep_state", "gauge",
          "Engine sleep state; awake = 0 means engine is sleeping.", "sleep_state",
          {"awake", "weights_offloaded", "discard_all"},
          [](const EngineState&, std::string_view state) { return state == "awake" ? 1 : 0; });
  w.Simple("vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.",
           [](const EngineState& c) { return c.gauges.kv_usage; });
}

void Tokens(Writer& w, bool prefix_cache) {
  w.Simple("vllm:prefix_cache_queries_total", "counter",
           "Prefix cache queries, in terms of number of queried tokens.",
           [&](const EngineState& c) { return prefix_cache ? c.gauges.prompt_tokens : 0; });
  w.Simple("vllm:prefix_cache_hits_total", "counter",
           "Prefix cache hits, in terms of number of cached tokens.",
           [](const EngineState& c) { return c.gauges.cached_tokens; });
  const auto none = [](const EngineState&) { return 0; };
  w.Simple("vllm:external_prefix_cache_queries_total", "counter",
           "External prefix cache queries from KV connector cross-instance cache sharing, in terms "
           "of number of queried tokens.",
           none);
  w.Simple("vllm:external_prefix_cache_hits_total", "counter",
           "External prefix cache hits from KV connector cross-instance cache sharing, in terms of "
           "number of cached tokens.",
           none);
  w.Simple("vllm:num_preemptions_total", "counter",
           "Cumulative number of preemption from the engine.",
           [](const EngineState& c) { return c.gauges.preemptions; });
  w.Simple("vllm:prompt_tokens_total", "counter", "Number of prefill tokens processed.",
           [](const EngineState& c) { return c.gauges.prompt_tokens; });
  w.Split("vllm:prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.",
          "source", {"local_compute", "local_cache_hit", "external_kv_transfer"},
          [](const EngineState& c, std::string_view source) -> std::uint64_t {
            if (source == "external_kv_transfer") return 0;
            return source == "local_cache_hit" ? c.gauges.cached_tokens
                                               : c.gauges.prompt_tokens - c.gauges.cached_tokens;
          });
  w.Simple("vllm:prompt_tokens_cached_total", "counter",
           "Number of cached prompt tokens (local + external).",
           [](const EngineState& c) { return c.gauges.cached_tokens; });
  // As in the real one counted where the gaps are, not by the engine, which is ahead of both.
  w.Simple("vllm:generation_tokens_total", "counter", "Number of generation tokens processed.",
           [](const EngineState& c) { return c.counts.ttft.count() + c.counts.gap.count(); });
}

void Requests(Writer& w) {
  // As in the real one, a client's hang-up is not counted as an abort.
  w.Split("vllm:request_success_total", "counter", "Count of successfully processed requests.",
          "finished_reason", {"stop", "length", "abort", "error", "repetition"},
          [](const EngineState& c, std::string_view reason) -> std::uint64_t {
            if (reason == "stop") return c.counts.stop;
            return reason == "length" ? c.counts.length : 0;
          });
  w.Histogram("vllm:request_prompt_tokens", "Number of prefill tokens processed.",
              &EngineCounts::prompt_length);
  w.Histogram("vllm:request_generation_tokens", "Number of generation tokens processed.",
              &EngineCounts::output_length);
  w.Histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
              &EngineCounts::ttft);
  w.Histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
              &EngineCounts::gap);
  w.Histogram("vllm:request_time_per_output_token_seconds",
              "Histogram of time_per_output_token_seconds per request.", &EngineCounts::per_token);
  w.Histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.",
              &EngineCounts::duration);
  w.Histogram("vllm:request_queue_time_seconds",
              "Histogram of time spent in WAITING phase for request.", &EngineCounts::queue);
  w.Histogram("vllm:request_inference_time_seconds",
              "Histogram of time spent in RUNNING phase for request.", &EngineCounts::inference);
  w.Histogram("vllm:request_prefill_time_seconds",
              "Histogram of time spent in PREFILL phase for request.", &EngineCounts::prefill);
  w.Histogram("vllm:request_decode_time_seconds",
              "Histogram of time spent in DECODE phase for request.", &EngineCounts::decode);
}

// A series for each class of status with its first answer. The API servers of all copies are one.
void Http(Writer& w, const EnginePage& page) {
  constexpr std::string_view kClasses[] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  w.out().Family("http_requests_total", "counter",
                 "Total number of requests by method, status and handler.");
  for (std::size_t i = 1; i < std::size(kClasses); ++i) {
    std::uint64_t count = 0;
    for (const EngineState& copy : page.copies) count += copy.counts.http[i];
    if (count == 0) continue;
    w.out().Sample({{"handler", fmt::format("{}/chat/completions", page.prefix)},
                    {"method", "POST"},
                    {"status", std::string(kClasses[i])}},
                   static_cast<double>(count));
  }
}

}  // namespace

std::string VllmPage(const EnginePage& page) {
  Writer w(page);
  // Of several copies on one page, behind one API server, the first.
  const WallTime started = page.copies.empty() ? WallTime() : page.copies.front().started;
  w.out().Single("process_start_time_seconds", "gauge",
                 "Start time of the process since unix epoch in seconds.", {},
                 ToSeconds(started.time_since_epoch()));
  Gauges(w);
  Tokens(w, page.prefix_cache);
  Requests(w);
  w.out().Family("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig");
  for (const EngineState& copy : page.copies) {
    w.out().Sample({{"block_size", fmt::format("{}", limits::kBlockTokens)},
                    {"enable_prefix_caching", page.prefix_cache ? "True" : "False"},
                    {"engine", fmt::format("{}", page.one_of_many ? 0 : copy.copy)},
                    {"num_gpu_blocks", fmt::format("{}", page.kv_blocks)}},
                   1);
  }
  Http(w, page);
  return w.out().Finish();
}

}  // namespace plimsoll
