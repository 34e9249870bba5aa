#include "coordinator/report/recipe_diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/config/document.h"

namespace plimsoll {
namespace {

constexpr std::size_t kKeysShown = 4;
// Lines in which two files differ, end to end: beyond, they are as good as two files, and telling
// their hunks apart would take its time.
constexpr std::size_t kLinesComparedMax = 2'000;

using Leaves = std::map<std::string, std::string>;

// A list of plain values is one value: an argument put in between does not change all behind it.
bool IsPlainList(const ConfigNode& node) {
  return node.kind == ConfigNode::Kind::kList &&
         std::all_of(node.items.begin(), node.items.end(),
                     [](const ConfigNode& item) { return item.kind == ConfigNode::Kind::kScalar; });
}

void Gather(const ConfigNode& node, const std::string& path, Leaves* leaves) {
  if (node.kind == ConfigNode::Kind::kMap && !node.members.empty()) {
    for (const ConfigMember& member : node.members) {
      Gather(member.value, path.empty() ? member.key : path + "." + member.key, leaves);
    }
  } else if (node.kind == ConfigNode::Kind::kList && !IsPlainList(node)) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Gather(node.items[i], fmt::format("{}[{}]", path, i), leaves);
    }
  } else {
    std::string value(KindName(node.kind));
    value += ' ' + node.text;
    for (const ConfigNode& item : node.items) value += '\n' + item.text;
    (*leaves)[path] = std::move(value);
  }
}

std::optional<Leaves> LeavesOf(const std::string& text) {
  Problems problems("");
  const std::optional<ConfigNode> root = ParseDocument(text, problems);
  if (!root || !problems.empty() || root->kind != ConfigNode::Kind::kMap) return std::nullopt;
  Leaves leaves;
  Gather(*root, "", &leaves);
  return leaves;
}

std::vector<std::string> ChangedKeys(const Leaves& a, const Leaves& b) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : a) {
    const auto other = b.find(key);
    if (other == b.end() || other->second != value) keys.push_back(key);
  }
  for (const auto& [key, value] : b) {
    if (a.count(key) == 0) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Runs of lines that a longest common subsequence leaves out. Absent: too many lines.
std::optional<std::size_t> Hunks(std::vector<std::string_view> a, std::vector<std::string_view> b) {
  const auto heads = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  a.erase(a.begin(), heads.first);
  b.erase(b.begin(), heads.second);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.pop_back();
    b.pop_back();
  }
  if (a.empty() && b.empty()) return 0;
  if (a.size() > kLinesComparedMax || b.size() > kLinesComparedMax) return std::nullopt;
  // length[i][j]: of the longest common subsequence of a from i and b from j.
  const std::size_t width = b.size() + 1;
  std::vector<std::uint16_t> length((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      length[i * width + j] =
          a[i] == b[j] ? static_cast<std::uint16_t>(length[(i + 1) * width + j + 1] + 1)
                       : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  std::size_t hunks = 0;
  bool in_hunk = false;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      in_hunk = false;
      ++i;
      ++j;
      continue;
    }
    hunks += in_hunk ? 0 : 1;
    in_hunk = true;
    const bool from_a =
        j == b.size() || (i < a.size() && length[(i + 1) * width + j] >= length[i * width + j + 1]);
    ++(from_a ? i : j);
  }
  return hunks;
}

std::string KeysText(const std::vector<std::string>& keys) {
  const std::size_t shown = std::min(keys.size(), kKeysShown);
  std::string text = keys.size() == 1 ? "key " : "keys ";
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + keys[i];
  if (keys.size() > shown) text += fmt::format(" and {} more", keys.size() - shown);
  return text;
}

std::optional<FileDifference> DiffFiles(const RecipeFile& a, const RecipeFile& b) {
  if (a.digest == b.digest) return std::nullopt;
  FileDifference difference{
      .file = a.path == b.path ? a.path : a.path + " -> " + b.path, .changes = 1, .what = ""};
  if (a.bytes == b.bytes) {
    difference.what = a.secrets_left_out > 0 ? "only in values that look like secrets"
                                             : "by digest, but not in what is kept";
    return difference;
  }
  const auto leaves_a = LeavesOf(a.bytes);
  const auto leaves_b = LeavesOf(b.bytes);
  if (leaves_a && leaves_b) {
    const std::vector<std::string> keys = ChangedKeys(*leaves_a, *leaves_b);
    if (keys.empty()) return std::nullopt;  // Comments and spaces.
    difference.changes = keys.size();
    difference.what = KeysText(keys);
    return difference;
  }
  const auto hunks = Hunks(LinesOf(a.bytes), LinesOf(b.bytes));
  difference.changes = std::max<std::size_t>(1, hunks.value_or(1));
  difference.what = hunks ? fmt::format("{} hunk{} of lines", difference.changes,
                                        difference.changes == 1 ? "" : "s")
                          : fmt::format("over {} lines", kLinesComparedMax);
  return difference;
}

}  // namespace

std::vector<FileDifference> DiffRecipes(const KeptRecipe& a, const KeptRecipe& b) {
  std::vector<FileDifference> differences;
  std::vector<const RecipeFile*> rest_a;
  std::vector<const RecipeFile*> rest_b;
  for (const RecipeFile& file : b.files) rest_b.push_back(&file);
  const auto add = [&](const RecipeFile& of_a, const RecipeFile& of_b) {
    if (auto difference = DiffFiles(of_a, of_b)) differences.push_back(*std::move(difference));
  };
  for (const RecipeFile& file : a.files) {
    const auto same = std::find_if(rest_b.begin(), rest_b.end(), [&](const RecipeFile* other) {
      return other->path == file.path;
    });
    if (same == rest_b.end()) {
      rest_a.push_back(&file);
      continue;
    }
    add(file, **same);
    rest_b.erase(same);
  }
  const std::size_t both = std::min(rest_a.size(), rest_b.size());
  for (std::size_t i = 0; i < both; ++i) add(*rest_a[i], *rest_b[i]);
  for (std::size_t i = both; i < rest_a.size(); ++i) {
    differences.push_back({.file = rest_a[i]->path, .changes = 1, .what = "only in the first"});
  }
  for (std::size_t i = both; i < rest_b.size(); ++i) {
    differences.push_back({.file = rest_b[i]->path, .changes = 1, .what = "only in the second"});
  }
  return differences;
}

}  // namespace plimsoll
