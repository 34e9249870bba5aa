// The baseline: the least that a program can do with the same streams. One thread, level-triggered
// epoll, one recv() and one look at the clock a wake-up; a new request when an answer is over.
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tests/bench/agent/shared.h"

namespace plimsoll::bench {
namespace {

constexpr std::string_view kEnd = "0\r\n\r\n";

int Connect(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::_Exit(1);
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

}  // namespace

void RunEpollReader(Shared* shared) {
  const std::string body(shared->reader.body_bytes, 'x');
  const std::string request = fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nContent-Type: "
      "application/json\r\nAccept: text/event-stream, application/json\r\nContent-Length: {1}\r\n"
      "\r\n{2}",
      shared->port.load(), body.size(), body);
  const int epoll = epoll_create1(0);
  for (std::uint32_t i = 0; i < shared->reader.connections; ++i) {
    const int fd = Connect(static_cast<std::uint16_t>(shared->port));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) std::_Exit(1);
  }
  std::array<epoll_event, 256> events{};
  std::array<char, 16 << 10> buffer{};
  while (true) {
    const int n = epoll_wait(epoll, events.data(), events.size(), -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) std::_Exit(1);
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      shared->read_at.store(now.tv_nsec, std::memory_order_relaxed);
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      if (bytes.ends_with(kEnd)) send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    }
  }
}

}  // namespace plimsoll::bench
