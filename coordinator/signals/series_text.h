// The text of a series, name{label="value",…}, taken apart. Pure.
//
// Forms: a bare name; {} which equals none; labels in any order, a comma after the last one;
// in 0.0.4 blanks between all of them; a quoted name of any UTF-8 as the first thing in the braces
// ({"http.requests","error.type"="x"}, as Prometheus 3 prints it), label names quoted likewise.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/signals/page_syntax.h"

namespace plimsoll {

// Text between quotes may have escapes; Unescaped() takes them out.
struct SeriesPart {
  std::string_view name;
  std::string_view value;
};

struct SeriesScan {
  const char* wrong = nullptr;  // Not null: what is wrong, "has a label without a value"; no more.
  std::string_view name;        // Empty: none, which only an exemplar may have.
  std::size_t size = 0;         // Bytes of the text, up to the name's end or behind the brace.
};

inline constexpr std::size_t kExemplarLabelsMax = 32;

// Takes the series at the start of `text`; the labels, at most `labels_max`, replace what is in
// `labels` (null: they are only checked).
SeriesScan ScanSeries(std::string_view text, PageSyntax syntax, std::size_t labels_max,
                      std::vector<SeriesPart>* labels);

// \\, \" and \n replaced; another backslash stands for itself.
std::string Unescaped(std::string_view quoted);

// Letters, digits, '_' and ':', not beginning with a digit: needs no quotes.
bool IsPlainMetricName(std::string_view name);

}  // namespace plimsoll
