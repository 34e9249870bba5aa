// A row an agent and step: the same columns in every form, and what was not told absent.
#include "coordinator/report/agent_rows.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/json/json.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/sample_model.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> Rows(const StepSummary& summary) {
  std::string text;
  AppendAgents(RowForm::kJsonl, {.summary = summary}, &text);
  std::vector<Json> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  return rows;
}

TEST(AgentRows, HeaderAndBothFormsHaveTheSameColumns) {
  const StepSummary step = testing::SampleRun().steps[0].summary;
  std::string header = AgentHeader(RowForm::kCsv);
  std::string keys;
  const std::vector<Json> rows = Rows(step);
  ASSERT_EQ(rows.size(), 1u);
  for (const auto& [key, value] : rows[0].items()) keys += (keys.empty() ? "" : ",") + key;
  EXPECT_EQ(header, keys + "\n");
  EXPECT_EQ(AgentHeader(RowForm::kJsonl), "");
  std::string csv;
  AppendAgents(RowForm::kCsv, {.summary = step}, &csv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), ','), std::count(keys.begin(), keys.end(), ','));
  EXPECT_EQ(csv.substr(0, 2), std::to_string(step.plan.step) + ",");
  EXPECT_EQ(rows[0]["agent"], "agent-0");
  EXPECT_EQ(rows[0]["skew_ns"], 1'200'000);
  EXPECT_EQ(rows[0]["lateness_p99_ns"], 900'000);
  EXPECT_EQ(rows[0]["cpu_share_max"], 0.21);
  EXPECT_EQ(rows[0]["cores_used_max"], 0.34);
  EXPECT_EQ(rows[0]["stolen_ns"], 0);
  EXPECT_TRUE(rows[0]["throttled_ns"].is_null()) << "its system does not say";
  EXPECT_EQ(rows[0]["ports_limit"], 28'232);
}

TEST(AgentRows, OfAnAgentThatDidNotTellOfTheStepOnlyWhoItIsIsSaid) {
  StepSummary step = testing::SampleRun().steps[0].summary;
  step.agents.push_back(step.agents[0]);
  step.agents[1].slot = 1;
  step.agents[1].lost = step.agents[1].no_tally = true;
  const std::vector<Json> rows = Rows(step);
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [key, value] : rows[1].items()) {
    const bool who = key == "step" || key == "sessions" || key == "measure_ns" ||
                     key == "agent_slot" || key == "agent" || key == "lanes" || key == "lost";
    EXPECT_EQ(value.is_null(), !who) << key;
  }
  EXPECT_EQ(rows[1]["lost"], true);
}

}  // namespace
}  // namespace plimsoll
