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

std::string Why(const Hello& hello, std::uint32_t lanes, std::uint32_t at_once = 1) {
  return WhyItHasNoRoom(hello, {.lanes = lanes, .connections = std::uint64_t{lanes} * at_once});
}

TEST(AgentRoom, NineThousandLanesFitAnOrdinaryMachine) {
  EXPECT_EQ(Why(Machine(), 9000), "");
}

TEST(AgentRoom, TheCommonLimitOfDescriptorsHoldsAThousandLanesNot) {
  Hello hello = Machine();
  hello.descriptors_max = 1024;
  EXPECT_EQ(Why(hello, 900), "");
  const std::string why = Why(hello, 1000);
  EXPECT_NE(why.find("1000 lanes need at least 1095 descriptors, and it may open 1024"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("more agents"), std::string::npos) << why;
}

TEST(AgentRoom, PortsAndMemoryCountToo) {
  Hello hello = Machine();
  hello.ports = 5000;
  EXPECT_EQ(Why(hello, 5000), "");
  EXPECT_NE(Why(hello, 5001).find("has 5000 for one destination"), std::string::npos);
  hello = Machine();
  hello.memory_bytes = std::uint64_t{64} << 20;
  EXPECT_EQ(Why(hello, 1024), "");
  EXPECT_NE(Why(hello, 1040).find("need 65 MiB"), std::string::npos);
}

TEST(AgentRoom, LanesThatFanOutNeedAConnectionForEachOfTheirStreams) {
  Hello hello = Machine();
  hello.descriptors_max = 4096;
  EXPECT_EQ(Why(hello, 1000, 3), "");
  EXPECT_NE(Why(hello, 1000, 4)
                .find("1000 lanes with up to 4000 requests at once need at least "
                      "4189 descriptors"),
            std::string::npos)
      << Why(hello, 1000, 4);
  hello = Machine();
  hello.ports = 3999;
  EXPECT_EQ(Why(hello, 1000, 3), "");
  EXPECT_NE(Why(hello, 1000, 4).find("has 3999 for one destination"), std::string::npos);
}

TEST(AgentRoom, LiveHistoryNeedsMemoryToo) {
  const Hello hello = Machine();
  LaneShare share{.lanes = 3000, .connections = 3000, .history_bytes = std::uint64_t{3000} << 20};
  EXPECT_EQ(WhyItHasNoRoom(hello, share), "");
  share.lanes = share.connections = 5000;
  share.history_bytes = std::uint64_t{5000} << 20;
  const std::string why = WhyItHasNoRoom(hello, share);
  EXPECT_NE(why.find("5000 lanes need 5312 MiB with the answers of their live history"),
            std::string::npos)
      << why;
}

TEST(AgentRoom, WhatIsNotKnownIsEnough) {
  EXPECT_EQ(Why(Hello{}, 16'000), "");
}

}  // namespace
}  // namespace plimsoll
