// The tools that a request offers: names and the JSON Schemas of their arguments. Immutable; one
// may be used by several threads.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/evals/json_schema.h"

namespace plimsoll {

class ToolSet {
 public:
  static constexpr std::size_t kToolsMax = 64;
  static constexpr std::size_t kNameBytesMax = 64;

  // The "tools" of a chat request as JSON text: [{"type": "function", "function": {"name": …,
  // "description": …, "parameters": SCHEMA}}, …]. Names are of letters, digits, "_" and "-", none
  // twice; a function without parameters takes an object without fields. InvalidArgument names the
  // tool and what is wrong with it.
  static StatusOr<ToolSet> Read(std::string_view tools_json);

  // Of a request that offers none.
  static ToolSet None() { return {}; }

  // The schema of that tool's arguments; null: it is not offered.
  const JsonSchema* SchemaOf(std::string_view name) const;
  std::size_t size() const { return schemas_.size(); }

 private:
  ToolSet() = default;

  std::map<std::string, JsonSchema, std::less<>> schemas_;
};

}  // namespace plimsoll
