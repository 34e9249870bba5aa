// A listening port of loopback that hangs up on whoever dials it: a coordinator that is not there
// yet, whose refused attempts can be counted.
#pragma once

#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace plimsoll::test {

class DeafPort {
 public:
  DeafPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in self{};
    self.sin_family = AF_INET;
    self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof self;
    auto* const generic = reinterpret_cast<sockaddr*>(&self);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    port_ = ntohs(self.sin_port);
  }
  ~DeafPort() { ::close(socket_); }
  DeafPort(const DeafPort&) = delete;
  DeafPort& operator=(const DeafPort&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Waits for somebody to dial and hangs up; false if nobody did in twenty seconds.
  bool HangUpOnOne() {
    pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 20'000) != 1) return false;
    const int dialled = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    return dialled >= 0 && ::close(dialled) == 0;
  }

 private:
  int socket_;
  int port_ = 0;
};

}  // namespace plimsoll::test
