// What an agent said of itself and of its machine over a step, each figure named once for JSON and
// exports. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "coordinator/judge/evidence.h"

namespace plimsoll {

struct AgentFigure {
  const char* name;  // Of a time without its unit.
  // Absent: the agent does not know it.
  std::variant<std::optional<double>, std::optional<Duration>, std::optional<std::uint64_t>> value;
};

// Always the same ones in the same order.
std::vector<AgentFigure> FiguresOf(const AgentEvidence& agent);
// Of its machine.
std::vector<AgentFigure> FiguresOf(const HostLoad& host);

}  // namespace plimsoll
