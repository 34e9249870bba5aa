#include "tests/fakes/raw_client.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace plimsoll {

RawClient::RawClient(std::uint16_t port) {
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) Close();
}

RawClient::~RawClient() {
  Close();
}

void RawClient::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool RawClient::Request(std::string_view method, std::string_view target, std::string_view headers,
                        std::string_view body) {
  return Send(fmt::format("{} {} HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n", method,
                          target, headers, body.size())) &&
         Send(body);
}

bool RawClient::More() {
  char buffer[16384];
  const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  in_.append(buffer, static_cast<std::size_t>(n));
  return true;
}

bool RawClient::ReadUntil(std::string_view text) {
  while (in_.find(text) == std::string::npos) {
    if (!More()) return false;
  }
  return true;
}

bool RawClient::AtEnd() {
  char byte;
  return in_.empty() && ::recv(fd_, &byte, 1, 0) == 0;
}

RawClient::Answer RawClient::ReadAnswer() {
  Answer answer;
  if (!ReadUntil("\r\n\r\n")) return answer;
  const std::size_t head_end = in_.find("\r\n\r\n");
  std::string_view head(in_.data(), head_end);
  answer.status = std::atoi(in_.c_str() + in_.find(' '));
  for (std::size_t line = head.find("\r\n"); line != std::string_view::npos;) {
    const std::size_t next = head.find("\r\n", line + 2);
    const std::string_view field = head.substr(line + 2, next - line - 2);
    std::string name(field.substr(0, field.find(':')));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    answer.headers[name] = field.substr(std::min(field.size(), field.find(':') + 2));
    line = next;
  }
  in_.erase(0, head_end + 4);
  if (answer.headers.count("transfer-encoding") != 0) {
    answer.whole = ReadChunks(&answer);
  } else {
    const std::size_t length = std::strtoul(answer.headers["content-length"].c_str(), nullptr, 10);
    while (in_.size() < length && More()) {
    }
    answer.whole = in_.size() >= length;
    answer.body = in_.substr(0, length);
    in_.erase(0, answer.body.size());
  }
  return answer;
}

bool RawClient::ReadChunks(Answer* answer) {
  while (true) {
    while (in_.find("\r\n") == std::string::npos) {
      if (!More()) return false;
    }
    const std::size_t length = std::strtoul(in_.c_str(), nullptr, 16);
    const std::size_t begin = in_.find("\r\n") + 2;
    while (in_.size() < begin + length + 2) {
      if (!More()) return false;
    }
    answer->body += in_.substr(begin, length);
    in_.erase(0, begin + length + 2);
    if (length == 0) return true;
    ++answer->chunks;
  }
}

}  // namespace plimsoll
