// SGLang (python/sglang/srt/observability/metrics_collector.py) in Prometheus' multiprocess mode:
// no process_* names, a histogram's sum first.
#include <cmath>

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
        out_({.dialect = PageDialect::kPythonMultiprocess,
              .open_metrics = page.open_metrics,
              .without = page.without}) {}

  // The tokenizer's labels, and the scheduler's. Several copies on one page are data-parallel
  // ranks; their one tokenizer does not tell them apart.
  MetricLabels Tokenizer() const { return {{"model_name", std::string(page_.model)}}; }
  MetricLabels Scheduler(const EngineState& copy, std::string_view name = "",
                         std::string_view value = "") const {
    MetricLabels labels;
    if (page_.copies.size() > 1) labels.emplace_back("dp_rank", fmt::format("{}", copy.copy));
    labels.emplace_back("engine_type", "unified");
    if (name == "mode") labels.emplace_back(name, value);
    labels.emplace_back("model_name", page_.model);
    labels.emplace_back("moe_ep_rank", "0");
    if (name == "pid") labels.emplace_back(name, value);
    labels.emplace_back("pp_rank", "0");
    if (name == "stage") labels.emplace_back(name, value);
    labels.emplace_back("tp_rank", "0");
    return labels;
  }

  template <typename Of>
  void Summed(std::string_view name, std::string_view help, const Of& of) {
    double sum = 0;
    for (const EngineState& copy : page_.copies) sum += static_cast<double>(of(copy));
    out_.Single(name, "counter", help, Tokenizer(), sum);
  }
  void Merged(std::string_view name, std::string_view help, MetricHistogram EngineCounts::*which) {
    MetricHistogram sum = page_.copies.front().counts.*which;
    for (const EngineState& copy : page_.copies.subspan(1)) sum.Add(copy.counts.*which);
    out_.Family(name, "histogram", help);
    out_.Histogram(Tokenizer(), sum);
  }
  template <typename Of>
  void Each(std::string_view name, std::string_view type, std::string_view help, const Of& of,
            std::string_view label = "", std::string_view value = "") {
    out_.Family(name, type, help);
    for (const EngineState& copy : page_.copies) {
      out_.Sample(Scheduler(copy, label, value), static_cast<double>(of(copy)));
    }
  }
  PageWriter& out() { return out_; }
  const EnginePage& page() const { return page_; }

 private:
  const EnginePage& page_;
  PageWriter out_;
};

// Counted as requests end.
void TokenizerSide(Writer& w) {
  w.Summed("sglang:prompt_tokens_total", "Number of prefill tokens processed.",
           [](const EngineState& c) { return c.counts.prompt_length.sum(); });
  w.Summed("sglang:generation_tokens_total", "Number of generation tokens processed.",
           [](const EngineState& c) { return c.counts.output_length.sum(); });
  w.Merged("sglang:prompt_tokens_histogram", "Histogram of prompt token length.",
           &EngineCounts::prompt_length);
  w.Merged("sglang:generation_tokens_histogram", "Histogram of generation token length.",
           &EngineCounts::output_length);
  w.out().Family("sglang:cached_tokens_total", "counter",
                 "Number of cached prompt tokens by source (device/host/storage).");
  double cached = 0;
  for (const EngineState& c : w.page().copies) {
    cached += static_cast<double>(c.counts.finished_cached);
  }
  w.out().Sample({{"cache_source", "device"}, {"model_name", std::string(w.page().model)}}, cached);
  w.Summed("sglang:num_requests_total", "Number of requests processed.",
           [](const EngineState& c) { return c.counts.duration.count(); });
  w.Summed("sglang:num_aborted_requests_total", "Number of requests aborted.",
           [](const EngineState& c) { return c.counts.aborted; });
  w.Merged("sglang:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
           &EngineCounts::ttft);
  w.Merged("sglang:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
           &EngineCounts::gap);
  w.Merged("sglang:e2e_request_latency_seconds",
           "Histogram of End-to-end request latency in seconds", &EngineCounts::duration);
}

// Written when the scheduler logs: the gauges handed in are those of its last line.
void SchedulerSide(Writer& w) {
  const double capacity = static_cast<double>(w.page().kv_blocks) * limits::kBlockTokens;
  w.Each("sglang:num_running_reqs", "gauge", "The number of running requests.",
         [](const EngineState& c) { return c.gauges.running; });
  w.Each("sglang:num_used_tokens", "gauge", "The number of used tokens.",
         [&](const EngineState& c) { return std::round(c.gauges.kv_usage * capacity); });
  // Two decimals, as it is logged.
  w.Each("sglang:token_usage", "gauge", "The token usage.",
         [](const EngineState& c) { return std::round(c.gauges.kv_usage * 100) / 100; });
  w.Each("sglang:gen_throughput", "gauge", "The generation throughput (token/s).",
         [](const EngineState& c) { return std::round(c.output_rate * 100) / 100; });
  w.Each("sglang:num_queue_reqs", "gauge", "The number of requests in the waiting queue.",
         [](const EngineState& c) { return c.gauges.waiting; });
  const auto none = [](const EngineState&) { return 0; };
  w.Each("sglang:num_grammar_queue_reqs", "gauge",
         "The number of requests in the grammar waiting queue.", none);
  w.Each("sglang:cache_hit_rate", "gauge", "The prefix cache hit rate.", [](const EngineState& c) {
    const auto asked = static_cast<double>(c.gauges.prompt_tokens);
    const double rate = asked > 0 ? static_cast<double>(c.gauges.cached_tokens) / asked : 0;
    return std::round(rate * 1e4) / 1e4;
  });
  w.Each("sglang:max_total_num_tokens", "gauge",
         "Maximum total number of tokens in the KV cache pool.",
         [&](const EngineState&) { return capacity; });
  w.Each("sglang:num_retracted_reqs", "gauge", "The number of retracted requests.", none, "pid",
         "412");
  w.Each("sglang:num_paused_reqs", "gauge", "The number of paused requests by async weight sync.",
         none, "pid", "412");
  w.Each("sglang:num_retracted_requests_total", "counter", "Total number of retracted requests.",
         [](const EngineState& c) { return c.gauges.preemptions; });
}

void Realtime(Writer& w) {
  w.out().Family("sglang:queue_time_seconds", "histogram",
                 "Histogram of queueing time in seconds.");
  for (const EngineState& c : w.page().copies) {
    w.out().Histogram(w.Scheduler(c), c.counts.queue_started);
  }
  w.out().Family("sglang:realtime_tokens_total", "counter",
                 "Total number of tokens processed (updated on each log interval). mode: "
                 "prefill_compute, prefill_cache, decode.");
  for (const EngineState& c : w.page().copies) {
    const auto sample = [&](std::string_view mode, std::uint64_t value) {
      w.out().Sample(w.Scheduler(c, "mode", mode), static_cast<double>(value));
    };
    sample("prefill_compute", c.gauges.prompt_tokens - c.gauges.cached_tokens);
    sample("prefill_cache", c.gauges.cached_tokens);
    // A prefill makes each request's first token.
    sample("decode", c.gauges.generated_tokens - c.gauges.first_tokens);
  }
  w.out().Single("sglang:cache_config_info", "gauge", "Cache configuration information.",
                 {{"num_pages", fmt::format("{}", w.page().kv_blocks)},
                  {"page_size", fmt::format("{}", limits::kBlockTokens)}},
                 1);
}

}  // namespace

std::string SglangPage(const EnginePage& page) {
  if (page.copies.empty()) return {};
  Writer w(page);
  TokenizerSide(w);
  SchedulerSide(w);
  Realtime(w);
  return w.out().Finish();
}

}  // namespace plimsoll
