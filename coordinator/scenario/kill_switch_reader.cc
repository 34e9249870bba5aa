#include "coordinator/scenario/kill_switch_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "common/config/quantities.h"
#include "coordinator/scenario/signals_reader.h"
#include "coordinator/scenario/url_form.h"
#include "coordinator/signals/step_readings.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr Duration kTimeMax = 1h;
constexpr Duration kWindowMin = 1s;
constexpr std::uint64_t kRequestsMax = 10'000'000;
constexpr double kTimesMax = 1000;

std::string_view ExampleOf(KillSignal signal) {
  switch (signal) {
    case KillSignal::kWaiting:
      return "200";
    case KillSignal::kOpenRequests:
      return "500";
    case KillSignal::kCancellations:
      return "5/s";
    case KillSignal::kErrors:
      return "20%";
    case KillSignal::kKvFill:
      return "98%";
  }
  return "";
}

// "3x" and "5/s": a plain decimal number above zero before the suffix.
std::optional<double> NumberBefore(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  text.remove_suffix(suffix.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

void ReadTimes(FieldReader& fields, std::string_view key, KillRule& rule) {
  const std::optional<std::string> text = fields.Text(key);
  if (!text) return;
  const std::optional<double> times = NumberBefore(*text, "x");
  if (times && *times >= 1 && *times <= kTimesMax) {
    rule.over_before = *times;
  } else {
    fields.Problem(key, fmt::format("is \"{}\", it must be from 1x to {:g}x the level before the "
                                    "run, write e.g. 3x",
                                    *text, kTimesMax));
  }
}

// A limit in the signal's unit.
void ReadLimit(FieldReader& fields, std::string_view key, KillRule& rule) {
  switch (rule.signal) {
    case KillSignal::kWaiting:
    case KillSignal::kOpenRequests:
      if (const auto count = fields.Count(key, 0, kRequestsMax)) {
        rule.over = static_cast<double>(*count);
      }
      return;
    case KillSignal::kErrors:
    case KillSignal::kKvFill:
      if (const auto share = fields.Share(key)) {
        rule.over = *share;
        if (*share >= 1) fields.Problem(key, "is 100%, which nothing exceeds, write less");
      }
      return;
    case KillSignal::kCancellations: {
      const std::optional<std::string> text = fields.Text(key);
      if (!text) return;
      rule.over = NumberBefore(*text, "/s");
      if (!rule.over) {
        fields.Problem(key, fmt::format("is \"{}\", it is a rate, write e.g. 5/s", *text));
      }
      return;
    }
  }
}

void ReadHold(FieldReader& fields, KillRule& rule) {
  const std::optional<Duration> time = fields.Time("for");
  if (!time) return;
  const bool window =
      rule.signal == KillSignal::kCancellations || rule.signal == KillSignal::kErrors;
  if (*time > kTimeMax || (window && *time < kWindowMin)) {
    fields.Problem("for",
                   fmt::format("is {}, it must be from {} to {}", PrintDuration(*time),
                               window ? PrintDuration(kWindowMin) : "0s", PrintDuration(kTimeMax)));
    return;
  }
  rule.time = *time;
}

void ReadRule(FieldReader& section, KillSignal signal, bool production,
              std::vector<KillRule>& rules) {
  const std::string_view key = kKillSignalKeys[static_cast<std::size_t>(signal)];
  const ConfigNode* node = section.Find(key);
  if (node == nullptr) return;
  KillRule rule{.production = production, .signal = signal, .time = KillTime(signal)};
  if (node->kind != ConfigNode::Kind::kMap) {
    // A limit alone.
    const bool times = node->kind == ConfigNode::Kind::kScalar && node->text.ends_with('x');
    times ? ReadTimes(section, key, rule) : ReadLimit(section, key, rule);
  } else {
    std::optional<FieldReader> fields = section.Map(key);
    if (!fields) return;
    ReadLimit(*fields, "over", rule);
    ReadTimes(*fields, "over_before", rule);
    ReadHold(*fields, rule);
    if (signal == KillSignal::kErrors) {
      if (const auto least = fields->Count("least", 1, kRequestsMax)) {
        rule.least = static_cast<std::uint32_t>(*least);
      }
    }
    if (fields->Find("over") == nullptr && fields->Find("over_before") == nullptr) {
      section.Problem(key, fmt::format("has no limit, write e.g. {{over: {}}} or "
                                       "{{over_before: 3x}}",
                                       ExampleOf(signal)));
    }
    fields->Finish();
  }
  if (rule.over || rule.over_before) rules.push_back(rule);
}

void ReadRules(FieldReader& section, bool production, std::vector<KillRule>& rules) {
  for (std::size_t i = 0; i < kKillSignals; ++i) {
    ReadRule(section, static_cast<KillSignal>(i), production, rules);
  }
}

bool AsksProduction(const std::optional<SignalsSpec>& signals) {
  if (!signals) return false;
  const auto is = [](const auto& one) { return one.source == kProductionSource; };
  return std::any_of(signals->targets.begin(), signals->targets.end(), is) ||
         (signals->prometheus && std::any_of(signals->prometheus->sources.begin(),
                                             signals->prometheus->sources.end(), is));
}

void ReadProduction(FieldReader& section, std::string_view folder, Problems& problems,
                    std::optional<SignalsSpec>& signals, std::vector<KillRule>& rules) {
  std::optional<FieldReader> fields = section.Map("production");
  if (!fields) return;
  SignalsSpec with = signals.value_or(SignalsSpec{.judge = JudgeMode::kClient});
  const std::size_t before = with.targets.size();
  ReadProductionPages(*fields, folder, problems, with);
  if (with.targets.size() > before) signals = std::move(with);
  ReadRules(*fields, true, rules);
  fields->Finish();
}

}  // namespace

void ReadKillSwitch(FieldReader& top, std::string_view folder, Problems& problems,
                    std::optional<SignalsSpec>& signals,
                    std::optional<KillSwitchSpec>& kill_switch) {
  std::optional<FieldReader> fields = top.Map("kill_switch");
  if (!fields) return;
  KillSwitchSpec spec;
  ReadRules(*fields, false, spec.rules);
  const bool candidate = !spec.rules.empty();
  ReadProduction(*fields, folder, problems, signals, spec.rules);
  const bool production = std::any_of(spec.rules.begin(), spec.rules.end(),
                                      [](const KillRule& rule) { return rule.production; });
  if (std::optional<FieldReader> unread = fields->Map("unread")) {
    if (unread->Require("for", "30s")) spec.unread = unread->Time("for");
    if (spec.unread && (*spec.unread < kWindowMin || *spec.unread > kTimeMax)) {
      unread->Problem("for",
                      fmt::format("is {}, it must be from {} to {}", PrintDuration(*spec.unread),
                                  PrintDuration(kWindowMin), PrintDuration(kTimeMax)));
    }
    unread->Finish();
  }
  if (const auto file = fields->Text("file")) spec.file = ResolvedPath(folder, *file);
  fields->Finish();
  if (!problems.Touches("kill_switch") && !problems.Touches("signals")) {
    if (spec.rules.empty() && spec.file.empty()) {
      top.Problem("kill_switch", "has no rule, write e.g. {waiting: 200} or {file: STOP}");
    }
    if (candidate && !(signals && signals->AsksCandidate())) {
      top.Problem("kill_switch",
                  "has rules on the candidate, and no page of it is read; name "
                  "its engines and gateway under signals");
    }
    if (production && !AsksProduction(signals)) {
      top.Problem("kill_switch.production",
                  "has rules, and no page of production is read; name them: {gateway: {url: …, "
                  "kind: envoy}, engines: […]}");
    }
  }
  kill_switch = std::move(spec);
}

}  // namespace plimsoll
