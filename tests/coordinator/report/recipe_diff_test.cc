// How many places two recipes differ in.
#include "coordinator/report/recipe_diff.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/compare_sample.h"

namespace plimsoll {
namespace {

using testing::AFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

KeptRecipe Of(std::vector<RecipeFile> files) {
  return {.note = "", .files = std::move(files)};
}

std::vector<FileDifference> Diff(const std::string& a, const std::string& b) {
  return DiffRecipes(Of({AFile("r", a)}), Of({AFile("r", b)}));
}

TEST(RecipeDiff, CountsKeysOfYaml) {
  EXPECT_THAT(Diff("a: 1\nb: {c: 2, d: 3}\n", "b: {d: 3, c: 2}\na: 1 # same\n"), IsEmpty());
  EXPECT_THAT(Diff("a: 1\nb: {c: 2, d: 3}\n", "a: 1\nb: {c: 5, e: 3}\n"),
              ElementsAre(FileDifference{"r", 3, "keys b.c, b.d, b.e"}));
  EXPECT_THAT(Diff("args: [--tp, 4, --x]\n", "args: [--new, --tp, 4, --x]\n"),
              ElementsAre(FileDifference{"r", 1, "key args"}));
  EXPECT_THAT(Diff("c: [{n: 1}, {n: 2}]\n", "c: [{n: 1}, {n: 3}]\n"),
              ElementsAre(FileDifference{"r", 1, "key c[1].n"}));
  EXPECT_THAT(Diff("a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\n", "{z: 0}"),
              ElementsAre(FileDifference{"r", 7, "keys a, b, c, d and 3 more"}));
}

TEST(RecipeDiff, CountsHunksOfOtherText) {
  const std::string a = "#!/bin/sh\nset -e\nhelm install a\nsleep 1\nexit 0\n";
  EXPECT_THAT(Diff(a, "#!/bin/sh\nset -eu\nhelm install a\nsleep 1\nexit 1\n"),
              ElementsAre(FileDifference{"r", 2, "2 hunks of lines"}));
  EXPECT_THAT(Diff(a, "#!/bin/sh\nset -e\nnew\nlines\nhelm install a\nsleep 1\nexit 0\n"),
              ElementsAre(FileDifference{"r", 1, "1 hunk of lines"}));
  EXPECT_THAT(Diff(a, ""), ElementsAre(FileDifference{"r", 1, "1 hunk of lines"}));
  EXPECT_THAT(Diff(a, a), IsEmpty());
  // Two documents are no one map.
  EXPECT_THAT(Diff("a: 1\n---\nb: 1\n", "a: 1\n---\nb: 2\n"),
              ElementsAre(FileDifference{"r", 1, "1 hunk of lines"}));
}

TEST(RecipeDiff, FilesAreMatchedByPathThenByOrder) {
  const KeptRecipe a = Of({AFile("common.yaml", "x: 1\n"), AFile("6.yaml", "n: 6\n")});
  const KeptRecipe b =
      Of({AFile("7.yaml", "n: 7\n"), AFile("common.yaml", "x: 1\n"), AFile("more.yaml", "m: 1\n")});
  EXPECT_THAT(DiffRecipes(a, b), ElementsAre(FileDifference{"6.yaml -> 7.yaml", 1, "key n"},
                                             FileDifference{"more.yaml", 1, "only in the second"}));
  EXPECT_THAT(DiffRecipes(b, {}).size(), 3u);
}

TEST(RecipeDiff, ADifferenceThatWasLeftOutIsADifference) {
  RecipeFile a = AFile("r", "password: [left out]\n");
  a.secrets_left_out = 1;
  RecipeFile b = a;
  b.digest[0] = b.digest[0] == 'a' ? 'b' : 'a';
  EXPECT_THAT(DiffRecipes(Of({a}), Of({b})),
              ElementsAre(FileDifference{"r", 1, "only in values that look like secrets"}));
}

TEST(RecipeDiff, HugeFilesTakeNoTime) {
  std::string a;
  std::string b;
  for (int i = 0; i < 60'000; ++i) {
    a += std::to_string(i) + "\n";
    b += std::to_string(i * 7 + 1) + "\n";
  }
  EXPECT_THAT(Diff(a, b), ElementsAre(FileDifference{"r", 1, "over 2000 lines"}));
}

}  // namespace
}  // namespace plimsoll
