// A large page of metrics for benchmarks.
#pragma once

#include <string>

#include "common/base/rng.h"
#include "fmt/format.h"

namespace plimsoll {

// An engine's page as a server with many ranks prints it: the sample's lines, once a rank, with
// numbers that `rng` draws.
inline std::string MakeEnginePage(Rng& rng, int target, int lines_wanted) {
  std::string page;
  int lines = 0;
  for (int rank = 0; lines < lines_wanted; ++rank) {
    const std::string labels =
        fmt::format("engine=\"{}\",model_name=\"org/model-{}\"", rank, target);
    const auto count = [&rng] { return static_cast<double>(rng.Below(2'000'000)); };
    for (const char* name : {"vllm:num_requests_running", "vllm:num_requests_waiting",
                             "vllm:prompt_tokens_total", "vllm:generation_tokens_total"}) {
      page += fmt::format("# HELP {0} What it is.\n# TYPE {0} counter\n{0}{{{1}}} {2:.1f}\n", name,
                          labels + (rank == 0 ? "" : ",r=\"1\""), count());
      lines += 3;
    }
    page += fmt::format("vllm:kv_cache_usage_perc{{{}}} {}\n", labels, count() / 2e6);
    for (const char* name :
         {"vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds",
          "vllm:request_time_per_output_token_seconds", "vllm:e2e_request_latency_seconds",
          "vllm:request_queue_time_seconds"}) {
      double sum = 0;
      for (const double edge : {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
                                40.0, 80.0, 160.0, 640.0, 2560.0}) {
        sum += count();
        page += fmt::format(
            "{}_bucket{{engine=\"{}\",le=\"{}\",model_name=\"org/model-{}\"}} "
            "{:.1f}\n",
            name, rank, edge, target, sum);
      }
      page += fmt::format(
          "{0}_bucket{{engine=\"{1}\",le=\"+Inf\",model_name=\"org/model-{2}\"}} "
          "{3:.1f}\n{0}_count{{{4}}} {3:.1f}\n{0}_sum{{{4}}} {5}\n",
          name, rank, target, sum, labels, sum * 1.2345);
      lines += 20;
    }
  }
  return page;
}

}  // namespace plimsoll
