#include "common/evals/tool_set.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/evals/json_bounds.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;

constexpr std::string_view kForm =
    R"(a tool is {"type": "function", "function": {"name": …, "parameters": SCHEMA}})";

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= ToolSet::kNameBytesMax &&
         std::all_of(name.begin(), name.end(), IsNameCharacter);
}

// The first field that is none of `known`; null: there is none.
const std::string* OtherField(const json& object, std::initializer_list<std::string_view> known) {
  for (auto field = object.begin(); field != object.end(); ++field) {
    if (std::find(known.begin(), known.end(), field.key()) == known.end()) return &field.key();
  }
  return nullptr;
}

Status CheckForm(const json& tool) {
  const auto form = [](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("{}; {}", what, kForm));
  };
  if (!tool.is_object()) return form("not an object");
  if (const std::string* other = OtherField(tool, {"type", "function"})) {
    return form(fmt::format("unknown field \"{}\"", Printable(*other, 40)));
  }
  if (!tool.contains("type") || tool.at("type") != "function") {
    return form("its type is not \"function\"");
  }
  if (!tool.contains("function") || !tool.at("function").is_object()) {
    return form("it has no function");
  }
  const json& function = tool.at("function");
  if (const std::string* other =
          OtherField(function, {"name", "description", "parameters", "strict"})) {
    return form(fmt::format("unknown field \"{}\"", Printable(*other, 40)));
  }
  if (!function.contains("name") || !function.at("name").is_string() ||
      !IsName(function.at("name").get_ref<const std::string&>())) {
    return form(fmt::format("its name is not 1 to {} letters, digits, \"_\" and \"-\"",
                            ToolSet::kNameBytesMax));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<ToolSet> ToolSet::Read(std::string_view tools_json) {
  RETURN_IF_ERROR(CheckJson(tools_json, {.unique_keys = true}));
  const json tools = json::parse(tools_json, nullptr, false);
  if (!tools.is_array() || tools.empty() || tools.size() > kToolsMax) {
    return absl::InvalidArgumentError(fmt::format("tools are a list of 1 to {}", kToolsMax));
  }
  ToolSet set;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    RETURN_IF_ERROR(Annotate(CheckForm(tools[i]), fmt::format("tool {}", i + 1)));
    const json& function = tools[i].at("function");
    const auto& name = function.at("name").get_ref<const std::string&>();
    if (set.schemas_.contains(name)) {
      return absl::InvalidArgumentError(fmt::format("the tool \"{}\" stands twice", name));
    }
    const std::string parameters = function.contains("parameters")
                                       ? function.at("parameters").dump()
                                       : R"({"type": "object", "additionalProperties": false})";
    auto schema = JsonSchema::Read(parameters);
    if (!schema.ok()) {
      return Annotate(schema.status(), fmt::format("parameters of the tool \"{}\"", name));
    }
    set.schemas_.emplace(name, std::move(*schema));
  }
  return set;
}

const JsonSchema* ToolSet::SchemaOf(std::string_view name) const {
  const auto found = schemas_.find(name);
  return found == schemas_.end() ? nullptr : &found->second;
}

}  // namespace plimsoll
