// What a machine did between two instants, from files as the kernel writes them.
#include "agent/host/host_sampler.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

// A machine of two cores made of files: at first idle, with everything at zero.
class HostSamplerTest : public ::testing::Test {
 protected:
  HostSamplerTest() {
    std::string name = (fs::temp_directory_path() / "host_XXXXXX").string();
    root_ = mkdtemp(name.data());
    Write("proc/self/cgroup", "0::/pod/agent\n");
    Write("proc/sys/net/ipv4/ip_local_port_range", "1001 2000\n");
    Machine(0, 0);
    Task(0);
    Thread(7, 0);  // The loop's.
    Thread(8, 0);
    Sockets(10);
    Throttled("pod/agent", 0, 0);
    Throttled("pod", 0, 0);
    Write("cgroup/cpu.stat", "usage_usec 5\n");
    for (int i = 0; i < 3; ++i) Write(fmt::format("proc/self/fd/{}", i), "");
  }
  ~HostSamplerTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void Machine(int busy, int stolen) {
    Write("proc/stat", fmt::format("cpu {} 0 0 {} 0 0 0 {} 0 0\n", busy, 10'000 - busy, stolen));
  }
  void Task(int ticks) {
    Write("proc/self/stat", fmt::format("7 (a) S 1 1 1 1 1 1 1 1 1 1 {} 0 1", ticks));
  }
  void Thread(int id, int ticks) {
    Write(fmt::format("proc/self/task/{}/stat", id),
          fmt::format("{} (a) S 1 1 1 1 1 1 1 1 1 1 0 {} 1", id, ticks));
  }
  void Sockets(int used) {
    Write("proc/net/sockstat", fmt::format("TCP: inuse {} orphan 0 tw 5 alloc 1 mem 1\n", used));
  }
  void Throttled(const std::string& group, int periods, int usec) {
    Write(fmt::format("cgroup/{}/cpu.stat", group),
          fmt::format("nr_periods 9\nnr_throttled {}\nthrottled_usec {}\n", periods, usec));
  }
  HostView View() const {
    return {.proc = (root_ / "proc").string(),
            .cgroup = (root_ / "cgroup").string(),
            .cores = 2,
            .descriptors_limit = 1024,
            .ticks_per_s = 100,
            .loop_thread = 7};
  }

  fs::path root_;
  const MonoTime start_ = MonoTime{} + 100s;
};

TEST_F(HostSamplerTest, TellsOfTheTimeSinceItsResetAndKeepsTheWorstSecond) {
  Task(5'000);
  Thread(8, 3'000);
  Machine(400, 40);
  Throttled("pod/agent", 100, 900'000);
  HostSampler sampler(View());
  sampler.Reset(start_);
  Task(5'150);  // One and a half cores for a second,
  Thread(7, 90);
  Thread(8, 3'030);
  Thread(9, 25);  // of which a new thread had a quarter.
  Sockets(400);
  Write("proc/self/fd/3", "");
  sampler.Look(start_ + 1s);
  Task(5'170);  // Then a fifth of one.
  Thread(8, 3'035);
  Sockets(20);
  sampler.Look(start_ + 2s);
  Machine(550, 140);  // A hundred ticks passed, and all of them were stolen.
  Throttled("pod/agent", 110, 1'400'000);
  const HostLoad load = sampler.Load(start_ + 4s);
  EXPECT_NEAR(load.cores_used_max.value_or(-1), 1.5, 1e-9);
  EXPECT_EQ(load.cores, 2.0);
  EXPECT_NEAR(load.thread_share_max.value_or(-1), 0.30, 1e-9) << "the loop's is not among them";
  EXPECT_EQ(load.throttled_ns, 500'000'000);
  EXPECT_EQ(load.stolen_ns, Duration(4s).count()) << "all of the time";
  EXPECT_EQ(load.descriptors_max, 4u);
  EXPECT_EQ(load.descriptors_limit, 1024u);
  EXPECT_EQ(load.ports_max, 405u) << "the most that was seen";
  EXPECT_EQ(load.ports_limit, 1000u);

  sampler.Reset(start_ + 4s);
  Write("proc/stat", "cpu 1550 0 0 9450 0 0 0 240 0 0\n");  // 1,100 ticks, 100 of them stolen.
  const HostLoad again = sampler.Load(start_ + 14s);
  EXPECT_EQ(again.throttled_ns, 0);
  EXPECT_NEAR(static_cast<double>(again.stolen_ns.value_or(-1)), 1e9 * 100 / 1100 * 10, 1e7);
  EXPECT_EQ(again.ports_max, 25u);
  EXPECT_NEAR(again.cores_used_max.value_or(-1), 0, 1e-9);
}

TEST_F(HostSamplerTest, AParentsQuotaBindsAndItsPeriodsBoundTheTime) {
  Write("cgroup/pod/cpu.max", "50000 100000\n");
  Write("cgroup/pod/agent/cpu.max", "max 100000\n");
  HostSampler sampler(View());
  sampler.Reset(start_);
  // Of eight processors 4 s together, in five periods of 100 ms: it was half a second at most.
  Throttled("pod", 5, 4'000'000);
  Throttled("pod/agent", 2, 30'000);
  const HostLoad load = sampler.Load(start_ + 10s);
  EXPECT_EQ(load.throttled_ns, 500'000'000);
  EXPECT_EQ(load.cores, 0.5);
}

TEST_F(HostSamplerTest, GroupsOfVersionOneAreReadToo) {
  Write("proc/self/cgroup", "9:cpuset:/z\n1:cpu:/g\n0::/\n");
  Write("cgroup/cpu/g/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 1000\n");
  Write("cgroup/cpu/g/cpu.cfs_quota_us", "150000\n");
  Write("cgroup/cpu/g/cpu.cfs_period_us", "100000\n");
  HostSampler sampler(View());
  sampler.Reset(start_);
  Write("cgroup/cpu/g/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 70001000\n");
  const HostLoad load = sampler.Load(start_ + 10s);
  EXPECT_EQ(load.throttled_ns, 70'000'000);
  EXPECT_EQ(load.cores, 1.5);
}

TEST_F(HostSamplerTest, WhatTheSystemDoesNotSayIsAbsent) {
  fs::remove_all(root_ / "proc");
  fs::remove_all(root_ / "cgroup");
  HostView view = View();
  view.cores = 0;
  view.descriptors_limit = 0;
  HostSampler sampler(view);
  sampler.Reset(start_);
  sampler.Look(start_ + 1s);
  EXPECT_EQ(sampler.Load(start_ + 2s), HostLoad{});
}

TEST_F(HostSamplerTest, CountersThatRunBackwardsOrStandAreNoMeasurement) {
  Task(500);
  Thread(8, 500);
  Machine(500, 500);
  Throttled("pod", 5, 5'000);
  Throttled("pod/agent", 5, 5'000);
  HostSampler sampler(View());
  sampler.Reset(start_);
  Task(1);
  Thread(8, 1);
  Machine(500, 499);
  Throttled("pod", 6, 4'000);
  Throttled("pod/agent", 4, 6'000);
  sampler.Look(start_ + 1s);
  const HostLoad load = sampler.Load(start_ + 1s);
  EXPECT_FALSE(load.cores_used_max.has_value());
  EXPECT_FALSE(load.thread_share_max.has_value());
  EXPECT_FALSE(load.stolen_ns.has_value());
  EXPECT_FALSE(load.throttled_ns.has_value());
}

TEST_F(HostSamplerTest, LooksTooCloseTogetherAreNoSeconds) {
  HostSampler sampler(View());
  sampler.Reset(start_);
  Task(40);
  sampler.Look(start_ + 100ms);  // Would be four cores.
  Task(60);
  sampler.Look(start_ + 1s);
  EXPECT_NEAR(sampler.Load(start_ + 1s).cores_used_max.value_or(-1), 0.6, 1e-9);
  // Nor is a measured time of a few ticks.
  sampler.Reset(start_ + 2s);
  Task(64);
  EXPECT_FALSE(sampler.Load(start_ + 2s + 20ms).cores_used_max.has_value());
  EXPECT_NEAR(sampler.Load(start_ + 2s + 200ms).cores_used_max.value_or(-1), 0.2, 1e-9);
}

TEST(HostSampler, TellsOfThisMachineWhatItsFilesSay) {
  HostSampler sampler(ThisHost());
  sampler.Reset(MonoTime{});
  const std::uint64_t before = sampler.Load(MonoTime{} + 1s).descriptors_max.value_or(0);
  ASSERT_GE(before, 3u);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const HostLoad load = sampler.Load(MonoTime{} + 2s);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  EXPECT_GE(load.descriptors_max.value_or(0), before + 1);
  EXPECT_GT(load.cores.value_or(0), 0);
  EXPECT_TRUE(load.cores_used_max.has_value());
  EXPECT_TRUE(load.thread_share_max.has_value());
}

}  // namespace
}  // namespace plimsoll
