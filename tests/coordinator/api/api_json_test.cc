// The JSON that is no message: errors.
#include "coordinator/api/api_json.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(ApiJson, AnErrorIsACodeAndASentence) {
  EXPECT_EQ(ErrorJson(absl::NotFoundError("no \"x\"")),
            "{\"code\":\"NOT_FOUND\",\"message\":\"no \\\"x\\\"\"}\n");
}

}  // namespace
}  // namespace plimsoll
