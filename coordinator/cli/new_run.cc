#include "coordinator/cli/new_run.h"

#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/rng.h"
#include "common/base/version.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/report/run_report.h"

namespace plimsoll {

RunInfo NewRun(const LoadedScenario& loaded, std::optional<std::uint64_t> nonce, const Clock& clock,
               const RunRepo& repo) {
  RunInfo info;
  const std::string id = MakeRunId(clock.WallNow(), loaded.scenario.name);
  info.id = id;
  // Runs that preflight blocks take less than the second that tells ids apart.
  for (int n = 2; repo.GetRun(info.id).ok(); ++n) info.id = fmt::format("{}-{}", id, n);
  info.name = loaded.scenario.name;
  info.scenario_text = loaded.text;
  info.scenario_digest = Sha256Hex(loaded.text);
  info.seed = loaded.scenario.seed;
  // Another one for each run, so that nothing hits a cache that real traffic would miss.
  info.nonce =
      nonce.value_or(MixKey(static_cast<std::uint64_t>(clock.WallNow().time_since_epoch().count()),
                            static_cast<std::uint64_t>(getpid())));
  info.corpus_digest = loaded.corpus_digest;
  info.started = clock.WallNow();
  info.bar = loaded.scenario.bar;
  info.cost = CostOf(loaded.scenario);
  info.plimsoll_version = kVersion;
  return info;
}

}  // namespace plimsoll
