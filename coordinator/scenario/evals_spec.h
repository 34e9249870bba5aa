// The section `evals` of a scenario: which cases are asked beside the load, and how many.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/time.h"

namespace plimsoll {

struct EvalsSpec {
  // Of a set of ours the name: "basic"; else a file, as to be opened.
  std::string builtin = "basic";
  std::string file;                             // Empty: `builtin`.
  double share = 0.1;                           // Of all requests, 0.0001…0.2.
  std::uint32_t repeats = 1;                    // How often the mini run asks each case.
  Duration deadline = std::chrono::minutes(2);  // Of one eval.
  // Of the whole mini run: what was not answered by then is left out.
  Duration mini_run_limit = std::chrono::minutes(10);
  friend bool operator==(const EvalsSpec&, const EvalsSpec&) = default;
};

}  // namespace plimsoll
