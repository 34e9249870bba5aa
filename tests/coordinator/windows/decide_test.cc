// The queue's decisions, through weeks of virtual time: a world that carries them out beside it.
#include "coordinator/windows/decide.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "gmock/gmock.h"
#include "tests/coordinator/windows/instants.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Utc;
using testing::Window;
using testing::Zone;

QueuedWindow Queued(const char* id, WindowHours spec, WallTime added) {
  const std::string zone = spec.zone;
  return {.entry = {.id = id,
                    .scenario_path = "/x.yaml",
                    .scenario_name = "x",
                    .scenario_digest = std::string(64, 'a'),
                    .follow = false,
                    .spec = std::move(spec),
                    .added = added},
          .state = {},
          .zone = Zone(zone.c_str())};
}

// Carries decisions out, and lets runs take their time.
struct World {
  QueueView view;
  WallTime now{};
  Duration takes = 1h;  // A run, if it is not stopped.
  Duration takes_to_drain = 5min;
  std::map<std::string, ScenarioNow> scenarios;
  std::vector<std::string> log;  // "start a 2026…", "miss a: why", "tell 1".
  WallTime ends = WallTime::max();
  WallTime must_end = WallTime::max();  // The end of the running one's window.
  int overlaps = 0;
  int overruns = 0;

  QueuedWindow& Find(const std::string& id) {
    return *std::find_if(view.windows.begin(), view.windows.end(),
                         [&](const QueuedWindow& w) { return w.entry.id == id; });
  }

  void Carry(const QueueAction& action) {
    QueuedWindow& window = Find(action.id);
    if (action.kind == QueueAction::Kind::kTell) {
      log.push_back("tell " + std::to_string(action.told));
      view.running->told = action.told;
      ends = std::min(ends, now + takes_to_drain);
      return;
    }
    Settle(action, now, window.entry, window.state);
    if (action.kind == QueueAction::Kind::kMiss) {
      log.push_back("miss " + action.id + ": " + action.why);
      return;
    }
    log.push_back("start " + action.id + " " + window.zone.Text(now));
    if (view.running || !view.store_held_by.empty()) ++overlaps;
    view.running = action.running;
    ends = now + takes;
    must_end = action.opening.closes;
  }

  void Turn(WallTime until) {
    const QueueDecision decision = DecideQueue(view, now, [this](const WindowEntry& entry) {
      const auto it = scenarios.find(entry.id);
      return it == scenarios.end() ? ScenarioNow::kSame : it->second;
    });
    for (const QueueAction& action : decision.actions) Carry(action);
    WallTime next = until;
    if (decision.wake && decision.actions.empty()) next = std::min(next, *decision.wake);
    if (view.running) next = std::min(next, ends);
    if (!decision.actions.empty()) next = now;  // Once more: what was done may allow more.
    now = next;
    if (view.running && now >= ends) {
      if (ends > must_end) ++overruns;
      Find(view.running->id).state.running = false;
      view.running.reset();
      ends = WallTime::max();
    }
  }

  void RunUntil(WallTime until) {
    for (int turns = 0; now < until; ++turns) {
      ASSERT_LT(turns, 100'000) << "it does not come to rest";
      Turn(until);
    }
  }

  std::size_t Count(const std::string& start) const {
    return static_cast<std::size_t>(std::count_if(
        log.begin(), log.end(), [&](const std::string& line) { return line.starts_with(start); }));
  }
};

World At(WallTime now) {
  World world;
  world.now = now;
  world.view.up_since = now;
  return world;
}

TEST(Queue, RunsEachNightOfFourWeeks) {
  World world = At(Utc(2026, 3, 16, 12));
  world.view.windows = {
      Queued("a", Window("22:00-06:00 Europe/Berlin", 2h, "weekdays"), world.now)};
  world.RunUntil(Utc(2026, 4, 13, 12));
  EXPECT_EQ(world.Count("start a"), 20u);
  EXPECT_EQ(world.Count("miss"), 0u);
  EXPECT_EQ(world.Find("a").state.runs, 20u);
  EXPECT_EQ(world.log.front(), "start a Mon 2026-03-16 22:00 CET");
  EXPECT_EQ(world.log.back(), "start a Fri 2026-04-10 22:00 CEST");
}

TEST(Queue, MissesTheSpringNightThatIsTooShort) {
  World world = At(Utc(2026, 3, 27, 12));
  world.takes = 7h;
  world.view.windows = {Queued("a", Window("22:00-06:00 Europe/Berlin", 8h), world.now)};
  world.RunUntil(Utc(2026, 3, 30, 12));
  EXPECT_THAT(world.log,
              ElementsAre("start a Fri 2026-03-27 22:00 CET", HasSubstr("the clocks changed"),
                          "start a Sun 2026-03-29 22:00 CEST"));
}

TEST(Queue, RunsOneAtATimeTheLastChanceFirst) {
  World world = At(Utc(2026, 12, 1, 12));
  world.view.windows = {Queued("long", Window("20:00-06:00 UTC", 2h), world.now),
                        Queued("short", Window("20:00-23:00 UTC", 2h), world.now)};
  world.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_THAT(world.log, ElementsAre("start short Tue 2026-12-01 20:00 UTC",
                                     "start long Tue 2026-12-01 21:00 UTC"));
}

TEST(Queue, SaysWhichRunHeldTheFleetWhenOneIsMissed) {
  World world = At(Utc(2026, 12, 1, 12));
  world.takes = 3h;
  world.view.windows = {Queued("b", Window("20:00-00:00 UTC", 4h), world.now),
                        Queued("c", Window("20:00-00:00 UTC", 3h), world.now)};
  world.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_THAT(world.log, ElementsAre("start b Tue 2026-12-01 20:00 UTC",
                                     "miss c: the run of window b held the fleet"));
  EXPECT_EQ(world.Find("c").state.missed, 1u);
  EXPECT_EQ(world.Find("c").state.notes.front().text, "missed: the run of window b held the fleet");
}

TEST(Queue, WaitsForARunThatSomebodyElseBegan) {
  World world = At(Utc(2026, 12, 1, 19));
  world.view.store_held_by = "run 20261201-x";
  world.view.windows = {Queued("a", Window("20:00-00:00 UTC", 2h), world.now)};
  world.RunUntil(Utc(2026, 12, 1, 21));
  EXPECT_THAT(world.log, IsEmpty());
  world.view.store_held_by.clear();
  world.RunUntil(Utc(2026, 12, 2, 19));
  EXPECT_THAT(world.log, ElementsAre("start a Tue 2026-12-01 21:00 UTC"));
  world.view.store_held_by = "run 20261202-y";
  world.RunUntil(Utc(2026, 12, 3, 12));
  EXPECT_EQ(world.log.back(), "miss a: run 20261202-y held the store");
}

TEST(Queue, CountsTheNightsInWhichNobodyRanIt) {
  World world = At(Utc(2026, 12, 11, 12));
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), Utc(2026, 12, 1, 12))};
  world.RunUntil(Utc(2026, 12, 11, 13));
  EXPECT_EQ(world.log.size(), 10u);
  for (const std::string& line : world.log) EXPECT_THAT(line, HasSubstr("was not up"));
  EXPECT_EQ(world.Find("a").state.missed, 10u);
  world.RunUntil(Utc(2026, 12, 12, 12));
  EXPECT_EQ(world.log.back(), "start a Fri 2026-12-11 22:00 UTC");
}

TEST(Queue, BeginsLateInAWindowOnlyIfItStillFits) {
  World world = At(Utc(2026, 12, 2, 3, 59));
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), Utc(2026, 12, 1, 12))};
  world.RunUntil(Utc(2026, 12, 2, 4));
  EXPECT_THAT(world.log, ElementsAre("start a Wed 2026-12-02 03:59 UTC"));
  World late = At(Utc(2026, 12, 2, 4, 1));
  late.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), late.now)};
  late.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_THAT(late.log, ElementsAre(HasSubstr("miss a: it was added with 1h59m left of it")));
}

TEST(Queue, StopsARunInTimeForItsRollback) {
  World world = At(Utc(2026, 12, 1, 12));
  world.takes = 100h;
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), world.now)};
  world.RunUntil(Utc(2026, 12, 1, 23, 47));
  EXPECT_THAT(world.log, ElementsAre("start a Tue 2026-12-01 22:00 UTC"));
  world.RunUntil(Utc(2026, 12, 1, 23, 49));
  EXPECT_THAT(world.log, ElementsAre("start a Tue 2026-12-01 22:00 UTC", "tell 1"));
  world.takes_to_drain = 100h;
  world.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_EQ(world.overruns, 0);
}

TEST(Queue, TellsARunThatDoesNotEndToAbort) {
  World world = At(Utc(2026, 12, 1, 12));
  world.takes = world.takes_to_drain = 100h;
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), world.now)};
  world.RunUntil(Utc(2026, 12, 1, 23, 59));
  EXPECT_THAT(world.log, ElementsAre("start a Tue 2026-12-01 22:00 UTC", "tell 1"));
  world.RunUntil(Utc(2026, 12, 2, 1));
  EXPECT_EQ(world.log.back(), "tell 2") << "and never a third time: that would leave its rollback";
}

TEST(Queue, RefusesAScenarioThatChangedUnlessToldToFollow) {
  World world = At(Utc(2026, 12, 1, 12));
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), world.now),
                        Queued("b", Window("22:00-06:00 UTC", 2h), world.now),
                        Queued("c", Window("22:00-06:00 UTC", 2h), world.now)};
  world.Find("b").entry.follow = world.Find("c").entry.follow = true;
  world.scenarios = {
      {"a", ScenarioNow::kChanged}, {"b", ScenarioNow::kChanged}, {"c", ScenarioNow::kUnreadable}};
  world.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_THAT(world.log, ElementsAre(HasSubstr("miss a: its scenario is not the one"),
                                     HasSubstr("start b"), HasSubstr("miss c: its scenario can")));
}

TEST(Queue, OfOneRunIsDoneWithIt) {
  World world = At(Utc(2026, 12, 1, 12));
  WindowHours spec = Window("22:00-06:00 UTC", 2h);
  spec.once = true;
  world.view.windows = {Queued("a", spec, world.now)};
  world.view.store_held_by = "run x";
  world.RunUntil(Utc(2026, 12, 2, 12));
  world.view.store_held_by.clear();
  world.RunUntil(Utc(2026, 12, 9, 12));
  EXPECT_THAT(world.log, ElementsAre(HasSubstr("miss a"), "start a Wed 2026-12-02 22:00 UTC"))
      << "a missed one is still wanted";
  EXPECT_TRUE(world.Find("a").state.done);
}

TEST(Queue, BeginsNothingWhileItStops) {
  World world = At(Utc(2026, 12, 1, 22));
  world.view.stopping = true;
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), Utc(2026, 12, 1, 12))};
  world.RunUntil(Utc(2026, 12, 1, 23));
  EXPECT_THAT(world.log, IsEmpty());
}

TEST(Queue, RunsAnOpeningOnceThoughTheClockStepsBack) {
  World world = At(Utc(2026, 12, 1, 12));
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), world.now)};
  world.RunUntil(Utc(2026, 12, 1, 23, 30));
  world.now = Utc(2026, 12, 1, 21);
  world.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_THAT(world.log, ElementsAre("start a Tue 2026-12-01 22:00 UTC"));
}

TEST(Queue, SaysHowLateItCameAfterASleep) {
  World world = At(Utc(2026, 12, 1, 12));
  world.view.windows = {Queued("a", Window("22:00-06:00 UTC", 2h), world.now)};
  world.RunUntil(Utc(2026, 12, 1, 13));
  world.now = Utc(2026, 12, 2, 5);  // The machine slept.
  world.RunUntil(Utc(2026, 12, 2, 12));
  EXPECT_THAT(world.log, ElementsAre("miss a: this process came to it 1h00m too late"));
}

// Whatever windows there are: never two runs, never one past its window, and every opening is run
// or missed, once.
TEST(Queue, HoldsItsRulesThroughWeeksOfDrawnWindows) {
  constexpr std::uint64_t kSeeds = 20;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    World world = At(Utc(2026, 3, 9, 12));
    for (int i = 0; i < 5; ++i) {
      const auto opens = static_cast<int>(rng.Below(24 * 12)) * 5;
      const auto open_for = 120 + static_cast<int>(rng.Below(60)) * 10;
      WindowHours spec{.opens = opens,
                       .closes = 1 + (opens + open_for - 1) % (24 * 60),
                       .zone = rng.Chance(0.5) ? "Europe/Berlin" : "America/New_York",
                       .days = static_cast<std::uint8_t>(1 + rng.Below(0x7f)),
                       .length = std::chrono::minutes(30 + rng.Below(90)),
                       .reserve = 10min,
                       .once = false};
      ASSERT_TRUE(CheckWindow(spec).ok()) << MessageOf(CheckWindow(spec));
      world.view.windows.push_back(
          Queued(std::string(1, static_cast<char>('a' + i)).c_str(), spec, world.now));
    }
    world.takes = std::chrono::minutes(20 + rng.Below(200));
    const WallTime end = Utc(2026, 4, 6, 12);
    world.RunUntil(end);
    EXPECT_EQ(world.overlaps, 0);
    EXPECT_EQ(world.overruns, 0);
    EXPECT_GT(world.Count("start"), 10u);
    for (const QueuedWindow& window : world.view.windows) {
      std::uint64_t openings = 0;
      WallTime after = WallTime::min();
      while (true) {
        const auto opening = NextOpening(window.entry.spec, window.zone, after, window.entry.added);
        if (!opening || LatestStart(window.entry.spec, *opening) >= end) break;
        ++openings;
        after = opening->opens;
      }
      const std::uint64_t settled = window.state.runs + window.state.missed;
      // One that is open at the end may have been run already.
      EXPECT_GE(settled, openings) << window.entry.id;
      EXPECT_LE(settled, openings + 1) << window.entry.id;
    }
  }
}

}  // namespace
}  // namespace plimsoll
