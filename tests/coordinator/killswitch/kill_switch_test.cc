// The kill switch's rules in virtual time, over pages as servers write them.
#include "coordinator/killswitch/kill_switch.h"

#include "coordinator/killswitch/kill_switch_watch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/fake_servers.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProductionEngine final : public FakeTarget {
 public:
  ProductionEngine() : FakeTarget(kProductionSource, "prod-0", "vllm") {}
  double waiting = 0;

 private:
  std::string PageNow() const override {
    return fmt::format("vllm:num_requests_waiting{{model_name=\"m\"}} {}\n", waiting);
  }
};

KillRule Rule(KillSignal signal, double over, Duration time = 10s) {
  return {.signal = signal, .over = over, .time = time};
}

// Pages once a second, each shown to the switch as it comes.
class Switch : public testing::Test {
 protected:
  void Make(std::vector<KillRule> rules, std::optional<Duration> unread = std::nullopt) {
    switch_ = std::make_unique<KillSwitch>(KillSwitchSpec{std::move(rules), unread, ""}, now_);
  }
  void Add(FakeTarget& target) { targets_.push_back(&target); }
  // Empty: nothing tripped in these seconds.
  std::string Seconds(
      int seconds, const std::function<void()>& each = [] {}) {
    for (int i = 0; i < seconds; ++i) {
      each();
      std::vector<const FakeTarget*> shown;
      for (FakeTarget* target : targets_) {
        target->Scrape(now_);
        shown.push_back(target);
      }
      KillSwitch::News news = switch_->OnPages(HistoryFrom(shown), now_);
      for (std::string& line : news.said) said_.push_back(std::move(line));
      now_ += 1s;
      if (news.reason) return *news.reason;
    }
    return "";
  }

  MonoTime now_{100s};
  std::unique_ptr<KillSwitch> switch_;
  std::vector<FakeTarget*> targets_;
  std::vector<std::string> said_;
};

TEST_F(Switch, AGaugeTripsOnceItHeldForItsTime) {
  FakeEngine engine;
  FakeEngine other("engine-1");
  Add(engine);
  Add(other);
  Make({Rule(KillSignal::kWaiting, 200)});
  engine.waiting = 200;  // Over is more than that.
  EXPECT_EQ(Seconds(30), "");
  engine.waiting = 412;
  EXPECT_EQ(Seconds(9), "");
  engine.waiting = 0;  // One page below, and it begins anew.
  EXPECT_EQ(Seconds(1), "");
  engine.waiting = 412;
  EXPECT_EQ(Seconds(10), "");
  EXPECT_EQ(Seconds(1), "engine-0 of engines: waiting 412, over 200, for 10s");
  // Told once.
  EXPECT_EQ(Seconds(30), "");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(Switch, WithoutATimeTheFirstPageTrips) {
  FakeEngine engine;
  Add(engine);
  Make({Rule(KillSignal::kKvFill, 0.9, Duration{0})});
  engine.kv = 0.95;
  EXPECT_EQ(Seconds(1), "engine-0 of engines: KV cache fill 95%, over 90%");
}

TEST_F(Switch, OverlappingSpansCountAPageOnce) {
  FakeEngine engine;
  Add(engine);
  Make({Rule(KillSignal::kWaiting, 1, 3s)});
  engine.waiting = 5;
  engine.Scrape(now_);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(switch_->OnPages(HistoryFrom({&engine}), now_ + i * 100ms).reason);
  }
}

TEST_F(Switch, AShareOfErrorsNeedsEnoughAnswers) {
  FakeEnvoy gateway;
  Add(gateway);
  Make({Rule(KillSignal::kErrors, 0.2)});
  // One of two, every four seconds: half of everything, and nearly nothing.
  int second = 0;
  EXPECT_EQ(Seconds(40,
                    [&] {
                      if (second++ % 4 != 0) return;
                      ++gateway.errors;
                      ++gateway.accepted;
                    }),
            "");
  EXPECT_EQ(Seconds(20, [&] { gateway.accepted += 10; }), "");
  // A third from now on: the share of the last ten seconds passes a fifth after some of them.
  std::string reason;
  int took = 0;
  for (; reason.empty() && took < 20; ++took) {
    reason = Seconds(1, [&] {
      gateway.accepted += 10;
      gateway.errors += 5;
    });
  }
  EXPECT_EQ(reason, "gateway-0 of gateway: errors 23.1% (30 of 130 answers), over 20%, for 10s")
      << took;
}

TEST_F(Switch, CancellationsAreARate) {
  FakeEnvoy gateway;
  Add(gateway);
  Make({Rule(KillSignal::kCancellations, 5)});
  EXPECT_EQ(Seconds(30, [&] { gateway.hung_up += 5; }), "");
  EXPECT_THAT(Seconds(30, [&] { gateway.hung_up += 7; }),
              HasSubstr("gateway-0 of gateway: cancellations 5.2/s, over 5/s, for 10s"));
}

TEST_F(Switch, ARestartIsNoRate) {
  FakeEngine engine;
  FakeEnvoy gateway;
  Add(gateway);
  Make({Rule(KillSignal::kCancellations, 5)});
  gateway.hung_up = 100'000;
  EXPECT_EQ(Seconds(15), "");
  gateway.hung_up = 0;
  EXPECT_EQ(Seconds(15), "");
  gateway.hung_up = 1000;  // In one second.
  EXPECT_NE(Seconds(1), "");
}

TEST_F(Switch, ProductionIsHeldToItsLevelBeforeTheRun) {
  ProductionEngine production;
  FakeEngine candidate;
  Add(production);
  Add(candidate);
  Make({{.production = true, .signal = KillSignal::kWaiting, .over_before = 3}});
  candidate.waiting = 1e6;  // Nobody asked about it.
  production.waiting = 4;
  EXPECT_EQ(Seconds(5), "");
  production.waiting = 8;  // The most that was seen is the level.
  EXPECT_EQ(Seconds(1), "");
  production.waiting = 1000;  // Before the load nothing is relative to anything, and this is level.
  switch_->LoadBegins(now_);
  production.waiting = 24;
  EXPECT_EQ(Seconds(30), "");
  production.waiting = 25;
  EXPECT_EQ(Seconds(10), "");
  EXPECT_EQ(Seconds(1), "prod-0 of production: waiting 25, over 24 (8 before the run), for 10s");
}

TEST_F(Switch, ThreeTimesNothingIsStillNothing) {
  ProductionEngine production;
  Add(production);
  Make({{.production = true, .signal = KillSignal::kWaiting, .over_before = 3}});
  EXPECT_EQ(Seconds(5), "");
  switch_->LoadBegins(now_);
  production.waiting = 10;
  EXPECT_EQ(Seconds(60), "");
  production.waiting = 11;
  EXPECT_EQ(Seconds(60), "prod-0 of production: waiting 11, over 10 (0 before the run), for 10s");
}

TEST_F(Switch, WhatWasNotSeenBeforeTheRunCannotBeCompared) {
  ProductionEngine production;
  Add(production);
  Make({{.production = true, .signal = KillSignal::kWaiting, .over_before = 3}});
  production.down = true;
  EXPECT_EQ(Seconds(5), "");
  switch_->LoadBegins(now_);
  production.down = false;
  production.waiting = 1e6;
  EXPECT_EQ(Seconds(60), "");
  EXPECT_THAT(said_, ElementsAre(HasSubstr("prod-0 of production showed before the run is not "
                                           "known")));
}

TEST_F(Switch, WhatCannotBeReadTripsNothingAndIsSaidOnce) {
  FakeEngine engine;
  Add(engine);
  Make({Rule(KillSignal::kWaiting, 200)});
  EXPECT_EQ(Seconds(5), "");
  engine.down = true;
  EXPECT_EQ(Seconds(9), "");
  EXPECT_THAT(said_, IsEmpty()) << "a page may be missing";
  EXPECT_EQ(Seconds(120), "");
  EXPECT_THAT(said_, ElementsAre("warning: kill switch: engine-0 of engines cannot be read "
                                 "(connection refused): its rules cannot trip meanwhile"));
  engine.down = false;
  EXPECT_EQ(Seconds(1), "");
  EXPECT_EQ(said_.back(), "kill switch: engine-0 of engines is read again");
}

TEST_F(Switch, UnlessItIsAskedFor) {
  FakeEngine engine;
  FakeEnvoy unwatched;
  Add(engine);
  Add(unwatched);
  Make({Rule(KillSignal::kWaiting, 200)}, 30s);
  unwatched.down = true;  // No rule is about it.
  EXPECT_EQ(Seconds(60), "");
  engine.down = true;
  EXPECT_EQ(Seconds(29), "");
  EXPECT_EQ(Seconds(1),
            "engine-0 of engines: its page could not be read for 30s (connection refused)");
}

TEST_F(Switch, ASignalThatGoesMissingIsSaidAndMayTrip) {
  for (const bool asked : {false, true}) {
    FakeEngine engine;
    targets_ = {&engine};
    said_.clear();
    Make({Rule(KillSignal::kWaiting, 200)}, asked ? std::optional<Duration>(30s) : std::nullopt);
    engine.waiting = 5;
    EXPECT_EQ(Seconds(5), "");
    engine.has_gauges = false;
    const std::string reason = Seconds(40);
    EXPECT_EQ(reason.empty(), !asked) << reason;
    EXPECT_THAT(said_, ElementsAre(HasSubstr("engine-0 of engines: waiting cannot be read")));
    if (!asked) continue;
    EXPECT_THAT(reason, HasSubstr("engine-0 of engines: waiting could not be read for"));
  }
}

TEST_F(Switch, AShortGapIsBridgedAndALongOneIsNot) {
  for (const int gap : {5, 20}) {
    FakeEngine engine;
    targets_ = {&engine};
    Make({Rule(KillSignal::kWaiting, 200)});
    engine.waiting = 300;
    EXPECT_EQ(Seconds(6), "");
    engine.down = true;
    EXPECT_EQ(Seconds(gap), "");
    engine.down = false;
    EXPECT_EQ(Seconds(1).empty(), gap == 20);
  }
}

TEST_F(Switch, FindingsNameWhereEachRuleIsWatched) {
  FakeEngine engine;
  FakeEnvoy gateway;
  ProductionEngine production;
  production.down = true;
  for (FakeTarget* target : std::vector<FakeTarget*>{&gateway, &engine, &production}) {
    target->Scrape(now_);
  }
  const std::vector<Finding> findings = KillSwitchFindings(
      {.rules = {Rule(KillSignal::kWaiting, 200),
                 Rule(KillSignal::kErrors, 0.2),
                 {.production = true, .signal = KillSignal::kWaiting, .over = 9},
                 {.production = true, .signal = KillSignal::kOpenRequests, .over = 9}},
       .unread = {},
       .file = ""},
      HistoryFrom({&gateway, &engine, &production}));
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].level, FindingLevel::kOk);
  EXPECT_EQ(findings[0].text,
            "kill switch: waiting of the candidate over 200, for 10s: watched on engine-0");
  EXPECT_THAT(findings[1].text, HasSubstr("gateway-0"));
  EXPECT_EQ(findings[2].level, FindingLevel::kWarning);
  EXPECT_THAT(findings[2].text, HasSubstr("cannot be read on prod-0 (connection refused)"));
  EXPECT_EQ(findings[3].level, FindingLevel::kWarning);
  EXPECT_THAT(findings[3].text, HasSubstr("no page of production has it, so it never trips"));
}

// The watch: pages as they come, told once.
class Feed final : public SignalFeed {
 public:
  explicit Feed(const FakeTarget& target) : target_(target) {}
  SignalHistory Between(MonoTime from, MonoTime) const override {
    asked.push_back(from);
    return HistoryFrom({&target_});
  }
  bool AskedSince(MonoTime) const override { return true; }
  void AskNow() override {}
  mutable std::vector<MonoTime> asked;

 private:
  const FakeTarget& target_;
};

TEST(KillSwitchWatchTest, LooksSeveralTimesASecondAndTellsOnce) {
  SimScheduler scheduler;
  ProductionEngine production;
  const Feed feed(production);
  bool load = false;
  std::vector<std::string> tripped;
  KillSwitchWatch watch(
      {.scheduler = scheduler,
       .feed = feed,
       .load_began = [&] { return load; },
       .say = [](const std::string&) {},
       .tripped = [&](const std::string& why) { tripped.push_back(why); }},
      {.rules =
           {{.production = true, .signal = KillSignal::kWaiting, .over_before = 3, .time = 2s}},
       .unread = {},
       .file = ""});
  const auto seconds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      production.Scrape(scheduler.Now());
      scheduler.Advance(1s);
    }
  };
  production.waiting = 6;
  seconds(5);
  EXPECT_GE(feed.asked.size(), 10u);
  EXPECT_GE(scheduler.Now() - feed.asked.back(), Duration{0});
  EXPECT_LE(scheduler.Now() - feed.asked.back(), 2s) << "old pages are not copied again";
  load = true;
  production.waiting = 18;
  seconds(10);
  EXPECT_THAT(tripped, IsEmpty());
  production.waiting = 19;
  seconds(20);
  EXPECT_THAT(tripped, ElementsAre(HasSubstr("waiting 19, over 18 (6 before the run)")));
}

}  // namespace
}  // namespace plimsoll
