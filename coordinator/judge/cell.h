// A cell: what one lane's calls of one half of a block came to. Made by coordinator/ingest, kept by
// coordinator/store; evidence is the sum of a step's cells.
#pragma once

#include "common/stats/histogram.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

// Counts against the bar, and the distributions behind them (units as in StepEvidence).
struct Cell {
  CellCounts counts;
  Histogram ttft_ns;
  Histogram ttft_sent_ns;
  Histogram rate_mtok_s;
  Histogram end_to_end_rate_mtok_s;
  Histogram answer_ns;
  friend bool operator==(const Cell&, const Cell&) = default;

  bool empty() const {
    return counts.ttft_n + counts.rate_n + counts.rate_one_chunk + counts.answer_n +
               counts.attempts + counts.unsent ==
           0;
  }
};

}  // namespace plimsoll
