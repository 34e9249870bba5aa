// What a target needs of the machine that calls it: its token, and the certificates to check it by.
#include "common/chat/target.h"

#include <cstdlib>

#include "gmock/gmock.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

TEST(TargetSecrets, ATokenThatIsNotThereIsNamedByItsVariable) {
  TargetPlan target;
  target.bearer_env = "PLIMSOLL_TEST_NO_SUCH_TOKEN";
  ::unsetenv("PLIMSOLL_TEST_NO_SUCH_TOKEN");
  EXPECT_THAT(MessageOf(ReadTargetSecrets(target).status()),
              HasSubstr("set PLIMSOLL_TEST_NO_SUCH_TOKEN in the environment"));
  ::setenv("PLIMSOLL_TEST_NO_SUCH_TOKEN", "t", 1);
  const auto options = ReadTargetSecrets(target);
  ::unsetenv("PLIMSOLL_TEST_NO_SUCH_TOKEN");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->bearer_token, "t");
}

TEST(TargetSecrets, CertificatesThatCannotBeReadAreSaidBeforeACall) {
  TargetPlan target;
  target.ca_file = "/nowhere/ca.pem";
  EXPECT_THAT(std::string(MessageOf(ReadTargetSecrets(target).status())),
              HasSubstr("target.ca_file /nowhere/ca.pem: cannot be read: No such file or "
                        "directory; check the path"));
  target.ca_file = "/proc/self/status";
  EXPECT_TRUE(ReadTargetSecrets(target).ok());
}

}  // namespace
}  // namespace plimsoll
