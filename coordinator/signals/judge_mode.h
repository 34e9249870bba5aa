// Whose numbers a step's verdict rests on, where a scenario asks servers for theirs. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace plimsoll {

// Kept with runs: never renumber.
enum class JudgeMode : std::uint8_t {
  kClient = 0,  // The client's; the server's are read, shown and compared.
  kServer = 1,  // The server's; the client's only say how much load was sent.
  kBoth = 2,    // Both: what the server cannot say or decide leaves the client's verdict standing.
};

// As scenarios write them, by number.
inline constexpr std::array<std::string_view, 3> kJudgeModeNames = {"client", "server", "both"};

constexpr std::string_view Name(JudgeMode mode) {
  return kJudgeModeNames[static_cast<std::size_t>(mode)];
}

}  // namespace plimsoll
