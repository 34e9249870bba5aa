#include "tests/common/http/raw_server.h"

#include <algorithm>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/common/http/loopback_listener.h"

namespace plimsoll {
namespace {

// The value of Content-Length in a request's head, which the client under test writes in this case.
std::size_t BodyBytes(const std::string& head) {
  const std::size_t at = head.find("\r\nContent-Length: ");
  return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 18, nullptr, 10);
}

}  // namespace

bool RawConnection::ReadRequest() {
  const auto read_more = [this] {
    char buffer[65'536];
    const ssize_t n = ::recv(fd_, buffer, sizeof(buffer), 0);
    if (n > 0) pending_.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
  };
  std::size_t end;
  while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return false;
  }
  head_ = pending_.substr(0, end + 4);
  pending_.erase(0, end + 4);
  const std::size_t bytes = BodyBytes(head_);
  while (pending_.size() < bytes) {
    if (!read_more()) return false;
  }
  body_ = pending_.substr(0, bytes);
  pending_.erase(0, bytes);
  return true;
}

void RawConnection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void RawConnection::AwaitHangUp() {
  char buffer[4096];
  while (::recv(fd_, buffer, sizeof(buffer), 0) > 0) {
  }
}

void RawConnection::Reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

void RawConnection::Pause(int milliseconds) {
  ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
}

RawServer::RawServer(std::function<void(RawConnection&)> script) : script_(std::move(script)) {
  const LoopbackListener listener = ListenOnLoopback(512);
  listener_ = listener.fd;
  port_ = listener.port;
  acceptor_ = std::thread([this] { Accept(); });
}

RawServer::~RawServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string RawServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/v1/chat/completions";
}

void RawServer::Accept() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int at_once = 1;  // Each write on its way, not when the last one was acknowledged.
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
    {
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
    }
    threads_.emplace_back([this, fd, number = connections_++] {
      RawConnection connection(fd, number);
      script_(connection);
      const std::lock_guard lock(mutex_);
      open_.erase(std::find(open_.begin(), open_.end(), fd));
      ::close(fd);
    });
  }
}

}  // namespace plimsoll
