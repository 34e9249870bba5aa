#include "coordinator/rehearse/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/text.h"
#include "common/json/json.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll::rehearse {
namespace {

// Fault, expected, got and why: with two spaces between them a page's width.
constexpr std::size_t kWidths[] = {22, 21, 21, 30};

std::vector<std::string> CellLines(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  const std::string wrapped = Wrap("", Printable(text), width);
  for (std::size_t at = 0; at < wrapped.size();) {
    const std::size_t end = std::min(wrapped.find('\n', at), wrapped.size());
    lines.push_back(wrapped.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string LinesOf(const std::vector<std::string>& cells) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns.push_back(CellLines(cells[i], kWidths[i]));
    height = std::max(height, columns.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = line < columns[i].size() ? columns[i][line] : "";
      const std::size_t shown = std::min(Columns(cell), kWidths[i]);
      row += cell + std::string(kWidths[i] - shown + 2, ' ');
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

// The beginning of it: the whole stands in the JSON results.
std::string Brief(const std::string& why) {
  constexpr std::size_t kColumns = 170;
  return Columns(why) <= kColumns ? why : FirstColumns(why, kColumns) + " …";
}

std::string GotOf(const RowResult& row) {
  switch (row.state) {
    case RowState::kAsExpected:
      return row.got;
    case RowState::kMismatch:
      return "WRONG: " + row.got;
    case RowState::kBusy:
      return "machine too busy: " + row.got;
    case RowState::kNotRun:
      return "not run";
  }
  return "";
}

std::vector<std::string> NamesOf(const std::vector<RowResult>& rows, RowState state) {
  std::vector<std::string> names;
  for (const RowResult& row : rows) {
    if (row.state == state) names.push_back(row.name);
  }
  return names;
}

}  // namespace

std::string TableText(const std::vector<RowResult>& rows, Duration took) {
  std::string text = LinesOf({"fault", "expected", "got", "why"});
  for (const RowResult& row : rows) {
    text += LinesOf({row.name, row.expected, GotOf(row), Brief(row.why)});
  }
  return text + '\n' + Wrap("", Sentence(rows, took), kReportColumns);
}

std::string Sentence(const std::vector<RowResult>& rows, Duration took) {
  const std::size_t right = NamesOf(rows, RowState::kAsExpected).size();
  std::string text = fmt::format("{} of {} faults gave the verdict that they must, in {:.0f} s",
                                 right, rows.size(), ToSeconds(took));
  const auto add = [&](RowState state, const char* one, const char* many) {
    const auto names = NamesOf(rows, state);
    if (names.empty()) return;
    text += fmt::format("; {} {}: {}", names.size(), names.size() == 1 ? one : many,
                        fmt::join(names, ", "));
  };
  add(RowState::kMismatch, "did not", "did not");
  add(RowState::kBusy, "cannot be told, since this machine was too busy",
      "cannot be told, since this machine was too busy");
  add(RowState::kNotRun, "was not run here", "were not run here");
  return text + '.';
}

int ExitCodeOf(const std::vector<RowResult>& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](const RowResult& row) {
                       return row.state == RowState::kAsExpected || row.state == RowState::kNotRun;
                     })
             ? 0
             : 1;
}

std::string ResultsJson(const std::vector<RowResult>& rows, const Programs& programs,
                        Duration took) {
  nlohmann::json list = nlohmann::json::array();
  for (const RowResult& row : rows) {
    list.push_back({{"name", row.name},
                    {"fault", row.fault},
                    {"expected", row.expected},
                    {"got", row.got},
                    {"why", row.why},
                    {"state", Name(row.state)},
                    {"repeated", row.repeated},
                    {"took_s", ToSeconds(row.took)}});
  }
  const nlohmann::json json = {
      {"schema_version", 1},
      {"programs", programs.versions},
      {"rows", std::move(list)},
      {"mismatches", NamesOf(rows, RowState::kMismatch).size()},
      {"too_busy", NamesOf(rows, RowState::kBusy).size()},
      {"not_run", NamesOf(rows, RowState::kNotRun).size()},
      {"took_s", ToSeconds(took)},
      {"sentence", Sentence(rows, took)},
      {"exit_code", ExitCodeOf(rows)},
  };
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string RowList(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += Wrap(fmt::format("{:<{}}  ", row.name, kWidths[0]), row.fault, kReportColumns);
  }
  return text;
}

}  // namespace plimsoll::rehearse
