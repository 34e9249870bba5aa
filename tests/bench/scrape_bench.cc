// What it costs to scrape 64 targets of 2,000 lines each second, all of it: connections, HTTP,
// parsing, samples, and keeping the pages compressed. The bound is 5% of a core. Beside it, in the
// same process and interleaved, what any reader pays: the same answers read from bare sockets and
// thrown away. A busy machine slows both, so the ratio is what stays.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/real_clock.h"
#include "common/base/rng.h"
#include "common/http/server/http_server.h"
#include "common/loop/event_loop.h"
#include "coordinator/scrape/scrape_thread.h"
#include "coordinator/signals/builtin_mappings.h"
#include "fmt/format.h"
#include "tests/bench/engine_page.h"

namespace plimsoll {
namespace {

constexpr int kTargets = 64;
constexpr int kLines = 2'000;
constexpr int kVersions = 4;  // Of each page, served in turn.
constexpr int kRounds = 3;
constexpr int kSeconds = 6;  // A round.

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Serves "/N" in a process of its own, whose time is not ours. Writes its port to `port_fd`.
[[noreturn]] void Serve(int port_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Rng rng(7);
  std::vector<std::array<std::string, kVersions>> pages(kTargets);
  for (int i = 0; i < kTargets; ++i) {
    for (std::string& page : pages[i]) page = MakeEnginePage(rng, i, kLines);
  }
  std::vector<unsigned> asked(kTargets, 0);
  EventLoop loop;
  const auto server =
      HttpServer::Listen(loop, {}, [&](const HttpServerRequest& request, HttpResponder responder) {
        const auto target =
            static_cast<std::size_t>(std::strtoul(request.target.c_str() + 1, nullptr, 10));
        responder.Send(200, {{"Content-Type", "text/plain; version=0.0.4"}},
                       pages[target % kTargets][asked[target % kTargets]++ % kVersions]);
      });
  const std::uint16_t port = server.ok() ? (*server)->port() : std::uint16_t{0};
  if (write(port_fd, &port, sizeof port) != sizeof port) _exit(1);
  loop.Run();
  _exit(0);
}

// One kept connection, read to the last byte and no further.
class BareReader {
 public:
  explicit BareReader(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    good_ = connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~BareReader() { close(socket_); }
  BareReader(const BareReader&) = delete;
  BareReader& operator=(const BareReader&) = delete;

  // Bytes of the answer's body; 0: it failed.
  std::size_t Get(int target) {
    const std::string request = fmt::format("GET /{} HTTP/1.1\r\nHost: b\r\n\r\n", target);
    if (!good_ || send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return 0;
    std::string head;
    std::size_t body = 0;
    std::size_t wanted = 0;
    while (wanted == 0 || body < wanted) {
      const ssize_t n = recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (n <= 0) return 0;
      if (wanted > 0) {
        body += static_cast<std::size_t>(n);
        continue;
      }
      head.append(buffer_.data(), static_cast<std::size_t>(n));
      const std::size_t end = head.find("\r\n\r\n");
      const std::size_t length = head.find("Content-Length: ");
      if (end == std::string::npos || length == std::string::npos) continue;
      wanted = std::strtoul(head.c_str() + length + 16, nullptr, 10);
      body = head.size() - end - 4;
    }
    return body;
  }

 private:
  const int socket_;
  bool good_ = false;
  std::array<char, std::size_t{64} << 10> buffer_{};
};

struct Cost {
  double cpu_share = 0;
  double mb_a_second = 0;
};

// Each second all pages once, as the scraper does.
Cost ReadBare(std::uint16_t port) {
  std::vector<std::unique_ptr<BareReader>> readers;
  for (int i = 0; i < kTargets; ++i) readers.push_back(std::make_unique<BareReader>(port));
  for (int i = 0; i < kTargets; ++i) (void)readers[i]->Get(i);
  const double begin = CpuSeconds();
  double bytes = 0;
  for (int second = 0; second < kSeconds; ++second) {
    for (int i = 0; i < kTargets; ++i) bytes += static_cast<double>(readers[i]->Get(i));
  }
  return {(CpuSeconds() - begin) / kSeconds, bytes / kSeconds / 1e6};
}

struct Scraped {
  Cost cost;
  std::size_t samples = 0;
  std::size_t unreadable = 0;
  ScrapeThread::Kept kept;
};

Scraped Scrape(std::uint16_t port, const std::shared_ptr<const Mapping>& mapping) {
  const RealClock clock;
  ScrapePlan plan;
  for (int i = 0; i < kTargets; ++i) {
    plan.pages.push_back({.source = "engines",
                          .name = fmt::format("{}", i),
                          .url = fmt::format("http://127.0.0.1:{}/{}", port, i),
                          .mapping = mapping});
  }
  ScrapeThread scrape(
      std::move(plan), clock,
      PageKeeper::Sink{.put_target = [](auto, const auto&) { return absl::OkStatus(); },
                       .put_pages = [](auto, auto, const auto&) { return absl::OkStatus(); }});
  usleep(1'500'000);  // Connections are made, layouts known.
  const MonoTime from = clock.MonoNow();
  const double begin = CpuSeconds();
  usleep(kSeconds * 1'000'000);
  Scraped result;
  const double cpu = CpuSeconds() - begin;
  const MonoTime to = clock.MonoNow();
  scrape.Stop();
  for (const TargetSeries& series : scrape.Between(from, to).targets) {
    for (const TargetSample& sample : series.samples) {
      if (sample.at < from || sample.at > to) continue;
      ++result.samples;
      if (!sample.readable()) ++result.unreadable;
    }
  }
  // A page's cost times their number: a machine too busy for every turn does not make it cheaper.
  result.cost.cpu_share =
      cpu / static_cast<double>(std::max<std::size_t>(result.samples, 1)) * kTargets;
  result.kept = scrape.kept();
  return result;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int Run() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) Serve(ends[1]);
  std::uint16_t port = 0;
  if (read(ends[0], &port, sizeof port) != sizeof port || port == 0) return 1;
  const StatusOr<Mapping> mapping = BuiltinMapping("vllm");
  if (!mapping.ok()) return 1;
  const auto shared = std::make_shared<const Mapping>(*mapping);
  std::vector<double> bare;
  std::vector<double> scraped;
  for (int round = 0; round < kRounds; ++round) {
    const Cost read = ReadBare(port);
    const Scraped mine = Scrape(port, shared);
    bare.push_back(read.cpu_share);
    scraped.push_back(mine.cost.cpu_share);
    std::printf(
        "bare read %.2f%% of a core (%.1f MB a second); scraped %.2f%%: %zu samples, %zu "
        "unreadable, %.2f KB a page kept\n",
        read.cpu_share * 100, read.mb_a_second, mine.cost.cpu_share * 100, mine.samples,
        mine.unreadable,
        static_cast<double>(mine.kept.bytes) / 1e3 / static_cast<double>(mine.kept.pages));
    if (mine.unreadable > 0) return 1;
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::printf(
      "%d targets of %d lines each second: %.2f%% of a core, bare read %.2f%%, ratio %.2f\n",
      kTargets, kLines, Median(scraped) * 100, Median(bare) * 100, Median(scraped) / Median(bare));
  return Median(scraped) < 0.05 ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main() {
  return plimsoll::Run();
}
