#include "coordinator/scrape/source_findings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/signals/buckets.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Pages that cannot be read are said one by one up to here.
constexpr std::size_t kSilentSaid = 16;

// What a limit is judged from, best first.
struct Wanted {
  std::vector<Signal> any;  // One of them is enough.
  std::vector<std::string_view> sources;
};

// Nothing: no server has such a number.
std::optional<Wanted> WantedFor(const Limit& limit) {
  const std::vector<std::string_view> engines_first = {kEnginesSource, kGatewaySource};
  switch (limit.metric) {
    case Metric::kTtft:
      return Wanted{{Signal::kTtft}, engines_first};
    case Metric::kInteractivity:
      return Wanted{{Signal::kTimePerToken, Signal::kTokenGap}, engines_first};
    case Metric::kErrors:
      return Wanted{{Signal::kErrors}, {kGatewaySource, kEnginesSource}};
    case Metric::kToolCalls:
    case Metric::kEndToEndInteractivity:
    case Metric::kGoodput:
      break;
  }
  return std::nullopt;
}

const TargetSample* LastOf(const TargetSeries& target) {
  return target.samples.empty() ? nullptr : &target.samples.back();
}

bool Answers(const TargetSeries& target) {
  const TargetSample* last = LastOf(target);
  return last != nullptr && last->readable();
}

std::string WhyNot(const TargetSeries& target) {
  const TargetSample* last = LastOf(target);
  if (last == nullptr) return "it has not answered yet";
  return Printable(MessageOf(last->status));
}

std::string NameOf(const TargetSeries& target) {
  return fmt::format("{} of {} (kind {})", Printable(target.name), target.source,
                     target.mapping->kind);
}

// Where a signal stands on a target's last page; null: nowhere.
struct Place {
  const SignalMapping* mapping = nullptr;
  const Selection::Entry* entry = nullptr;

  bool here() const {
    return entry != nullptr && (entry->missing == Missing::kNot ||
                                (entry->missing == Missing::kNoSeries && mapping->lazy));
  }
};

Place PlaceOf(const TargetSeries& target, Signal signal) {
  const std::vector<SignalMapping>& signals = target.mapping->signals;
  const auto found = std::find_if(signals.begin(), signals.end(), [signal](const auto& mapping) {
    return mapping.signal == signal;
  });
  if (found == signals.end()) return {};
  return {&*found,
          &LastOf(target)->selection->entries()[static_cast<std::size_t>(found - signals.begin())]};
}

std::string WhyMissing(const TargetSeries& target, Signal signal) {
  const Place place = PlaceOf(target, signal);
  if (place.entry != nullptr) return std::string(MissingWords(place.entry->missing));
  const std::string* because = target.mapping->WhyAbsent(signal);
  return because != nullptr ? *because : std::string(MissingWords(Missing::kNotMapped));
}

bool HasAny(const TargetSeries& target, const std::vector<Signal>& signals) {
  return Answers(target) && std::any_of(signals.begin(), signals.end(), [&](Signal signal) {
           return PlaceOf(target, signal).here();
         });
}

// "engines: 2 pages are read (vllm): engine-0:8000, engine-1:8000".
void SayWhoAnswers(const SignalHistory& history, std::vector<Finding>& findings) {
  std::vector<std::pair<std::string, std::vector<std::string>>> read;
  for (const TargetSeries& target : history.targets) {
    if (!Answers(target)) continue;
    const std::string what = fmt::format("{} (kind {})", target.source, target.mapping->kind);
    if (read.empty() || read.back().first != what) read.push_back({what, {}});
    read.back().second.push_back(Printable(target.name));
  }
  for (const auto& [what, names] : read) {
    findings.push_back(
        {FindingLevel::kOk,
         fmt::format("signals of {}: {} {} read: {}", what, names.size(),
                     names.size() == 1 ? "page is" : "pages are", fmt::join(names, ", "))});
  }
}

// A source whose pages the bar's limits are judged from, in `mode`.
bool IsNeeded(std::string_view source, const SignalHistory& history, const Bar& bar) {
  return std::any_of(bar.limits.begin(), bar.limits.end(), [&](const Limit& limit) {
    const std::optional<Wanted> wanted = WantedFor(limit);
    if (!wanted.has_value()) return false;
    // The first source that there is a target of: the next one only stands in for a signal that is
    // missing there.
    for (const std::string_view one : wanted->sources) {
      const bool there =
          std::any_of(history.targets.begin(), history.targets.end(),
                      [one](const TargetSeries& target) { return target.source == one; });
      if (there) return one == source;
    }
    return false;
  });
}

void SayWhoDoesNot(const SignalHistory& history, const Bar& bar, JudgeMode mode,
                   std::vector<Finding>& findings) {
  std::size_t said = 0;
  std::size_t silent = 0;
  for (const TargetSeries& target : history.targets) {
    if (Answers(target)) continue;
    const bool blocks = mode == JudgeMode::kServer && IsNeeded(target.source, history, bar);
    // One that blocks is said whatever came before it.
    if (said >= kSilentSaid && !blocks) {
      ++silent;
      continue;
    }
    ++said;
    findings.push_back({blocks ? FindingLevel::kBlocking : FindingLevel::kWarning,
                        fmt::format("the page of {} cannot be read: {}{}", NameOf(target),
                                    WhyNot(target), blocks ? "; judge: server needs it" : "")});
  }
  if (silent > 0) {
    findings.push_back(
        {FindingLevel::kWarning, fmt::format("{} more pages cannot be read", silent)});
  }
}

void SayWhatIsMissing(const SignalHistory& history, const Limit& limit, JudgeMode mode,
                      std::vector<Finding>& findings) {
  const std::optional<Wanted> wanted = WantedFor(limit);
  if (!wanted.has_value() || !limit.tier.empty()) {
    if (mode == JudgeMode::kClient) return;
    const bool blocks = mode == JudgeMode::kServer;
    findings.push_back(
        {blocks ? FindingLevel::kBlocking : FindingLevel::kWarning,
         fmt::format("{}: no server's numbers say it{}{}", PartName(limit),
                     limit.tier.empty() ? "" : ", since they do not tell tiers apart",
                     blocks ? "; clients alone can judge it: use judge: both" : "")});
    return;
  }
  std::vector<std::string> why;
  for (const std::string_view source : wanted->sources) {
    bool all = true;
    bool any = false;
    for (const TargetSeries& target : history.targets) {
      if (target.source != source || !Answers(target)) continue;
      any = true;
      if (HasAny(target, wanted->any)) continue;
      all = false;
      why.push_back(fmt::format("{}: {}", NameOf(target), WhyMissing(target, wanted->any.front())));
    }
    if (any && all) return;
  }
  const bool blocks = mode == JudgeMode::kServer;
  const std::string reasons = why.empty() ? std::string("no page that may have it is read")
                                          : fmt::format("{}", fmt::join(why, "; "));
  findings.push_back({blocks ? FindingLevel::kBlocking : FindingLevel::kWarning,
                      fmt::format("{}: no source has it whole: {}{}", PartName(limit), reasons,
                                  blocks ? "; judge: server needs it" : "")});
}

// Each list of edges once, in the unit of the signal.
std::vector<std::vector<double>> EdgesOf(const TargetSeries& target, Signal signal) {
  std::vector<std::vector<double>> lists;
  if (!Answers(target)) return lists;
  const Place place = PlaceOf(target, signal);
  if (place.entry == nullptr || place.entry->missing != Missing::kNot) return lists;
  for (const Selection::Child& child : place.entry->children) {
    std::vector<double> edges = child.edges;
    for (double& edge : edges) edge *= place.mapping->scale;
    const bool known = std::any_of(lists.begin(), lists.end(),
                                   [&edges](const auto& list) { return SameEdges(list, edges); });
    if (!known) lists.push_back(std::move(edges));
  }
  return lists;
}

std::string DecidabilityOf(const Limit& limit, Signal signal, const std::vector<double>& edges) {
  const bool rate = limit.metric == Metric::kInteractivity;
  std::string words = DecidabilityWords(edges, rate ? 1 / limit.value : limit.value, limit.quantile,
                                        rate ? "tok/s" : "s", rate);
  if (words.empty()) words = fmt::format("{} is an edge, so it can be decided", LimitText(limit));
  if (signal == Signal::kTokenGap) {
    words += " (these are gaps between tokens: their percentile is not that of the requests)";
  }
  return words;
}

}  // namespace

std::vector<Finding> SourceFindings(const SignalHistory& history, const Bar& bar, JudgeMode mode) {
  std::vector<Finding> findings;
  SayWhoAnswers(history, findings);
  SayWhoDoesNot(history, bar, mode, findings);
  // Production's pages alone are read for the kill switch, and judge nothing.
  const bool judged = mode != JudgeMode::kClient ||
                      std::any_of(history.targets.begin(), history.targets.end(),
                                  [](const auto& t) { return t.source != kProductionSource; });
  for (const Limit& limit : bar.limits) {
    if (judged) SayWhatIsMissing(history, limit, mode, findings);
  }
  if (history.targets.empty()) {
    findings.push_back(
        {mode == JudgeMode::kServer ? FindingLevel::kBlocking : FindingLevel::kWarning,
         "no server's page was found: nothing is known but what clients see"});
  }
  return findings;
}

std::vector<std::string> DecidabilityLines(const SignalHistory& history, const Bar& bar) {
  std::vector<std::string> lines;
  for (const Limit& limit : bar.limits) {
    if (!limit.tier.empty() || limit.value <= 0) continue;
    if (limit.metric != Metric::kTtft && limit.metric != Metric::kInteractivity) continue;
    const std::vector<Signal> signals = WantedFor(limit)->any;
    for (const TargetSeries& target : history.targets) {
      if (target.source == kProductionSource) continue;
      for (const Signal signal : signals) {
        const auto lists = EdgesOf(target, signal);
        for (const std::vector<double>& edges : lists) {
          std::string line =
              fmt::format("{} by {} (kind {}): {}", PartName(limit), target.source,
                          target.mapping->kind, DecidabilityOf(limit, signal, edges));
          // Copies of one engine say the same.
          if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
            lines.push_back(std::move(line));
          }
        }
        if (!lists.empty()) break;  // The first that is there counts.
      }
    }
  }
  return lines;
}

}  // namespace plimsoll
