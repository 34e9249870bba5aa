#include "coordinator/scenario/sweep_reader.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/base/limits.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Assigns what was read, if it was.
template <typename T, typename U>
void Take(const std::optional<T>& value, U& into) {
  if (value.has_value()) into = static_cast<U>(*value);
}

}  // namespace

void ReadSweep(FieldReader& top, Sweep& sweep) {
  if (!top.Require("sweep", "{sessions: [10, 15, 20], target: 15}")) return;
  std::optional<FieldReader> fields = top.Map("sweep");
  if (!fields.has_value()) return;
  if (fields->Require("sessions", "[10, 15, 20]")) {
    if (const auto counts = fields->Counts("sessions", 1, limits::kLanesMax)) {
      for (const std::uint64_t n : *counts) {
        sweep.sessions.push_back(static_cast<std::uint32_t>(n));
      }
    }
  }
  if (const auto target = fields->Count("target", 1, limits::kLanesMax)) {
    sweep.target = static_cast<std::uint32_t>(*target);
  }
  Take(fields->Time("warm_up"), sweep.warm_up);
  Take(fields->Time("measure"), sweep.measure);
  Take(fields->Time("block"), sweep.block);
  Take(fields->Time("drain_limit"), sweep.drain_limit);
  Take(fields->Time("prime_limit"), sweep.prime_limit);
  sweep.budget = fields->Time("budget");
  constexpr std::array<std::string_view, 2> kOffOn = {"off", "on"};
  if (const auto refine = fields->Choice("refine", kOffOn)) {
    sweep.refine = *refine == 1;
    if (sweep.refine && fields->Find("budget") == nullptr) {
      fields->Problem("refine",
                      "spends what is left of a budget; write e.g. budget: 90m beside it");
    }
  }
  Take(fields->Choice("extend", kOffOn), sweep.extend);
  Take(fields->Choice("fail_early", kOffOn), sweep.fail_early);
  constexpr std::array<std::string_view, 2> kBetween = {"keep", "drain"};
  if (const auto between = fields->Choice("between_steps", kBetween)) {
    sweep.drain_between_steps = *between == 1;
  }
  fields->Finish();
}

void ReadLadders(FieldReader& top, std::vector<TierPlan>& tier_ladders) {
  const std::optional<std::vector<std::string>> ladders = top.Texts("ladders");
  if (!ladders.has_value()) return;
  if (ladders->empty() || ladders->front() != "mix") {
    top.Problem("ladders",
                "must begin with mix, whose steps decide the target; write e.g. "
                "[mix, light]");
    return;
  }
  for (auto name = ladders->begin() + 1; name != ladders->end(); ++name) {
    const auto tier = std::find_if(kTierNames.begin(), kTierNames.end(),
                                   [&](const auto& known) { return known.first == *name; });
    if (tier == kTierNames.end()) {
      top.Problem(
          "ladders",
          fmt::format("lists '{}', after mix each must be one of light, mid, heavy", *name));
    } else if (std::find(ladders->begin(), name, *name) != name) {
      top.Problem("ladders", fmt::format("lists {} twice", *name));
    } else {
      tier_ladders.push_back({.name = *name, .tier = tier->second, .share = 0});
    }
  }
}

}  // namespace plimsoll
