// Requests of `plimsoll stop` as files, and what this machine must have for a run.
#include "coordinator/cli/stop_file.h"

#include <filesystem>
#include <fstream>

#include "coordinator/cli/local_findings.h"
#include "coordinator/store/rocks_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

TEST(StopFile, IsTakenOnce) {
  const TempFolder folder;
  EXPECT_EQ(TakeStopRequest(folder.path(), "r"), std::nullopt);
  for (const StopKind kind : {StopKind::kDrain, StopKind::kAbort}) {
    ASSERT_TRUE(AskToStop(folder.path(), "r", kind).ok());
    EXPECT_TRUE(StopRequestWaits(folder.path(), "r"));
    EXPECT_FALSE(StopRequestWaits(folder.path(), "another"));
    EXPECT_EQ(TakeStopRequest(folder.path(), "another"), std::nullopt);
    EXPECT_EQ(TakeStopRequest(folder.path(), "r"), kind);
    EXPECT_EQ(TakeStopRequest(folder.path(), "r"), std::nullopt);
  }
  // The later request counts.
  ASSERT_TRUE(AskToStop(folder.path(), "r", StopKind::kDrain).ok());
  ASSERT_TRUE(AskToStop(folder.path(), "r", StopKind::kAbort).ok());
  EXPECT_EQ(TakeStopRequest(folder.path(), "r"), StopKind::kAbort);
  ASSERT_TRUE(AskToStop(folder.path(), "r", StopKind::kAbort).ok());
  WithdrawStopRequest(folder.path(), "r");
  EXPECT_EQ(TakeStopRequest(folder.path(), "r"), std::nullopt);
}

TEST(StopFile, WhatIsNoneOfOurWordsDrains) {
  const TempFolder folder;
  ASSERT_TRUE(AskToStop(folder.path(), "r", StopKind::kAbort).ok());
  for (const std::string& text : {std::string(), std::string("abort"), std::string("ABORT\n"),
                                  std::string("\0\xff", 2), std::string(1 << 20, 'a')}) {
    std::ofstream(StopFilePath(folder.path(), "r")) << text;
    EXPECT_EQ(TakeStopRequest(folder.path(), "r"), StopKind::kDrain);
    EXPECT_FALSE(StopRequestWaits(folder.path(), "r"));
  }
}

TEST(StopFile, AFolderThatCannotBeMadeIsSaid) {
  const TempFolder folder;
  std::ofstream(folder.path() + "/stop") << "a file";
  EXPECT_THAT(std::string(MessageOf(AskToStop(folder.path(), "r", StopKind::kDrain))),
              HasSubstr("/stop"));
}

Scenario OfSteps(std::uint32_t local) {
  Scenario scenario;
  scenario.sweep.sessions = {10};
  scenario.fleet.local = local;
  return scenario;
}

DryPlan Plan(std::uint32_t sessions, double requests) {
  DryPlan dry;
  DryStep step;
  step.sessions = sessions;
  step.requests = requests;
  step.at_most = 10min;
  dry.steps.push_back(step);
  dry.at_most = 10min;
  return dry;
}

TEST(LocalFindings, ADiskThatCannotHoldTheRunBlocks) {
  const auto disk = [](std::optional<std::uint64_t> free, double requests) {
    const auto findings =
        LocalFindings(OfSteps(0), Plan(10, requests), "store", {.free_bytes = free, .ports = {}});
    EXPECT_EQ(findings.size(), 1u) << "agents elsewhere have ports of their own";
    return findings.front();
  };
  EXPECT_EQ(disk(std::uint64_t{50} << 30, 10'000).level, FindingLevel::kOk);
  EXPECT_EQ(disk(std::uint64_t{50} << 20, 10'000).level, FindingLevel::kBlocking);
  EXPECT_EQ(disk(std::uint64_t{150} << 20, 1000).level, FindingLevel::kWarning);
  // A million requests are more than a gigabyte, with retries and copies.
  EXPECT_EQ(disk(std::uint64_t{1} << 30, 1e6).level, FindingLevel::kBlocking);
  EXPECT_THAT(disk(0, 1).text, HasSubstr("free some, take another --store"));
  EXPECT_EQ(disk(std::nullopt, 1).level, FindingLevel::kWarning);
  EXPECT_EQ(disk(1, 1e300).level, FindingLevel::kBlocking) << "no overflow";
}

TEST(LocalFindings, PortsAreForAgentsThatAreStartedHere) {
  const auto ports = [](std::uint32_t has, std::uint32_t sessions) {
    return LocalFindings(OfSteps(2), Plan(sessions, 1), "store",
                         {.free_bytes = std::uint64_t{1} << 40, .ports = has})
        .back();
  };
  EXPECT_EQ(ports(28232, 20).level, FindingLevel::kOk);
  EXPECT_EQ(ports(30, 20).level, FindingLevel::kWarning);
  EXPECT_EQ(ports(10, 20).level, FindingLevel::kBlocking);
  EXPECT_THAT(ports(10, 20).text, HasSubstr("net.ipv4.ip_local_port_range"));
}

TEST(LocalFindings, ThisMachineSaysWhatItHas) {
  const TempFolder folder;
  const LocalRoom room = ReadLocalRoom(folder.path());
  EXPECT_GT(room.free_bytes.value_or(0), 0u);
  EXPECT_GT(room.ports.value_or(0), 0u);
  EXPECT_FALSE(ReadLocalRoom(folder.path() + "/none").free_bytes.has_value());
}

}  // namespace
}  // namespace plimsoll
