#include "common/evals/schema_rewrite.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/evals/json_bounds.h"
#include "common/evals/pattern.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;

enum class Takes : std::uint8_t {
  kAnnotation,    // Anything; dropped.
  kDefinitions,   // Anything; reached by references only.
  kSchema,        // A schema.
  kSchemaOrList,  // A schema, or a list of them.
  kSchemaList,    // A list of schemas that is not empty.
  kSchemaMap,     // An object of schemas.
  kTypes,         // A type's name, or a list of them.
  kNames,         // A list of strings.
  kValues,        // A list that is not empty.
  kValue,         // Anything; kept.
  kNumber,        // A number.
  kCount,         // A whole number, not negative.
  kPattern,       // A regular expression.
  kPositive,      // A number above zero.
  kFlag,          // true or false.
};

struct Keyword {
  std::string_view name;
  Takes takes;
  const char* renamed = nullptr;
};

constexpr Keyword kKeywords[] = {
    {"$comment", Takes::kAnnotation},
    {"$id", Takes::kAnnotation},
    {"$schema", Takes::kAnnotation},
    {"title", Takes::kAnnotation},
    {"description", Takes::kAnnotation},
    {"default", Takes::kAnnotation},
    {"deprecated", Takes::kAnnotation},
    {"examples", Takes::kAnnotation},
    {"format", Takes::kAnnotation},
    {"readOnly", Takes::kAnnotation},
    {"writeOnly", Takes::kAnnotation},
    {"definitions", Takes::kDefinitions},
    {"$defs", Takes::kDefinitions},
    {"type", Takes::kTypes},
    {"enum", Takes::kValues},
    {"const", Takes::kValue},
    {"properties", Takes::kSchemaMap},
    {"required", Takes::kNames},
    {"additionalProperties", Takes::kSchema},
    {"propertyNames", Takes::kSchema},
    {"minProperties", Takes::kCount},
    {"maxProperties", Takes::kCount},
    {"items", Takes::kSchemaOrList},
    {"additionalItems", Takes::kSchema},
    {"contains", Takes::kSchema},
    {"minItems", Takes::kCount},
    {"maxItems", Takes::kCount},
    {"uniqueItems", Takes::kFlag, kUniqueItemsKey},
    {"minLength", Takes::kCount},
    {"maxLength", Takes::kCount},
    {"pattern", Takes::kPattern, kPatternKey},
    {"minimum", Takes::kNumber},
    {"maximum", Takes::kNumber},
    {"exclusiveMinimum", Takes::kNumber},
    {"exclusiveMaximum", Takes::kNumber},
    {"multipleOf", Takes::kPositive, kMultipleOfKey},
    {"allOf", Takes::kSchemaList},
    {"anyOf", Takes::kSchemaList},
    {"oneOf", Takes::kSchemaList},
    {"not", Takes::kSchema},
    {"if", Takes::kSchema},
    {"then", Takes::kSchema},
    {"else", Takes::kSchema},
};

constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "object", "array",
                                                    "number", "integer", "string"};
constexpr std::int64_t kCountMax = 1'000'000;

const Keyword* KeywordNamed(std::string_view name) {
  for (const Keyword& keyword : kKeywords) {
    if (keyword.name == name) return &keyword;
  }
  return nullptr;
}

bool IsTypeName(const json& value) {
  if (!value.is_string()) return false;
  for (const std::string_view type : kTypes) {
    if (type == value.get_ref<const std::string&>()) return true;
  }
  return false;
}

template <typename Predicate>
bool IsListOf(const json& value, Predicate fits) {
  if (!value.is_array()) return false;
  for (const json& element : value) {
    if (!fits(element)) return false;
  }
  return true;
}

Status Wrong(std::string_view at, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("at {}: {}", at, what));
}

class Rewriter {
 public:
  explicit Rewriter(const json& root) : root_(root) {}

  Status Rewrite(const json& schema, const std::string& at, int depth, json* out) {
    if (depth > kSchemaDepthMax) {
      return Wrong(at, fmt::format("refers to itself, or is nested deeper than {}: spell it out "
                                   "less deeply",
                                   kSchemaDepthMax));
    }
    if (++nodes_ > kSchemaNodesMax) {
      return Wrong(
          at, fmt::format("more than {} schemas with all references in place", kSchemaNodesMax));
    }
    if (schema.is_boolean()) {
      *out = schema;
      return absl::OkStatus();
    }
    if (!schema.is_object()) return Wrong(at, "a schema is an object, true or false");
    *out = json::object();
    for (const auto& [key, value] : schema.items()) {
      if (key == "$ref") continue;
      RETURN_IF_ERROR(Take(key, value, at + "/" + Printable(key, 40), depth, out));
    }
    return schema.contains("$ref") ? TakeReference(schema.at("$ref"), at, depth, out)
                                   : absl::OkStatus();
  }

 private:
  // What stands beside a reference holds as well.
  Status TakeReference(const json& reference, const std::string& at, int depth, json* out) {
    const std::string text = reference.is_string() ? reference.get<std::string>() : "";
    if (text.rfind("#/", 0) != 0 || text.find('%') != std::string::npos) {
      return Wrong(at, "a $ref begins with \"#/\" and stays in the schema");
    }
    const json::json_pointer place(text.substr(1));  // May throw; so may the next.
    if (!root_.contains(place)) {
      return Wrong(at, fmt::format("{} is not in the schema", Printable(text, 80)));
    }
    json target;
    RETURN_IF_ERROR(Rewrite(root_.at(place), Printable(text, 80), depth + 1, &target));
    if (out->empty()) {
      *out = std::move(target);
    } else {
      json beside = std::move(*out);
      *out = json::object({{"allOf", json::array({std::move(beside), std::move(target)})}});
    }
    return absl::OkStatus();
  }

  Status Take(const std::string& key, const json& value, const std::string& at, int depth,
              json* out) {
    const Keyword* keyword = KeywordNamed(key);
    if (keyword == nullptr) {
      return Wrong(at, "no keyword that is checked (docs/evals.md lists them): remove it");
    }
    switch (keyword->takes) {
      case Takes::kAnnotation:
      case Takes::kDefinitions:
        return absl::OkStatus();
      case Takes::kSchema:
        return Rewrite(value, at, depth + 1, &(*out)[key]);
      case Takes::kSchemaOrList:
        if (!value.is_array()) return Rewrite(value, at, depth + 1, &(*out)[key]);
        return TakeList(value, at, depth, &(*out)[key]);
      case Takes::kSchemaList:
        if (!value.is_array() || value.empty()) return Wrong(at, "takes a list of schemas");
        return TakeList(value, at, depth, &(*out)[key]);
      case Takes::kSchemaMap: {
        if (!value.is_object()) return Wrong(at, "takes an object of schemas");
        json& map = (*out)[key] = json::object();
        for (const auto& [name, schema] : value.items()) {
          RETURN_IF_ERROR(Rewrite(schema, at + "/" + Printable(name, 40), depth + 1, &map[name]));
        }
        return absl::OkStatus();
      }
      default:
        RETURN_IF_ERROR(CheckPlain(keyword->takes, value, at));
        (*out)[keyword->renamed != nullptr ? keyword->renamed : key] = value;
        return absl::OkStatus();
    }
  }

  Status TakeList(const json& list, const std::string& at, int depth, json* out) {
    *out = json::array();
    for (std::size_t i = 0; i < list.size(); ++i) {
      json schema;
      RETURN_IF_ERROR(Rewrite(list[i], fmt::format("{}/{}", at, i), depth + 1, &schema));
      out->push_back(std::move(schema));
    }
    return absl::OkStatus();
  }

  static Status CheckPlain(Takes takes, const json& value, const std::string& at) {
    const auto fits = [&](bool good, std::string_view what) {
      return good ? absl::OkStatus() : Wrong(at, what);
    };
    const auto is_string = [](const json& element) { return element.is_string(); };
    switch (takes) {
      case Takes::kTypes:
        return fits(IsTypeName(value) || (!value.empty() && IsListOf(value, IsTypeName)),
                    "takes null, boolean, object, array, number, integer, string, or a list");
      case Takes::kNames:
        return fits(IsListOf(value, is_string), "takes a list of strings");
      case Takes::kValues:
        return fits(value.is_array() && !value.empty(), "takes a list of values");
      case Takes::kNumber:
        return fits(value.is_number(), "takes a number");
      case Takes::kPositive:
        return fits(value.is_number() && value.get<double>() > 0, "takes a number above zero");
      case Takes::kCount:
        return fits(value.is_number_unsigned() && value.get<std::uint64_t>() <= kCountMax,
                    fmt::format("takes a whole number from 0 to {}", kCountMax));
      case Takes::kFlag:
        return fits(value.is_boolean(), "takes true or false");
      case Takes::kPattern: {
        if (!value.is_string()) return Wrong(at, "takes a regular expression as a string");
        const auto pattern = Pattern::Compile(value.get_ref<const std::string&>());
        return pattern.ok() ? absl::OkStatus() : Wrong(at, MessageOf(pattern.status()));
      }
      default:
        return absl::OkStatus();
    }
  }

  const json& root_;
  std::size_t nodes_ = 0;
};

}  // namespace

StatusOr<std::string> RewriteSchema(std::string_view text) {
  RETURN_IF_ERROR(CheckJson(text, {.bytes_max = kSchemaBytesMax, .unique_keys = true}));
  try {
    const json root = json::parse(text);
    json out;
    RETURN_IF_ERROR(Rewriter(root).Rewrite(root, "#", 0, &out));
    return out.dump();
  } catch (const std::exception& error) {  // The library's way to say that a reference is none.
    return absl::InvalidArgumentError(
        fmt::format("the schema cannot be read: {}", Printable(error.what(), 200)));
  }
}

}  // namespace plimsoll
