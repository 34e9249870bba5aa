// How right the judge is, on the simulated engine: coverage, width, wrong and undecided verdicts
// over the grid of docs/statistics.md. Seeds are fixed by path and replicate: equal options, equal
// output.
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/sim/calibration/grid.h"
#include "tests/sim/calibration/score_look.h"

namespace plimsoll {
namespace {

void PrintHeader() {
  std::printf("%5s %6s %7s %-5s %-13s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %8s %11s %6s\n",
              "lanes", "blocks", "drift s", "mix", "part", "off %", "steps", "nodata", "cov %",
              "2se", "long %", "ratio", "wrong%", "2se", "close%", "fail %", "oracle %",
              "value cov %", "open %");
}

// Errors have no percentile.
std::string OfValue(CalibratedPart part, double share) {
  return part == CalibratedPart::kErrors ? "-" : fmt::format("{:.1f}", share * 100);
}

void Print(const CellScores& cell) {
  for (const PartScore& s : cell.scores) {
    std::printf(
        "%5u %6u %7.0f %-5s %-13s %+6.0f %6llu %6llu %6.1f %6.1f %6.1f %6.2f %6.1f %6.1f "
        "%6.0f %6.1f %8.1f %11s %6s\n",
        cell.cell.lanes, cell.cell.blocks, ToSeconds(cell.cell.drift_time), Name(cell.cell.mix),
        Name(s.part), s.off * 100, static_cast<unsigned long long>(s.steps),
        static_cast<unsigned long long>(s.no_data), s.covered * 100, s.covered_error * 200,
        s.covered_long_run * 100, s.ratio(), s.confident_wrong * 100, s.confident_wrong_error * 200,
        s.too_close * 100, s.failed * 100, s.oracle_failed * 100,
        OfValue(s.part, s.value_covered).c_str(), OfValue(s.part, s.value_open).c_str());
  }
  std::fflush(stdout);
}

void PrintPooled(const std::string& name, const std::vector<PartScore>& scores) {
  const Pooled p = Pool(scores);
  if (p.steps == 0) return;
  std::printf(
      "| %s | %.1f%% | %.1f%% | %.2f | %.2f | %.1f%% | %.1f%% | %.0f%% | %.1f%% | %.1f%% | %.1f%% "
      "| %.0f%% | "
      "%llu |\n",
      name.c_str(), p.covered * 100, p.covered_worst * 100, p.ratio_median, p.ratio_worst,
      p.confident_wrong * 100, p.confident_wrong_worst * 100, p.too_close * 100,
      p.covered_long_run * 100, p.value_covered * 100, p.value_covered_worst * 100,
      p.value_open * 100, static_cast<unsigned long long>(p.steps));
}

void PrintSummary(const GridOptions& options, const std::vector<CellScores>& cells) {
  std::printf(
      "\n| cells | covered | worst cell | width ÷ oracle's, median | widest cell | confident "
      "and wrong | worst cell | too close | covers the long run | value cov | worst cell | an end "
      "open | "
      "steps |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const CalibratedPart part : options.parts) {
    const std::string name = Name(part);
    const auto row = [&](const std::string& what, auto of) {
      PrintPooled(name + ", " + what,
                  ScoresOf(cells, [&](const SimulatedCell& c, CalibratedPart p) {
                    return p == part && of(c);
                  }));
    };
    row("all", [](const SimulatedCell&) { return true; });
    for (const std::uint32_t n : options.lanes) {
      row(std::to_string(n) + " lanes", [n](const SimulatedCell& c) { return c.lanes == n; });
    }
    for (const std::uint32_t n : options.blocks) {
      row(std::to_string(n) + " blocks", [n](const SimulatedCell& c) { return c.blocks == n; });
    }
    for (const int s : options.drift_s) {
      row("drift " + std::to_string(s) + " s",
          [s](const SimulatedCell& c) { return c.drift_time == FromSeconds(s); });
    }
    for (const Mix mix : options.mixes) {
      row(Name(mix), [mix](const SimulatedCell& c) { return c.mix == mix; });
    }
  }
  PrintPooled("all parts",
              ScoresOf(cells, [](const SimulatedCell&, CalibratedPart) { return true; }));
}

// What was asked for of the grid, each with two Monte Carlo standard errors; whether all of it is
// met. What is not is named.
bool PrintGoals(const std::vector<CellScores>& cells) {
  const Pooled all =
      Pool(ScoresOf(cells, [](const SimulatedCell&, CalibratedPart) { return true; }));
  std::printf(
      "\nasked for: covered 93%%, 90%% in each cell; width 1.3 times the oracle's in the "
      "median, 1.7 in each cell; wrong 2.5%%, 5%% in each cell\n");
  std::uint64_t misses = 0;
  const auto miss = [&](bool missed, const std::string& what) {
    if (!missed) return;
    ++misses;
    std::printf("missed: %s\n", what.c_str());
  };
  miss(all.covered < 0.93, fmt::format("covered {:.1f}%", all.covered * 100));
  miss(all.ratio_median > 1.3, fmt::format("width {:.2f} in the median", all.ratio_median));
  miss(all.confident_wrong > 0.025, fmt::format("wrong {:.1f}%", all.confident_wrong * 100));
  for (const CellScores& cell : cells) {
    for (const PartScore& s : cell.scores) {
      if (s.steps == 0) continue;
      const std::string where = fmt::format(
          "{} lanes, {} blocks, drift {} s, {}, {}, {:+.0f}%", cell.cell.lanes, cell.cell.blocks,
          ToSeconds(cell.cell.drift_time), Name(cell.cell.mix), Name(s.part), s.off * 100);
      miss(s.covered + 2 * s.covered_error < 0.9,
           fmt::format("{}: covered {:.1f}%", where, s.covered * 100));
      miss(s.ratio() - 2 * s.ratio_error() > 1.7,
           fmt::format("{}: width {:.2f}", where, s.ratio()));
      miss(s.confident_wrong - 2 * s.confident_wrong_error > 0.05,
           fmt::format("{}: wrong {:.1f}%", where, s.confident_wrong * 100));
    }
  }
  if (misses == 0) std::printf("all of it is met\n");
  return misses == 0;
}

std::string Word(const std::optional<CapacityEnd>& end) {
  if (!end) return "–";
  const char* open = end->kind == CapacityEnd::Kind::kBelow     ? "< "
                     : end->kind == CapacityEnd::Kind::kAtLeast ? "≥ "
                                                                : "";
  return fmt::format("{}{:.1f}", open, end->sessions);
}

// Whole sweeps, with the long run's crossing at and between steps, under the first and over the
// last.
void CalibrateSweeps(const GridOptions& options) {
  const std::vector<std::uint32_t> sessions{5, 10, 15, 20, 30, 40};
  const std::vector<std::uint32_t> fine_sessions{5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                 16, 17, 18, 19, 20, 22, 25, 28, 30, 35, 40};
  GridOptions fewer = options;  // All paths count for the long run, replicates less.
  fewer.replicates = std::max<std::uint64_t>(2, options.replicates / 2);
  std::printf(
      "\nsweeps over 5, 10, 15, 20, 30, 40 sessions, 5 blocks, on an engine for 20 lanes\n");
  std::printf(
      "| mix | drift | long run crosses at | … on a fine grid | covered | ± 2 SE | low end open | "
      "high end open | both closed | … covered | … width | mean truth | limiting part named | "
      "covers the long run | sweeps | without capacity |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  double covered = 0;
  double sweeps = 0;
  double closed = 0;
  double closed_covered = 0;
  for (const Mix mix : options.mixes) {
    for (const int drift : options.drift_s) {
      const SimulatedCell cell{.lanes = 20,
                               .blocks = 5,
                               .drift_time = FromSeconds(drift),
                               .mix = mix,
                               .load = options.load};
      const CrossedSweeps all = SimulateCrossedSweeps(cell, sessions, options);
      const CrossedSweeps fine = SimulateCrossedSweeps(cell, fine_sessions, fewer);
      for (const double place : {0.1, 0.4, 0.5, 0.8}) {
        const Bar bar = SweepBar(all, place);
        const SweepScore s = ScoreSweep(all, sessions, bar);
        std::printf(
            "| %s | %d s | %s | %s | %.1f%% | %.1f%% | %.0f%% | %.0f%% | %llu | %.1f%% | %.1f | "
            "%.1f | %.0f%% | %.1f%% | %llu | %llu |\n",
            Name(mix), drift, Word(s.at).c_str(),
            Word(LongRunCrossing(fine, fine_sessions, bar)).c_str(), s.covered * 100,
            s.covered_error * 200, s.open_below * 100, s.open_above * 100,
            static_cast<unsigned long long>(s.closed), s.closed_covered * 100, s.width_sessions,
            s.truth_mean, s.named * 100, s.covered_long_run * 100,
            static_cast<unsigned long long>(s.sweeps), static_cast<unsigned long long>(s.none));
        std::fflush(stdout);
        covered += s.covered * static_cast<double>(s.sweeps);
        sweeps += static_cast<double>(s.sweeps);
        closed += static_cast<double>(s.closed);
        closed_covered += s.closed_covered * static_cast<double>(s.closed);
      }
    }
  }
  std::printf(
      "all: the interval contains the truth in %.1f%% of %.0f, with both ends closed in %.1f%% "
      "of %.0f\n",
      100 * covered / std::max(1.0, sweeps), sweeps, 100 * closed_covered / std::max(1.0, closed),
      closed);
}

// Failing early: of steps whose window is twice as bad as the limit, and of such as lie inside it.
void CalibrateLooks(const GridOptions& options) {
  std::printf("%5s %6s %7s %-5s %-13s %6s %6s %7s %5s %7s %7s %5s  %s\n", "lanes", "blocks",
              "drift s", "mix", "part", "over", "steps", "ended %", "2se", "missed%", "saved %",
              "2se", "ended after each block, %");
  struct Sum {
    double ended = 0;
    double missed = 0;
    double saved = 0;
    double steps = 0;
  };
  std::map<double, Sum> sums;
  for (const SimulatedCell& cell : CellsOf(options)) {
    const Crossed steps = SimulateCrossed(cell, options);
    for (const CalibratedPart part : options.parts) {
      for (const double over : options.overs) {
        const LookScore s = ScoreLooks(steps, cell, part, over);
        std::printf("%5u %6u %7.0f %-5s %-13s %6.2f %6llu %7.1f %5.1f %7.1f %7.1f %5.1f ",
                    cell.lanes, cell.blocks, ToSeconds(cell.drift_time), Name(cell.mix),
                    Name(s.part), s.over, static_cast<unsigned long long>(s.steps), s.ended * 100,
                    s.ended_error * 200, s.missed * 100, s.saved * 100, s.saved_error * 200);
        for (const double share : s.ended_after) std::printf(" %.1f", share * 100);
        std::printf("\n");
        std::fflush(stdout);
        Sum& sum = sums[over];
        sum.ended += s.ended * static_cast<double>(s.steps);
        sum.missed += s.missed * static_cast<double>(s.steps);
        sum.saved += s.saved * s.missed * static_cast<double>(s.steps);
        sum.steps += static_cast<double>(s.steps);
      }
    }
  }
  for (const auto& [over, sum] : sums) {
    std::printf(
        "%.2f times the limit: %.1f%% of %.0f steps ended early, %.1f%% missed, %.1f%% of their "
        "time saved\n",
        over, 100 * sum.ended / sum.steps, sum.steps, 100 * sum.missed / sum.steps,
        100 * sum.saved / std::max(1.0, sum.missed));
  }
}

int Main(int argc, char** argv) {
  GridOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  CLI::App app(
      "How right the judge's intervals are on the simulated engine, whose truth is known.");
  bool errors = false;
  bool sweeps = false;
  bool looks = false;
  bool servers = false;
  app.add_flag("--servers", servers,
               "Calls known in total by block alone, as a server's histogram has them");
  bool goals = false;
  app.add_flag("--goals", goals, "Exit code 1 where what was asked for of the grid is missed");
  app.add_flag("--errors", errors, "The errors part, 2% of the calls refused");
  app.add_flag("--sweeps", sweeps,
               "Whole sweeps: how often the capacity's interval holds the truth");
  app.add_flag("--looks", looks, "Failing early: what it saves, and how often it is wrong");
  app.add_option("--over", options.overs, "With --looks: the window's value ÷ the limit")
      ->delimiter(',');
  app.add_option("--lanes", options.lanes, "Lanes")->delimiter(',');
  app.add_option("--blocks", options.blocks, "Blocks")->delimiter(',');
  app.add_option("--block", options.block_s, "Length of a block, seconds")
      ->check(CLI::Range(0.5, 3600.0))
      ->capture_default_str();
  app.add_option("--quantile", options.quantile, "Of the limits")
      ->check(CLI::Range(0.01, 0.999))
      ->capture_default_str();
  app.add_option("--drift", options.drift_s, "Time constant of the engine's drift, seconds")
      ->delimiter(',');
  app.add_option("--off", options.offs, "How much worse than the limit the long run is, as a share")
      ->delimiter(',');
  app.add_option("--load", options.load, "Lanes for each share of the engine")
      ->capture_default_str();
  app.add_option("--paths", options.paths, "Paths of the engine's drift")->capture_default_str();
  app.add_option("--replicates", options.replicates, "Replicates on each path")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads")->capture_default_str();
  std::vector<std::string> mixes;
  app.add_option("--mix", mixes, "light, mix, heavy")
      ->delimiter(',')
      ->check(CLI::IsMember({"light", "mix", "heavy"}));
  CLI11_PARSE(app, argc, argv);
  if (!mixes.empty()) options.mixes.clear();
  for (const std::string& name : mixes) {
    options.mixes.push_back(name == "light" ? Mix::kLight
                            : name == "mix" ? Mix::kMix
                                            : Mix::kHeavy);
  }
  if (servers) options.counted = CountedBy::kBlocks;
  if (errors) {
    options.parts = {CalibratedPart::kErrors};
    options.refused = 0.02;
  }
  if (options.paths < 2 || options.replicates < 2) {
    std::fprintf(stderr, "--paths and --replicates: at least 2, the others are the truth\n");
    return 64;
  }
  std::printf("%llu paths x %llu replicates a cell, load %g, P%g, blocks of %g s\n",
              static_cast<unsigned long long>(options.paths),
              static_cast<unsigned long long>(options.replicates), options.load,
              options.quantile * 100, options.block_s);
  if (sweeps) {
    CalibrateSweeps(options);
    return 0;
  }
  if (looks) {
    CalibrateLooks(options);
    return 0;
  }
  PrintHeader();
  const std::vector<CellScores> cells = Calibrate(options, Print);
  PrintSummary(options, cells);
  return !goals || PrintGoals(cells) ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  return plimsoll::Main(argc, argv);
}
