#include "common/loop/detached_process.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plimsoll {
namespace {

// In the middle process: async-signal-safe calls only. The one it leaves becomes the program.
[[noreturn]] void BecomeDetached(char* const* argv, int in, int out, int report) {
  ::setsid();
  const pid_t pid = ::fork();
  if (pid != 0) ::_exit(pid < 0 ? 1 : 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int ignored : {SIGPIPE, SIGHUP, SIGINT, SIGTERM}) ::signal(ignored, SIG_DFL);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof(error));
  ::_exit(127);
}

struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    Close(0);
    Close(1);
  }
  void Close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

StatusOr<std::string> FirstLine(int fd, const std::string& program, Duration patience) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  std::string text;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd look{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left <= 0 ? 0 : ::poll(&look, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return absl::UnavailableError(fmt::format("{} does not begin", program));
    char bytes[256];
    const ssize_t n = ::read(fd, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return absl::UnavailableError(fmt::format("{} ended as it began", program));
    text.append(bytes, static_cast<std::size_t>(n));
    if (const std::size_t end = text.find('\n'); end != std::string::npos) {
      return text.substr(0, end);
    }
    if (text.size() > 4096)
      return absl::UnavailableError(fmt::format("{} says odd things", program));
  }
}

}  // namespace

StatusOr<std::string> StartDetached(const std::vector<std::string>& argv, Duration patience) {
  if (argv.empty() || argv[0].empty()) return absl::InvalidArgumentError("no program to start");
  std::vector<std::string> strings = argv;
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  Pipe out;
  Pipe report;
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || ::pipe2(out.ends, O_CLOEXEC) != 0 || ::pipe2(report.ends, O_CLOEXEC) != 0) {
    const int error = errno;
    if (in >= 0) ::close(in);
    return absl::ResourceExhaustedError(fmt::format("start {}: {}", argv[0], std::strerror(error)));
  }
  const pid_t middle = ::fork();
  if (middle == 0) BecomeDetached(pointers.data(), in, out.ends[1], report.ends[1]);
  const int fork_error = errno;
  ::close(in);
  out.Close(1);
  report.Close(1);
  int status = 0;
  if (middle < 0) {
    return absl::ResourceExhaustedError(
        fmt::format("start {}: {}", argv[0], std::strerror(fork_error)));
  }
  while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report.ends[0], &error, sizeof(error));  // Ends at exec, which closes the pipe.
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(error))) {
    return absl::NotFoundError(fmt::format("start {}: {}", argv[0], std::strerror(error)));
  }
  return FirstLine(out.ends[0], argv[0], patience);
}

}  // namespace plimsoll
