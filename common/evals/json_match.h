// An expected JSON value, with places where more than one value is right. nlohmann-json behind a
// fence. Immutable; copies share it.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "common/base/status.h"

namespace plimsoll {

class JsonMatch {
 public:
  // Any JSON; within it an object whose only key begins with "$" stands for a choice:
  //   {"$any": [E, …]}                      one of these expected values
  //   {"$regex": "…"}                       a string in which the expression is found
  //   {"$number": 3.14, "tolerance": 0.01}  a number at most that far away (tolerance 0 if absent)
  //   {"$optional": E}                      a field of an object that may be absent
  // InvalidArgument says what is wrong.
  static StatusOr<JsonMatch> Read(std::string_view expected);

  // `value`, JSON as text, is what was expected. Numbers are compared by value (3 is 3.0), strings
  // exactly, lists in order. `more_fields`: the outermost object may have fields that are not
  // expected. False for what is no JSON within JsonBounds.
  bool Matches(std::string_view value, bool more_fields = false) const;

 private:
  struct Node;
  explicit JsonMatch(std::shared_ptr<const Node> root) : root_(std::move(root)) {}

  std::shared_ptr<const Node> root_;
};

}  // namespace plimsoll
