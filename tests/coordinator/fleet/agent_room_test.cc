// An agent that cannot hold its lanes is found before they begin.
#include "coordinator/fleet/agent_room.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

Hello Machine() {
  Hello hello;
  hello.descriptors_max = 20'000;
  hello.ports = 28'232;
  hello.memory_bytes = std::uint64_t{4} << 30;
  return hello;
}

TEST(AgentRoom, NineThousandLanesFitAnOrdinaryMachine) {
  EXPECT_EQ(WhyItHasNoRoom(Machine(), 9000), "");
}

TEST(AgentRoom, TheCommonLimitOfDescriptorsHoldsAThousandLanesNot) {
  Hello hello = Machine();
  hello.descriptors_max = 1024;
  EXPECT_EQ(WhyItHasNoRoom(hello, 900), "");
  const std::string why = WhyItHasNoRoom(hello, 1000);
  EXPECT_NE(why.find("1000 lanes need at least 1095 descriptors, and it may open 1024"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("more agents"), std::string::npos) << why;
}

TEST(AgentRoom, PortsAndMemoryCountToo) {
  Hello hello = Machine();
  hello.ports = 5000;
  EXPECT_EQ(WhyItHasNoRoom(hello, 5000), "");
  EXPECT_NE(WhyItHasNoRoom(hello, 5001).find("has 5000 for one destination"), std::string::npos);
  hello = Machine();
  hello.memory_bytes = std::uint64_t{64} << 20;
  EXPECT_EQ(WhyItHasNoRoom(hello, 1024), "");
  EXPECT_NE(WhyItHasNoRoom(hello, 1040).find("need 65 MiB"), std::string::npos);
}

TEST(AgentRoom, WhatIsNotKnownIsEnough) {
  EXPECT_EQ(WhyItHasNoRoom(Hello{}, 16'000), "");
}

}  // namespace
}  // namespace plimsoll
