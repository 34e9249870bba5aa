// Under which real servers' names the gateway serves its metrics.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll {

enum class MetricKind : std::uint8_t { kVllm, kSglang, kLlamaCpp, kEnvoy, kAiGateway };

// As people write them, and as coordinator/signals' mappings are named; by MetricKind.
inline constexpr std::array<std::string_view, 5> kMetricKindNames = {"vllm", "sglang", "llamacpp",
                                                                     "envoy", "envoy_ai_gateway"};

constexpr std::string_view Name(MetricKind kind) {
  return kMetricKindNames[static_cast<std::size_t>(kind)];
}
std::optional<MetricKind> MetricKindNamed(std::string_view name);
// An engine's, of which each copy has a page; the others are the gateway's own.
constexpr bool IsEngine(MetricKind kind) {
  return kind <= MetricKind::kLlamaCpp;
}

}  // namespace plimsoll
