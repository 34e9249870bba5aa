// In what two runs differ, in words: what makes them impossible to compare, and what else stands
// between their recipes. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/report/comparison.h"

namespace plimsoll {

// Each as "another corpus (…, …)": corpus, mix, bar, replay settings, evals, measured time and
// blocks, warm-up, drain and prime limit, a call's own time limits, what happens between steps.
std::vector<std::string> LoadDifferences(const ComparedRun& a, const ComparedRun& b);

// What may be the cause of a difference, with how many things it is.
struct RecipeDifferences {
  std::size_t things = 0;
  std::vector<std::string> words;
};
// Recipe files (each key or hunk is a thing) or else its note, nodes, price of a node-hour, url,
// model, the target's headers, affinity and other request settings, which switches of the output's
// length preflight found honoured, replay, bar.
RecipeDifferences DifferencesOf(const ComparedRun& a, const ComparedRun& b);

}  // namespace plimsoll
