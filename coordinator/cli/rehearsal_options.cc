#include "coordinator/cli/rehearsal_options.h"

#include <CLI/CLI.hpp>

#include "common/base/time.h"
#include "common/plan/liveness.h"

namespace plimsoll {

void AddRehearsalOptions(CLI::App& app, RehearsalSettings* settings) {
  app.add_option("--rehearse-liveness", settings->liveness_percent)
      ->check(CLI::Range(kLivenessPercentMin, kLivenessPercentMax))
      ->group("");
  // A century on either side is further than any rehearsal, and within what nanoseconds hold.
  constexpr std::int64_t kSecondsMax = 100ll * 365 * 86'400;
  app.add_option("--rehearse-wall-from", settings->wall_from_s)
      ->check(CLI::Range(std::int64_t{0}, kSecondsMax))
      ->group("");
  app.add_option_function<std::int64_t>(
         "--rehearse-wall-step",
         [settings](std::int64_t seconds) { settings->wall_step = std::chrono::seconds(seconds); })
      ->check(CLI::Range(-kSecondsMax, kSecondsMax))
      ->group("");
  app.add_option("--rehearse-wall-step-file", settings->wall_step_file)->group("");
}

}  // namespace plimsoll
