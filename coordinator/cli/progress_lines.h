// A running run as lines of text: a block that is drawn again and again on a terminal, or plain
// lines at what changes. Pure: status in, text out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/run/live_status.h"

namespace plimsoll {

struct ProgressStyle {
  std::size_t columns = 80;  // Of the terminal.
  std::size_t rows = 24;
  bool colour = false;
};

// The status as a block of at most seven lines, none wider than the terminal (colours not counted).
// On one that is narrower than 60 columns or lower than 9 rows it is a single line.
std::vector<std::string> ProgressBlock(const LiveStatus& status, const Bar& bar,
                                       const ProgressStyle& style);

// Plain lines for what is no terminal: one when a step's part begins, and one for each 15 s of
// measured time. Remembers what it has said.
class ProgressLog {
 public:
  std::optional<std::string> Next(const LiveStatus& status, const Bar& bar);

 private:
  std::optional<std::uint32_t> step_;
  StepPart part_ = StepPart::kPriming;
  Duration said_{};  // Measured time at the last line.
};

}  // namespace plimsoll
