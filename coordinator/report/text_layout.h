// Lines of text that fit: wrapping by words and tables with aligned columns, counted in characters
// (code points), not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// How wide our pages are.
inline constexpr std::size_t kReportColumns = 100;

// Code points of UTF-8 text.
std::size_t Columns(std::string_view text);

// The beginning of the text, at most `columns` wide.
std::string FirstColumns(std::string_view text, std::size_t columns);

// Columns of a line with colours in it: escape sequences of the form ESC [ … letter have none.
std::size_t ColumnsShown(std::string_view line);

// `text` after `first`, broken between words into lines of at most `columns`; later lines are
// indented by the width of `first`. A word longer than a line is cut. Ends with a newline.
std::string Wrap(std::string_view first, std::string_view text, std::size_t columns);

// A labelled line of a page's head: `text`, made printable, behind a label of eleven columns.
std::string LabelledLine(std::string_view label, std::string_view text);

// Rows of cells, columns two spaces apart, all but the first `left` columns flush right. Every line
// ends with a newline and has no spaces before it. Rows may be shorter than the first.
std::string Table(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace plimsoll
