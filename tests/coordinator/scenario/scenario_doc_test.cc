// docs/scenario.md against the reader: its block is a scenario, every key that the reader knows
// stands in its section, and what it shows as a default is one.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string Page() {
  std::ifstream in(std::filesystem::path(PLIMSOLL_SOURCE_DIR) / "docs/scenario.md");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string Block(const std::string& page) {
  constexpr std::string_view kOpen = "```yaml\n";
  const std::size_t begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

// The block's text by top-level key, comments included.
std::map<std::string, std::string> Sections(const std::string& block) {
  std::map<std::string, std::string> sections;
  std::string key;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() >= 'a' && line.front() <= 'z') {
      key = line.substr(0, line.find(':'));
    }
    sections[key] += line + '\n';
  }
  return sections;
}

TEST(ScenarioPage, ItsBlockIsAScenario) {
  Problems problems("scenario.md");
  (void)ReadScenario(Block(Page()), "docs", problems);
  EXPECT_THAT(problems.Lines(), IsEmpty());
}

TEST(ScenarioPage, HasEveryKeyThatTheReaderKnows) {
  const std::string page = Page();
  const std::map<std::string, std::string> sections = Sections(Block(page));
  Problems problems("scenario.md");
  (void)ReadScenario(Block(page), "docs", problems);
  const std::set<std::string> known(problems.known().begin(), problems.known().end());
  EXPECT_GT(known.size(), 80u);
  for (const std::string& path : known) {
    const std::string top = path.substr(0, path.find('.'));
    const std::string key = path.substr(path.rfind('.') + 1);
    const auto section = sections.find(top);
    if (section != sections.end()) {
      EXPECT_THAT(section->second, HasSubstr(key + ":")) << path << " is not on the page";
    } else {
      EXPECT_THAT(page, HasSubstr("`" + key + "`")) << path << " is not on the page";
    }
  }
}

// What is set by others (no default, or one that only fits another choice) is taken over; all else
// must be what a scenario without it has.
TEST(ScenarioPage, ItsDefaultsAreTheReaders) {
  const auto shown = ParseScenario(Block(Page()), "scenario.md", "docs");
  ASSERT_TRUE(shown.ok()) << MessageOf(shown.status());
  const auto plain = ParseScenario(
      "name: recipe-7\ntarget: {url: \"https://gateway.example/v1\", model: glm-5.3}\n"
      "corpus: {synthetic: agentx}\nmix: {heavy: 50%, light: 50%}\nsweep: {sessions: [10, 15, "
      "20]}\n"
      "bar: {errors: 2%}\nfleet: {local: 1}\n",
      "plain.yaml", "docs");
  ASSERT_TRUE(plain.ok()) << MessageOf(plain.status());
  Scenario want = *plain;
  TargetPlan& target = want.target;
  target.bearer_env = shown->target.bearer_env;
  target.ca_file = shown->target.ca_file;
  target.headers = shown->target.headers;
  target.affinity_play_header = shown->target.affinity_play_header;
  target.affinity_parent_header = shown->target.affinity_parent_header;
  target.extra_body = shown->target.extra_body;
  want.sweep.target = shown->sweep.target;
  want.sweep.budget = shown->sweep.budget;
  want.replay.context_limit.tokens = shown->replay.context_limit.tokens;
  EXPECT_TRUE(shown->target == want.target);
  EXPECT_TRUE(shown->corpus == want.corpus);
  EXPECT_TRUE(shown->mix == want.mix);
  EXPECT_TRUE(shown->sweep == want.sweep);
  EXPECT_TRUE(shown->tier_ladders == want.tier_ladders);
  EXPECT_TRUE(shown->replay == want.replay);
  EXPECT_EQ(shown->fleet.wait, want.fleet.wait);
  EXPECT_EQ(shown->evals, EvalsSpec{}) << "the section's own";
  EXPECT_EQ(shown->hooks.rollout.deadline, HookSpec{}.deadline);
  EXPECT_EQ(shown->hooks.rollout.tries, HookSpec{}.tries);
  EXPECT_EQ(shown->seed, want.seed);
}

}  // namespace
}  // namespace plimsoll
