// Texts of the kernel as values: as they are documented, and as nobody should write them.
#include "agent/host/host_readings.h"

#include <string>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(HostReadings, TicksOfTheMachineAreItsFirstLinesFirstEight) {
  const auto ticks = ReadMachineTicks("cpu  10 20 30 400 5 6 7 80 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(ticks->all, 558u) << "guests' time is in user's already";
  EXPECT_EQ(ticks->stolen, 80u);
  for (const char* text :
       {"", "cpu", "cpu 1 2 3 4 5 6 7", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7 -8",
        "cpu 1 2 3 4 5 6 7 x", "cpu 1 2 3 4 5 6 7 99999999999999999999", "\n\n"}) {
    EXPECT_FALSE(ReadMachineTicks(text).has_value()) << text;
  }
}

TEST(HostReadings, TicksOfATaskStandBehindItsNameWhateverThatIs) {
  const std::string after = " S 1 2 3 4 5 6 7 8 9 10 250 50 7 7 20 0 1";
  for (const char* name : {"agent", "a b", ") S 9 (", "x)", ""}) {
    EXPECT_EQ(ReadTaskTicks("123 (" + std::string(name) + ")" + after), 300u) << name;
  }
  for (const char* text : {"", "123 agent S 1", "1 (a)", "1 (a) S 1 2 3 4 5 6 7 8 9 10 250",
                           "1 (a) S 1 2 3 4 5 6 7 8 9 10 -1 50"}) {
    EXPECT_FALSE(ReadTaskTicks(text).has_value()) << text;
  }
}

TEST(HostReadings, SocketsAreThoseInUseOfBothFamiliesAndThoseThatWait) {
  const char* v4 =
      "sockets: used 16\nTCP: inuse 11 orphan 0 tw 200 alloc 1 mem 7\nUDP: inuse 900\n";
  EXPECT_EQ(ReadTcpSockets(v4, "TCP6: inuse 3\nUDP6: inuse 0\n"), 214u);
  EXPECT_EQ(ReadTcpSockets(v4, ""), 211u);
  for (const char* text :
       {"", "TCP:", "TCP: inuse", "TCP: inuse x tw 1", "TCP: inuse 4", "UDP: inuse 1 tw 1"}) {
    EXPECT_FALSE(ReadTcpSockets(text, "").has_value()) << text;
  }
}

TEST(HostReadings, PortsAreARange) {
  EXPECT_EQ(ReadPortCount("32768\t60999\n"), 28'232u);
  for (const char* text : {"", "5", "9 9", "60999 32768", "1 70000", "a b"}) {
    EXPECT_FALSE(ReadPortCount(text).has_value()) << text;
  }
}

TEST(HostReadings, ThrottlingOfEitherVersion) {
  const auto v2 =
      ReadThrottling("usage_usec 9\nnr_periods 7\nnr_throttled 3\nthrottled_usec 250\n");
  ASSERT_TRUE(v2.has_value());
  EXPECT_EQ(v2->time_ns, 250'000);
  EXPECT_EQ(v2->periods, 3u);
  const auto v1 = ReadThrottling("nr_periods 7\nnr_throttled 3\nthrottled_time 250\n");
  ASSERT_TRUE(v1.has_value());
  EXPECT_EQ(v1->time_ns, 250);
  // The root of version 2, and a group without the controller, count no throttling.
  for (const char* text :
       {"", "usage_usec 9\nuser_usec 8\n", "nr_throttled 3", "throttled_usec 3",
        "nr_throttled 3\nthrottled_usec -1", "nr_throttled 3\nthrottled_usec 9300000000000000"}) {
    EXPECT_FALSE(ReadThrottling(text).has_value()) << text;
  }
}

TEST(HostReadings, AQuotaIsTimeAPeriodOrNone) {
  EXPECT_EQ(ReadQuota("150000 100000\n"), (CpuQuota{150'000, 100'000}));
  EXPECT_DOUBLE_EQ(ReadQuota("150000 100000")->cores(), 1.5);
  EXPECT_EQ(ReadQuota("50000\n", "100000\n"), (CpuQuota{50'000, 100'000}));
  for (const char* text : {"", "max 100000", "100000", "0 100000", "100000 0", "x y"}) {
    EXPECT_FALSE(ReadQuota(text).has_value()) << text;
  }
  EXPECT_FALSE(ReadQuota("-1\n", "100000\n").has_value()) << "version 1: none is set";
}

TEST(HostReadings, GroupFoldersAreTheProcesssAndItsParents) {
  using Folders = std::vector<std::string>;
  EXPECT_EQ(CpuGroupFolders("0::/a/b\n"), (Folders{"/a/b", "/a", ""}));
  EXPECT_EQ(CpuGroupFolders("5:cpu,cpuacct:/x\n4:cpuset:/y\n"),
            (Folders{"/cpu,cpuacct/x", "/cpu,cpuacct", "/cpu/x", "/cpu"}));
  EXPECT_EQ(CpuGroupFolders("0::/../../etc\n"), (Folders{""})) << "outside of what is mounted";
  EXPECT_EQ(CpuGroupFolders("0::/"), (Folders{""}));
  for (const char* text : {"", "\n", "no colon", "1:cpu"}) {
    EXPECT_TRUE(CpuGroupFolders(text).empty()) << text;
  }
}

}  // namespace
}  // namespace plimsoll
