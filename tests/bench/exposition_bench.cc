// What it costs to read the pages of 64 targets, 2,000 lines each, once a second: from the bytes of
// the answers to the signals' numbers. The bound of the whole scrape is 5% of a core.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "common/base/rng.h"
#include "coordinator/signals/builtin_mappings.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/target_reading.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr int kTargets = 64;
constexpr int kLines = 2'000;
constexpr int kSeconds = 20;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// An engine's page as a server with many ranks prints it: the sample's lines, once a rank.
std::string MakePage(Rng& rng, int target) {
  std::string page;
  int lines = 0;
  for (int rank = 0; lines < kLines; ++rank) {
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

int Run() {
  Rng rng(7);
  const StatusOr<Mapping> mapping = BuiltinMapping("vllm");
  if (!mapping.ok()) return 1;
  const auto shared = std::make_shared<const Mapping>(*mapping);
  std::vector<std::vector<std::string>> pages(kTargets);
  std::vector<PageParser> parsers(kTargets);
  std::vector<TargetReader> readers;
  double lines = 0;
  double bytes = 0;
  for (int i = 0; i < kTargets; ++i) {
    readers.emplace_back(shared, SourceFilter{});
    for (int second = 0; second < 2; ++second) {
      pages[i].push_back(MakePage(rng, i));
      for (const char c : pages[i].back()) lines += c == '\n' ? 0.5 : 0;
      bytes += static_cast<double>(pages[i].back().size()) / 2;
    }
  }
  double first = 0;
  double checksum = 0;
  const double begin = CpuSeconds();
  for (int second = 0; second <= kSeconds; ++second) {
    for (int i = 0; i < kTargets; ++i) {
      const StatusOr<Page> page = parsers[i].Parse(pages[i][second % 2], PageSyntax::kText);
      if (!page.ok()) {
        std::printf("%s\n", std::string(MessageOf(page.status())).c_str());
        return 1;
      }
      const TargetSample sample = readers[i].Read(*page, MonoTime(), 1ms);
      checksum += sample.values.empty() ? 0 : sample.values[0];
    }
    if (second == 0) first = CpuSeconds() - begin;
  }
  const double rest = (CpuSeconds() - begin - first) / kSeconds;
  std::printf("%d targets, %.0f lines and %.1f MB a second (checksum %g)\n", kTargets, lines,
              bytes / 1e6, checksum);
  std::printf("first pages: %.0f ns a line\n", first / lines * 1e9);
  std::printf("known pages: %.0f ns a line, %.2f%% of a core\n", rest / lines * 1e9, rest * 100);
  return rest < 0.05 ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main() {
  return plimsoll::Run();
}
