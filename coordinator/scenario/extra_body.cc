#include "coordinator/scenario/extra_body.h"

#include <array>
#include <string_view>
#include <utility>

#include "common/base/json_text.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Fields of ours, and where what they do is said.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kOurs = {
    {{"model", "target.model"},
     {"messages", "the corpus"},
     {"stream", "nothing: every answer is streamed"},
     {"stream_options", "nothing: usage is always asked for"},
     {"max_tokens", "replay.output and target.max_tokens"},
     {"max_completion_tokens", "replay.output and target.max_tokens"},
     {"min_tokens", "replay.output"},
     {"ignore_eos", "replay.output"},
     {"n", "nothing: a call has one answer"},
     {"tools", "target.tools"}}};

// A number as JSON writes it: the checker takes it where a value may stand.
bool IsJsonNumber(std::string_view text) {
  if (text.empty() || (text[0] != '-' && (text[0] < '0' || text[0] > '9'))) return false;
  JsonObjectChecker checker;
  checker.Feed(R"({"":)");
  checker.Feed(text);
  checker.Feed("}");
  return checker.complete() && text.find_first_of(" \t,:{}[]\"") == std::string_view::npos;
}

std::string Quoted(std::string_view text) {
  return '"' + JsonEscaped(text) + '"';
}

std::string ScalarJson(const ConfigNode& node) {
  const std::string& text = node.text;
  if (node.quoted) return Quoted(text);
  if (text == "true" || text == "false" || text == "null" || IsJsonNumber(text)) return text;
  if (text == "~" || text.empty()) return "null";
  return Quoted(text);
}

// Depth and size are bounded by the document's.
std::string Json(const ConfigNode& node);

std::string FieldsJson(const ConfigNode& map) {
  std::string json;
  for (const ConfigMember& member : map.members) {
    if (!json.empty()) json += ',';
    json += Quoted(member.key) + ':' + Json(member.value);
  }
  return json;
}

std::string Json(const ConfigNode& node) {
  std::string json;
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      return "null";
    case ConfigNode::Kind::kScalar:
      return ScalarJson(node);
    case ConfigNode::Kind::kList:
      for (const ConfigNode& item : node.items) json += (json.empty() ? "" : ",") + Json(item);
      return '[' + json + ']';
    case ConfigNode::Kind::kMap:
      return '{' + FieldsJson(node) + '}';
  }
  return json;
}

}  // namespace

std::string ReadExtraBody(FieldReader& target, std::string_view key) {
  const ConfigNode* node = target.Find(key);
  if (node == nullptr) return "";
  if (node->kind != ConfigNode::Kind::kMap) {
    target.Problem(key, "is not a map of fields, write e.g. {temperature: 0.2, top_k: 40}");
    return "";
  }
  for (const auto& [name, where] : kOurs) {
    if (node->Find(name) == nullptr) continue;
    target.Problem(key, fmt::format("sets '{}', which every request has already; take it out, it "
                                    "is said by {}",
                                    name, where));
  }
  std::string json = FieldsJson(*node);
  if (json.size() > kExtraBodyBytesMax) {
    target.Problem(key, fmt::format("is {} bytes as JSON, at most {} are possible", json.size(),
                                    kExtraBodyBytesMax));
  }
  return json;
}

}  // namespace plimsoll
