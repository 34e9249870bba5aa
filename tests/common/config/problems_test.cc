#include "common/config/problems.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;

TEST(Problems, AreOrderedByLineThenDiscovery) {
  Problems problems("a.yaml");
  problems.Add(9, "x.y", "is wrong, write z");
  problems.Add(2, "b", "first");
  problems.Add(2, "a", "second");
  problems.Add(0, "", "whole file");
  EXPECT_THAT(problems.Lines(),
              ElementsAre("a.yaml: whole file", "a.yaml:2: b: first", "a.yaml:2: a: second",
                          "a.yaml:9: x.y: is wrong, write z"));
}

TEST(Problems, BecomeOneStatusWithEveryLine) {
  Problems problems("a.yaml");
  EXPECT_TRUE(problems.ToStatus().ok());
  problems.Add(1, "a", "x");
  problems.Add(2, "b", "y");
  EXPECT_EQ(problems.ToStatus().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(problems.ToStatus()), "a.yaml:1: a: x\na.yaml:2: b: y");
}

TEST(Problems, TouchesTheFieldAboveAndBelowButNotItsNeighbour) {
  Problems problems("a.yaml");
  problems.Add(1, "sweep.sessions[2]", "x");
  EXPECT_TRUE(problems.Touches("sweep.sessions"));
  EXPECT_TRUE(problems.Touches("sweep"));
  EXPECT_TRUE(problems.Touches("sweep.sessions[2].deeper"));
  EXPECT_FALSE(problems.Touches("sweep.session"));
  EXPECT_FALSE(problems.Touches("sweep.target"));
  EXPECT_FALSE(problems.Touches("swee"));
}

TEST(Problems, PrintNoControlBytes) {
  Problems problems("a.yaml");
  problems.Add(1, "k\x1b[2J", "a\nb");
  EXPECT_THAT(problems.Lines(), ElementsAre("a.yaml:1: k?[2J: a?b"));
}

}  // namespace
}  // namespace plimsoll
