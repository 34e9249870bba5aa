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
#include "tests/bench/engine_page.h"

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
      pages[i].push_back(MakeEnginePage(rng, i, kLines));
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
