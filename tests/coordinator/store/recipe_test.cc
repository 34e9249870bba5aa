// A run's recipe and price as they are kept, and what is damaged.
#include "coordinator/store/recipe_codec.h"
#include "coordinator/store/run_codec.h"
#include "coordinator/store/run_repo.h"
#include "gtest/gtest.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

RunInfo ARun() {
  return {.id = "r1", .name = "recipe-7", .started = WallTime(5ns)};
}

TEST(RunCodec, KeepsThePriceAndItsAbsence) {
  RunInfo run = ARun();
  EXPECT_FALSE(DecodeRun(EncodeRun(run))->cost.has_value());
  run.cost = CostSettings{.nodes = 4, .micros = 14'400'000, .currency = "USD"};
  EXPECT_EQ(DecodeRun(EncodeRun(run))->cost, run.cost);
}

TEST(RunCodec, APriceThatCannotBeIsDamaged) {
  for (const CostSettings& cost : {CostSettings{0, 1, "USD"}, CostSettings{1, 0, "USD"},
                                   CostSettings{1, -1, "USD"}, CostSettings{1, 1, "US DOLLAR"}}) {
    RunInfo run = ARun();
    run.cost = cost;
    EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(run)).status())) << cost.micros;
  }
}

KeptRecipe ARecipe() {
  return {.note = "n\xff",
          .files = {{"a.yaml", std::string("k: v\n\0", 6), std::string(64, 'a'), 0},
                    {"b/c.yaml", "", std::string(64, '0'), 3}}};
}

TEST(RunRepo, KeepsTheRecipeApartFromTheRun) {
  MemoryStore store;
  RunRepo repo(store);
  ASSERT_TRUE(repo.PutRun(ARun()).ok());
  EXPECT_TRUE(absl::IsNotFound(repo.GetRecipe("r1").status()));
  ASSERT_TRUE(repo.PutRecipe("r1", ARecipe()).ok());
  const auto back = repo.GetRecipe("r1");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, ARecipe());
  EXPECT_TRUE(absl::IsNotFound(repo.GetRecipe("r").status()));
  EXPECT_EQ(repo.ListRuns(9)->size(), 1u);
  EXPECT_TRUE(absl::IsInvalidArgument(repo.PutRecipe("", ARecipe())));
}

TEST(RunRepo, RefusesARecipeThatIsTooLarge) {
  MemoryStore store;
  RunRepo repo(store);
  KeptRecipe recipe = ARecipe();
  recipe.files[0].bytes = std::string(kRecipeBytesMax, 'x');
  EXPECT_TRUE(absl::IsInvalidArgument(repo.PutRecipe("r1", recipe)));
  recipe.files.assign(kRecipeFilesMax + 1, ARecipe().files[0]);
  EXPECT_TRUE(absl::IsInvalidArgument(repo.PutRecipe("r1", recipe)));
  EXPECT_TRUE(absl::IsDataLoss(DecodeRecipe(EncodeRecipe(recipe)).status()));
}

TEST(RecipeCodec, WhatIsNoRecipeIsDamaged) {
  for (const char* digest : {"", "ABC", "zz"}) {
    KeptRecipe recipe = ARecipe();
    recipe.files[1].digest = digest;
    EXPECT_TRUE(absl::IsDataLoss(DecodeRecipe(EncodeRecipe(recipe)).status())) << digest;
  }
  EXPECT_TRUE(absl::IsDataLoss(DecodeRecipe("\xff\xff").status()));
  const std::string bytes = EncodeRecipe(ARecipe());
  for (std::size_t size = 0; size < bytes.size(); ++size) (void)DecodeRecipe(bytes.substr(0, size));
}

}  // namespace
}  // namespace plimsoll
