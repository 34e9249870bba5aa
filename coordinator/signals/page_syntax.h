// Which text a page of metrics is written in, by the Content-Type of the answer. Pure.
//
// Prometheus text 0.0.4 ("text/plain; version=0.0.4") and OpenMetrics 1.0
// ("application/openmetrics-text; version=1.0.0") are read; both may carry charset, quality and
// escaping parameters, in any order and case. Whoever asks says kAcceptMetrics, and reads what
// comes back by what the answer says it is, never by what was asked for. Rules: the content
// negotiation chapter of Prometheus' documentation; OpenMetrics 1.0, "Content-Type".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

enum class PageSyntax : std::uint8_t { kText, kOpenMetrics };

// The request's Accept header. Neither protobuf nor a compressed body is asked for.
inline constexpr std::string_view kAcceptMetrics =
    "text/plain;version=0.0.4;q=1,application/openmetrics-text;version=1.0.0;q=0.5";

struct PageKind {
  PageSyntax syntax = PageSyntax::kText;
  std::string warning;  // Not empty: a missing or odd type that is read as 0.0.4 all the same.
};

// Unimplemented, in words, for what is surely not one of the two: HTML, JSON, protobuf, another
// version of OpenMetrics.
StatusOr<PageKind> PageKindOf(std::string_view content_type);

}  // namespace plimsoll
