// The cancellation probe in virtual time, on an engine that answers, loses hang-ups, or does not
// write its gauges.
#include "coordinator/run/cancel_probe.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/fake_servers.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

constexpr double kRate = 60;  // Tokens a second.

// An engine and the gateway in front of it.
class Deployment final : public CallTransport, public SignalFeed {
 public:
  explicit Deployment(SimScheduler& scheduler) : scheduler_(scheduler) {}

  bool loses_hang_ups = false;
  bool frozen_gauges = false;  // Written as a call begins or ends, not as one is hung up.
  bool stays_frozen = false;   // Never written again: further calls reach another copy.
  bool counts_tokens = true;
  bool ends_early = false;  // The model ends its answers after nine tokens.
  bool fails = false;
  std::uint32_t others = 0;
  std::size_t hung_up = 0;
  std::vector<std::uint32_t> asked;  // max_tokens of each call.
  std::vector<std::string> pages = {"engine-0"};
  bool down = false;

  std::unique_ptr<Call> Start(const CallRequest& request, CallObserver& observer) override {
    asked.push_back(request.max_tokens);
    return std::make_unique<OneCall>(*this, request.max_tokens, observer);
  }

  SignalHistory Between(MonoTime, MonoTime) const override {
    return engine_ == nullptr ? SignalHistory{} : HistoryFrom({engine_.get()});
  }
  bool AskedSince(MonoTime) const override { return true; }
  void AskNow() override {
    if (pages.empty()) return;
    if (engine_ == nullptr) engine_ = std::make_unique<FakeEngine>(pages.front());
    engine_->down = down;
    const Duration passed = scheduler_.Now() - made_;
    made_ = scheduler_.Now();
    tokens_ += kRate * ToSeconds(passed) * static_cast<double>(work_.size());
    if (counts_tokens) engine_->tokens_out = static_cast<std::uint64_t>(tokens_);
    engine_->running = (stays_frozen && hung_up > 0 ? 1 : shown_) + others;
    engine_->Scrape(scheduler_.Now());
  }

 private:
  class OneCall final : public Call {
   public:
    OneCall(Deployment& deployment, std::uint32_t tokens, CallObserver& observer)
        : deployment_(deployment), work_(deployment.Begin()) {
      const std::uint32_t makes = deployment.ends_early ? std::min(9u, tokens) : tokens;
      const Duration takes = deployment.fails ? 10ms : 50ms + FromSeconds(makes / kRate);
      const bool fails = deployment.fails;
      deployment.After(takes,
                       [this, makes, fails, &observer, alive = alive_, work = work_, &deployment] {
                         deployment.End(work);
                         if (!*alive) return;
                         *alive = false;
                         CallResult result;
                         result.outcome = fails ? Outcome::kHttpError : Outcome::kOk;
                         result.tokens_out = makes;
                         observer.OnCallEnded(result);
                       });
    }
    ~OneCall() override {
      if (!*alive_) return;
      *alive_ = false;
      deployment_.HangUp(work_);
    }

   private:
    Deployment& deployment_;
    const int work_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  };

  int Begin() {
    work_.insert(++last_);
    shown_ = static_cast<std::uint32_t>(work_.size());
    return last_;
  }
  void End(int work) {
    if (work_.erase(work) > 0) shown_ = static_cast<std::uint32_t>(work_.size());
  }
  void HangUp(int work) {
    ++hung_up;
    if (loses_hang_ups) return;
    // Through the gateway.
    After(120ms, [this, work] {
      work_.erase(work);
      if (!frozen_gauges) shown_ = static_cast<std::uint32_t>(work_.size());
    });
  }
  void After(Duration delay, std::function<void()> task) {
    timers_.push_back(scheduler_.After(delay, std::move(task)));
  }

  SimScheduler& scheduler_;
  std::unique_ptr<FakeEngine> engine_;
  std::set<int> work_;
  double tokens_ = 0;
  MonoTime made_{};
  std::uint32_t shown_ = 0;
  int last_ = 0;
  std::vector<Timer> timers_;
};

class HangUpProbe : public testing::Test {
 protected:
  Finding Run() {
    std::optional<Finding> found;
    CancelProbe probe(scheduler_, deployment_, deployment_, setup_, [&](Finding finding) {
      EXPECT_FALSE(found.has_value()) << "told once";
      found = std::move(finding);
    });
    EXPECT_FALSE(found.has_value()) << "told later";
    const MonoTime begun = scheduler_.Now();
    while (!found && scheduler_.Now() - begun < 1min) scheduler_.Advance(10ms);
    took_ = scheduler_.Now() - begun;
    EXPECT_TRUE(found.has_value());
    scheduler_.Advance(1min);
    return found.value_or(Finding{});
  }

  SimScheduler scheduler_;
  Deployment deployment_{scheduler_};
  CancelProbeSetup setup_{.key = 7, .tokens_per_s = kRate, .min_tokens = true, .ignore_eos = true};
  Duration took_{};
};

TEST_F(HangUpProbe, AFallSoonAfterTheHangUpProvesIt) {
  const Finding found = Run();
  EXPECT_EQ(found.level, FindingLevel::kOk);
  EXPECT_EQ(found.text, "cancellation reaches the engine: running fell from 1 to 0 within 0.2 s");
  EXPECT_LT(took_, 2s);
  ASSERT_EQ(deployment_.asked.size(), 1u);
  EXPECT_EQ(deployment_.asked[0], 480u) << "as long as eight seconds of this engine";
}

TEST_F(HangUpProbe, WorkThatGoesOnBlocks) {
  deployment_.loses_hang_ups = true;
  const Finding found = Run();
  EXPECT_EQ(found.level, FindingLevel::kBlocking);
  EXPECT_THAT(found.text, HasSubstr("cancellation does not reach the engine: running stayed at 1"));
  EXPECT_THAT(found.text, HasSubstr("target: {cancellation: may_be_lost}"));
  EXPECT_LT(took_, 6s);
}

TEST_F(HangUpProbe, WithConsentItIsAWarningOnceTheWorkIsOver) {
  deployment_.loses_hang_ups = setup_.may_be_lost = true;
  const Finding found = Run();
  EXPECT_EQ(found.level, FindingLevel::kWarning);
  EXPECT_THAT(found.text, HasSubstr("the scenario accepts it"));
  EXPECT_GT(took_, 8s) << "until then the engine shows our own call";
  EXPECT_LT(took_, 12s);
}

TEST_F(HangUpProbe, AnEndThatWouldHaveComeAnywayProvesNothing) {
  // 256 tokens at 200 a second: over before the gauge is waited for in vain.
  deployment_.loses_hang_ups = true;
  setup_.tokens_per_s = 240;  // Said to be faster than it is: 1,024 tokens are asked for.
  setup_.min_tokens = setup_.ignore_eos = true;
  const Finding found = Run();
  EXPECT_EQ(found.level, FindingLevel::kBlocking) << found.text;
}

TEST_F(HangUpProbe, AGaugeThatIsNotWrittenIsMadeToBe) {
  deployment_.frozen_gauges = true;
  const Finding found = Run();
  EXPECT_EQ(found.level, FindingLevel::kOk) << found.text;
  EXPECT_THAT(found.text, HasSubstr("once another call made it write its gauges again"));
  ASSERT_EQ(deployment_.asked.size(), 2u);
  EXPECT_EQ(deployment_.asked[1], 1u);
}

TEST_F(HangUpProbe, AGaugeThatIsNeverWrittenAgainProvesNothing) {
  deployment_.stays_frozen = true;
  const Finding found = Run();
  EXPECT_EQ(found.level, FindingLevel::kWarning) << found.text;
  EXPECT_THAT(found.text, HasSubstr("no token was made: the gauge was not written again"));
  EXPECT_EQ(deployment_.asked.size(), 3u) << "two of one token, for a single engine";
}

TEST_F(HangUpProbe, WhatCannotBeProvedIsAWarningThatSaysWhy) {
  const auto unproved = [this](const char* why) {
    const Finding found = Run();
    EXPECT_EQ(found.level, FindingLevel::kWarning);
    EXPECT_THAT(found.text, HasSubstr("could not be proved"));
    EXPECT_THAT(found.text, HasSubstr(why));
    EXPECT_LT(took_, 8s);
  };
  deployment_.others = 3;
  unproved("3 requests of others run in the engines; begin when they are idle");
  deployment_.others = 0;
  deployment_.fails = true;
  unproved("a long call ended as http_error");
  deployment_.fails = false;
  deployment_.down = true;
  unproved("engine-0: connection refused");
  deployment_.down = false;
}

TEST_F(HangUpProbe, WithoutAnEnginesPageItIsNotProved) {
  deployment_.pages.clear();
  EXPECT_EQ(Run(), CancellationUnseen());
  EXPECT_EQ(deployment_.asked.size(), 0u);
}

TEST_F(HangUpProbe, ItsTokensAreBounded) {
  for (const auto& [rate, tokens] : std::map<double, std::uint32_t>{
           {0, 400}, {1, 256}, {100, 800}, {1e4, 1024}, {1e300, 1024}}) {
    setup_.tokens_per_s = rate;
    deployment_.asked.clear();
    (void)Run();
    ASSERT_GE(deployment_.asked.size(), 1u);
    EXPECT_EQ(deployment_.asked[0], tokens) << rate;
  }
}

TEST_F(HangUpProbe, DestroyedItHangsUpAndTellsNobody) {
  bool told = false;
  auto probe = std::make_unique<CancelProbe>(scheduler_, deployment_, deployment_, setup_,
                                             [&](const Finding&) { told = true; });
  while (deployment_.asked.empty()) scheduler_.Advance(10ms);
  probe.reset();
  EXPECT_EQ(deployment_.hung_up, 1u);
  scheduler_.Advance(1min);
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace plimsoll
