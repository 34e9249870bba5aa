// The scraper's thread over loopback sockets: pages, a gzip one, one that nobody serves, and the
// end of the thread.
#include "coordinator/scrape/scrape_thread.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "common/base/real_clock.h"
#include "common/http/server/http_server.h"
#include "common/loop/event_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

// Serves a page on a thread of its own.
class PageServer {
 public:
  PageServer() {
    std::promise<std::uint16_t> port;
    auto known = port.get_future();
    thread_ = std::thread([this, &port] {
      auto server = HttpServer::Listen(
          loop_, {}, [this](const HttpServerRequest& request, HttpResponder responder) {
            ++asked_;
            accept_ok_ = request.Header("accept") == kAcceptMetrics;
            responder.Send(200, {{"Content-Type", "text/plain; version=0.0.4"}},
                           VllmPage(2, static_cast<double>(asked_.load())));
          });
      port.set_value(server.ok() ? (*server)->port() : std::uint16_t{0});
      loop_.Run();
    });
    port_ = known.get();
  }
  ~PageServer() {
    loop_.Stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/metrics"; }
  int asked() const { return asked_; }
  bool accept_ok() const { return accept_ok_; }

 private:
  EventLoop loop_;
  std::atomic<int> asked_{0};
  std::atomic<bool> accept_ok_{false};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// Yields until `done`, or half a minute is over.
template <typename Done>
bool Eventually(const RealClock& clock, const Done& done) {
  const MonoTime limit = clock.MonoNow() + 30s;
  while (!done()) {
    if (clock.MonoNow() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(ScrapeThread, ReadsPagesUntilItIsStopped) {
  PageServer server;
  const RealClock clock;
  std::atomic<int> pages{0};
  PageTarget good = ScrapeRig::Engine("good");
  good.url = server.url();
  PageTarget dead = ScrapeRig::Engine("dead");
  dead.url = "http://127.0.0.1:1/metrics";
  const MonoTime begin = clock.MonoNow();
  ScrapeThread scrape(
      {.pages = {good, dead}, .every = 20ms}, clock,
      PageKeeper::Sink{.put_target = [](auto, const auto&) { return absl::OkStatus(); },
                       .put_pages =
                           [&](auto, auto, const std::string& bytes) {
                             pages += static_cast<int>(DecodePages(bytes)->size());
                             return absl::OkStatus();
                           }});
  ASSERT_TRUE(Eventually(clock, [&] { return server.asked() >= 5; }));
  const MonoTime edge = clock.MonoNow();
  scrape.AskNow();
  ASSERT_TRUE(Eventually(clock, [&] { return scrape.AskedSince(edge); }));
  scrape.Stop();
  const SignalHistory all = scrape.Between(begin, clock.MonoNow());
  ASSERT_EQ(all.targets.size(), 2u);
  EXPECT_TRUE(server.accept_ok());
  const std::vector<TargetSample>& samples = all.targets[0].samples;
  ASSERT_GE(samples.size(), 5u);
  EXPECT_TRUE(samples.back().readable()) << MessageOf(samples.back().status);
  EXPECT_GE(samples.back().at, edge);
  EXPECT_LE(samples.back().uncertainty, samples.back().at - begin);
  ASSERT_FALSE(all.targets[1].samples.empty());
  EXPECT_FALSE(all.targets[1].samples[0].readable());
  EXPECT_EQ(scrape.kept().pages, static_cast<std::uint64_t>(pages.load()));
  EXPECT_EQ(scrape.kept().pages, samples.size() + all.targets[1].samples.size());
  scrape.Stop();
}

TEST(ScrapeThread, EndsWithoutWaitingForATargetThatHangs) {
  // Accepts by its backlog, and never answers.
  EventLoop loop;
  auto silent = HttpServer::Listen(loop, {}, [](const HttpServerRequest&, const HttpResponder&) {});
  ASSERT_TRUE(silent.ok());
  const RealClock clock;
  PageTarget target = ScrapeRig::Engine();
  target.url = "http://127.0.0.1:" + std::to_string((*silent)->port()) + "/metrics";
  const MonoTime begin = clock.MonoNow();
  {
    ScrapeThread scrape({.pages = {target}, .timeout = 60s}, clock, std::nullopt);
    EXPECT_FALSE(scrape.AskedSince(begin));
  }
  EXPECT_LT(clock.MonoNow() - begin, 30s);
}

}  // namespace
}  // namespace plimsoll
