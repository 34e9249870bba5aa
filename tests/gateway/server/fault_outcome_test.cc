// Every fault of a request, written as a person writes it, against the agent's own client over real
// sockets: the outcome of the record that it makes.
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/real_clock.h"
#include "common/chat/http_call_transport.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "gateway/server/gateway.h"
#include "gtest/gtest.h"
#include "tests/fakes/call_batch.h"

namespace plimsoll {
namespace {

// A gateway and a client on one loop.
class Pair {
 public:
  explicit Pair(const std::string& faults, int copies = 1) {
    const auto config = ParseGatewayConfig(
        fmt::format("model: m\n"
                    "engine: {{copies: {}, prefill_tokens_per_s: 1000000, prefill_base: 1ms, "
                    "decode_tokens_per_s: 500}}\n"
                    "noise: {{call_sigma: 0, session_sigma: 0, drift_sigma: 0, cold_share: 0}}\n"
                    "faults: [{}]\n",
                    copies, faults),
        "test.yaml");
    EXPECT_TRUE(config.ok()) << config.status();
    gateway_ = std::make_unique<Gateway>(loop_, clock_, *config, [this] { server_.reset(); });
    auto server = HttpServer::Listen(loop_, {}, [this](HttpServerRequest request, HttpResponder r) {
      gateway_->OnRequest(std::move(request), std::move(r));
    });
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    target_.url = fmt::format("http://127.0.0.1:{}/v1", server_->port());
    target_.model = "m";
    target_.idle_timeout = 300ms;
    target_.affinity_play_header = "X-Session-ID";
  }

  std::vector<CallResult> Calls(const CallBatchOptions& options) {
    HttpCallTransport transport(http_, loop_, target_, {});
    return MakeCalls(loop_, transport, options);
  }
  CallResult Call() {
    const std::vector<CallResult> results = Calls({});
    EXPECT_EQ(results.size(), 1u);
    return results.empty() ? CallResult{} : results.front();
  }
  // Runs the loop until the engine looks so; false after ten seconds.
  template <typename State>
  bool EngineGetsTo(const State& state) {
    bool seen = false;
    const MonoTime limit = loop_.Now() + 10s;
    std::function<void()> look = [&] {
      seen = state(gateway_->engine().gauges());
      if (seen || loop_.Now() > limit) return loop_.Stop();
      loop_.Post(look);
    };
    loop_.Post(look);
    loop_.Run();
    return seen;
  }
  TargetPlan& target() { return target_; }
  const Engine& engine() const { return gateway_->engine(); }

 private:
  EventLoop loop_;
  RealClock clock_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<HttpServer> server_;
  CurlTransport http_{loop_};
  TargetPlan target_;
};

struct Case {
  const char* name;
  const char* fault;
  Outcome outcome;
  int status;
  bool first_token = false;  // The record has a TTFT.
};
void PrintTo(const Case& fault_case, std::ostream* out) {
  *out << fault_case.fault;
}
class FaultOutcome : public ::testing::TestWithParam<Case> {};

TEST_P(FaultOutcome, IsTheRecords) {
  Pair pair(GetParam().fault);
  const CallResult result = pair.Call();
  EXPECT_EQ(result.outcome, GetParam().outcome) << result.message;
  EXPECT_EQ(result.http_status, GetParam().status) << result.message;
  EXPECT_EQ(result.first_token != CallResult::kNever, GetParam().first_token) << result.message;
  EXPECT_EQ(result.resends, 0);
  // Whatever the caller met, the engine is free again.
  EXPECT_TRUE(pair.EngineGetsTo([](const EngineGauges& g) { return g.running + g.waiting == 0; }));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FaultOutcome,
    ::testing::Values(
        Case{"refused429", "{kind: refuse, status: 429}", Outcome::kRefused, 429},
        Case{"refused503", "{kind: refuse, status: 503, retry_after: 1s}", Outcome::kRefused, 503},
        Case{"error500", "{kind: refuse, status: 500}", Outcome::kHttpError, 500},
        Case{"error502", "{kind: refuse, status: 502}", Outcome::kHttpError, 502},
        Case{"crash", "{kind: crash, probability: 0.999999}", Outcome::kConnectError, 0},
        Case{"web_page", "{kind: html}", Outcome::kHttpError, 200},
        Case{"starting", "{kind: slow_start, for: 1h}", Outcome::kRefused, 503},
        Case{"starting_silently", "{kind: slow_start, for: 1h, form: silent}",
             Outcome::kIdleTimeout, 0},
        Case{"context_openai", "{kind: context_limit, tokens: 130}", Outcome::kContextOverflow,
             400},
        Case{"context_vllm", "{kind: context_limit, tokens: 130, form: vllm}",
             Outcome::kContextOverflow, 400},
        Case{"context_llama_cpp", "{kind: context_limit, tokens: 130, form: llama_cpp}",
             Outcome::kContextOverflow, 400},
        Case{"error_object", "{kind: error_after_200, after_tokens: 3}", Outcome::kStreamError, 200,
             true},
        Case{"error_object_first", "{kind: error_after_200, after_tokens: 0}",
             Outcome::kStreamError, 200},
        Case{"error_event", "{kind: error_after_200, form: event}", Outcome::kStreamError, 200,
             true},
        Case{"truncated", "{kind: truncate, after_tokens: 3}", Outcome::kTruncated, 200, true},
        Case{"truncated_in_order", "{kind: truncate, form: end}", Outcome::kTruncated, 200, true},
        Case{"truncated_at_the_end", "{kind: truncate, form: end, after_tokens: 1000}",
             Outcome::kTruncated, 200, true},
        Case{"truncated_without_a_token", "{kind: truncate, after_tokens: 0}", Outcome::kTruncated,
             200},
        Case{"stalled", "{kind: stall, after_tokens: 2}", Outcome::kIdleTimeout, 200, true},
        Case{"stalled_before_a_token", "{kind: stall, after_tokens: 0}", Outcome::kIdleTimeout,
             200},
        Case{"stalled_for_a_time", "{kind: stall, pause: 50ms}", Outcome::kOk, 200, true},
        Case{"stalled_before_the_end", "{kind: stall, pause: 50ms, after_tokens: 1000}",
             Outcome::kOk, 200, true},
        Case{"garbage_json_in_events", "{kind: garbage}", Outcome::kStreamError, 200, true},
        Case{"garbage_bytes", "{kind: garbage, form: bytes, after_tokens: 0}", Outcome::kTruncated,
             200},
        Case{"garbage_json", "{kind: garbage, form: json}", Outcome::kStreamError, 200},
        Case{"garbage_html", "{kind: garbage, form: html}", Outcome::kHttpError, 200},
        Case{"tool_calls", "{kind: malformed_tool_calls}", Outcome::kOk, 200, true},
        Case{"slower", "{kind: slower, factor: 3}", Outcome::kOk, 200, true},
        Case{"kv_full", "{kind: kv_full}", Outcome::kIdleTimeout, 200},
        Case{"cache_off", "{kind: cache_off}", Outcome::kOk, 200, true}),
    [](const auto& one) { return one.param.name; });

TEST(FaultOutcomes, AResetInAChunkIsTruncatedAsFarAsItWasRead) {
  Pair pair("{kind: truncate, form: reset, after_tokens: 2}");
  const CallResult result = pair.Call();
  // A reset may overtake what was sent before it: the headers had come long before.
  EXPECT_EQ(result.outcome, Outcome::kTruncated) << result.message;
  EXPECT_EQ(result.http_status, 200);
}

TEST(FaultOutcomes, RetryAfterIsReadAsSecondsAndAsADate) {
  for (const char* form : {"seconds", "date"}) {
    Pair pair(fmt::format("{{kind: refuse, retry_after: 6500ms, form: {}}}", form));
    EXPECT_EQ(pair.Call().retry_after, Duration(7s)) << form;
  }
}

TEST(FaultOutcomes, AMalformedToolCallIsOneAndSaysSo) {
  Pair pair("{kind: malformed_tool_calls}");
  const CallResult result = pair.Call();
  EXPECT_TRUE(result.flags & kToolCallPresent);
  EXPECT_EQ(result.tokens_out, 8u);
}

TEST(FaultOutcomes, UnderLoadOnly) {
  Pair pair("{kind: refuse, in_flight_min: 2}");
  EXPECT_EQ(pair.Call().outcome, Outcome::kOk);
  std::size_t refused = 0;
  for (const CallResult& r : pair.Calls({.calls = 8, .parallel = 8, .max_tokens = 50})) {
    refused += r.outcome == Outcome::kRefused;
  }
  EXPECT_EQ(refused, 6u);
}

TEST(FaultOutcomes, SomeCopiesOnly) {
  Pair pair("{kind: refuse, status: 500, copies: [1]}", 2);
  std::size_t failed = 0;
  for (const CallResult& r : pair.Calls({.calls = 40, .parallel = 4})) {
    failed += r.outcome == Outcome::kHttpError;
  }
  EXPECT_GT(failed, 5u);  // Half of the sessions are the other copy's.
  EXPECT_LT(failed, 35u);
}

TEST(FaultOutcomes, AnUncappedAnswerIsLongerThanAsked) {
  Pair pair("{kind: uncapped, tokens: 40}");
  const CallResult result = pair.Call();
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_EQ(result.tokens_out, 40u);
  EXPECT_FALSE(result.flags & kCapReached);
}

TEST(FaultOutcomes, AHangUpThatDoesNotReachTheEngineLeavesItWorking) {
  for (const bool orphan : {false, true}) {
    Pair pair(orphan ? "{kind: orphan}, {kind: stall}" : "{kind: stall}");
    EXPECT_EQ(pair.Calls({.max_tokens = 1'000}).at(0).outcome, Outcome::kIdleTimeout);
    if (orphan) {
      EXPECT_TRUE(pair.EngineGetsTo([](const EngineGauges& g) { return g.finished == 1; }));
      EXPECT_EQ(pair.engine().gauges().cancelled, 0u);
    } else {
      EXPECT_TRUE(pair.EngineGetsTo([](const EngineGauges& g) { return g.cancelled == 1; }));
    }
  }
}

TEST(FaultOutcomes, AStuckQueueKeepsWhatNobodyWaitsFor) {
  Pair pair("{kind: stuck_queue}");
  for (const CallResult& r : pair.Calls({.calls = 3, .parallel = 3})) {
    EXPECT_EQ(r.outcome, Outcome::kIdleTimeout);
  }
  EXPECT_EQ(pair.engine().gauges().waiting, 3u);
  EXPECT_EQ(pair.engine().gauges().cancelled, 0u);
}

TEST(FaultOutcomes, AGatewayThatComesUpServesWhatItHeld) {
  Pair pair("{kind: slow_start, for: 150ms, form: silent}");
  EXPECT_EQ(pair.Call().outcome, Outcome::kOk);
  Pair refusing("{kind: slow_start, for: 150ms, retry_after: 1s}");
  EXPECT_EQ(refusing.Call().retry_after, Duration(1s));
  EXPECT_TRUE(refusing.EngineGetsTo(
      [&, from = RealClock().MonoNow()](auto&&) { return RealClock().MonoNow() > from + 200ms; }));
  EXPECT_EQ(refusing.Call().outcome, Outcome::kOk);
}

TEST(FaultOutcomes, AConnectionThatIsResetIsNotUsedAgain) {
  Pair pair("{kind: truncate, form: reset, probability: 50%}");
  std::size_t ok = 0;
  for (const CallResult& r : pair.Calls({.calls = 40})) {
    ok += r.outcome == Outcome::kOk;
    EXPECT_TRUE(r.outcome == Outcome::kOk || r.outcome == Outcome::kTruncated) << r.message;
  }
  EXPECT_GT(ok, 5u);
  EXPECT_LT(ok, 35u);
}

}  // namespace
}  // namespace plimsoll
