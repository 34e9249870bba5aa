// The source of streams: an HTTP server of one thread that answers every request with a
// pre-rendered stream of chat chunks, one send() a chunk, paced by a 1 ms timer or as fast as it
// goes. It is made to be cheap, not to be right about anything but what the benchmark sends.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/bench/agent/shared.h"

namespace plimsoll::bench {
namespace {

constexpr std::uint32_t kBuckets = 1024;  // Ticks of 1 ms that the wheel looks ahead.
constexpr std::uint32_t kBurst = 8;       // Chunks of one stream in a row when not paced.

std::int64_t NowNs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string HttpChunk(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

std::string Event(std::string_view delta, std::string_view finish) {
  return fmt::format(
      "data: {{\"id\":\"chatcmpl-5f2c9a1e77d84b0a\",\"object\":\"chat.completion.chunk\","
      "\"created\":1767225600,\"model\":\"glm-5.3\",\"choices\":[{{\"index\":0,\"delta\":{{{}}},"
      "\"logprobs\":null,\"finish_reason\":{}}}]}}\n\n",
      delta, finish);
}

struct Connection {
  enum class State { kHead, kBody, kAnswering };
  int fd = -1;
  State state = State::kHead;
  std::string head;
  std::string tail;  // Last bytes of the body: the cap on the output stands there.
  std::uint64_t body_left = 0;
  std::uint64_t due_tick = 0;
  std::uint32_t total = 0;
  std::uint32_t sent = 0;  // Tokens.
  std::string_view part;   // Of the piece that did not fit.
  std::string end_piece;
  bool head_sent = false;
  bool end_sent = false;
  bool waits = false;  // For room in its socket.
  AnswerStamp stamp;
};

class Source {
 public:
  explicit Source(Shared* shared) : shared_(*shared), options_(shared->source) {
    head_piece_ =
        "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n" +
        HttpChunk(Event("\"role\":\"assistant\",\"content\":\"\"", "null"));
    token_piece_ = HttpChunk(Event("\"content\":\" word\"", "null"));
  }

  [[noreturn]] void Run() {
    epoll_ = epoll_create1(0);
    Listen();
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    itimerspec every{{0, 1'000'000}, {0, 1'000'000}};
    timerfd_settime(timer_, 0, &every, nullptr);
    Watch(timer_, EPOLLIN, nullptr, EPOLL_CTL_ADD);
    std::array<epoll_event, 256> events{};
    while (true) {
      const int n = epoll_wait(epoll_, events.data(), events.size(), ready_.empty() ? -1 : 0);
      for (int i = 0; i < n; ++i) {
        if (events[i].data.ptr == nullptr) {
          Tick();
        } else if (events[i].data.ptr == this) {
          Accept();
        } else {
          OnSocket(*static_cast<Connection*>(events[i].data.ptr), events[i].events);
        }
      }
      for (std::size_t k = ready_.size(); k > 0; --k) {
        Connection* connection = ready_.front();
        ready_.pop_front();
        SendBurst(*connection);
      }
    }
  }

 private:
  void Watch(int fd, std::uint32_t events, void* what, int operation) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = what;
    epoll_ctl(epoll_, operation, fd, &event);
  }

  void Listen() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, plain, size) != 0 || listen(listener_, 4096) != 0) std::_Exit(1);
    getsockname(listener_, plain, &size);
    Watch(listener_, EPOLLIN, this, EPOLL_CTL_ADD);
    shared_.port = ntohs(address.sin_port);
  }

  void Accept() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const int yes = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      const auto index = static_cast<std::size_t>(fd);
      if (connections_.size() <= index) connections_.resize(index + 1);
      connections_[index] = std::make_unique<Connection>();
      connections_[index]->fd = fd;
      Watch(fd, EPOLLIN, connections_[index].get(), EPOLL_CTL_ADD);
    }
  }

  void OnSocket(Connection& c, std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) {
      Watch(c.fd, EPOLLIN, &c, EPOLL_CTL_MOD);
      c.waits = false;
      ready_.push_back(&c);
    }
    if ((events & ~std::uint32_t{EPOLLOUT}) == 0) return;
    static std::array<char, 1 << 18> buffer;
    const ssize_t n = recv(c.fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return Close(c);
    Take(c, {buffer.data(), static_cast<std::size_t>(n)});
  }

  void Take(Connection& c, std::string_view bytes) {
    if (c.state == Connection::State::kHead) {
      c.head.append(bytes);
      const std::size_t end = c.head.find("\r\n\r\n");
      if (end == std::string::npos) return;
      c.body_left = static_cast<std::uint64_t>(Number(c.head, "Content-Length: ", 10));
      c.stamp.play_id = static_cast<std::uint64_t>(Number(c.head, "x-play: ", 16));
      const std::size_t in_head = c.head.size() - (end + 4);
      bytes = bytes.substr(bytes.size() - in_head);
      c.head.clear();
      c.tail.clear();
      c.state = Connection::State::kBody;
    }
    if (c.state != Connection::State::kBody) return;
    c.body_left -= std::min<std::uint64_t>(c.body_left, bytes.size());
    if (c.body_left < 256)
      c.tail.append(bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 256)));
    if (c.body_left == 0) Begin(c);
  }

  static std::uint64_t Number(const std::string& head, std::string_view key, int base) {
    const std::size_t at = head.find(key);
    return at == std::string::npos ? 0
                                   : std::strtoull(head.c_str() + at + key.size(), nullptr, base);
  }

  void Begin(Connection& c) {
    c.state = Connection::State::kAnswering;
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto drawn = static_cast<std::uint32_t>(random_ >> 33);
    c.total = options_.chunks_min + drawn % (options_.chunks_max - options_.chunks_min + 1);
    const bool one = c.tail.find("\"max_tokens\":1}") != std::string::npos ||
                     c.tail.find("\"max_tokens\":1,") != std::string::npos;
    if (one) c.total = 1;
    c.sent = 0;
    c.head_sent = c.end_sent = false;
    c.part = {};
    c.end_piece = HttpChunk(Event("", "\"stop\"")) +
                  HttpChunk(fmt::format("data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":1000,"
                                        "\"completion_tokens\":{},\"total_tokens\":{}}}}}\n\n",
                                        c.total, c.total + 1000)) +
                  HttpChunk("data: [DONE]\n\n") + "0\r\n\r\n";
    c.stamp.received_ns = NowNs();
    ++shared_.open;
    if (options_.interval_ms == 0) {
      ready_.push_back(&c);
    } else {
      const std::uint32_t wait = one ? 1 : options_.first_ms + drawn / 7 % options_.interval_ms;
      Plan(c, tick_ + 1 + wait);
    }
  }

  void Plan(Connection& c, std::uint64_t tick) {
    c.due_tick = tick;
    wheel_[tick % kBuckets].push_back(&c);
  }

  void Tick() {
    std::uint64_t passed = 0;
    if (read(timer_, &passed, sizeof passed) != sizeof passed) return;
    for (; passed > 0; --passed) {
      ++tick_;
      std::vector<Connection*> due;
      due.swap(wheel_[tick_ % kBuckets]);
      for (Connection* c : due) {
        if (c->fd < 0) continue;
        if (c->due_tick > tick_) {
          wheel_[tick_ % kBuckets].push_back(c);
        } else if (SendNext(*c) && !Paused(*c)) {
          Plan(*c, tick_ + options_.interval_ms);
        }
      }
    }
  }

  bool Paused(const Connection& c) const {
    return options_.stop_after > 0 && c.sent >= options_.stop_after;
  }

  void SendBurst(Connection& c) {
    if (c.fd < 0) return;
    for (std::uint32_t k = 0; k < kBurst; ++k) {
      if (!SendNext(c)) return;
      if (c.waits) {
        Watch(c.fd, EPOLLIN | EPOLLOUT, &c, EPOLL_CTL_MOD);
        return;
      }
    }
    ready_.push_back(&c);
  }

  // The next token with what goes before or after it. False: the answer is over.
  bool SendNext(Connection& c) {
    if (!c.part.empty() && !Send(c, c.part)) return true;
    if (!c.head_sent) {
      c.head_sent = true;
      if (!Send(c, head_piece_)) return true;
    }
    if (c.sent < c.total) {
      const std::int64_t now = NowNs();
      if (c.sent == 0) c.stamp.first_token_ns = now;
      c.stamp.last_token_ns = now;
      ++c.sent;
      shared_.chunks.store(++chunks_, std::memory_order_relaxed);
      if (!Send(c, token_piece_)) return true;
    }
    if (c.sent < c.total) return true;
    if (!c.end_sent) {
      c.end_sent = true;
      if (!Send(c, c.end_piece)) return true;
    }
    return End(c);
  }

  bool End(Connection& c) {
    const std::uint64_t used = shared_.stamps_used;
    if (used < kStampsMax && c.stamp.play_id != 0) {
      shared_.stamps[used] = c.stamp;
      shared_.stamps_used = used + 1;
    }
    --shared_.open;
    c.state = Connection::State::kHead;
    return false;
  }

  // False: not all of it fitted; the rest is kept.
  bool Send(Connection& c, std::string_view bytes) {
    const ssize_t n = send(c.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    const std::size_t done = n > 0 ? static_cast<std::size_t>(n) : 0;
    c.part = bytes.substr(done);
    c.waits = !c.part.empty();
    return c.part.empty();
  }

  void Close(Connection& c) {
    if (c.state == Connection::State::kAnswering) --shared_.open;
    close(c.fd);
    // The wheel may still name it; its descriptor is about to be another's.
    graveyard_.push_back(std::move(connections_[static_cast<std::size_t>(c.fd)]));
    c.fd = -1;
  }

  Shared& shared_;
  const SourceOptions options_;
  std::string head_piece_;
  std::string token_piece_;
  int epoll_ = -1;
  int listener_ = -1;
  int timer_ = -1;
  std::uint64_t tick_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t random_ = 1;
  std::vector<std::unique_ptr<Connection>> connections_;  // By descriptor.
  std::vector<std::unique_ptr<Connection>> graveyard_;
  std::vector<std::vector<Connection*>> wheel_ = std::vector<std::vector<Connection*>>(kBuckets);
  std::deque<Connection*> ready_;
};

}  // namespace

void RunSource(Shared* shared) {
  Source(shared).Run();
}

}  // namespace plimsoll::bench
