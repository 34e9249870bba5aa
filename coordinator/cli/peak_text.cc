#include "coordinator/cli/peak_text.h"

#include <chrono>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

std::uint64_t Unusable(const GaugeSummary& gauge) {
  return gauge.missing + gauge.not_numbers + gauge.negative;
}

std::string Gaps(const GaugeSummary& gauge) {
  std::string text = fmt::format("{} samples missing", gauge.missing);
  if (gauge.not_numbers > 0) text += fmt::format(", {} not a number", gauge.not_numbers);
  if (gauge.negative > 0) text += fmt::format(", {} below zero", gauge.negative);
  return text + fmt::format("; the longest gap {}: a busier minute may lie in one",
                            ShortTime(gauge.longest_gap));
}

std::string Pauses(const PeakLook& look) {
  if (look.think_time == ThinkTime::kNone) return "think time none";
  return fmt::format("think time recorded, at most {}", ShortTime(look.think_time_cap));
}

std::string Sessions(const PeakLook& look) {
  const MixInFlight& mix = *look.mix;
  const std::uint64_t sessions = SessionsFor(look.gauge.busiest->mean, mix);
  if (look.gauge.busiest->mean <= 0) return "none: nothing was in flight";
  if (sessions == 0) return "the corpus has no call that takes any time; nothing to compare with";
  std::string tiers;
  for (const MixInFlight::OfTier& tier : mix.tiers) {
    tiers += fmt::format("{}{:.0f}% {} {}", tiers.empty() ? "" : ", ", tier.share * 100, tier.name,
                         ThreeDigits(tier.mean));
  }
  return fmt::format("{} of this mix keep as many in flight on average: one keeps {} ({}; {})",
                     sessions, ThreeDigits(mix.mean), tiers, Pauses(look));
}

std::string Caveat(const PeakLook& look) {
  if (look.think_time == ThinkTime::kNone) {
    return "a replayed session never pauses unless think_time says so, and people do: so many "
           "replayed "
           "sessions stand for more people at work. A session's average is as recorded; a slower "
           "deployment changes it";
  }
  return "a replayed session pauses as its recording did, up to the cap; other people pause "
         "otherwise. "
         "A session's average is as recorded; a slower deployment changes it";
}

}  // namespace

std::string UtcText(WallTime at) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

std::string PeakText(const PeakLook& look) {
  const GaugeSummary& gauge = look.gauge;
  const std::uint64_t asked = gauge.points + Unusable(gauge);
  std::string text = LabelledLine("peak of", fmt::format("{} at {}", look.query, look.url));
  text += LabelledLine(
      "range", fmt::format("{} to {}, a sample each {}: {} of {}", UtcText(look.range.from),
                           UtcText(look.range.to), ShortTime(look.step), gauge.points, asked));
  if (Unusable(gauge) > 0) text += LabelledLine("gaps", Gaps(gauge));
  if (!gauge.busiest) return text + LabelledLine("busiest", WhyNoPeak(look));
  text += LabelledLine(
      "busiest", fmt::format("{} requests in flight, mean of {} from {} ({} over the whole range)",
                             ThreeDigits(gauge.busiest->mean), ShortTime(gauge.busiest->length),
                             UtcText(gauge.busiest->from), ThreeDigits(gauge.mean)));
  if (!look.mix) {
    return text + LabelledLine("sessions",
                               "name a --scenario or a --corpus to see how many sessions that is");
  }
  text += LabelledLine("sessions", Sessions(look));
  text += LabelledLine("caveat", Caveat(look));
  return text;
}

std::string WhyNoPeak(const PeakLook& look) {
  const GaugeSummary& gauge = look.gauge;
  if (gauge.points == 0 && gauge.not_numbers == 0 && gauge.negative == 0) {
    return fmt::format(
        "the query finds nothing between {} and {}: {}; look at the metric's name, the range and "
        "how "
        "long Prometheus keeps samples",
        UtcText(look.range.from), UtcText(look.range.to), Printable(look.query));
  }
  if (gauge.points == 0) {
    return fmt::format(
        "the query gives no number of requests: {} of its samples are not a number, {} "
        "below zero; ask for a gauge",
        gauge.not_numbers, gauge.negative);
  }
  return fmt::format(
      "no minute is whole: {} samples of {}; take a longer range, or a --step at which "
      "Prometheus has every sample",
      gauge.points, gauge.points + Unusable(gauge));
}

}  // namespace plimsoll
