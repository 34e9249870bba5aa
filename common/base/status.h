// Errors as values: absl::Status under our own names, with context added once per layer.
// Anything that a file, a peer or a person can cause is a Status; it never aborts the process.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace plimsoll {

using Status = absl::Status;
template <typename T>
using StatusOr = absl::StatusOr<T>;

// Debian's absl has a string_view type of its own; these are the only places that convert.
inline std::string_view MessageOf(const Status& status) {
  return {status.message().data(), status.message().size()};
}

// The same code with "context: " in front, so that the final line says what was being done.
inline Status Annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  std::string message(context);
  message.append(": ").append(MessageOf(status));
  return Status(status.code(), message);
}

}  // namespace plimsoll

#define PLIMSOLL_CONCAT_INNER(a, b) a##b
#define PLIMSOLL_CONCAT(a, b) PLIMSOLL_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): `lhs` may declare a variable.
#define RETURN_IF_ERROR(expr)                                               \
  do {                                                                      \
    if (::plimsoll::Status status_ = (expr); !status_.ok()) return status_; \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL(PLIMSOLL_CONCAT(status_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL(var, lhs, expr)    \
  auto var = (expr);                             \
  if (!var.ok()) return std::move(var).status(); \
  lhs = std::move(*var)
// NOLINTEND(bugprone-macro-parentheses)
