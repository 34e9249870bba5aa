// Servers for tests: they count what the test tells them, and their pages are read as real ones
// are, through the mappings that ship.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/step_readings.h"
#include "coordinator/signals/target_sample.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace plimsoll {

// One target: whatever writes its page, and the samples of it so far.
class FakeTarget {
 public:
  FakeTarget(std::string_view source, std::string name, const std::string& kind) {
    StatusOr<Mapping> mapping = BuiltinMapping(kind);
    EXPECT_TRUE(mapping.ok()) << MessageOf(mapping.status());
    series_.source = std::string(source);
    series_.name = std::move(name);
    series_.mapping = std::make_shared<const Mapping>(*std::move(mapping));
    reader_ = std::make_unique<TargetReader>(series_.mapping, SourceFilter{});
  }
  virtual ~FakeTarget() = default;

  void Scrape(MonoTime at) {
    if (down) {
      series_.samples.push_back(
          TargetReader::Unreadable(absl::UnavailableError("connection refused"), at, 1ms));
      return;
    }
    if (!frozen || page_.empty()) page_ = PageNow();
    StatusOr<Page> page = parser_.Parse(page_, PageSyntax::kText);
    ASSERT_TRUE(page.ok()) << MessageOf(page.status()) << page_;
    series_.samples.push_back(reader_->Read(*page, at, 1ms));
  }
  const TargetSeries& series() const { return series_; }

  bool down = false;    // Nobody answers.
  bool frozen = false;  // The same page for ever.

 private:
  virtual std::string PageNow() const = 0;

  TargetSeries series_;
  std::unique_ptr<TargetReader> reader_;
  PageParser parser_;
  std::string page_;
};

struct FakeHistogram {
  std::vector<double> edges;
  std::vector<std::uint64_t> counts;  // By bucket, the last beyond all edges.
  double sum = 0;

  explicit FakeHistogram(std::vector<double> upper)
      : edges(std::move(upper)), counts(edges.size() + 1, 0) {}
  void Observe(double value, std::uint64_t times = 1) {
    const auto at = std::lower_bound(edges.begin(), edges.end(), value) - edges.begin();
    counts[static_cast<std::size_t>(at)] += times;
    sum += value * static_cast<double>(times);
  }
  std::string Lines(const std::string& name) const {
    std::string text;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      all += counts[i];
      text += fmt::format("{}_bucket{{model_name=\"m\",le=\"{}\"}} {}\n", name,
                          i < edges.size() ? fmt::format("{}", edges[i]) : "+Inf", all);
    }
    return text +
           fmt::format("{0}_count{{model_name=\"m\"}} {1}\n{0}_sum{{model_name=\"m\"}} {2}\n", name,
                       all, sum);
  }
};

class FakeEngine final : public FakeTarget {
 public:
  explicit FakeEngine(std::string name = "engine-0")
      : FakeTarget(kEnginesSource, std::move(name), "vllm") {}

  // As vLLM has them.
  FakeHistogram ttft{
      {.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20}};
  FakeHistogram per_token{{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5}};
  FakeHistogram gaps = per_token;
  bool has_per_token = true;
  bool has_gaps = false;
  bool has_ttft = true;
  bool has_counters = true;
  bool has_gauges = true;
  double running = 0;
  double waiting = 0;
  double kv = 0;
  std::uint64_t finished = 0;
  std::uint64_t tokens_out = 0;
  double start_time = 1'700'000'000;

  // A request that gets its first token after so long.
  void Answer(double ttft_s, double per_token_s = 0.02) {
    ttft.Observe(ttft_s);
    per_token.Observe(per_token_s);
    gaps.Observe(per_token_s, 99);
    ++finished;
    tokens_out += 100;
  }
  void Restart() {
    ttft = FakeHistogram(ttft.edges);
    gaps = per_token = FakeHistogram(per_token.edges);
    finished = tokens_out = 0;
    start_time += 1000;
  }

 private:
  std::string PageNow() const override {
    std::string text;
    if (has_gauges) {
      text = fmt::format(
          "vllm:num_requests_running{{model_name=\"m\"}} {}\n"
          "vllm:num_requests_waiting{{model_name=\"m\"}} {}\n",
          running, waiting);
    }
    text += fmt::format(
        "vllm:kv_cache_usage_perc{{model_name=\"m\"}} {}\n"
        "process_start_time_seconds {}\n",
        kv, start_time);
    if (has_counters) {
      text += fmt::format(
          "vllm:request_success_total{{model_name=\"m\",finished_reason=\"stop\"}} {}\n"
          "vllm:generation_tokens_total{{model_name=\"m\"}} {}\n",
          finished, tokens_out);
    }
    if (has_ttft) text += ttft.Lines("vllm:time_to_first_token_seconds");
    if (has_per_token) text += per_token.Lines("vllm:request_time_per_output_token_seconds");
    if (has_gaps) text += gaps.Lines("vllm:inter_token_latency_seconds");
    return text;
  }
};

class FakeEnvoy final : public FakeTarget {
 public:
  explicit FakeEnvoy(std::string name = "gateway-0")
      : FakeTarget(kGatewaySource, std::move(name), "envoy") {}

  double open = 0;
  std::uint64_t accepted = 0;
  std::uint64_t errors = 0;
  std::uint64_t hung_up = 0;

 private:
  std::string PageNow() const override {
    return fmt::format(
        "envoy_http_downstream_rq_active{{}} {}\n"
        "envoy_http_downstream_rq_total{{}} {}\n"
        "envoy_http_downstream_rq_xx{{envoy_response_code_class=\"2\"}} {}\n"
        "envoy_http_downstream_rq_xx{{envoy_response_code_class=\"5\"}} {}\n"
        "envoy_http_downstream_rq_rx_reset{{}} {}\n",
        open, accepted + errors, accepted, errors, hung_up);
  }
};

inline SignalHistory HistoryFrom(const std::vector<const FakeTarget*>& targets) {
  SignalHistory history;
  for (const FakeTarget* target : targets) history.targets.push_back(target->series());
  return history;
}

}  // namespace plimsoll
