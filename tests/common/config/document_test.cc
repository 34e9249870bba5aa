#include "common/config/document.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> ProblemsOf(std::string_view text, bool tree_expected = false) {
  Problems problems("f.yaml");
  const std::optional<ConfigNode> root = ParseDocument(text, problems);
  EXPECT_EQ(root.has_value(), tree_expected) << text;
  return problems.Lines();
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ParseDocument, KeepsOrderLinesAndKinds) {
  Problems problems("f.yaml");
  const auto root = ParseDocument("b: 1\na:\n  - x\n  - {k: 'v'}\nc:\n", problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(problems.empty());
  ASSERT_THAT(root->members, SizeIs(3));
  EXPECT_EQ(root->members[0].key, "b");
  EXPECT_EQ(root->members[1].line, 2);
  const ConfigNode* list = root->Find("a");
  ASSERT_EQ(list->kind, ConfigNode::Kind::kList);
  EXPECT_EQ(list->items[0].text, "x");
  EXPECT_FALSE(list->items[0].quoted);
  EXPECT_EQ(list->items[1].line, 4);
  EXPECT_TRUE(list->items[1].Find("k")->quoted);
  EXPECT_EQ(root->Find("c")->kind, ConfigNode::Kind::kNull);
  EXPECT_EQ(root->Find("d"), nullptr);
}

TEST(ParseDocument, EmptyTextIsANullNode) {
  for (const std::string_view text : {"", "\n\n", "# only a comment\n"}) {
    Problems problems("f.yaml");
    const auto root = ParseDocument(text, problems);
    ASSERT_TRUE(root.has_value()) << text;
    EXPECT_EQ(root->kind, ConfigNode::Kind::kNull);
    EXPECT_TRUE(problems.empty());
  }
}

TEST(ParseDocument, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(ProblemsOf("a: 1\nb: [1, 2\nc: 3\n"),
              ElementsAre(HasSubstr("f.yaml:3: is not YAML")));
  EXPECT_THAT(ProblemsOf("a: @x\n"), ElementsAre(HasSubstr("f.yaml:1: is not YAML")));
  EXPECT_THAT(ProblemsOf("a: *nobody\n"), ElementsAre(HasSubstr("f.yaml:1: is not YAML")));
}

TEST(ParseDocument, DuplicateKeysAreProblemsAndTheFirstIsKept) {
  Problems problems("f.yaml");
  const auto root = ParseDocument("a:\n  b: 1\n  c: [{d: 1, d: 2}]\n  b: 3\n", problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_THAT(problems.Lines(),
              ElementsAre("f.yaml:3: a.c[0].d: is given twice, keep one; the first is on line 3",
                          "f.yaml:4: a.b: is given twice, keep one; the first is on line 2"));
  EXPECT_EQ(root->Find("a")->Find("b")->text, "1");
}

TEST(ParseDocument, KeysMustBeText) {
  EXPECT_THAT(ProblemsOf("? [1, 2]\n: x\n"), ElementsAre(HasSubstr("a key must be plain text")));
  EXPECT_THAT(ProblemsOf("~: x\n"), ElementsAre(HasSubstr("a key must be plain text")));
}

TEST(ParseDocument, SecondDocumentIsAProblem) {
  EXPECT_THAT(ProblemsOf("a: 1\n---\nb: 2\n", true), ElementsAre(HasSubstr("more than one")));
}

TEST(ParseDocument, AliasesAreCopied) {
  Problems problems("f.yaml");
  const auto root = ParseDocument("a: &x {k: v}\nb: *x\n", problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->Find("b")->Find("k")->text, "v");
}

TEST(ParseDocument, AliasBombIsRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k ? ", *a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_THAT(ProblemsOf(text), ElementsAre(HasSubstr("holds more than 20000 values")));
}

TEST(ParseDocument, AliasOfItsOwnContainerIsRefused) {
  EXPECT_THAT(ProblemsOf("a: &x [1, *x]\n"), ElementsAre(HasSubstr("a node that contains it")));
}

TEST(ParseDocument, DeepNestingIsRefusedBeforeTheStackSuffers) {
  EXPECT_THAT(ProblemsOf("a: " + std::string(100'000, '[')),
              ElementsAre(AnyOf(HasSubstr("nested deeper than 32 levels"),
                                HasSubstr("a key must be plain text"))));
  EXPECT_THAT(ProblemsOf("a: " + Repeated("[x, ", 60) + Repeated("]", 60)),
              ElementsAre(HasSubstr("nested deeper than 32 levels")));
  std::string block;
  for (int i = 0; i < 60; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(ProblemsOf(block), ElementsAre(HasSubstr("nested deeper than 32 levels")));
}

TEST(ParseDocument, OversizedAndBinaryFilesAreRefused) {
  EXPECT_THAT(ProblemsOf(std::string(kDocumentBytesMax + 1, 'a')),
              ElementsAre("f.yaml: has 1048577 bytes, at most 1048576 are read"));
  EXPECT_THAT(ProblemsOf(std::string_view("a: 1\nb: \0\n", 10)),
              ElementsAre("f.yaml:2: holds the control byte 0x00, this is no YAML text"));
}

TEST(LineOf, FindsTheDeepestExistingNode) {
  Problems problems("f.yaml");
  const auto root = ParseDocument("a:\n  b:\n    - 1\n    - 2\nc: 3\n", problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(LineOf(*root, "a.b[1]"), 4);
  EXPECT_EQ(LineOf(*root, "a.b[7]"), 2);
  EXPECT_EQ(LineOf(*root, "a.missing"), 1);
  EXPECT_EQ(LineOf(*root, "c"), 5);
  EXPECT_EQ(LineOf(*root, ""), 1);
  EXPECT_EQ(LineOf(*root, "a.b[x"), 2);
}

}  // namespace
}  // namespace plimsoll
