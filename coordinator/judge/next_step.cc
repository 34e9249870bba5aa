// The sweep's next step: NextStep of sweep_policy.h.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/capacity_words.h"
#include "coordinator/judge/sweep_policy.h"

namespace plimsoll {
namespace {

using Kind = SweepDecision::Kind;

bool LeansToPass(const StepVerdict& step) {
  return LeanOf(step) == Lean::kPass;
}

// A step that is no reason to go on to more sessions.
bool EndsClimb(const StepVerdict& step) {
  return step.verdict == Verdict::kFail ||
         (step.verdict == Verdict::kTooClose && !LeansToPass(step));
}

// "10 sessions miss (9.7 requests in flight): TTFT"
std::string WordsOf(const StepResult& step) {
  const std::uint32_t n = step.sessions;
  const std::string in_flight = InFlightWords(step.known_in_flight());
  switch (step.verdict.verdict) {
    case Verdict::kPass:
      return fmt::format("{} sessions hold{}", n, in_flight);
    case Verdict::kFail:
      return fmt::format("{} sessions miss{}: {}", n, in_flight,
                         PartsWith(step.verdict, Verdict::kFail));
    case Verdict::kTooClose:
      return fmt::format("{} sessions are too close to call, leaning {}{}", n,
                         LeansToPass(step.verdict) ? "pass" : "fail", in_flight);
    case Verdict::kNoData:
      break;
  }
  return fmt::format("{} sessions gave no data: {}", n, FirstReason(step.verdict));
}

const char* WordsOf(SweepEvent event) {
  switch (event) {
    case SweepEvent::kKvCacheFull:
      return "the KV cache is full";
    case SweepEvent::kRefusals:
      return "refusals go on and on";
    case SweepEvent::kKillSwitch:
      return "the kill switch tripped";
    case SweepEvent::kNone:
      break;
  }
  return "stopped";
}

class Policy {
 public:
  Policy(const SweepHistory& history, const SweepRules& rules)
      : history_(history), rules_(rules), decided_(DecidedSteps(history)) {}

  SweepDecision Next() const {
    if (history_.empty()) return Climb(0, "nothing was run yet");
    const StepResult& now = Decided(history_.back().sessions);
    if (now.verdict.verdict == Verdict::kNoData) return RepeatOrStop(now);
    const std::string words = WordsOf(now);
    if (now.verdict.verdict == Verdict::kTooClose && rules_.extend && !Extended(now.sessions)) {
      const Duration needed = rules_.extension_time + rules_.reserved + ToTarget(now.sessions);
      if (Fits(needed)) return Extend(now, words);
      return AsItLeans(now, words + TooLittleFor("more of it"));
    }
    return AsItLeans(now, words + ExtensionWords(now));
  }

 private:
  const StepResult& Decided(std::uint32_t sessions) const {
    return *std::find_if(decided_.begin(), decided_.end(),
                         [&](const StepResult& step) { return step.sessions == sessions; });
  }
  bool Extended(std::uint32_t sessions) const {
    return std::any_of(history_.begin(), history_.end(), [&](const StepResult& step) {
      return step.sessions == sessions && step.origin.kind == StepKind::kExtension;
    });
  }
  bool Fits(Duration needed) const { return !rules_.left || needed <= *rules_.left; }
  // "; 8m are left of the budget, too little for more of it"
  std::string TooLittleFor(std::string_view what) const {
    const Duration left = std::max(Duration{0}, rules_.left.value_or(Duration{0}));
    return fmt::format("; {} left of the {}, too little for {}", ShortTime(left),
                       rules_.left_of_window ? "window" : "budget", what);
  }
  // An extension that gave no data leaves the first verdict standing.
  std::string ExtensionWords(const StepResult& now) const {
    const StepResult& last = history_.back();
    const bool in_vain = last.origin.kind == StepKind::kExtension &&
                         last.verdict.verdict == Verdict::kNoData &&
                         now.verdict.verdict != Verdict::kNoData;
    return in_vain ? "; its extension gave no data: " + FirstReason(last.verdict) : "";
  }
  // The longest that the planned steps above `sessions` take, the target's included.
  Duration ToTarget(std::uint32_t sessions) const {
    const auto steps = std::count_if(
        rules_.planned.begin(), rules_.planned.end(),
        [&](std::uint32_t n) { return n > sessions && rules_.target && n <= *rules_.target; });
    return rules_.step_time * steps;
  }

  static SweepDecision Stop(std::string reason, bool ends_run = false) {
    return {.kind = Kind::kStop, .reason = std::move(reason), .ends_run = ends_run};
  }
  static SweepDecision Extend(const StepResult& now, const std::string& words) {
    return {
        .kind = Kind::kExtend, .sessions = now.sessions, .reason = words + ": more time for it"};
  }
  // The smallest planned number above `sessions`.
  SweepDecision Climb(std::uint32_t sessions, const std::string& why) const {
    std::uint32_t next = 0;
    for (const std::uint32_t candidate : rules_.planned) {
      if (candidate > sessions && (next == 0 || candidate < next)) next = candidate;
    }
    if (next == 0 && history_.empty()) return Stop("no step is planned");
    if (next == 0) return Stop(why + "; every planned step was run");
    if (!Fits(rules_.step_time)) return Stop(why + TooLittleFor(fmt::format("{} sessions", next)));
    return {.kind = Kind::kRun, .sessions = next, .reason = fmt::format("{}; next {}", why, next)};
  }
  SweepDecision RepeatOrStop(const StepResult& now) const {
    const auto runs = std::count_if(history_.begin(), history_.end(), [&](const StepResult& step) {
      return step.sessions == now.sessions && step.origin.kind != StepKind::kExtension;
    });
    if (runs > 1) return Stop(fmt::format("{} sessions gave no data twice", now.sessions), true);
    const bool refining = history_.back().origin.kind == StepKind::kRefinement;
    const Duration needed = refining ? rules_.refinement_time + rules_.reserved : rules_.step_time;
    if (!Fits(needed)) return Stop(WordsOf(now) + TooLittleFor("a repeat"));
    return {.kind = Kind::kRepeat, .sessions = now.sessions, .reason = WordsOf(now)};
  }
  SweepDecision AsItLeans(const StepResult& now, const std::string& words) const {
    const auto miss = std::find_if(decided_.begin(), decided_.end(),
                                   [](const StepResult& step) { return EndsClimb(step.verdict); });
    if (miss == decided_.end()) return Climb(now.sessions, words);
    const bool first_fails = decided_.front().verdict.verdict == Verdict::kFail &&
                             decided_.front().sessions == history_.front().sessions;
    return first_fails ? Stop(words, rules_.first_is_todays_load) : Refine(words);
  }
  SweepDecision Refine(const std::string& words) const {
    if (!rules_.refine || !rules_.left) return Stop(words);
    const StepResult* low = nullptr;   // The last that held below the first miss.
    const StepResult* high = nullptr;  // The first above it that did not.
    for (const StepResult& step : decided_) {
      if (step.verdict.holds()) {
        low = &step;
        high = nullptr;
      } else if (high == nullptr && step.verdict.verdict != Verdict::kNoData) {
        high = &step;
      }
      if (EndsClimb(step.verdict)) break;
    }
    if (low == nullptr || high == nullptr) {
      return Stop(words + "; no step held below it, so no step lies between");
    }
    if (high->sessions - low->sessions < 2) {
      return Stop(
          fmt::format("{}; nothing lies between {} and {}", words, low->sessions, high->sessions));
    }
    const std::uint32_t middle = low->sessions + (high->sessions - low->sessions) / 2;
    const bool known = std::any_of(decided_.begin(), decided_.end(),
                                   [&](const StepResult& step) { return step.sessions == middle; });
    if (known) return Stop(words);
    if (!Fits(rules_.refinement_time + rules_.reserved)) {
      return Stop(words + TooLittleFor("a step between"));
    }
    return {.kind = Kind::kRefine,
            .sessions = middle,
            .reason = fmt::format("{}; {} hold{} and {} do not{}: {} lie between", words,
                                  low->sessions, InFlightWords(low->known_in_flight()),
                                  high->sessions, InFlightWords(high->known_in_flight()), middle)};
  }

  const SweepHistory& history_;
  const SweepRules& rules_;
  const std::vector<StepResult> decided_;  // By sessions, ascending.
};

}  // namespace

SweepDecision NextStep(const SweepHistory& history, const SweepRules& rules, SweepEvent event) {
  if (event != SweepEvent::kNone) {
    return {.kind = Kind::kStop, .reason = WordsOf(event), .ends_run = true};
  }
  return Policy(history, rules).Next();
}

}  // namespace plimsoll
