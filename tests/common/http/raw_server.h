// A server that does exactly what a test writes, byte by byte, with blocking sockets on threads of
// its own: right for answers that no HTTP library would send.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace plimsoll {

class RawConnection {
 public:
  RawConnection(int fd, int number) : fd_(fd), number_(number) {}

  int number() const { return number_; }  // Of the connection, from 0.
  // Reads one request with its body. False: the peer hung up before it was whole.
  bool ReadRequest();
  const std::string& head() const { return head_; }
  const std::string& body() const { return body_; }

  void Write(std::string_view bytes);
  // Blocks until the peer hangs up; what it sends is dropped.
  void AwaitHangUp();
  void Reset();  // An RST instead of a FIN.
  void Pause(int milliseconds);

 private:
  int fd_;
  int number_;
  std::string pending_;
  std::string head_;
  std::string body_;
};

class RawServer {
 public:
  explicit RawServer(std::function<void(RawConnection&)> script);
  ~RawServer();

  std::string url() const;
  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void Accept();

  std::function<void(RawConnection&)> script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<int> open_;             // Guarded by mutex_.
  std::vector<std::thread> threads_;  // Touched by the accepting thread, then by the destructor.
  std::thread acceptor_;
};

}  // namespace plimsoll
