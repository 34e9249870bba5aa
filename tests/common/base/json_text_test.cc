// The checker of streamed JSON against a whole parser, at every cut.
#include "common/base/json_text.h"

#include <string>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

bool Whole(std::string_view text) {
  JsonObjectChecker checker;
  checker.Feed(text);
  return checker.complete();
}

TEST(JsonObjectChecker, TakesObjectsAndNothingElse) {
  for (const char* text :
       {"{}", " {\n} ", R"({"a":1})", R"({"a":[],"b":{},"c":[[1,{"d":null}],true,false]})",
        R"({"n":[0,-0,10,1.5,-1.25e10,1E+2,0e-1]})", R"({"":"\u00e9\"\\\/\b\f\n\r\t"})",
        "{\"caf\xc3\xa9\": \"\xf0\x9f\x9a\xa2\"}", R"({"a" : 1 , "b" : [ 1 , 2 ] })"}) {
    EXPECT_TRUE(Whole(text)) << text;
    EXPECT_TRUE(nlohmann::json::accept(text)) << text;
  }
  for (const char* text : {"",
                           " ",
                           "1",
                           "[]",
                           "\"a\"",
                           "null",
                           "{",
                           "}",
                           "{]",
                           "[}",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a":1,})",
                           R"({,})",
                           R"({"a":1 "b":2})",
                           R"({"a":01})",
                           R"({"a":1.})",
                           R"({"a":.5})",
                           R"({"a":-})",
                           R"({"a":1e})",
                           R"({"a":+1})",
                           R"({"a":tru})",
                           R"({"a":nul})",
                           R"({"a":True})",
                           R"({a:1})",
                           R"({'a':1})",
                           "{\"a\":\"\n\"}",
                           R"({"a":"\x"})",
                           R"({"a":"\u12g4"})",
                           R"({"a":[1,]})",
                           R"({"a":[1}})",
                           R"({} {})",
                           R"({}x)",
                           R"({"a":1)",
                           R"({"a":"b)",
                           R"({"a":[)",
                           R"({"a":NaN})"}) {
    EXPECT_FALSE(Whole(text)) << text;
    EXPECT_FALSE(nlohmann::json::accept(text) && text[0] == '{') << text;
  }
}

TEST(JsonObjectChecker, CutsAnywhereChangeNothingAndPrefixesAreNotBroken) {
  const std::string text =
      R"({"path":"src/\u0061\\b.cc","lines":[1,-2.5e+3,{"x":[true,null]}],"deep":{"a":{"b":[]}}})";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    JsonObjectChecker checker;
    checker.Feed(text.substr(0, cut));
    EXPECT_FALSE(checker.broken()) << cut;
    EXPECT_EQ(checker.complete(), cut == text.size()) << cut;
    checker.Feed(text.substr(cut));
    EXPECT_TRUE(checker.complete()) << cut;
  }
}

TEST(JsonObjectChecker, AgreesWithAParserOnDamagedText) {
  const std::string seeds[] = {R"({"a":[1,2.5,-3e4],"b":"c\n\u00e9","d":{"e":null,"f":true}})",
                               R"([{"a":1}])", R"({"k":{"l":[[],{},""]}})"};
  constexpr std::string_view kBytes = "{}[]\",:\\0123-+.eEtfnul \n/u";
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    std::string text = seeds[rng.Below(3)];
    for (std::uint64_t edits = rng.Below(4); edits > 0; --edits) {
      const std::size_t at = rng.Below(text.size());
      if (rng.Chance(0.5)) {
        text[at] = kBytes[rng.Below(kBytes.size())];
      } else if (text.size() > 1) {
        text.erase(at, 1);
      }
    }
    const bool object = nlohmann::json::parse(text, nullptr, false).is_object();
    ASSERT_EQ(Whole(text), object) << "seed " << seed << ": " << text;
  }
}

TEST(JsonObjectChecker, WhatIsTooDeepIsBrokenAndStaysSo) {
  std::string deep = R"({"a":)";
  for (std::uint32_t i = 1; i < JsonObjectChecker::kDepthMax; ++i) deep += '[';
  JsonObjectChecker checker;
  checker.Feed(deep);
  EXPECT_FALSE(checker.broken());
  checker.Feed("[");
  EXPECT_TRUE(checker.broken());
  checker.Feed("]}");
  EXPECT_TRUE(checker.broken());
}

TEST(JsonEscaped, IsReadBackAsItWas) {
  std::string text;
  for (int c = 1; c < 0x80; ++c) text += static_cast<char>(c);
  EXPECT_EQ(nlohmann::json::parse('"' + JsonEscaped(text) + '"').get<std::string>(), text);
}

}  // namespace
}  // namespace plimsoll
