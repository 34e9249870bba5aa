#include "common/evals/json_schema.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/constraint_builder.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "common/base/text.h"
#include "common/evals/json_bounds.h"
#include "common/evals/pattern.h"
#include "common/evals/schema_rewrite.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;
using valijson::adapters::Adapter;
using valijson::adapters::NlohmannJsonAdapter;
using valijson::constraints::Constraint;

constexpr std::size_t kWhyBytes = 200;

// A keyword that we check ourselves, as a constraint of the library.
class OwnConstraint final : public valijson::constraints::PolyConstraint {
 public:
  using Holds = std::function<bool(const Adapter&)>;
  OwnConstraint(Holds holds, std::string what) : holds_(std::move(holds)), what_(std::move(what)) {}

  bool validate(const Adapter& target, const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    if (holds_(target)) return true;
    if (results != nullptr) results->pushError(context, what_);
    return false;
  }

 private:
  Constraint* cloneInto(void* place) const override {
    return std::construct_at(static_cast<OwnConstraint*>(place), *this);
  }
  std::size_t sizeOf() const override { return sizeof(OwnConstraint); }

  Holds holds_;
  std::string what_;
};

class OwnBuilder final : public valijson::ConstraintBuilder {
 public:
  using Make = std::function<OwnConstraint(const Adapter&)>;
  explicit OwnBuilder(Make make) : make_(std::move(make)) {}
  Constraint* make(const Adapter& value) const override {
    return std::make_unique<OwnConstraint>(make_(value)).release();  // The library deletes it.
  }

 private:
  Make make_;
};

OwnConstraint PatternConstraint(const Adapter& value) {
  const auto pattern = Pattern::Compile(value.asString());
  if (!pattern.ok()) throw std::invalid_argument("pattern");  // RewriteSchema has compiled it.
  return {[pattern = *pattern](const Adapter& target) {
            return !target.isString() || pattern.Found(target.asString());
          },
          "does not match the pattern"};
}

// Within the error of a decimal fraction's nearest double.
bool IsMultiple(double value, double of) {
  const double rest = std::fabs(std::remainder(value, of));
  return rest <= std::max(1e-9 * of, 4e-16 * std::fabs(value));
}

OwnConstraint MultipleOfConstraint(const Adapter& value) {
  const double of = value.asDouble();
  return {[of](const Adapter& target) {
            if (target.isInteger()) return IsMultiple(static_cast<double>(target.asInteger()), of);
            return !target.isDouble() || IsMultiple(target.asDouble(), of);
          },
          "is not a multiple of what multipleOf says"};
}

// Equal values have equal texts: keys are sorted and numbers normal.
void AppendText(const Adapter& value, std::string* to) {
  if (value.isObject()) {
    to->push_back('{');
    value.applyToObject([to](const std::string& key, const Adapter& field) {
      to->append(json(key).dump()).push_back(':');
      AppendText(field, to);
      to->push_back(',');
      return true;
    });
    to->push_back('}');
  } else if (value.isArray()) {
    to->push_back('[');
    value.applyToArray([to](const Adapter& element) {
      AppendText(element, to);
      to->push_back(',');
      return true;
    });
    to->push_back(']');
  } else if (value.isString()) {
    to->append(json(value.asString()).dump());
  } else if (value.isBool()) {
    to->append(value.asBool() ? "true" : "false");
  } else if (value.isInteger()) {
    to->append(std::to_string(value.asInteger()));
  } else if (value.isDouble()) {
    to->append(fmt::format("{}", value.asDouble()));
  } else {
    to->append("null");
  }
}

OwnConstraint UniqueItemsConstraint(const Adapter& value) {
  const bool wanted = value.asBool();
  return {[wanted](const Adapter& target) {
            if (!wanted || !target.isArray()) return true;
            std::set<std::string> seen;
            return target.applyToArray([&seen](const Adapter& element) {
              std::string text;
              AppendText(element, &text);
              return seen.insert(std::move(text)).second;
            });
          },
          "holds an element twice"};
}

// Whole numbers as integers, whatever they were written as; integers beyond 63 bits as doubles,
// since the library would wrap them around.
void Normalize(json* value) {
  if (value->is_structured()) {
    for (json& element : *value) Normalize(&element);
  } else if (value->is_number_unsigned()) {
    const auto number = value->get<std::uint64_t>();
    if (number > std::uint64_t{INT64_MAX}) *value = static_cast<double>(number);
  } else if (value->is_number_float()) {
    const double number = value->get<double>();
    constexpr double kExact = 9007199254740992.0;  // 2^53.
    if (std::fabs(number) <= kExact && std::trunc(number) == number) {
      *value = static_cast<std::int64_t>(number);
    }
  }
}

const json* Find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool Holds(const json* list, const json& value) {
  return list != nullptr && std::find(list->begin(), list->end(), value) != list->end();
}

// The schema itself says that this null or white space is an answer.
bool SpeaksOf(const json& schema, const json& value) {
  if (!schema.is_object()) return false;
  if (Holds(Find(schema, "enum"), value)) return true;
  const json* constant = Find(schema, "const");
  if (constant != nullptr && *constant == value) return true;
  const json* type = Find(schema, "type");
  if (value.is_null() && type != nullptr && (*type == "null" || Holds(type, "null"))) return true;
  const json* least = Find(schema, "minLength");
  if (value.is_string() && ((least != nullptr && *least == 0) || schema.contains(kPatternKey))) {
    return true;
  }
  for (const char* key : {"anyOf", "oneOf", "allOf"}) {
    const json* branches = Find(schema, key);
    if (branches == nullptr) continue;
    for (const json& branch : *branches) {
      if (SpeaksOf(branch, value)) return true;
    }
  }
  return false;
}

bool IsBlank(const json& schema, const json& value) {
  const bool blank = value.is_null() ||
                     (value.is_string() && value.get_ref<const std::string&>().find_first_not_of(
                                               " \t\r\n\v\f") == std::string::npos);
  return blank && !SpeaksOf(schema, value);
}

// The name of something required that is missing or blank; null: nothing is. As deep as the schema.
const json* BlankIn(const json& schema, const json& value) {
  if (!schema.is_object()) return nullptr;
  if (const json* all = Find(schema, "allOf")) {
    for (const json& part : *all) {
      if (const json* name = BlankIn(part, value)) return name;
    }
  }
  static const json kAnything = json::object();
  const json* properties = Find(schema, "properties");
  if (const json* required = Find(schema, "required"); required != nullptr && value.is_object()) {
    for (const json& name : *required) {
      const auto& key = name.get_ref<const std::string&>();
      const json* property = properties != nullptr ? Find(*properties, key.c_str()) : nullptr;
      const auto found = value.find(key);
      if (found == value.end() || IsBlank(property != nullptr ? *property : kAnything, *found)) {
        return &name;
      }
    }
  }
  if (value.is_object() && properties != nullptr) {
    for (const auto& [key, property] : properties->items()) {
      const auto found = value.find(key);
      if (found == value.end()) continue;
      if (const json* name = BlankIn(property, *found)) return name;
    }
  }
  const json* items = Find(schema, "items");
  if (value.is_array() && items != nullptr && items->is_object()) {
    for (const json& element : value) {
      if (const json* name = BlankIn(*items, element)) return name;
    }
  }
  return nullptr;
}

std::string FirstOf(valijson::ValidationResults* results) {
  valijson::ValidationResults::Error error;
  if (!results->popError(error)) return "does not match the schema";
  std::string place;
  for (const std::string& part : error.context) place += part;
  return Printable(place + ": " + error.description, kWhyBytes);
}

}  // namespace

struct JsonSchema::Impl {
  json text;  // Rewritten.
  valijson::Schema schema;
};

JsonSchema::JsonSchema(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;

StatusOr<JsonSchema> JsonSchema::Read(std::string_view text) {
  ASSIGN_OR_RETURN(const std::string rewritten, RewriteSchema(text));
  try {
    auto impl = std::make_unique<Impl>();
    impl->text = json::parse(rewritten);
    Normalize(&impl->text);
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    const auto check = [&parser](const char* key, OwnBuilder::Make make) {
      // The parser deletes it.
      parser.addConstraintBuilder(key, std::make_unique<OwnBuilder>(std::move(make)).release());
    };
    check(kPatternKey, PatternConstraint);
    check(kMultipleOfKey, MultipleOfConstraint);
    check(kUniqueItemsKey, UniqueItemsConstraint);
    parser.populateSchema(NlohmannJsonAdapter(impl->text), impl->schema);
    return JsonSchema(std::move(impl));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("the schema cannot be read: {}", Printable(error.what(), kWhyBytes)));
  }
}

SchemaFit JsonSchema::Check(std::string_view value, std::string* why) const {
  return Check(value, false, why);
}

SchemaFit JsonSchema::CheckArguments(std::string_view value, std::string* why) const {
  return Check(value, true, why);
}

SchemaFit JsonSchema::Check(std::string_view value, bool blanks, std::string* why) const {
  if (const Status status = CheckJson(value); !status.ok()) {
    if (why != nullptr) *why = std::string(MessageOf(status));
    return absl::IsResourceExhausted(status) ? SchemaFit::kTooLarge : SchemaFit::kNotJson;
  }
  try {
    json target = json::parse(value);
    Normalize(&target);
    if (const json* name = blanks ? BlankIn(impl_->text, target) : nullptr) {
      if (why != nullptr) {
        *why = Printable(name->get_ref<const std::string&>(), 40) + ": missing or blank";
      }
      return SchemaFit::kBlankRequired;
    }
    valijson::ValidationResults results;
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    if (validator.validate(impl_->schema, NlohmannJsonAdapter(target),
                           why != nullptr ? &results : nullptr)) {
      return SchemaFit::kFits;
    }
    if (why != nullptr) *why = FirstOf(&results);
  } catch (const std::exception& error) {
    if (why != nullptr) *why = Printable(error.what(), kWhyBytes);
  }
  return SchemaFit::kMismatch;
}

}  // namespace plimsoll
