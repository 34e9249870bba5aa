#include "common/config/field_reader.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class FieldReaderTest : public testing::Test {
 protected:
  FieldReader Read(std::string_view text) {
    root_ = ParseDocument(text, problems_);
    EXPECT_TRUE(root_.has_value());
    return {*root_, "", problems_};
  }

  Problems problems_{"f.yaml"};
  std::optional<ConfigNode> root_;
};

TEST_F(FieldReaderTest, ReadsEveryType) {
  FieldReader reader = Read(
      "t: hello\nd: 5.3s\ns: 50%\nr: 10 tok/s\nc: 64k\nf: true\nl: [1, 2k]\nm: {k: v}\n"
      "x: [a, b]\nchoice: two\n");
  constexpr std::array<std::string_view, 2> kChoices = {"one", "two"};
  EXPECT_EQ(reader.Text("t"), "hello");
  EXPECT_EQ(reader.Time("d"), 5300ms);
  EXPECT_EQ(reader.Share("s"), 0.5);
  EXPECT_EQ(reader.TokenRate("r"), 10.0);
  EXPECT_EQ(reader.Count("c", 1, 100'000), 64'000u);
  EXPECT_EQ(reader.Flag("f"), true);
  EXPECT_EQ(reader.Choice("choice", kChoices), 1u);
  EXPECT_THAT(reader.Counts("l", 1, 5000).value(), ElementsAre(1u, 2000u));
  EXPECT_THAT(reader.Texts("x").value(), ElementsAre("a", "b"));
  EXPECT_THAT(reader.Map("m")->AllTexts(), ElementsAre(Pair("k", "v")));
  reader.Finish();
  EXPECT_THAT(problems_.Lines(), IsEmpty());
}

TEST_F(FieldReaderTest, AbsentKeysGiveNothingAndNoProblem) {
  FieldReader reader = Read("a: 1\n");
  EXPECT_FALSE(reader.Text("t").has_value());
  EXPECT_FALSE(reader.Map("m").has_value());
  EXPECT_FALSE(reader.Counts("l", 0, 1).has_value());
  EXPECT_TRUE(problems_.empty());
}

TEST_F(FieldReaderTest, RequiredKeysThatAreMissingNameAnExample) {
  FieldReader reader = Read("a:\n  b: 1\n");
  FieldReader inner = *reader.Map("a");
  EXPECT_FALSE(inner.Require("url", "\"http://host/v1\""));
  EXPECT_THAT(problems_.Lines(),
              ElementsAre("f.yaml:2: a.url: is missing, write e.g. \"http://host/v1\""));
}

TEST_F(FieldReaderTest, UnknownKeysAreProblemsWithASuggestion) {
  FieldReader reader = Read("mesure: 5m\nblok: 1m\nentirely_else: 1\nmeasure: 1m\n");
  (void)reader.Time("measure");
  (void)reader.Find("block");
  reader.Finish();
  EXPECT_THAT(problems_.Lines(),
              ElementsAre("f.yaml:1: mesure: is not a known key, did you mean \"measure\"?",
                          "f.yaml:2: blok: is not a known key, did you mean \"block\"?",
                          "f.yaml:3: entirely_else: is not a known key, the keys here are measure "
                          "or block"));
}

TEST_F(FieldReaderTest, WrongShapesSayWhatWouldBeRight) {
  constexpr std::array<std::string_view, 2> kChoices = {"none", "recorded"};
  FieldReader reader = Read(
      "t: [1]\nd: 5\ns:\nc: 9\nf: yes\nl: 3\nm: text\nchoice: recordd\nlist: [1, x, 99]\ne: ''\n");
  EXPECT_FALSE(reader.Text("t"));
  EXPECT_FALSE(reader.Time("d"));
  EXPECT_FALSE(reader.Share("s"));
  EXPECT_FALSE(reader.Count("c", 1, 8));
  EXPECT_FALSE(reader.Flag("f"));
  EXPECT_FALSE(reader.Counts("l", 1, 8));
  EXPECT_FALSE(reader.Map("m"));
  EXPECT_FALSE(reader.Choice("choice", kChoices));
  EXPECT_FALSE(reader.Counts("list", 1, 8));
  EXPECT_FALSE(reader.Text("e"));
  EXPECT_THAT(
      problems_.Lines(),
      ElementsAre("f.yaml:1: t: is a list, it must be a text",
                  "f.yaml:2: d: \"5\" has no unit, write e.g. \"5s\" or \"5ms\"",
                  "f.yaml:3: s: is empty, it must be a share like \"50%\"",
                  "f.yaml:4: c: is 9, it must be from 1 to 8",
                  "f.yaml:5: f: is \"yes\", write true or false",
                  "f.yaml:6: l: must be a list of counts, write e.g. [10, 15, 20]",
                  "f.yaml:7: m: is a text, it must be a map of keys and values",
                  "f.yaml:8: choice: is \"recordd\", it must be none or recorded; did you mean "
                  "\"recorded\"?",
                  "f.yaml:9: list[1]: \"x\" is not a count, write e.g. \"15\", \"64k\" (64,000) or "
                  "\"64Ki\" (65,536)",
                  "f.yaml:9: list[2]: is 99, it must be from 1 to 8",
                  "f.yaml:10: e: is an empty text, write one or leave the key out"));
}

TEST(DidYouMean, KnowsTyposAndStaysSilentOtherwise) {
  const std::vector<std::string> keys = {"sessions", "target", "to"};
  EXPECT_EQ(DidYouMean("sesions", keys), "sessions");
  EXPECT_EQ(DidYouMean("tagret", keys), "target");
  EXPECT_EQ(DidYouMean("xy", keys), "");
  EXPECT_EQ(DidYouMean("seed", keys), "");
  EXPECT_EQ(DidYouMean(std::string(1000, 's'), keys), "");
}

}  // namespace
}  // namespace plimsoll
