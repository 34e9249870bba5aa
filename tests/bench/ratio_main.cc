// Main of the benchmarks that have a baseline: a benchmark named X is compared with the one named
// X/baseline, run in the same process and interleaved with it, and the ratio of their CPU times an
// item is printed. A slow hour of the machine slows both. Takes Google Benchmark's flags; its
// defaults here are seven repetitions of 50 ms in random order.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

namespace plimsoll {
namespace {

constexpr std::string_view kBaseline = "/baseline";

// Prints each benchmark's median and keeps it; the console's own reporter would print every run.
class RatioReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      if (run.error_occurred) {
        std::printf("%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
        failed_ = true;
        continue;
      }
      const auto rate = run.counters.find("items_per_second");  // Of CPU time.
      if (rate == run.counters.end() || rate->second.value <= 0) continue;
      ns_an_item_[run.run_name.function_name].push_back(1e9 / rate->second.value);
    }
  }

  void Finalize() override {
    for (const auto& [name, samples] : ns_an_item_) {
      if (name.ends_with(kBaseline)) continue;
      const auto baseline = ns_an_item_.find(name + std::string(kBaseline));
      if (baseline == ns_an_item_.end()) {
        std::printf("%-24s %9.2f ns\n", name.c_str(), Median(samples));
        continue;
      }
      const double mine = Median(samples);
      const double theirs = Median(baseline->second);
      std::printf("%-24s %9.2f ns an item, baseline %9.2f ns, ratio %.2f (median of %zu)\n",
                  name.c_str(), mine, theirs, mine / theirs, samples.size());
    }
  }

  bool failed() const { return failed_; }

 private:
  static double Median(std::vector<double> samples) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
  }

  std::map<std::string, std::vector<double>> ns_an_item_;  // CPU time, by name.
  bool failed_ = false;
};

int RunWithRatios(int argc, char** argv) {
  std::string repetitions = "--benchmark_repetitions=7";
  std::string interleaved = "--benchmark_enable_random_interleaving=true";
  std::string time = "--benchmark_min_time=0.05";
  std::vector<char*> args(argv, argv + argc);
  // First, so that what the caller says wins.
  args.insert(args.begin() + 1, {repetitions.data(), interleaved.data(), time.data()});
  auto count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (benchmark::ReportUnrecognizedArguments(count, args.data())) return 64;
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.failed() ? 1 : 0;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  return plimsoll::RunWithRatios(argc, argv);
}
