// Any text is read as a scenario: it ends in a scenario or in problems, never in a crash. What is
// accepted keeps the promises of its values.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "coordinator/scenario/scenario_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  plimsoll::Problems problems("fuzz.yaml");
  const plimsoll::Scenario scenario = plimsoll::ReadScenario(text, "folder", problems);
  if (!problems.ToStatus().ok()) return 0;
  const plimsoll::Sweep& sweep = scenario.sweep;
  const bool kept = !sweep.sessions.empty() && sweep.block > plimsoll::Duration::zero() &&
                    sweep.measure >= sweep.block &&
                    sweep.measure % sweep.block == plimsoll::Duration::zero() &&
                    !scenario.mix.empty() && !scenario.bar.limits.empty() &&
                    scenario.fleet.size() > 0 && !scenario.target.url.ends_with('/');
  if (!kept) std::abort();
  return 0;
}
