// A listening socket on a free port of 127.0.0.1, for servers that tests write by hand.
#pragma once

#include <cstdint>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace plimsoll {

struct LoopbackListener {
  int fd = -1;
  std::uint16_t port = 0;
};

// Aborts where there is none to be had: no test could go on. The caller closes it.
inline LoopbackListener ListenOnLoopback(int backlog) {
  LoopbackListener listener{.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listener.fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener.fd, backlog) != 0) {
    std::abort();
  }
  ::getsockname(listener.fd, reinterpret_cast<sockaddr*>(&address), &size);
  listener.port = ntohs(address.sin_port);
  return listener;
}

}  // namespace plimsoll
