#include "coordinator/rehearse/record_relay.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace plimsoll::rehearse {
namespace {

// The method's path as it stands in the head of the call that carries records.
constexpr std::string_view kRecordsPath = "plimsoll.v1.Records/";
// Bytes of a connection in which that is looked for: its preface, settings and the call's head.
constexpr std::size_t kHeadBytes = 16 * 1024;
constexpr int kPollMs = 100;

struct Pair {
  int agent = -1;
  int coordinator = -1;
  std::string head;  // What the agent sent first.
  bool records = false;
};

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void NoDelay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int Connect(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(fd);
    return -1;
  }
  if (fd >= 0) NoDelay(fd);
  return fd;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Passes on what has come from one side. False: the pair is over.
bool Pass(Pair* pair, bool from_agent, bool drop) {
  char bytes[32 * 1024];
  const ssize_t n = ::recv(from_agent ? pair->agent : pair->coordinator, bytes, sizeof(bytes), 0);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  const std::string_view got(bytes, static_cast<std::size_t>(n));
  if (!from_agent) return WriteAll(pair->agent, got);
  if (!pair->records && pair->head.size() < kHeadBytes) {
    pair->head.append(got.substr(0, kHeadBytes - pair->head.size()));
    pair->records = pair->head.find(kRecordsPath) != std::string::npos;
  }
  return (drop && pair->records) || WriteAll(pair->coordinator, got);
}

void Close(const Pair& pair) {
  ::close(pair.agent);
  ::close(pair.coordinator);
}

}  // namespace

StatusOr<std::unique_ptr<RecordRelay>> RecordRelay::Start(std::uint16_t port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, raw, size) != 0 || ::listen(listener, 16) != 0 ||
      ::getsockname(listener, raw, &size) != 0) {
    const std::string why = std::strerror(errno);
    if (listener >= 0) ::close(listener);
    return absl::UnavailableError("a relay on loopback: " + why);
  }
  return std::unique_ptr<RecordRelay>(new RecordRelay(listener, ntohs(address.sin_port), port));
}

RecordRelay::RecordRelay(int listener, std::uint16_t from, std::uint16_t to)
    : listener_(listener), to_(to), address_(fmt::format("127.0.0.1:{}", from)) {
  thread_ = std::thread([this] { Run(); });
}

RecordRelay::~RecordRelay() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
}

void RecordRelay::Run() {
  std::vector<Pair> pairs;
  while (!stop_) {
    std::vector<pollfd> wanted = {{.fd = listener_, .events = POLLIN, .revents = 0}};
    for (const Pair& pair : pairs) {
      wanted.push_back({.fd = pair.agent, .events = POLLIN, .revents = 0});
      wanted.push_back({.fd = pair.coordinator, .events = POLLIN, .revents = 0});
    }
    if (::poll(wanted.data(), wanted.size(), kPollMs) <= 0) continue;
    std::vector<Pair> alive;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool from_agent = wanted[2 * i + 1].revents != 0;
      const bool from_coordinator = wanted[2 * i + 2].revents != 0;
      const bool on = (!from_agent || Pass(&pairs[i], true, drop_)) &&
                      (!from_coordinator || Pass(&pairs[i], false, drop_));
      on ? alive.push_back(std::move(pairs[i])) : Close(pairs[i]);
    }
    pairs = std::move(alive);
    if (wanted[0].revents == 0) continue;
    const int agent = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (agent < 0) continue;
    NoDelay(agent);
    const int coordinator = Connect(to_);
    coordinator < 0 ? void(::close(agent))
                    : pairs.push_back({.agent = agent, .coordinator = coordinator});
  }
  for (const Pair& pair : pairs) Close(pair);
}

}  // namespace plimsoll::rehearse
