#include "gateway/answers/tool_calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/evals/tool_faults.h"
#include "common/evals/tool_set.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDepthMax = 12;
constexpr std::string_view kText = "ship/sits/low";
constexpr std::string_view kLead = "Let me look that up.";

const Json* Field(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string TypeOf(const Json& schema) {
  const Json* type = Field(schema, "type");
  if (type != nullptr && type->is_array() && !type->empty()) type = &type->front();
  if (type != nullptr && type->is_string()) return type->get<std::string>();
  return Field(schema, "properties") != nullptr ? "object" : "string";
}

// A value that the schema takes, as far as its plain keywords go.
class Sampler {
 public:
  explicit Sampler(const Json& root) : root_(root) {}

  Json Of(const Json& schema, int depth) const {
    if (depth > kDepthMax) return nullptr;
    if (const Json* value = Field(schema, "const")) return *value;
    if (const Json* list = Field(schema, "enum"); list != nullptr && list->is_array()) {
      if (!list->empty()) return list->front();
    }
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
      const Json* list = Field(schema, key);
      if (list != nullptr && list->is_array() && !list->empty())
        return Of(list->front(), depth + 1);
    }
    if (const Json* to = Field(schema, "$ref"); to != nullptr && to->is_string()) {
      const Json* target = Referred(to->get<std::string>());
      return target == nullptr ? Json(nullptr) : Of(*target, depth + 1);
    }
    return OfType(TypeOf(schema), schema, depth);
  }

 private:
  Json OfType(const std::string& type, const Json& schema, int depth) const {
    if (type == "object") return Object(schema, depth);
    if (type == "array") {
      Json list = Json::array();
      const Json* items = Field(schema, "items");
      for (std::size_t i = 0; i < Least(schema, "minItems"); ++i) {
        list.push_back(items == nullptr ? Json(kText) : Of(*items, depth + 1));
      }
      return list;
    }
    if (type == "integer" || type == "number") return Number(schema);
    if (type == "boolean") return true;
    if (type == "null") return nullptr;
    std::string text(kText);
    text.resize(std::max(text.size(), Least(schema, "minLength")), '.');
    return text;
  }

  Json Object(const Json& schema, int depth) const {
    Json object = Json::object();
    const Json* required = Field(schema, "required");
    const Json* properties = Field(schema, "properties");
    if (required == nullptr || !required->is_array()) return object;
    for (const Json& name : *required) {
      if (!name.is_string()) continue;
      const auto key = name.get<std::string>();
      const Json* of = properties == nullptr ? nullptr : Field(*properties, key.c_str());
      object[key] = of == nullptr ? Json(kText) : Of(*of, depth + 1);
    }
    return object;
  }

  static Json Number(const Json& schema) {
    if (const Json* least = Field(schema, "minimum"); least != nullptr && least->is_number()) {
      return *least;
    }
    if (const Json* above = Field(schema, "exclusiveMinimum");
        above != nullptr && above->is_number()) {
      return above->get<double>() + 1;
    }
    const Json* most = Field(schema, "maximum");
    return most != nullptr && most->is_number() && most->get<double>() < 1 ? *most : Json(1);
  }

  static std::size_t Least(const Json& schema, const char* key) {
    const Json* least = Field(schema, key);
    if (least == nullptr || !least->is_number_unsigned()) return 0;
    return std::min<std::size_t>(least->get<std::size_t>(), 1'000);
  }

  const Json* Referred(const std::string& reference) const {
    if (!reference.starts_with("#/")) return nullptr;
    try {
      const Json::json_pointer pointer(reference.substr(1));
      return root_.contains(pointer) ? &root_.at(pointer) : nullptr;
    } catch (const Json::exception&) {
      return nullptr;
    }
  }

  const Json& root_;
};

Json Parsed(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The function of that name, or the first one for an empty name; null: there is none.
const Json* Function(const Json& tools, std::string_view name) {
  if (!tools.is_array()) return nullptr;
  for (const Json& tool : tools) {
    const Json* function = Field(tool, "function");
    if (function == nullptr) continue;
    const Json* its = Field(*function, "name");
    if (its == nullptr || !its->is_string()) continue;
    if (name.empty() || its->get_ref<const std::string&>() == name) return function;
  }
  return nullptr;
}

// Arguments that are wrong in one place each: without a field, with another value in it, with a
// field more.
std::vector<Json> Spoilt(const Json& right, const Json* properties) {
  std::vector<Json> all;
  const Json wrong[] = {Json::array({Json::array()}), Json(-1e9), Json::object({{"x", true}}),
                        Json("?")};
  for (const auto& [key, value] : right.items()) {
    Json without = right;
    without.erase(key);
    all.push_back(std::move(without));
    for (const Json& other : wrong) {
      Json spoilt = right;
      spoilt[key] = other;
      all.push_back(std::move(spoilt));
    }
  }
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [key, value] : properties->items()) {
      for (const Json& other : wrong) {
        Json spoilt = right;
        spoilt[key] = other;
        all.push_back(std::move(spoilt));
      }
    }
  }
  Json more = right;
  more["no_such_argument"] = 1;
  all.push_back(std::move(more));
  return all;
}

void SpoilArguments(AnswerCall* call, std::string_view tools_json, ToolFault fault) {
  const std::string right = call->arguments.value_or("{}");
  const auto cut = [&right] { return right.substr(0, std::max<std::size_t>(1, right.size() - 1)); };
  call->arguments = cut();
  if (fault == ToolFault::kMalformedJson) return;
  const Json arguments = Parsed(right);
  const StatusOr<ToolSet> offered = ToolSet::Read(tools_json);
  if (!arguments.is_object() || !offered.ok()) return;
  const Json tools = Parsed(tools_json);
  const Json* function = Function(tools, call->name.value_or(""));
  const Json* schema = function == nullptr ? nullptr : Field(*function, "parameters");
  const Json* properties = schema == nullptr ? nullptr : Field(*schema, "properties");
  for (const Json& spoilt : Spoilt(arguments, properties)) {
    ToolCall judged{.name = call->name.value_or(""), .arguments = spoilt.dump(), .has_id = true};
    if (FaultOf(judged, &*offered) != fault) continue;
    call->arguments = judged.arguments;
    return;
  }
}

}  // namespace

AnswerCall SampleCall(std::string_view tools_json) {
  const Json tools = Parsed(tools_json);
  const Json* function = Function(tools, "");
  AnswerCall call{.id = {}, .name = "read_file", .arguments = Json({{"path", kText}}).dump()};
  if (function == nullptr) return call;
  call.name = Field(*function, "name")->get<std::string>();
  const Json* schema = Field(*function, "parameters");
  const Json value = schema == nullptr ? Json::object() : Sampler(*schema).Of(*schema, 0);
  call.arguments = value.is_object() ? value.dump() : "{}";
  return call;
}

AnswerPlan Malformed(AnswerPlan right, std::string_view tools_json, ToolFault fault) {
  if (right.calls.empty()) right.calls.push_back(SampleCall(tools_json));
  right.says_calls = true;
  AnswerCall& first = right.calls.front();
  switch (fault) {
    case ToolFault::kEmptyDelta:
      // A client sees words, and then a call of which nothing comes.
      right.content = kLead;
      right.calls = {AnswerCall{.id = {}, .name = {}, .arguments = ""}};
      break;
    case ToolFault::kFinishWithoutCall:
      right.content = kLead;
      right.calls.clear();
      break;
    case ToolFault::kMissingName:
      first.name.reset();
      break;
    case ToolFault::kUnknownTool:
      first.name = "no_such_tool";
      break;
    default:
      SpoilArguments(&first, tools_json, fault);
  }
  return right;
}

}  // namespace plimsoll
