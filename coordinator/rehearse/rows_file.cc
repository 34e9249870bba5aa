#include "coordinator/rehearse/rows_file.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/config/document.h"
#include "common/config/field_reader.h"

namespace plimsoll::rehearse {
namespace {

constexpr std::size_t kRowsMax = 1000;
constexpr std::size_t kNameMax = 40;

// It names a folder and a word of the command line.
bool IsName(std::string_view text) {
  return text.size() <= kNameMax && !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

void ReadExpected(FieldReader reader, Expected* expected) {
  reader.Require("exit", "1");
  if (const auto code = reader.Count("exit", 0, 255)) expected->exit_code = static_cast<int>(*code);
  if (auto texts = reader.Texts("verdicts")) expected->verdicts = *std::move(texts);
  if (auto parts = reader.Map("parts")) expected->parts = parts->AllTexts();
  if (auto texts = reader.Texts("outcomes")) expected->outcomes = *std::move(texts);
  if (auto text = reader.Text("drain")) expected->drain = *std::move(text);
  if (auto texts = reader.Texts("words")) expected->words = *std::move(texts);
  if (auto texts = reader.Texts("unsaid")) expected->unsaid = *std::move(texts);
  reader.Finish();
}

Row ReadRow(FieldReader reader) {
  Row row;
  if (reader.Require("name", "my-fault")) row.name = reader.Text("name").value_or("");
  if (!row.name.empty() && !IsName(row.name)) {
    reader.Problem("name", "takes up to 40 lower-case letters, digits and dashes");
  }
  row.fault = reader.Text("fault").value_or(row.name);
  if (auto settings = reader.Map("gateway")) row.gateway = settings->AllTexts();
  if (auto settings = reader.Map("scenario")) row.scenario = settings->AllTexts();
  if (const auto deadline = reader.Time("deadline")) row.deadline = *deadline;
  if (reader.Require("expect", "{exit: 1, verdicts: [fail]}")) {
    if (auto expected = reader.Map("expect")) ReadExpected(*std::move(expected), &row.expect);
  }
  reader.Finish();
  return row;
}

}  // namespace

std::vector<Row> ReadRows(std::string_view text, Problems& problems) {
  const auto document = ParseDocument(text, problems);
  if (!document) return {};
  FieldReader top(*document, "", problems);
  std::vector<Row> rows;
  if (top.Require("rows", "[{name: my-fault, expect: {exit: 1}}]")) {
    const ConfigNode* list = top.Find("rows");
    if (list->kind != ConfigNode::Kind::kList || list->items.empty() ||
        list->items.size() > kRowsMax) {
      top.Problem("rows", fmt::format("takes a list of 1 to {} rows", kRowsMax));
    } else {
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        rows.push_back(ReadRow(FieldReader(list->items[i], fmt::format("rows[{}]", i), problems)));
      }
    }
  }
  top.Finish();
  std::set<std::string> names;
  for (const Row& row : rows) {
    if (!names.insert(row.name).second) {
      top.Problem("rows", fmt::format("has two rows of the name '{}'", row.name));
    }
  }
  return problems.empty() ? rows : std::vector<Row>{};
}

}  // namespace plimsoll::rehearse
