// What the agent says of its machine, and the descriptors it may open.
#include "agent/host/host_facts.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(HostFacts, AreThisMachines) {
  const Hello hello = DescribeHost();
  EXPECT_GE(hello.cores, 1u);
  EXPECT_GT(hello.memory_bytes, std::uint64_t{64} << 20);
  EXPECT_GT(hello.descriptors_max, 0u);
  EXPECT_NE(hello.name.find(std::to_string(getpid())), std::string::npos) << hello.name;
}

// In a child of its own: the limit is the process's.
TEST(HostFacts, TheSoftLimitOfDescriptorsIsRaisedToTheHardOne) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit low{};
    if (getrlimit(RLIMIT_NOFILE, &low) != 0) _exit(2);
    low.rlim_cur = 100;
    if (setrlimit(RLIMIT_NOFILE, &low) != 0) _exit(3);
    if (DescribeHost().descriptors_max != 100) _exit(4);
    RaiseDescriptorLimit();
    _exit(DescribeHost().descriptors_max == low.rlim_max ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace plimsoll
