#include "common/evals/json_match.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/evals/json_bounds.h"
#include "common/evals/pattern.h"
#include "common/json/json.h"

namespace plimsoll {

using nlohmann::json;

struct JsonMatch::Node {
  enum class Kind : std::uint8_t { kEqual, kObject, kList, kAny, kPattern, kNumber };

  Kind kind = Kind::kEqual;
  bool optional = false;               // Of an object's field.
  json equal;                          // kEqual: no object and no list.
  std::map<std::string, Node> fields;  // kObject.
  std::vector<Node> nodes;             // kList, kAny.
  std::optional<Pattern> pattern;
  double number = 0;
  double tolerance = 0;

  static StatusOr<Node> Read(const json& expected);
  static StatusOr<Node> ReadChoice(const json& object);
  static StatusOr<Node> ReadNumber(const json& object);
  Status TakeList(const json& list);
  bool Matches(const json& value, bool more_fields) const;
  bool MatchesObject(const json& value, bool more_fields) const;
};

Status JsonMatch::Node::TakeList(const json& list) {
  for (const json& element : list) {
    ASSIGN_OR_RETURN(Node node, Read(element));
    if (node.optional) {
      return absl::InvalidArgumentError("$optional stands for a field of an object only");
    }
    nodes.push_back(std::move(node));
  }
  return absl::OkStatus();
}

StatusOr<JsonMatch::Node> JsonMatch::Node::Read(const json& expected) {
  Node node;
  if (expected.is_array()) {
    node.kind = Kind::kList;
    RETURN_IF_ERROR(node.TakeList(expected));
    return node;
  }
  if (!expected.is_object()) {
    node.equal = expected;
    return node;
  }
  for (const auto& [key, value] : expected.items()) {
    if (!key.empty() && key.front() == '$') return ReadChoice(expected);
  }
  node.kind = Kind::kObject;
  for (const auto& [key, value] : expected.items()) {
    ASSIGN_OR_RETURN(Node field, Read(value));
    node.fields.emplace(key, std::move(field));
  }
  return node;
}

StatusOr<JsonMatch::Node> JsonMatch::Node::ReadChoice(const json& object) {
  Node node;
  if (object.contains("$number")) return ReadNumber(object);
  if (object.size() == 1 && object.contains("$any")) {
    const json& list = object.at("$any");
    if (!list.is_array() || list.empty()) {
      return absl::InvalidArgumentError("$any takes a list of expected values");
    }
    node.kind = Kind::kAny;
    RETURN_IF_ERROR(node.TakeList(list));
    return node;
  }
  if (object.size() == 1 && object.contains("$regex")) {
    const json& expression = object.at("$regex");
    if (!expression.is_string()) {
      return absl::InvalidArgumentError("$regex takes an expression as a string");
    }
    ASSIGN_OR_RETURN(node.pattern, Pattern::Compile(expression.get_ref<const std::string&>()));
    node.kind = Kind::kPattern;
    return node;
  }
  if (object.size() == 1 && object.contains("$optional")) {
    ASSIGN_OR_RETURN(node, Read(object.at("$optional")));
    node.optional = true;
    return node;
  }
  return absl::InvalidArgumentError(
      R"(a key that begins with "$" is $any, $regex, $number or $optional, and stands alone)");
}

StatusOr<JsonMatch::Node> JsonMatch::Node::ReadNumber(const json& object) {
  Node node;
  node.kind = Kind::kNumber;
  const json zero = 0;
  const json& tolerance = object.contains("tolerance") ? object.at("tolerance") : zero;
  if (object.size() != (object.contains("tolerance") ? 2 : 1) ||
      !object.at("$number").is_number() || !tolerance.is_number() || tolerance < 0) {
    return absl::InvalidArgumentError(
        R"($number takes a number, and beside it a "tolerance" of at least 0 or nothing)");
  }
  node.number = object.at("$number").get<double>();
  node.tolerance = tolerance.get<double>();
  return node;
}

bool JsonMatch::Node::Matches(const json& value, bool more_fields) const {
  switch (kind) {
    case Kind::kEqual:
      return value == equal;
    case Kind::kObject:
      return MatchesObject(value, more_fields);
    case Kind::kList:
      return value.is_array() && value.size() == nodes.size() &&
             std::equal(nodes.begin(), nodes.end(), value.begin(),
                        [](const Node& n, const json& v) { return n.Matches(v, false); });
    case Kind::kAny:
      return std::any_of(nodes.begin(), nodes.end(),
                         [&](const Node& n) { return n.Matches(value, more_fields); });
    case Kind::kPattern:
      return value.is_string() && pattern->Found(value.get_ref<const std::string&>());
    case Kind::kNumber:
      return value.is_number() && std::fabs(value.get<double>() - number) <= tolerance;
  }
  return false;
}

bool JsonMatch::Node::MatchesObject(const json& value, bool more_fields) const {
  if (!value.is_object()) return false;
  std::size_t matched = 0;
  for (const auto& [key, node] : fields) {
    const auto found = value.find(key);
    if (found == value.end()) {
      if (!node.optional) return false;
      continue;
    }
    if (!node.Matches(*found, false)) return false;
    ++matched;
  }
  return more_fields || matched == value.size();
}

StatusOr<JsonMatch> JsonMatch::Read(std::string_view expected) {
  RETURN_IF_ERROR(CheckJson(expected, {.unique_keys = true}));
  ASSIGN_OR_RETURN(Node node, Node::Read(json::parse(expected, nullptr, false)));
  if (node.optional) return absl::InvalidArgumentError("$optional stands for a field only");
  return JsonMatch(std::make_shared<const Node>(std::move(node)));
}

bool JsonMatch::Matches(std::string_view value, bool more_fields) const {
  if (!CheckJson(value).ok()) return false;
  return root_->Matches(json::parse(value, nullptr, false), more_fields);
}

}  // namespace plimsoll
