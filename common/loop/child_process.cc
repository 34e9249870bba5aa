#include "common/loop/child_process.h"

#include <cerrno>
#include <cstring>
#include <map>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/loop/asio_access.h"

// Not in Debian 12's unistd.h without _GNU_SOURCE, which g++ always defines.
extern char** environ;

namespace plimsoll {
namespace {

struct Image {
  std::vector<std::string> strings;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

// Everything the child needs between fork and exec, where it must not allocate.
Image MakeImage(const ChildOptions& options) {
  std::map<std::string, std::string> env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [name, value] : options.env) env[name] = value;

  Image image;
  image.strings = options.argv;
  for (const auto& [name, value] : env) image.strings.push_back(fmt::format("{}={}", name, value));
  for (std::size_t i = 0; i < image.strings.size(); ++i) {
    (i < options.argv.size() ? image.argv : image.envp).push_back(image.strings[i].data());
  }
  image.argv.push_back(nullptr);
  image.envp.push_back(nullptr);
  return image;
}

// In the child: async-signal-safe calls only. Never returns; on failure writes errno to `report`.
[[noreturn]] void BecomeChild(const ChildOptions& options, const Image& image, int in, int out,
                              int report, pid_t parent) {
  ::setpgid(0, 0);
  if (options.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // It died before the line above.
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);  // Ignored signals survive exec.
  ::dup2(in, 0);
  if (out >= 0) {
    ::dup2(out, 1);
    ::dup2(out, 2);
  }
  // Asio's sockets are not close-on-exec: a child that kept a listening one would hold its port.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvpe(image.argv[0], image.argv.data(), image.envp.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof(error));
  ::_exit(127);
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

ChildExit ExitOf(int status) {
  if (WIFSIGNALED(status)) return ChildExit{0, WTERMSIG(status)};
  return ChildExit{WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0};
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

StatusOr<pid_t> Spawn(const ChildOptions& options) {
  if (options.argv.empty() || options.argv[0].empty()) {
    return absl::InvalidArgumentError("no program to start");
  }
  const std::string& program = options.argv[0];
  const Image image = MakeImage(options);
  const Descriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor out(
      options.output_file.empty()
          ? -1
          : ::open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!options.output_file.empty() && out.get() < 0) {
    return absl::UnavailableError(fmt::format("{}: {}", options.output_file, std::strerror(errno)));
  }
  int ends[2];
  if (in.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(fmt::format("start {}: {}", program, std::strerror(errno)));
  }
  const Descriptor report_read(ends[0]);
  Descriptor report_write(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeChild(options, image, in.get(), out.get(), report_write.get(), parent);
  if (pid < 0) {
    return absl::ResourceExhaustedError(fmt::format("start {}: {}", program, std::strerror(errno)));
  }
  ::setpgid(pid, pid);  // Both sides do it: whoever is first.
  report_write.Close();
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report_read.get(), &error, sizeof(error));  // Ends at exec, which closes the pipe.
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(error))) {
    WaitFor(pid);
    return absl::NotFoundError(fmt::format("start {}: {}", program, std::strerror(error)));
  }
  return pid;
}

}  // namespace

class ChildProcess::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(EventLoop& loop, pid_t pid, int pidfd, std::function<void(const ChildExit&)> on_exit)
      : pidfd_(EventLoopIo::Of(loop), pidfd), pid_(pid), on_exit_(std::move(on_exit)) {}

  void Watch() {
    pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (error || !self->running_) return;
                        const ChildExit exit = self->Reap();
                        // Moved out: the callback may destroy the object that owns it.
                        if (auto on_exit = std::move(self->on_exit_)) on_exit(exit);
                      });
  }
  void Kill(int signal) {
    if (running_) ::kill(-pid_, signal);
  }
  // The group is killed while the dead child still holds its number, so that no other group can
  // have taken it.
  ChildExit Reap() {
    ::kill(-pid_, SIGKILL);
    running_ = false;
    return ExitOf(WaitFor(pid_));
  }
  void Close() {
    on_exit_ = nullptr;
    if (running_) Reap();
    boost::system::error_code ignored;
    pidfd_.close(ignored);
  }
  pid_t pid() const { return pid_; }
  bool running() const { return running_; }

 private:
  boost::asio::posix::stream_descriptor pidfd_;
  pid_t pid_;
  bool running_ = true;
  std::function<void(const ChildExit&)> on_exit_;
};

StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    EventLoop& loop, const ChildOptions& options, std::function<void(const ChildExit&)> on_exit) {
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(options));
  // glibc 2.36 declares pidfd_open without extern "C".
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    const int error = errno;
    ::kill(-pid, SIGKILL);
    WaitFor(pid);
    return absl::ResourceExhaustedError(
        fmt::format("watch {}: {}", options.argv[0], std::strerror(error)));
  }
  auto impl = std::make_shared<Impl>(loop, pid, pidfd, std::move(on_exit));
  impl->Watch();
  return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(impl)));
}

ChildProcess::ChildProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ChildProcess::~ChildProcess() {
  impl_->Close();
}

int ChildProcess::pid() const {
  return impl_->pid();
}

bool ChildProcess::running() const {
  return impl_->running();
}

void ChildProcess::Kill(int signal) {
  impl_->Kill(signal);
}

}  // namespace plimsoll
