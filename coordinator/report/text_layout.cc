#include "coordinator/report/text_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Bytes of the first `columns` characters.
std::size_t BytesOf(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
    --columns;
  }
  return at;
}

}  // namespace

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

std::string FirstColumns(std::string_view text, std::size_t columns) {
  return std::string(text.substr(0, BytesOf(text, columns)));
}

std::size_t ColumnsShown(std::string_view line) {
  std::size_t columns = 0;
  while (!line.empty()) {
    if (line.starts_with("\x1b[")) {
      std::size_t end = 2;
      while (end < line.size() && (line[end] < '@' || line[end] > '~')) ++end;
      line.remove_prefix(std::min(end + 1, line.size()));
    } else {
      columns += IsContinuation(line.front()) ? 0 : 1;
      line.remove_prefix(1);
    }
  }
  return columns;
}

std::string Wrap(std::string_view first, std::string_view text, std::size_t columns) {
  std::string result(first);
  const std::size_t indent = std::min(Columns(first), columns / 2);
  const std::size_t room = columns > indent ? columns - indent : 1;
  std::size_t used = 0;
  while (true) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.empty()) break;
    std::string_view word = text.substr(0, text.find(' '));
    if (Columns(word) > room) word = word.substr(0, BytesOf(word, room));
    const std::size_t width = Columns(word);
    if (used > 0 && used + 1 + width > room) {
      result += '\n';
      result.append(indent, ' ');
      used = 0;
    }
    if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    text.remove_prefix(word.size());
  }
  return result + '\n';
}

std::string LabelledLine(std::string_view label, std::string_view text) {
  return Wrap(fmt::format("{:<11}", label), Printable(text), kReportColumns);
}

std::string Table(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string result;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - Columns(row[i]), ' ');
      line += i < left ? row[i] + padding : padding + row[i];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace plimsoll
