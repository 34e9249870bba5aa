// deploy/ci: the workflow is YAML, and of the shape that GitHub reads. (That its commands exist is
// people_test.Workflow.)
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/config/document.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(CiWorkflow, IsYamlOfJobsAndSteps) {
  std::ifstream in(std::filesystem::path(PLIMSOLL_SOURCE_DIR) / "deploy/ci/github/plimsoll.yml");
  std::ostringstream text;
  text << in.rdbuf();
  Problems problems("plimsoll.yml");
  const auto root = ParseDocument(text.str(), problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_THAT(problems.Lines(), IsEmpty());
  for (const char* key : {"name", "on", "permissions", "jobs"}) {
    EXPECT_NE(root->Find(key), nullptr) << key;
  }
  const ConfigNode* jobs = root->Find("jobs");
  ASSERT_NE(jobs, nullptr);
  EXPECT_EQ(jobs->members.size(), 4u);
  for (const char* name : {"check", "rehearse", "window", "run"}) {
    const ConfigNode* job = jobs->Find(name);
    ASSERT_NE(job, nullptr) << name;
    EXPECT_NE(job->Find("runs-on"), nullptr) << name;
    EXPECT_NE(job->Find("timeout-minutes"), nullptr) << name << " ends by itself";
    const ConfigNode* steps = job->Find("steps");
    ASSERT_NE(steps, nullptr) << name;
    ASSERT_EQ(steps->kind, ConfigNode::Kind::kList);
    for (const ConfigNode& step : steps->items) {
      EXPECT_NE(step.Find("uses") == nullptr, step.Find("run") == nullptr) << name;
      const ConfigNode* run = step.Find("run");
      // Texts of a pull request never become part of a script.
      if (run == nullptr) continue;
      EXPECT_THAT(run->text, Not(HasSubstr("${{"))) << name;
    }
  }
  for (const char* name : {"window", "run"}) {
    EXPECT_THAT(jobs->Find(name)->Find("if")->text, HasSubstr("labeled")) << name;
    EXPECT_THAT(jobs->Find(name)->Find("if")->text, HasSubstr("head.repo.full_name")) << name;
  }
}

}  // namespace
}  // namespace plimsoll
