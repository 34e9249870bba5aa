#include "common/loop/logging.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Logged(const char* level) {
  setenv("PLIMSOLL_LOG", level, 1);
  SetUpLogging("probe");
  testing::internal::CaptureStderr();
  LogDebug("fine {}", 1);
  LogInfo("said {} {{}}", "{braces}");
  LogError("bad {}", 2);
  return testing::internal::GetCapturedStderr();
}

TEST(Logging, LevelComesFromTheEnvironment) {
  EXPECT_THAT(Logged("debug"), HasSubstr("fine 1"));
  EXPECT_THAT(Logged("info"), Not(HasSubstr("fine 1")));
  EXPECT_THAT(Logged("error"), Not(HasSubstr("said")));
  EXPECT_THAT(Logged("error"), HasSubstr("bad 2"));
  EXPECT_EQ(Logged("off"), "");
}

TEST(Logging, AnUnknownLevelStillSpeaks) {
  EXPECT_THAT(Logged("loud"), HasSubstr("said {braces} {}"));
}

TEST(Logging, LinesNameTheProgram) {
  EXPECT_THAT(Logged("info"), HasSubstr("probe["));
}

}  // namespace
}  // namespace plimsoll
