#include "coordinator/windows/decide.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

// Of one window in one go: more than a daily one misses in two years. What is left comes next.
constexpr int kSettledAtOnce = 800;

struct Candidate {
  const QueuedWindow* window = nullptr;
  Opening opening;
  WallTime latest{};
};

void WakeBy(std::optional<WallTime>& wake, WallTime at) {
  wake = wake ? std::min(*wake, at) : at;
}

std::string MissedWords(const QueueView& view, const QueuedWindow& window, const Opening& opening,
                        WallTime now) {
  const WindowHours& spec = window.entry.spec;
  const WallTime latest = LatestStart(spec, opening);
  if (latest < opening.opens) {
    return fmt::format(
        "it was open for {} and a run takes {} with its rollback: the clocks changed",
        ShortTime(opening.closes - opening.opens), ShortTime(spec.length));
  }
  if (window.entry.added > latest) {
    return fmt::format("it was added with {} left of it, and a run takes {} with its rollback",
                       ShortTime(opening.closes - window.entry.added), ShortTime(spec.length));
  }
  if (view.up_since > latest) return "nobody ran the queue: plimsoll serve was not up";
  if (view.running) return fmt::format("the run of window {} held the fleet", view.running->id);
  if (!view.store_held_by.empty()) return view.store_held_by + " held the store";
  return fmt::format("this process came to it {} too late", ShortTime(now - latest));
}

// The running one, told what time it is.
void TellRunning(const QueueView& view, WallTime now, QueueDecision& decision) {
  const RunningWindow& running = *view.running;
  const auto tell = [&](int told, const char* why) {
    decision.actions.push_back({.kind = QueueAction::Kind::kTell,
                                .id = running.id,
                                .opening = {},
                                .why = why,
                                .told = told,
                                .running = {}});
  };
  if (running.told < 1) {
    if (now < running.stop_at) return WakeBy(decision.wake, running.stop_at);
    tell(1, "its time is over but for the rollback's: it drains");
  }
  if (running.told < 2) {
    if (now < running.abort_at) return WakeBy(decision.wake, running.abort_at);
    tell(2, "its window's time is over: it aborts");
  }
}

// Settles what can no longer begin; what may begin now, if there is something.
std::optional<Candidate> Look(const QueueView& view, const QueuedWindow& window, WallTime now,
                              QueueDecision& decision) {
  if (window.state.done) return std::nullopt;
  WallTime after = window.state.settled.value_or(WallTime::min());
  for (int i = 0; i < kSettledAtOnce; ++i) {
    const auto opening = NextOpening(window.entry.spec, window.zone, after, window.entry.added);
    if (!opening) return std::nullopt;
    if (opening->opens > now) {
      WakeBy(decision.wake, opening->opens);
      return std::nullopt;
    }
    const WallTime latest = LatestStart(window.entry.spec, *opening);
    if (now <= latest) return Candidate{&window, *opening, latest};
    decision.actions.push_back({.kind = QueueAction::Kind::kMiss,
                                .id = window.entry.id,
                                .opening = *opening,
                                .why = MissedWords(view, window, *opening, now),
                                .told = 0,
                                .running = {}});
    after = opening->opens;
  }
  WakeBy(decision.wake, now);
  return std::nullopt;
}

bool Before(const Candidate& a, const Candidate& b) {
  if (a.latest != b.latest) return a.latest < b.latest;
  if (a.window->entry.added != b.window->entry.added) {
    return a.window->entry.added < b.window->entry.added;
  }
  return a.window->entry.id < b.window->entry.id;
}

QueueAction StartOf(const Candidate& candidate, WallTime now) {
  const WindowEntry& entry = candidate.window->entry;
  return {.kind = QueueAction::Kind::kStart,
          .id = entry.id,
          .opening = candidate.opening,
          .why = {},
          .told = 0,
          .running = {.id = entry.id,
                      .stop_at = now + entry.spec.length - entry.spec.reserve,
                      .abort_at = now + entry.spec.length,
                      .told = 0}};
}

}  // namespace

QueueDecision DecideQueue(const QueueView& view, WallTime now,
                          const std::function<ScenarioNow(const WindowEntry&)>& scenario) {
  QueueDecision decision;
  std::vector<Candidate> candidates;
  for (const QueuedWindow& window : view.windows) {
    if (auto candidate = Look(view, window, now, decision)) candidates.push_back(*candidate);
  }
  std::sort(candidates.begin(), candidates.end(), Before);
  const bool free = !view.running && view.store_held_by.empty() && !view.stopping;
  bool begun = false;
  for (const Candidate& candidate : candidates) {
    const WindowEntry& entry = candidate.window->entry;
    if (!free || begun) {
      // Its last chance, and just after it: then it is missed, and by whom is known.
      WakeBy(decision.wake, candidate.latest + Duration(1));
      continue;
    }
    const ScenarioNow is = scenario(entry);
    if (is == ScenarioNow::kSame || (is == ScenarioNow::kChanged && entry.follow)) {
      decision.actions.push_back(StartOf(candidate, now));
      begun = true;
      continue;
    }
    decision.actions.push_back(
        {.kind = QueueAction::Kind::kMiss,
         .id = entry.id,
         .opening = candidate.opening,
         .why = is == ScenarioNow::kChanged
                    ? "its scenario is not the one that was added; add it anew, or with --follow"
                    : "its scenario cannot be read any more",
         .told = 0,
         .running = {}});
  }
  if (view.running) TellRunning(view, now, decision);
  return decision;
}

void Settle(const QueueAction& action, WallTime at, WindowEntry& entry, WindowState& state) {
  if (action.kind == QueueAction::Kind::kTell) return;
  state.settled = action.opening.opens;
  if (action.kind == QueueAction::Kind::kMiss) {
    ++state.missed;
    AddNote(state, at, "missed: " + action.why);
    return;
  }
  ++state.runs;
  state.running = true;
  state.done = entry.spec.once;
}

}  // namespace plimsoll
