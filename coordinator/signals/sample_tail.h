// What stands behind a series on its line: value, timestamp, exemplar. The hot path of a scrape.
// Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "coordinator/signals/page_syntax.h"

namespace plimsoll {

// A value as the format's parsers take it: decimal or hexadecimal ("0x1p-2"), NaN and infinities in
// any case with a sign or without ("-nan" too). Whole numbers below 2^53 are exact; too small ones
// are 0. Null: read into `value`; else what is wrong with it, such as "is too large".
const char* ParseSampleValue(std::string_view text, double& value);

struct SampleTail {
  double value = 0;
  std::int64_t timestamp_ms = 0;  // kNoTimestamp: none.
};

// `text` from the value's first character to the end of the line, without its line break. Blanks
// are one space in OpenMetrics, any run of spaces and tabs in 0.0.4. A timestamp is whole
// milliseconds in 0.0.4 and seconds in OpenMetrics; an exemplar is checked and dropped (OpenMetrics
// alone has them). Null: read; else what is wrong.
const char* ParseSampleTail(std::string_view text, PageSyntax syntax, SampleTail& tail);

}  // namespace plimsoll
