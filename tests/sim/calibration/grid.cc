#include "tests/sim/calibration/grid.h"

#include <atomic>
#include <thread>

namespace plimsoll {

std::vector<SimulatedCell> CellsOf(const GridOptions& options) {
  std::vector<SimulatedCell> cells;
  for (const std::uint32_t lanes : options.lanes) {
    for (const std::uint32_t blocks : options.blocks) {
      for (const int drift : options.drift_s) {
        for (const Mix mix : options.mixes) {
          cells.push_back({.lanes = lanes,
                           .blocks = blocks,
                           .block = FromSeconds(options.block_s),
                           .drift_time = FromSeconds(drift),
                           .mix = mix,
                           .load = options.load,
                           .refused = options.refused});
        }
      }
    }
  }
  return cells;
}

namespace {

// one(path, replicate) for each, by as many threads as asked for.
template <typename T, typename One>
std::vector<std::vector<T>> Cross(const GridOptions& options, const One& one) {
  std::vector<std::vector<T>> all(options.paths, std::vector<T>(options.replicates));
  std::atomic<std::uint64_t> next{0};
  const auto work = [&] {
    for (std::uint64_t i = next++; i < options.paths * options.replicates; i = next++) {
      const std::uint64_t path = i / options.replicates;
      const std::uint64_t replicate = i % options.replicates;
      all[path][replicate] = one(path + 1, replicate + 1);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < options.threads; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return all;
}

}  // namespace

Crossed SimulateCrossed(const SimulatedCell& cell, const GridOptions& options) {
  return Cross<SimulatedStep>(options, [&](std::uint64_t path, std::uint64_t replicate) {
    return Simulate(cell, path, replicate);
  });
}

CrossedSweeps SimulateCrossedSweeps(const SimulatedCell& cell,
                                    const std::vector<std::uint32_t>& sessions,
                                    const GridOptions& options) {
  return Cross<std::vector<SimulatedStep>>(options,
                                           [&](std::uint64_t path, std::uint64_t replicate) {
                                             return SimulateSweep(cell, sessions, path, replicate);
                                           });
}

std::vector<CellScores> Calibrate(const GridOptions& options,
                                  const std::function<void(const CellScores&)>& done) {
  std::vector<CellScores> all;
  for (const SimulatedCell& cell : CellsOf(options)) {
    const Crossed steps = SimulateCrossed(cell, options);
    CellScores scores{.cell = cell, .scores = {}};
    for (const CalibratedPart part : options.parts) {
      for (const PartScore& score : ScoreParts(steps, part,
                                               {.offs = options.offs,
                                               .quantile = options.quantile,
                                               .half_block = cell.block / 2,
                                               .counted = options.counted})) {
        scores.scores.push_back(score);
      }
    }
    done(scores);
    all.push_back(std::move(scores));
  }
  return all;
}

std::vector<PartScore> ScoresOf(
    const std::vector<CellScores>& cells,
    const std::function<bool(const SimulatedCell&, CalibratedPart)>& of) {
  std::vector<PartScore> scores;
  for (const CellScores& cell : cells) {
    for (const PartScore& score : cell.scores) {
      if (of(cell.cell, score.part)) scores.push_back(score);
    }
  }
  return scores;
}

}  // namespace plimsoll
