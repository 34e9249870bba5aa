// What a deployment costs for the load that it held (design section 3; docs/statistics.md). Pure.
//
//   hourly price           = nodes x price of a node-hour
//   $ per session-hour     = hourly price / sessions
//   $ per million tokens   = hourly price / millions of tokens an hour
//
// of the last step that held. Tokens are those of usage: prompt tokens, cached or not, and output.
// Of a class of tokens the same, as if that class carried the whole price: the classes' figures are
// no sum. A figure that usage cannot give is absent, with a reason, and never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/capacity_value.h"
#include "coordinator/judge/step_summary.h"

namespace plimsoll {

// What the deployment's nodes cost while a run holds them.
struct CostSettings {
  std::uint32_t nodes = 0;  // At least one.
  std::int64_t micros = 0;  // Price of a node-hour in millionths of the unit; above zero.
  std::string currency;     // "USD".
  double hourly() const { return static_cast<double>(micros) * 1e-6 * nodes; }
  friend bool operator==(const CostSettings&, const CostSettings&) = default;
};

// A number, or why there is none.
struct Figure {
  std::optional<double> value;
  std::string why_not;  // Empty with a value; else one clause for people.
  friend bool operator==(const Figure&, const Figure&) = default;
};

// Of all tokens, and of each class.
struct TokenFigures {
  Figure all;
  Figure cached;    // Prompt tokens that came from a cache.
  Figure uncached;  // The other prompt tokens.
  Figure out;
  friend bool operator==(const TokenFigures&, const TokenFigures&) = default;
};

struct Cost {
  std::optional<CostSettings> settings;   // Absent: the scenario names no price.
  std::optional<std::uint32_t> sessions;  // Of the step; absent: none held.
  Figure per_session_hour;                // In the currency, as the next.
  TokenFigures per_mtok;                  // Each class as if it carried the whole price.
  TokenFigures mtok_per_hour;             // Millions of tokens an hour.
  Figure sessions_per_node;
  Figure mtok_per_node_hour;
};

// The figures by name, for JSON and exports: "per_session_hour", "per_million_tokens",
// "per_million_tokens_if_out_carried_all", … Always the same names in the same order.
struct NamedFigure {
  const char* name = "";
  Figure figure;
};
std::vector<NamedFigure> FiguresOf(const Cost& cost);

// Of one step, whatever its verdict.
Cost CostOfStep(const StepSummary& step, const std::optional<CostSettings>& settings);

// Of the last step that held: the latest pass with the sessions that the capacity names. Without
// one every figure is absent and says so.
Cost CostOfRun(const std::vector<const StepSummary*>& steps, const Capacity& capacity,
               const std::optional<CostSettings>& settings);

}  // namespace plimsoll
