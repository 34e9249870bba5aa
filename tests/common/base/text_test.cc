#include "common/base/text.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(ShortTime, ReadsAtAGlance) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0s"},        {-5s, "0s"},      {250ms, "0.2s"},  {2500ms, "2.5s"}, {9999ms, "9.9s"},
      {10s, "10s"},      {48900ms, "48s"}, {60s, "1m"},      {133s, "2m13s"},  {300s, "5m"},
      {3599s, "59m59s"}, {3600s, "1h00m"}, {3725s, "1h02m"}, {100h, "100h00m"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(ShortTime(duration), text);
}

}  // namespace
}  // namespace plimsoll
