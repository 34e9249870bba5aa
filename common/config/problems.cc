#include "common/config/problems.h"

#include <algorithm>

#include "fmt/format.h"

namespace plimsoll {
namespace {

// True if `below` is `above` or lies under it: "a.b" and "a.b[2].c", but not "a.bc".
bool Covers(std::string_view above, std::string_view below) {
  if (above.empty()) return true;
  if (!below.starts_with(above)) return false;
  if (below.size() == above.size()) return true;
  return below[above.size()] == '.' || below[above.size()] == '[';
}

}  // namespace

void Problems::Add(int line, std::string path, std::string message) {
  problems_.push_back({line, std::move(path), std::move(message)});
}

bool Problems::Touches(std::string_view path) const {
  return std::any_of(problems_.begin(), problems_.end(), [path](const Problem& problem) {
    return Covers(problem.path, path) || Covers(path, problem.path);
  });
}

std::vector<std::string> Problems::Lines() const {
  std::vector<const Problem*> ordered;
  ordered.reserve(problems_.size());
  for (const Problem& problem : problems_) ordered.push_back(&problem);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Problem* a, const Problem* b) { return a->line < b->line; });
  std::vector<std::string> lines;
  lines.reserve(ordered.size());
  for (const Problem* problem : ordered) {
    std::string line = file_;
    if (problem->line > 0) line += fmt::format(":{}", problem->line);
    if (!problem->path.empty()) line += fmt::format(": {}", problem->path);
    line += ": " + problem->message;
    // A file can hold any byte by way of escapes; none of them may steer the reader's terminal.
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Status Problems::ToStatus() const {
  if (empty()) return absl::OkStatus();
  std::string message;
  for (const std::string& line : Lines()) {
    if (!message.empty()) message += '\n';
    message += line;
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace plimsoll
