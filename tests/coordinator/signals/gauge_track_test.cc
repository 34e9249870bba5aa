// How long a gauge's value stands where pages are missing.
#include "coordinator/signals/gauge_track.h"

#include <memory>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

Mapping Map() {
  return MappingFrom("kind: test\nsignals: {running: {gauge: [run]}, waiting: {gauge: [wait]}}\n");
}

TEST(GaugeTrack, AGaugeStandsForTwoIntervalsWhereAPageIsMissing) {
  TargetReader reader(std::make_shared<const Mapping>(Map()), {});
  const auto read = [&](const std::vector<std::pair<int, int>>& points) {
    std::vector<TargetSample> samples;
    for (const auto& [second, value] : points) {
      const MonoTime at = MonoTime() + std::chrono::seconds(second);
      if (value < 0) {
        samples.push_back(TargetReader::Unreadable(absl::UnavailableError("gone"), at, 1ms));
        continue;
      }
      const Page page = PageFrom(value == 0 ? "wait 2\n" : fmt::format("wait 2\nrun {}\n", value));
      samples.push_back(reader.Read(page, at, 1ms));
    }
    return ReadTarget(Map(), samples).Of(Signal::kRunning).gauge;
  };
  // One that is missing is bridged, by a page that cannot be read and by one without the name.
  for (const int missing : {-1, 0}) {
    EXPECT_EQ(LongestAtLeast(read({{0, 9}, {10, 9}, {20, missing}, {30, 9}, {40, 9}}), 9), 40s);
    // Two are not: what was seen before and after them are two times.
    const GaugeReading two =
        read({{0, 9}, {10, 9}, {20, missing}, {30, missing}, {40, 9}, {50, 9}, {60, 9}});
    EXPECT_EQ(LongestAtLeast(two, 9), 20s);
  }
  // What is not known is in no mean: 10 s of 9, 20 s of 3 until it was given up, 10 s of 6.
  EXPECT_DOUBLE_EQ(read({{0, 9}, {10, 3}, {20, -1}, {30, -1}, {40, -1}, {50, 6}, {60, 6}}).mean,
                   210. / 40);
  // An exchange that took long lost none.
  EXPECT_EQ(LongestAtLeast(read({{0, 9}, {1, 9}, {2, 9}, {6, 9}, {7, 9}}), 9), 7s);
  EXPECT_EQ(LongestAtLeast(read({{0, 9}, {1, 9}, {2, 9}, {9, 9}, {10, 9}}), 9), 2s);
}

}  // namespace
}  // namespace plimsoll
