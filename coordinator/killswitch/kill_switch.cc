#include "coordinator/killswitch/kill_switch.h"

#include <algorithm>

#include "common/base/text.h"
#include "coordinator/killswitch/kill_words.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// What cannot be read is said after so long: a single page that is missing is no news.
constexpr Duration kSilenceSaid = 10s;
constexpr Duration kWantedMax = 1min;
constexpr std::size_t kWhyBytes = 160;

bool IsCounted(KillSignal signal) {
  return signal == KillSignal::kCancellations || signal == KillSignal::kErrors;
}

bool ByDesign(Missing missing) {
  return missing == Missing::kByDesign || missing == Missing::kNotMapped;
}

// Which counter makes up all answers together with the errors, or by itself (requests).
std::optional<double> AnswersOf(const TargetReading& reading) {
  const SignalReading& errors = reading.Of(Signal::kErrors);
  for (const Signal good : {Signal::kAccepted, Signal::kFinished}) {
    const SignalReading& one = reading.Of(good);
    if (one.here() && one.moves == errors.moves) return one.increase + errors.increase;
  }
  const SignalReading& requests = reading.Of(Signal::kRequests);
  if (requests.here()) return requests.increase;
  return std::nullopt;
}

bool CountsAnswers(const Mapping& mapping) {
  return mapping.Find(Signal::kAccepted) != nullptr || mapping.Find(Signal::kFinished) != nullptr ||
         mapping.Find(Signal::kRequests) != nullptr;
}

std::string NameOf(const TargetSeries& target) {
  return fmt::format("{} of {}", Printable(target.name), target.source);
}

}  // namespace

bool Watches(const KillRule& rule, const TargetSeries& target) {
  if (rule.production != (target.source == kProductionSource)) return false;
  const SignalMapping* mapping = target.mapping->Find(SignalOfRule(rule.signal));
  if (mapping == nullptr) return false;
  return rule.signal != KillSignal::kErrors || CountsAnswers(*target.mapping);
}

KillSwitch::KillSwitch(KillSwitchSpec spec, MonoTime begun)
    : spec_(std::move(spec)), begun_(begun), wanted_from_(begun) {}

KillSwitch::Page& KillSwitch::PageOf(const TargetSeries& target) {
  const auto [found, is_new] = pages_.try_emplace({target.source, target.name});
  Page& page = found->second;
  if (!is_new) return page;
  page.read = begun_;
  for (std::size_t i = 0; i < spec_.rules.size(); ++i) {
    if (!Watches(spec_.rules[i], target)) continue;
    Track track;
    track.rule = i;
    track.had = begun_;
    page.tracks.push_back(std::move(track));
  }
  return page;
}

void KillSwitch::LoadBegins(MonoTime at) {
  if (load_) return;
  load_ = at;
  for (auto& [key, page] : pages_) {
    for (Track& track : page.tracks) {
      const KillRule& rule = spec_.rules[track.rule];
      const double seconds = ToSeconds(track.sum_before.to - track.sum_before.from);
      if (rule.signal == KillSignal::kCancellations && seconds > 0) {
        track.before = track.sum_before.part / seconds;
      } else if (rule.signal == KillSignal::kErrors && seconds > 0) {
        track.before = track.sum_before.all > 0 ? track.sum_before.part / track.sum_before.all : 0;
      }
      if (!rule.over_before || track.before) continue;
      news_.said.push_back(fmt::format(
          "kill switch: what {} of {} showed before the run is not known, so \"{}\" cannot trip "
          "there",
          key.second, key.first, KillRuleWords(rule)));
    }
  }
}

KillSwitch::News KillSwitch::OnPages(const SignalHistory& pages, MonoTime now) {
  if (tripped_) return {};
  MonoTime oldest = now;
  for (const TargetSeries& target : pages.targets) {
    Page& page = PageOf(target);
    if (page.tracks.empty()) continue;
    for (const TargetSample& sample : target.samples) {
      if (sample.at <= page.seen || tripped_) continue;
      page.seen = sample.at;
      Take(target, page, sample);
    }
    if (!tripped_) LookForSilence(target, page, now);
    oldest = std::min(oldest, std::max(page.seen, begun_));
  }
  wanted_from_ = std::max(oldest, now - kWantedMax);
  return std::exchange(news_, {});
}

void KillSwitch::Take(const TargetSeries& target, Page& page, const TargetSample& sample) {
  if (!sample.readable()) {
    page.gap = true;
    page.why = Printable(MessageOf(sample.status), kWhyBytes);
    return;
  }
  const std::string name = NameOf(target);
  const TargetReading now = ReadTarget(*target.mapping, std::span(&sample, 1));
  std::optional<TargetReading> step;
  if (page.last) {
    const std::vector<TargetSample> both = {*page.last, sample};
    step = ReadTarget(*target.mapping, both);
  }
  const Duration gap = page.gap ? sample.at - page.read : Duration{0};
  if (page.said) news_.said.push_back(fmt::format("kill switch: {} is read again", name));
  page.said = page.gap = false;
  page.why.clear();
  for (Track& track : page.tracks) {
    if (!tripped_) TakeValue(name, track, sample, now, step, gap);
  }
  page.read = sample.at;
  page.last = sample;
}

void KillSwitch::TakeValue(const std::string& name, Track& track, const TargetSample& sample,
                           const TargetReading& now, const std::optional<TargetReading>& step,
                           Duration gap) {
  const KillRule& rule = spec_.rules[track.rule];
  if (gap > rule.time) {
    track.since.reset();
    track.window.clear();
  }
  const bool counted = IsCounted(rule.signal);
  // A difference needs two pages: the first one says nothing yet.
  if (counted && !step) return;
  const SignalReading& value = (counted ? *step : now).Of(SignalOfRule(rule.signal));
  if (!value.here()) {
    track.why = value.why.empty() ? std::string(MissingWords(value.missing)) : value.why;
    track.since.reset();
    track.window.clear();
    // It is not on this kind of page at all, whatever the mapping promised.
    if (ByDesign(value.missing)) track.had = sample.at;
    return;
  }
  if (track.said) {
    news_.said.push_back(fmt::format("kill switch: {}: {} is there again", name,
                                     TraitsOf(SignalOfRule(rule.signal)).name));
  }
  track.said = false;
  track.why.clear();
  track.had = sample.at;
  if (counted) {
    TakeCounted(name, track, *step, step->first, step->last);
  } else {
    TakeGauge(name, track, value.gauge.last, sample.at);
  }
}

// Absent: it cannot trip now.
std::optional<double> KillSwitch::LimitOf(const Track& track) const {
  const KillRule& rule = spec_.rules[track.rule];
  if (!rule.over_before) return rule.over;
  if (!load_ || !track.before) return std::nullopt;
  return std::max(rule.over.value_or(KillFloor(rule.signal)), *rule.over_before * *track.before);
}

void KillSwitch::TakeGauge(const std::string& name, Track& track, double value, MonoTime at) {
  if (!UnderLoad(at)) track.before = std::max(track.before.value_or(value), value);
  const std::optional<double> limit = LimitOf(track);
  if (!limit || !(value > *limit)) {
    track.since.reset();
    return;
  }
  if (!track.since) track.since = at;
  if (at - *track.since < spec_.rules[track.rule].time) return;
  Trip(name, track, value, *limit, at - *track.since, "");
}

void KillSwitch::TakeCounted(const std::string& name, Track& track, const TargetReading& step,
                             MonoTime from, MonoTime to) {
  const KillRule& rule = spec_.rules[track.rule];
  // Counters that fell count from anew.
  if (step.continuity != Continuity::kWhole || to <= from) return track.window.clear();
  Counted counted{.from = from, .to = to, .part = step.Of(SignalOfRule(rule.signal)).increase};
  if (rule.signal == KillSignal::kErrors) {
    const std::optional<double> answers = AnswersOf(step);
    if (!answers) {
      track.why = "nothing counts its answers";
      return track.window.clear();
    }
    counted.all = *answers;
  }
  if (!UnderLoad(to)) {
    Counted& sum = track.sum_before;
    if (sum.to == MonoTime{}) sum.from = from;
    sum.to = to;
    sum.part += counted.part;
    sum.all += counted.all;
  }
  track.window.push_back(counted);
  while (track.window.size() > 1 && track.window[1].from <= to - rule.time) {
    track.window.pop_front();
  }
  const Duration held = to - track.window.front().from;
  const std::optional<double> limit = LimitOf(track);
  if (!limit || held < rule.time) return;
  double part = 0;
  double all = 0;
  for (const Counted& one : track.window) {
    part += one.part;
    all += one.all;
  }
  if (rule.signal == KillSignal::kCancellations) {
    const double rate = part / ToSeconds(held);
    if (rate > *limit) Trip(name, track, rate, *limit, held, "");
    return;
  }
  if (all < rule.least || !(part > *limit * all)) return;
  Trip(name, track, part / all, *limit, held,
       fmt::format(" ({:.0f} of {:.0f} answers)", part, all));
}

void KillSwitch::Trip(const std::string& name, const Track& track, double value, double limit,
                      Duration held, const std::string& more) {
  const KillRule& rule = spec_.rules[track.rule];
  std::string text =
      fmt::format("{}: {} {}{}, over {}", name, TraitsOf(SignalOfRule(rule.signal)).name,
                  KillValue(rule.signal, value), more, KillValue(rule.signal, limit));
  if (rule.over_before) {
    text += fmt::format(" ({} before the run)", KillValue(rule.signal, track.before.value_or(0)));
  }
  if (held > Duration{0}) text += fmt::format(", for {}", ShortTime(held));
  news_.reason = std::move(text);
  tripped_ = true;
}

void KillSwitch::LookForSilence(const TargetSeries& target, Page& page, MonoTime now) {
  const std::string name = NameOf(target);
  const std::string why = page.why.empty() ? "no page came" : page.why;
  const Duration silent = now - page.read;
  if (spec_.unread && silent >= *spec_.unread) {
    tripped_ = true;
    news_.reason =
        fmt::format("{}: its page could not be read for {} ({})", name, ShortTime(silent), why);
    return;
  }
  if (silent >= kSilenceSaid) {
    if (!std::exchange(page.said, true)) {
      news_.said.push_back(fmt::format(
          "warning: kill switch: {} cannot be read ({}): its rules cannot trip meanwhile", name,
          why));
    }
    return;
  }
  for (Track& track : page.tracks) {
    if (track.why.empty()) continue;
    const std::string_view what = TraitsOf(SignalOfRule(spec_.rules[track.rule].signal)).name;
    const Duration missing = now - track.had;
    if (spec_.unread && missing >= *spec_.unread) {
      tripped_ = true;
      news_.reason = fmt::format("{}: {} could not be read for {} ({})", name, what,
                                 ShortTime(missing), track.why);
      return;
    }
    if (missing < kSilenceSaid || std::exchange(track.said, true)) continue;
    news_.said.push_back(
        fmt::format("warning: kill switch: {}: {} cannot be read ({}): its rule cannot trip "
                    "meanwhile",
                    name, what, track.why));
  }
}

}  // namespace plimsoll
