// The form is told by the content, and every message names the line.
#include "common/corpus/recording.h"

#include <gmock/gmock.h>

#include "common/corpus/json_value.h"
#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

TEST(Recording, WhatNoReaderKnowsIsRefusedWithWhatIsKnown) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "f:1: not one whole JSON document (cut short?): no bytes"},
      {"\n\n", "f:1: not one whole JSON document"},
      {"7", "f:1: expected an object with a session's fields, got a whole number"},
      {"{}", "f:1: no recording that is known; known are sessions with \"requests\""},
      {"[]", "f:1: no session in it"},
      {"[{}]", "f:1: [0]: no recording that is known"},
      {"{\"a\":1}\n{\"b\":2}\n", "f:1: no recording that is known"},
      {"PK\x03\x04", "f:1: not one whole JSON document"},
      {"{\"requests\": 5}", "f:1: id: missing"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(WhyRefused(text), HasSubstr(message)) << text;
  }
}

TEST(Recording, MessagesAreOneLine) {
  EXPECT_EQ(WhyRefused("{\"id\":\"a\",\n\"requests\":\n[{\"type\":\"n\",\"input_types\":[]}]}")
                .find('\n'),
            std::string::npos);
}

TEST(LineOfPlace, FindsTheLineOfAValue) {
  const std::string text = "{\"a\": [1,\n{\"b\\\"]\": \"}\",\n \"c\": [\n2]}],\n\"d\": 3}";
  EXPECT_EQ(LineOfPlace(text, "a: wrong"), 1u);
  EXPECT_EQ(LineOfPlace(text, "a[1]: wrong"), 2u);
  EXPECT_EQ(LineOfPlace(text, "a[1].c: wrong"), 3u);
  EXPECT_EQ(LineOfPlace(text, "a[1].c[0]: wrong"), 4u);
  EXPECT_EQ(LineOfPlace(text, "d: wrong"), 5u);
  EXPECT_EQ(LineOfPlace(text, "a[1].x: missing"), 2u) << "of what it is missing from";
  EXPECT_EQ(LineOfPlace(text, "not a place"), 1u);
  EXPECT_EQ(LineOfPlace("", "a[99999999999999999999].b"), 1u);
  EXPECT_EQ(LineOfPlace("{\"a\": \"\\", "a[0]"), 1u);
}

}  // namespace
}  // namespace plimsoll
