// The gateway over real sockets in one process, for its tests.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/base/real_clock.h"
#include "common/base/rng.h"
#include "common/loop/event_loop.h"
#include "gateway/server/gateway.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/raw_client.h"

namespace plimsoll {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// Fast and without noise.
inline GatewayConfig Quick() {
  GatewayConfig config;
  config.model = "m";
  config.engine.prefill_tokens_per_s = 1e6;
  config.engine.prefill_base_s = 0.001;
  config.engine.decode_tokens_per_s = 1000;
  config.engine.noise = {.call_sigma = 0, .session_sigma = 0, .drift_sigma = 0, .cold_share = 0};
  return config;
}

inline std::string Words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("w{} ", i);
  return text;
}

inline std::string Body(std::string_view text, std::string_view more = "") {
  return fmt::format(R"({{"model":"m",{}"messages":[{{"role":"user","content":"{}"}}]}})", more,
                     text);
}

inline constexpr std::string_view kStream =
    R"("stream":true,"stream_options":{"include_usage":true},"max_tokens":3,)";

class GatewayTest : public ::testing::Test {
 protected:
  void Start(const GatewayConfig& config) {
    gateway_ = std::make_unique<Gateway>(loop_, clock_, config, [this] { crashed_.set_value(); });
    auto server =
        HttpServer::Listen(loop_, {}, [this](HttpServerRequest request, HttpResponder responder) {
          gateway_->OnRequest(std::move(request), std::move(responder));
        });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    port_ = server_->port();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  void TearDown() override {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
    gateway_.reset();
  }
  RawClient::Answer Ask(const std::string& body, std::string_view headers = "") {
    RawClient client(port_);
    EXPECT_TRUE(client.Request("POST", "/v1/chat/completions", headers, body));
    return client.ReadAnswer();
  }
  RawClient::Answer Get(std::string_view path) {
    RawClient client(port_);
    EXPECT_TRUE(client.Request("GET", path));
    return client.ReadAnswer();
  }
  // Polls on the loop, without sleeping, until the engine looks so or ten seconds have passed.
  bool EngineGetsTo(const std::function<bool(const EngineGauges&)>& state) {
    std::promise<bool> seen;
    const MonoTime limit = clock_.MonoNow() + 10s;
    std::function<void()> look = [&] {
      if (state(gateway_->engine().gauges())) return seen.set_value(true);
      if (clock_.MonoNow() > limit) return seen.set_value(false);
      loop_.Post(look);
    };
    loop_.Post(look);
    return seen.get_future().get();
  }

  RealClock clock_;
  EventLoop loop_;
  std::promise<void> crashed_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

inline std::vector<std::string> EventsOf(const std::string& body) {
  std::vector<std::string> events;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find("\n\n", at);
    if (end == std::string::npos) break;
    events.push_back(body.substr(at, end - at));
    at = end + 2;
  }
  return events;
}

}  // namespace plimsoll
