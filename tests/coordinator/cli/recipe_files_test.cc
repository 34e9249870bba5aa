// Recipe files as they are read when a run begins.
#include "coordinator/cli/recipe_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/wire/corpus_codec.h"
#include "coordinator/cli/scenario_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RecipeFilesTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  std::string WrongOf(const Recipe& recipe) {
    const auto kept = ReadRecipe(recipe, folder_.path());
    EXPECT_TRUE(absl::IsInvalidArgument(kept.status())) << kept.status();
    return std::string(MessageOf(kept.status()));
  }
  TempFolder folder_;
};

TEST_F(RecipeFilesTest, AreReadRelativeToTheScenarioAndKeptWithTheirDigest) {
  std::filesystem::create_directory(folder_.path() + "/recipes");
  Put("recipes/7.yaml", "tp: 8\n");
  Put("b", "");
  const auto kept = ReadRecipe({{"recipes/7.yaml", "b"}, "two copies"}, folder_.path());
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->note, "two copies");
  ASSERT_EQ(kept->files.size(), 2u);
  EXPECT_EQ(kept->files[0].path, "recipes/7.yaml");
  EXPECT_EQ(kept->files[0].bytes, "tp: 8\n");
  EXPECT_EQ(kept->files[0].digest, Sha256Hex("tp: 8\n"));
  EXPECT_THAT(SecretsSaid(*kept), IsEmpty());
  EXPECT_TRUE(ReadRecipe({{folder_.path() + "/b"}, ""}, "elsewhere").ok()) << "absolute";
}

TEST_F(RecipeFilesTest, ValuesThatLookLikeSecretsAreNotKept) {
  Put("r", "password: hunter2hunter2\napi_key: 'abcdefgh1'\ntp: 8\n");
  const auto kept = ReadRecipe({{"r"}, ""}, folder_.path());
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_THAT(kept->files[0].bytes, Not(HasSubstr("hunter2")));
  EXPECT_EQ(kept->files[0].secrets_left_out, 2u);
  EXPECT_EQ(kept->files[0].digest, Sha256Hex("password: hunter2hunter2\napi_key: 'abcdefgh1'\n"
                                             "tp: 8\n"));
  EXPECT_THAT(SecretsSaid(*kept), ElementsAre(HasSubstr("2 values of r look like a secret")));
}

TEST_F(RecipeFilesTest, WhatCannotBeReadIsSaidWithWhatToDo) {
  Put("large", std::string(kRecipeBytesMax + 1, 'x'));
  const std::string wrong = WrongOf({{"nosuch.yaml", "large", "."}, ""});
  EXPECT_THAT(wrong, HasSubstr("recipe.files: nosuch.yaml: cannot open it: No such file"));
  EXPECT_THAT(wrong, HasSubstr("take it out of recipe.files"));
  EXPECT_THAT(wrong, HasSubstr("large: more than"));
  EXPECT_THAT(wrong, HasSubstr("\nrecipe.files: .: "));
  EXPECT_THAT(WrongOf({std::vector<std::string>(65, "r"), ""}), HasSubstr("names 65 files"));
}

TEST_F(RecipeFilesTest, TheBoundIsOverAllFiles) {
  Put("half", std::string(kRecipeBytesMax / 2, 'x'));
  EXPECT_TRUE(ReadRecipe({{"half"}, ""}, folder_.path()).ok());
  EXPECT_THAT(WrongOf({{"half", "half", "half"}, ""}), HasSubstr("bytes of all"));
}

TEST_F(RecipeFilesTest, AScenarioIsReadWithItsRecipe) {
  Put("s.yaml",
      "name: x\nrecipe: {files: [r.yaml], note: n}\n"
      "target: {url: \"http://127.0.0.1:1/v1\", model: m}\ncorpus: {synthetic: agentx}\n"
      "mix: {heavy: 50%, light: 50%}\nsweep: {sessions: [2]}\nbar: {errors: 2%}\n"
      "fleet: {local: 1}\n");
  const auto missing = LoadScenario(folder_.path() + "/s.yaml");
  EXPECT_THAT(std::string(MessageOf(missing.status())), HasSubstr("recipe.files: r.yaml: cannot"));
  Put("r.yaml", "tp: 8\n");
  const auto loaded = LoadScenario(folder_.path() + "/s.yaml");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(loaded->recipe.files.size(), 1u);
  EXPECT_EQ(loaded->recipe.files[0].bytes, "tp: 8\n");
}

TEST_F(RecipeFilesTest, AScenariosSyntheticSessionsAreOfTheTiersThatItNames) {
  Put("s.yaml",
      "name: x\ntarget: {url: \"http://127.0.0.1:1/v1\", model: m}\n"
      "corpus: {synthetic: agentx, heavy: 1, mid: 2, light: 3, scale: 100}\n"
      "mix: {mid: 100%}\nsweep: {sessions: [2]}\nbar: {errors: 2%}\nfleet: {local: 1}\n");
  const auto loaded = LoadScenario(folder_.path() + "/s.yaml");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto of = [&](Tier tier) {
    return std::count_if(loaded->corpus->sessions.begin(), loaded->corpus->sessions.end(),
                         [tier](const Session& session) { return session.tier == tier; });
  };
  EXPECT_EQ(of(Tier::kHeavy), 1);
  EXPECT_EQ(of(Tier::kMid), 2);
  EXPECT_EQ(of(Tier::kLight), 3);
}

}  // namespace
}  // namespace plimsoll
