// JSON Schemas: what fits, what is blank, which schemas are refused and in which words; hostile
// values and schemas cost neither time nor stack.
#include "common/evals/json_schema.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/evals/json_bounds.h"
#include "common/evals/pattern.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

SchemaFit Fit(const std::string& schema, const std::string& value) {
  const auto read = JsonSchema::Read(schema);
  EXPECT_TRUE(read.ok()) << schema << "\n" << read.status();
  return read.ok() ? read->Check(value) : SchemaFit::kNotJson;
}
SchemaFit Arguments(const std::string& schema, const std::string& value) {
  const auto read = JsonSchema::Read(schema);
  EXPECT_TRUE(read.ok()) << schema << "\n" << read.status();
  return read.ok() ? read->CheckArguments(value) : SchemaFit::kNotJson;
}
std::string Refusal(const std::string& schema) {
  const auto read = JsonSchema::Read(schema);
  EXPECT_FALSE(read.ok()) << schema;
  return read.ok() ? "" : std::string(MessageOf(read.status()));
}

TEST(JsonSchema, EachKeywordDecides) {
  const struct {
    const char* schema;
    const char* good;
    const char* bad;
  } cases[] = {
      {R"({"type":"string"})", R"("a")", "1"},
      {R"({"type":["null","boolean"]})", "null", "0"},
      {R"({"type":"integer"})", "3.0", "3.5"},
      {R"({"type":"number"})", "3", R"("3")"},
      {R"({"enum":[1,"a",null]})", "1.0", R"("b")"},
      {R"({"const":{"a":[1]}})", R"({"a":[1.0]})", R"({"a":[2]})"},
      {R"({"minimum":-1,"maximum":5})", "5", "5.01"},
      {R"({"exclusiveMinimum":0,"exclusiveMaximum":1})", "0.5", "0"},
      {R"({"maximum":10})", "10", "18446744073709551615"},
      {R"({"multipleOf":0.1})", "0.3", "0.35"},
      {R"({"multipleOf":5})", "15.0", "17"},
      {R"({"multipleOf":3})", R"("text")", "3.7"},
      {R"({"minLength":2,"maxLength":3})", "\"\xC3\xA9\xC3\xA9\"", R"("abcd")"},
      {R"({"pattern":"^[a-z]+$"})", R"("abc")", R"("Abc")"},
      {R"({"pattern":"b"})", "12", R"("acd")"},
      {R"({"items":{"type":"integer"}})", "[1,2]", "[1,\"a\"]"},
      {R"({"items":[{"type":"integer"}],"additionalItems":false})", "[1]", "[1,2]"},
      {R"({"contains":{"const":7}})", "[1,7]", "[1]"},
      {R"({"minItems":1,"maxItems":2})", "[1]", "[]"},
      {R"({"uniqueItems":true})", R"([1,"1",{"a":1}])", R"([{"a":1,"b":2},{"b":2,"a":1.0}])"},
      {R"({"uniqueItems":false})", "[1,1]", "not json"},
      {R"({"required":["a"]})", R"({"a":null})", R"({"b":1})"},
      {R"({"properties":{"pattern":{"type":"integer"}}})", R"({"pattern":1})",
       R"({"pattern":"x"})"},
      {R"({"properties":{"a":true},"additionalProperties":false})", R"({"a":1})", R"({"b":1})"},
      {R"({"additionalProperties":{"type":"string"}})", R"({"x":"y"})", R"({"x":1})"},
      {R"({"propertyNames":{"pattern":"^x"}})", R"({"xa":1})", R"({"a":1})"},
      {R"({"minProperties":1,"maxProperties":1})", R"({"a":1})", "{}"},
      {R"({"allOf":[{"minimum":1},{"maximum":2}]})", "2", "3"},
      {R"({"anyOf":[{"type":"null"},{"minimum":2}]})", "null", "1"},
      {R"({"oneOf":[{"minimum":1},{"minimum":2}]})", "1", "2"},
      {R"({"not":{"type":"string"}})", "1", R"("a")"},
      {R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":3}})", "20", "5"},
      {R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}})", "1", R"("a")"},
      {R"({"$ref":"#/$defs/a","minimum":5,"$defs":{"a":{"type":"integer"}}})", "5", "4"},
      {R"({"title":"t","description":"d","default":1,"format":"date","type":"string"})",
       R"("no date")", "1"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Fit(c.schema, c.good), SchemaFit::kFits) << c.schema << " " << c.good;
    EXPECT_NE(Fit(c.schema, c.bad), SchemaFit::kFits) << c.schema << " " << c.bad;
  }
  EXPECT_EQ(Fit("true", "1"), SchemaFit::kFits);
  EXPECT_EQ(Fit("false", "1"), SchemaFit::kMismatch);
}

TEST(JsonSchema, RefusesWhatItCouldNotCheckInWords) {
  EXPECT_THAT(Refusal("{"), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("at #: a schema is an object"));
  EXPECT_THAT(Refusal(R"({"requried":["a"]})"), HasSubstr("at #/requried: no keyword"));
  EXPECT_THAT(Refusal(R"({"properties":{"a":{"type":"strng"}}})"),
              HasSubstr("at #/properties/a/type: takes null, boolean"));
  EXPECT_THAT(Refusal(R"({"patternProperties":{}})"), HasSubstr("no keyword that is checked"));
  EXPECT_THAT(Refusal(R"({"type":[]})"), HasSubstr("takes null"));
  EXPECT_THAT(Refusal(R"({"required":"a"})"), HasSubstr("a list of strings"));
  EXPECT_THAT(Refusal(R"({"required":[1]})"), HasSubstr("a list of strings"));
  EXPECT_THAT(Refusal(R"({"enum":[]})"), HasSubstr("a list of values"));
  EXPECT_THAT(Refusal(R"({"multipleOf":0})"), HasSubstr("above zero"));
  EXPECT_THAT(Refusal(R"({"minLength":-1})"), HasSubstr("whole number"));
  EXPECT_THAT(Refusal(R"({"minimum":"1"})"), HasSubstr("takes a number"));
  EXPECT_THAT(Refusal(R"({"uniqueItems":1})"), HasSubstr("true or false"));
  EXPECT_THAT(Refusal(R"x({"pattern":"(?=a)"})x"), HasSubstr("RE2's syntax"));
  EXPECT_THAT(Refusal(R"({"pattern":"("})"), HasSubstr("at #/pattern: the expression"));
  EXPECT_THAT(Refusal(R"({"allOf":[]})"), HasSubstr("a list of schemas"));
  EXPECT_THAT(Refusal(R"({"properties":[1]})"), HasSubstr("an object of schemas"));
  EXPECT_THAT(Refusal(R"({"$ref":"http://x/y"})"), HasSubstr("stays in the schema"));
  EXPECT_THAT(Refusal(R"({"$ref":"#/$defs/b","$defs":{"a":{}}})"), HasSubstr("is not in the"));
  EXPECT_THAT(Refusal(R"({"$ref":"#/~2"})"), HasSubstr("cannot be read"));
  EXPECT_THAT(Refusal(R"({"type":"string","type":"null"})"), HasSubstr("twice"));
}

TEST(JsonSchema, RefusesSchemasWithoutEnd) {
  EXPECT_THAT(Refusal(R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}})"),
              HasSubstr("refers to itself"));
  EXPECT_THAT(Refusal(R"({"properties":{"child":{"$ref":"#/properties/child"}}})"),
              HasSubstr("refers to itself"));
  // Small to write, 2^12 schemas when spelled out.
  std::string wide = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 12; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + R"("})";
    wide += fmt::format(R"("d{}":{{"allOf":[{},{}]}},)", i, next, next);
  }
  EXPECT_THAT(Refusal(wide + R"("d12":{}}})"), HasSubstr("more than 2000 schemas"));
}

TEST(JsonSchema, HostileValuesAreBounded) {
  const std::string any = R"({"pattern":"^(a+)+$","uniqueItems":true})";
  EXPECT_EQ(Fit(any, "\"" + std::string(200'000, 'a') + "b\""), SchemaFit::kMismatch);
  EXPECT_EQ(Fit(any, "\"" + std::string(300'000, 'a') + "\""), SchemaFit::kTooLarge);
  EXPECT_EQ(Fit(any, std::string(65, '[') + std::string(65, ']')), SchemaFit::kTooLarge);
  std::string list = "[0";
  for (int i = 1; i < 18'999; ++i) list += "," + std::to_string(i);
  EXPECT_EQ(Fit(any, list + "]"), SchemaFit::kFits);
  EXPECT_EQ(Fit(any, list + ",18999]"), SchemaFit::kFits);
  EXPECT_EQ(Fit(any, list + ",77]"), SchemaFit::kMismatch);
  for (int i = 0; i < 1500; ++i) list += ",1";
  EXPECT_EQ(Fit(any, list + "]"), SchemaFit::kTooLarge);
  EXPECT_EQ(Fit(any, "1e999"), SchemaFit::kNotJson);
  EXPECT_EQ(Fit(any, "\"\xFF\""), SchemaFit::kNotJson);
  EXPECT_EQ(Fit(any, ""), SchemaFit::kNotJson);
  EXPECT_EQ(Fit(R"({"multipleOf":7})", "1e300"), SchemaFit::kFits) << "as far as doubles tell";
}

TEST(JsonSchema, BlankIsWhatARequiredFieldMustNotBe) {
  const std::string schema =
      R"({"type":"object","required":["path"],"properties":{"path":{"type":"string"},)"
      R"("note":{"type":"string"}}})";
  EXPECT_EQ(Arguments(schema, R"({"path":"x","note":""})"), SchemaFit::kFits);
  for (const char* blank : {R"({"path":""})", R"({"path":" \n\t"})", R"({"path":null})", "{}"}) {
    EXPECT_EQ(Arguments(schema, blank), SchemaFit::kBlankRequired) << blank;
  }
  EXPECT_EQ(Fit(schema, R"({"path":""})"), SchemaFit::kFits) << "only where it is asked for";
  EXPECT_EQ(Arguments(schema, R"({"path":7})"), SchemaFit::kMismatch);
}

TEST(JsonSchema, BlankIsNotWhatTheSchemaSpeaksOf) {
  const auto with = [](const std::string& property) {
    return R"({"required":["a"],"properties":{"a":)" + property + "}}";
  };
  EXPECT_EQ(Arguments(with(R"({"type":"string","minLength":0})"), R"({"a":""})"), SchemaFit::kFits);
  EXPECT_EQ(Arguments(with(R"({"type":"string","minLength":1})"), R"({"a":" "})"),
            SchemaFit::kBlankRequired);
  EXPECT_EQ(Arguments(with(R"({"pattern":"^ *$"})"), R"({"a":" "})"), SchemaFit::kFits);
  EXPECT_EQ(Arguments(with(R"({"enum":["","x"]})"), R"({"a":""})"), SchemaFit::kFits);
  EXPECT_EQ(Arguments(with(R"({"enum":["x"]})"), R"({"a":""})"), SchemaFit::kBlankRequired);
  EXPECT_EQ(Arguments(with(R"({"type":["string","null"]})"), R"({"a":null})"), SchemaFit::kFits);
  EXPECT_EQ(Arguments(with(R"({"anyOf":[{"type":"string"},{"type":"null"}]})"), R"({"a":null})"),
            SchemaFit::kFits);
  EXPECT_EQ(Arguments(with(R"({"type":"array"})"), R"({"a":[]})"), SchemaFit::kFits);
}

TEST(JsonSchema, BlanksAreFoundAtAnyDepth) {
  const std::string schema =
      R"({"properties":{"list":{"items":{"$ref":"#/$defs/pair"}}},"$defs":{"pair":)"
      R"({"allOf":[{"required":["k"],"properties":{"k":{"type":"string"}}}]}}})";
  EXPECT_EQ(Arguments(schema, R"({"list":[{"k":"a"},{"k":"b"}]})"), SchemaFit::kFits);
  EXPECT_EQ(Arguments(schema, R"({"list":[{"k":"a"},{"k":""}]})"), SchemaFit::kBlankRequired);
  std::string why;
  const auto read = JsonSchema::Read(schema);
  ASSERT_TRUE(read.ok());
  read->CheckArguments(R"({"list":[{}]})", &why);
  EXPECT_EQ(why, "k: missing or blank");
}

TEST(JsonSchema, SaysWhyWithoutTheValue) {
  const auto read = JsonSchema::Read(R"({"properties":{"n":{"type":"integer"}}})");
  ASSERT_TRUE(read.ok());
  std::string why;
  EXPECT_EQ(read->Check(R"({"n":"secret text"})", &why), SchemaFit::kMismatch);
  EXPECT_THAT(why, HasSubstr("[n]"));
  EXPECT_THAT(why, testing::Not(HasSubstr("secret")));
}

TEST(Pattern, IsLinearAndBounded) {
  const auto nested = Pattern::Compile("(a*)*b");
  ASSERT_TRUE(nested.ok());
  EXPECT_FALSE(nested->Found(std::string(1'000'000, 'a')));
  EXPECT_FALSE(Pattern::Compile(std::string(1025, 'a')).ok());
  EXPECT_FALSE(Pattern::Compile("(((a{1,1000}){1,1000}){1,1000})").ok());
  EXPECT_FALSE(Pattern::Compile("\\1").ok());
}

TEST(CheckJson, NamesTheBound) {
  EXPECT_TRUE(CheckJson(R"({"a":1,"a":2})").ok());
  EXPECT_EQ(MessageOf(CheckJson(R"({"a":{"b":1},"b":{"b":1,"b":2}})", {.unique_keys = true})),
            "\"b\" stands in an object twice: keep one");
  EXPECT_EQ(MessageOf(CheckJson("[[1]]", {.depth_max = 1})),
            "objects and lists nested deeper than 1");
  EXPECT_EQ(MessageOf(CheckJson("[1,2]", {.values_max = 2})), "more than 2 JSON values");
  EXPECT_EQ(MessageOf(CheckJson("[1]x")), "not JSON at byte 4");
}

}  // namespace
}  // namespace plimsoll
