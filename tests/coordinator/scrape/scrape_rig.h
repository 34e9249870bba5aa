// A scraper in virtual time against answers that a test writes down.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/scrape/page_keeper.h"
#include "coordinator/scrape/scraper.h"
#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/target_reading.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/scripted_transport.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {

// Each kind is read once: that takes a while under a sanitizer.
inline std::shared_ptr<const Mapping> SharedMapping(const std::string& kind) {
  static std::map<std::string, std::shared_ptr<const Mapping>> read;
  std::shared_ptr<const Mapping>& mapping = read[kind];
  if (mapping != nullptr) return mapping;
  StatusOr<Mapping> one = BuiltinMapping(kind);
  EXPECT_TRUE(one.ok()) << MessageOf(one.status());
  return mapping = std::make_shared<const Mapping>(*std::move(one));
}

// A vLLM page on which so many requests run and so many first tokens were seen, all within 5 s.
inline std::string VllmPage(double running, double first_tokens, double started = 1000) {
  const auto n = std::to_string(first_tokens);
  return "# TYPE vllm:num_requests_running gauge\n"
         "vllm:num_requests_running{model_name=\"m\"} " +
         std::to_string(running) +
         "\nvllm:time_to_first_token_seconds_bucket{model_name=\"m\",le=\"1\"} 0\n"
         "vllm:time_to_first_token_seconds_bucket{model_name=\"m\",le=\"5\"} " +
         n + "\nvllm:time_to_first_token_seconds_bucket{model_name=\"m\",le=\"7.5\"} " + n +
         "\nvllm:time_to_first_token_seconds_bucket{model_name=\"m\",le=\"+Inf\"} " + n +
         "\nvllm:time_to_first_token_seconds_count{model_name=\"m\"} " + n +
         "\nvllm:time_to_first_token_seconds_sum{model_name=\"m\"} 12.5\n"
         "process_start_time_seconds " +
         std::to_string(started) + "\n";
}

inline ScriptedAnswer PageAnswer(std::string page, Duration takes = 40ms,
                                 const std::string& type = "text/plain; version=0.0.4") {
  return ScriptedAnswer()
      .Sent(0ms)
      .Headers(takes, 200, {{"content-type", type}})
      .Body(takes, std::move(page))
      .End(takes);
}

struct ScrapeRig {
  SimScheduler time{MonoTime(1000s)};
  ScriptedTransport http{time};
  SignalLog log;
  std::vector<std::pair<std::uint32_t, std::string>> bundles;  // Target, bytes.
  std::vector<KeptPageTarget> kept_targets;
  PageKeeper keeper{{.put_target =
                         [this](std::uint32_t, const KeptPageTarget& what) {
                           kept_targets.push_back(what);
                           return absl::OkStatus();
                         },
                     .put_pages =
                         [this](std::uint32_t target, std::uint64_t, std::string bytes) {
                           bundles.emplace_back(target, std::move(bytes));
                           return absl::OkStatus();
                         }}};
  ScrapeDeps deps{time, http, time, log, &keeper};

  static PageTarget Engine(const std::string& name = "engine-0:8000") {
    return {.source = "engines",
            .name = name,
            .url = "http://" + name + "/metrics",
            .bearer_token = "",
            .ca_file = "",
            .mapping = SharedMapping("vllm"),
            .mapping_text = "",
            .filter = {}};
  }
  // All that was said, from the beginning.
  SignalHistory All() const { return log.Between(MonoTime{}, MonoTime::max()); }
  std::vector<TargetSample> Samples(std::size_t target = 0) const {
    const SignalHistory all = All();
    return target < all.targets.size() ? all.targets[target].samples : std::vector<TargetSample>{};
  }
  std::string LastError(std::size_t target = 0) const {
    const std::vector<TargetSample> samples = Samples(target);
    return samples.empty() ? "no sample" : std::string(MessageOf(samples.back().status));
  }
};

}  // namespace plimsoll
