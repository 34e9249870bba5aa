// Cost and recipe of a run as messages: their numbers, and what is missing.
#include "coordinator/api/cost_messages.h"

#include <limits>

#include "coordinator/api/api_messages.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/api.pb.h"
#include "tests/coordinator/api/sample_cost.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll {
namespace {

TEST(CostMessages, KeepTheirNumbersAndWhatIsMissing) {
  Cost cost = testing::FullCost();
  cost.per_mtok.cached = {.value = std::nullopt, .why_not = "usage reports none"};
  cost.per_mtok.out = {.value = std::numeric_limits<double>::infinity(), .why_not = ""};
  v1::Cost out;
  ToApi(cost, &out);
  EXPECT_EQ(out.nodes(), 4u);
  EXPECT_DOUBLE_EQ(out.per_node_hour(), 14.4);
  EXPECT_EQ(out.currency(), "USD");
  EXPECT_EQ(out.sessions(), 10u);
  EXPECT_EQ(out.per_session_hour().value(), 1.5);
  EXPECT_FALSE(out.per_million_tokens().cached_in().has_value());
  EXPECT_EQ(out.per_million_tokens().cached_in().why_not(), "usage reports none");
  EXPECT_FALSE(out.per_million_tokens().out().has_value());
  ToApi(Cost{}, &out);
  EXPECT_FALSE(out.has_nodes());
  EXPECT_FALSE(out.has_sessions());
  EXPECT_EQ(out.currency(), "");
}

TEST(CostMessages, RecipesAreMendedToUtf8) {
  KeptRecipe recipe = testing::FullRecipe();
  recipe.files[0].bytes = "\xff";
  v1::Recipe out;
  ToApi(recipe, &out);
  ASSERT_EQ(out.files_size(), 1);
  EXPECT_EQ(out.files(0).path(), "a.yaml");
  EXPECT_EQ(out.files(0).text(), "\xEF\xBF\xBD");
  EXPECT_EQ(out.files(0).sha256(), "77");
  EXPECT_EQ(out.files(0).secrets_left_out(), 2u);
}

TEST(CostMessages, ARunWithoutAStepOrARecipeHasNeither) {
  RunView view{.info = testing::ARun("r1", 1'800'000'000)};
  v1::Run run;
  ToApi(view, &run);
  EXPECT_FALSE(run.has_cost());
  EXPECT_FALSE(run.has_recipe());
}

TEST(CostMessages, ARunsRecipeIsReadFromTheStore) {
  testing::RunsRig rig;
  rig.BeginRun("r1");
  KeptRecipe recipe = testing::FullRecipe();
  recipe.files[0].digest = std::string(64, '7');
  ASSERT_TRUE(rig.repo.PutRecipe("r1", recipe).ok());
  const auto view = ReadRunView(rig.repo, "r1", std::nullopt);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->recipe, recipe);
  EXPECT_EQ(view->model.recipe_note, "n");
  ASSERT_EQ(view->model.recipe_files.size(), 1u);
  EXPECT_EQ(view->model.recipe_files[0].secrets_left_out, 2u);
}

}  // namespace
}  // namespace plimsoll
