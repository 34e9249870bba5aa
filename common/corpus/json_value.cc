#include "common/corpus/json_value.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <simdjson.h>

namespace plimsoll {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kNameBytesMax = 256;

std::string Join(std::string_view where, std::string_view key) {
  return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
}

}  // namespace

struct JsonValue::Access {
  static_assert(sizeof(dom::element) <= sizeof(JsonValue::raw_));
  static_assert(std::is_trivially_copyable_v<dom::element>);

  static dom::element Of(const JsonValue& value) {
    dom::element element;
    std::memcpy(static_cast<void*>(&element), value.raw_.data(), sizeof(element));
    return element;
  }
  static JsonValue Make(dom::element element, std::string where) {
    JsonValue value;
    std::memcpy(value.raw_.data(), static_cast<const void*>(&element), sizeof(element));
    value.where_ = std::move(where);
    return value;
  }
};

const char* JsonValue::kind() const {
  switch (Access::Of(*this).type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    case dom::element_type::INT64:
      return "a whole number";
    case dom::element_type::UINT64:
      return "a number beyond 2^63";
    case dom::element_type::DOUBLE:
      return "a fraction";
  }
  return "something else";
}

bool JsonValue::IsObject() const {
  return Access::Of(*this).is_object();
}

bool JsonValue::IsList() const {
  return Access::Of(*this).is_array();
}

bool JsonValue::IsText() const {
  return Access::Of(*this).is_string();
}

bool JsonValue::IsNull() const {
  return Access::Of(*this).is_null();
}

Status JsonValue::Wrong(std::string_view what) const {
  return absl::InvalidArgumentError(where_.empty() ? std::string(what)
                                                   : fmt::format("{}: {}", where_, what));
}

Status JsonValue::Expected(std::string_view what) const {
  return Wrong(fmt::format("expected {}, got {}", what, kind()));
}

bool JsonValue::Has(std::string_view key) const {
  dom::object object;
  dom::element element;
  return Access::Of(*this).get(object) == simdjson::SUCCESS &&
         object.at_key(key).get(element) == simdjson::SUCCESS && !element.is_null();
}

StatusOr<JsonValue> JsonValue::Field(std::string_view key) const {
  dom::object object;
  if (Access::Of(*this).get(object) != simdjson::SUCCESS) return Expected("an object");
  dom::element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(fmt::format("{}: missing", Join(where_, key)));
  }
  return Access::Make(element, Join(where_, key));
}

StatusOr<std::vector<JsonValue>> JsonValue::Elements() const {
  dom::array list;
  if (Access::Of(*this).get(list) != simdjson::SUCCESS) return Expected("a list");
  std::vector<JsonValue> elements;
  for (const dom::element element : list) {
    elements.push_back(Access::Make(element, fmt::format("{}[{}]", where_, elements.size())));
  }
  return elements;
}

StatusOr<std::uint64_t> JsonValue::Count(std::uint64_t max) const {
  const dom::element element = Access::Of(*this);
  std::int64_t negative = 0;
  if (element.get(negative) == simdjson::SUCCESS && negative < 0) {
    return Wrong(fmt::format("{} is negative", negative));
  }
  std::uint64_t value = 0;
  if (element.get(value) != simdjson::SUCCESS) return Expected("a whole number");
  if (value > max) return Wrong(fmt::format("{} is more than the {} allowed", value, max));
  return value;
}

StatusOr<std::int64_t> JsonValue::Millis(double unit_ms) const {
  double value = 0;
  if (Access::Of(*this).get(value) != simdjson::SUCCESS) return Expected("a number");
  if (value < 0) return Wrong(fmt::format("{} is negative", value));
  const double ms = std::round(value * unit_ms);
  if (!(ms <= static_cast<double>(kTraceMsMax))) {
    return Wrong(fmt::format("{} is more than 49 days", value));
  }
  return static_cast<std::int64_t>(ms);
}

StatusOr<std::string_view> JsonValue::Text() const {
  std::string_view text;
  if (Access::Of(*this).get(text) != simdjson::SUCCESS) return Expected("a string");
  return text;
}

StatusOr<std::vector<std::uint32_t>> JsonValue::Ids() const {
  dom::array list;
  if (Access::Of(*this).get(list) != simdjson::SUCCESS) return Expected("a list");
  std::vector<std::uint32_t> ids;
  ids.reserve(list.size());
  for (const dom::element element : list) {
    std::uint64_t id = 0;
    if (element.get(id) != simdjson::SUCCESS || id > std::numeric_limits<std::uint32_t>::max()) {
      return Access::Make(element, fmt::format("{}[{}]", where_, ids.size()))
          .Expected("a 32-bit id");
    }
    ids.push_back(static_cast<std::uint32_t>(id));
  }
  return ids;
}

std::string JsonValue::Minified() const {
  return simdjson::minify(Access::Of(*this));
}

StatusOr<std::uint64_t> JsonValue::Count(std::string_view key, std::uint64_t max) const {
  ASSIGN_OR_RETURN(const JsonValue field, Field(key));
  return field.Count(max);
}

StatusOr<std::int64_t> JsonValue::Millis(std::string_view key, double unit_ms) const {
  ASSIGN_OR_RETURN(const JsonValue field, Field(key));
  return field.Millis(unit_ms);
}

StatusOr<std::string_view> JsonValue::Name(std::string_view key) const {
  ASSIGN_OR_RETURN(const JsonValue field, Field(key));
  ASSIGN_OR_RETURN(const std::string_view text, field.Text());
  if (text.size() > kNameBytesMax) {
    return field.Wrong(
        fmt::format("a string of {} bytes; at most {} are allowed", text.size(), kNameBytesMax));
  }
  return text;
}

StatusOr<std::vector<JsonValue>> JsonValue::Elements(std::string_view key) const {
  ASSIGN_OR_RETURN(const JsonValue field, Field(key));
  return field.Elements();
}

struct JsonDocument::Parser {
  dom::parser parser;
};

JsonDocument::JsonDocument(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

StatusOr<JsonDocument> JsonDocument::Parse(std::string_view text) {
  if (text.empty()) {
    return absl::InvalidArgumentError("not one whole JSON document (cut short?): no bytes");
  }
  JsonDocument document(std::make_unique<Parser>());
  dom::element element;
  const auto error = document.parser_->parser.parse(text.data(), text.size()).get(element);
  if (error != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(fmt::format("not one whole JSON document (cut short?): {}",
                                                  simdjson::error_message(error)));
  }
  document.root_ = JsonValue::Access::Make(element, "");
  return document;
}

namespace {

// Walks valid JSON text without building anything.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }

  // Moves to the field `key` of the object, or the element `index` of the list, that begins here.
  bool Enter(std::string_view key) {
    if (!Take('{')) return false;
    while (Peek() == '"') {
      const std::size_t name = at_ + 1;
      SkipValue();
      const bool found = text_.substr(name, at_ - name - 1) == key;
      if (!Take(':')) return false;
      if (found) return true;
      SkipValue();
      if (!Take(',')) return false;
    }
    return false;
  }
  bool Enter(std::size_t index) {
    if (!Take('[')) return false;
    for (; index > 0; --index) {
      SkipValue();
      if (!Take(',')) return false;
    }
    return true;
  }

  char Peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

 private:
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  void SkipText() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void SkipValue() {
    const char first = Peek();
    if (first == '"') return SkipText();
    if (first != '{' && first != '[') {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      return;
    }
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        SkipText();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t LineOfPlace(std::string_view text, std::string_view message) {
  std::string_view place = message.substr(0, message.find(':'));
  if (place.find(' ') != std::string_view::npos) place = {};  // A sentence, not a place.
  Walker walker(text);
  std::size_t found = 0;
  while (!place.empty()) {
    bool inside = false;
    if (place[0] == '[') {
      std::size_t index = 0;
      std::size_t end = 1;
      for (; end < place.size() && place[end] >= '0' && place[end] <= '9' && end < 12; ++end) {
        index = index * 10 + static_cast<std::size_t>(place[end] - '0');
      }
      inside = walker.Enter(index);
      place.remove_prefix(std::min(end + 1, place.size()));
    } else {
      if (place[0] == '.') place.remove_prefix(1);
      const std::size_t end = std::min(place.find_first_of(".["), place.size());
      inside = walker.Enter(place.substr(0, end));
      place.remove_prefix(end);
    }
    if (!inside) break;  // Something missing: the line of what it is missing from.
    walker.Peek();
    found = walker.at();
  }
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(found, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace plimsoll
