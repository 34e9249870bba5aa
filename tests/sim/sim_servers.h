// The servers' pages of a simulated run: an engine's and a gateway's, counted from the calls as
// they end and from the engine model's gauges, scraped every second of virtual time.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "common/chat/call_transport.h"
#include "coordinator/run/signal_feed.h"
#include "gateway/engine/engine.h"
#include "tests/coordinator/serverjudge/fake_servers.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {

class SimServers final : public SignalFeed {
 public:
  FakeEngine engine;
  FakeEnvoy envoy;
  // A factor on every TTFT that the engine's page shows.
  double ttft_factor = 1;
  // Requests that the gateway turns away and the client never hears of.
  std::uint64_t refused_apart = 0;
  // Each second, before the pages are read; time since the run's start.
  std::function<void(Duration)> each_second = [](Duration) {};
  // Told of each AskNow(), by number from 1. `deaf`: nothing is ever said to have been asked.
  std::function<void(int)> on_ask = [](int) {};
  bool deaf = false;
  // Beside what the engine model shows.
  double running_more = 0;
  double kv_at_least = 0;

  void Attach(SimScheduler& scheduler, Engine& model) {
    scheduler_ = &scheduler;
    model_ = &model;
    begun_ = scheduler.Now();
    Tick();
  }

  // The scheduler goes; what was read stays.
  void Detach() {
    tick_.Cancel();
    ask_.Cancel();
  }

  // Calls that go through what is returned are counted.
  std::unique_ptr<CallTransport> Count(std::unique_ptr<CallTransport> inner) {
    return std::make_unique<Counting>(*this, std::move(inner));
  }

  SignalHistory Between(MonoTime from, MonoTime to) const override {
    SignalHistory history = HistoryFrom({&engine, &envoy});
    for (TargetSeries& target : history.targets) {
      std::vector<TargetSample> kept;
      for (const TargetSample& sample : target.samples) {
        if (sample.at <= from) kept.clear();
        if (kept.empty() || kept.back().at < to) kept.push_back(sample);
      }
      target.samples = std::move(kept);
    }
    return history;
  }
  bool AskedSince(MonoTime at) const override { return !deaf && asked_ >= at; }
  void AskNow() override {
    on_ask(++asks_);
    ask_ = scheduler_->After(5ms, [this] { Read(); });
  }

 private:
  class Counting final : public CallTransport {
   public:
    Counting(SimServers& servers, std::unique_ptr<CallTransport> inner)
        : servers_(servers), inner_(std::move(inner)) {}
    std::unique_ptr<Call> Start(const CallRequest& request, CallObserver& observer) override {
      return std::make_unique<CountedCall>(servers_, *inner_, request, observer);
    }

   private:
    SimServers& servers_;
    std::unique_ptr<CallTransport> inner_;
  };

  class CountedCall final : public CallTransport::Call, public CallObserver {
   public:
    CountedCall(SimServers& servers, CallTransport& inner, const CallRequest& request,
                CallObserver& observer)
        : servers_(servers), observer_(observer) {
      ++servers_.envoy.open;
      call_ = inner.Start(request, *this);
    }
    ~CountedCall() override {
      if (!ended_) --servers_.envoy.open;
    }
    void OnCallEnded(const CallResult& result) override {
      ended_ = true;
      --servers_.envoy.open;
      servers_.OnEnded(result);
      observer_.OnCallEnded(result);  // May destroy this.
    }

   private:
    SimServers& servers_;
    CallObserver& observer_;
    std::unique_ptr<CallTransport::Call> call_;
    bool ended_ = false;
  };

  void OnEnded(const CallResult& result) {
    if (result.first_token != CallResult::kNever) {
      const double ttft = ToSeconds(result.first_token - result.sent) * ttft_factor;
      engine.ttft.Observe(ttft);
    }
    if (result.outcome == Outcome::kOk) {
      ++envoy.accepted;
      ++engine.finished;
      const std::uint32_t tokens = result.tokens_out == kAbsentTokens ? 0 : result.tokens_out;
      engine.tokens_out += tokens;
      if (tokens > 1) {
        engine.per_token.Observe(ToSeconds(result.last_token - result.first_token) /
                                 (result.tokens_out - 1));
      }
    } else if (result.http_status >= 400) {
      ++envoy.errors;
    } else if (result.http_status == 200) {
      ++envoy.accepted;
    }
  }

  void Tick() {
    each_second(scheduler_->Now() - begun_);
    Read();
    tick_ = scheduler_->After(1s, [this] { Tick(); });
  }
  void Read() {
    const EngineGauges gauges = model_->gauges();
    engine.running = gauges.running + running_more;
    engine.waiting = gauges.waiting;
    engine.kv = std::max(gauges.kv_usage, kv_at_least);
    envoy.errors += std::exchange(refused_apart, 0);
    engine.Scrape(scheduler_->Now());
    envoy.Scrape(scheduler_->Now());
    asked_ = scheduler_->Now();
  }

  SimScheduler* scheduler_ = nullptr;
  Engine* model_ = nullptr;
  MonoTime begun_{};
  MonoTime asked_{};
  int asks_ = 0;
  Timer tick_;
  Timer ask_;
};

}  // namespace plimsoll
