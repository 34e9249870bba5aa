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

#include "common/base/line_splitter.h"
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

// The child's ends of what is open between it and us.
struct ChildEnds {
  int in = -1;
  int out = -1;  // -1: ours.
  int report = -1;
  int gate = -1;        // It waits here for a byte; -1: for nothing.
  int gate_write = -1;  // Our end of the gate, which it must not keep.
};

// Ends the child if we died or do not want it.
void AwaitGate(const ChildEnds& ends) {
  if (ends.gate < 0) return;
  ::close(ends.gate_write);
  char go = 0;
  ssize_t got;
  do {
    got = ::read(ends.gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);
}

// In the child: async-signal-safe calls only. Never returns; on failure writes errno to `report`.
[[noreturn]] void BecomeChild(const ChildOptions& options, const Image& image,
                              const ChildEnds& ends, pid_t parent) {
  ::setpgid(0, 0);
  if (options.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // It died before the line above.
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);  // Ignored signals survive exec.
  ::dup2(ends.in, 0);
  if (ends.out >= 0) {
    ::dup2(ends.out, 1);
    ::dup2(ends.out, 2);
  }
  AwaitGate(ends);
  // Asio's sockets are not close-on-exec: a child that kept a listening one would hold its port.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (options.keep_fd >= 0) ::fcntl(options.keep_fd, F_SETFD, 0);
  if (options.directory.empty() || ::chdir(options.directory.c_str()) == 0) {
    ::execvpe(image.argv[0], image.argv.data(), image.envp.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(ends.report, &error, sizeof(error));
  ::_exit(127);
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// Where a child's standard output and error go; nowhere else: they are ours.
struct Output {
  Descriptor write;
  Descriptor read;  // Non-blocking; of a pipe.
};

StatusOr<Output> OpenOutput(const ChildOptions& options) {
  Output output;
  if (!options.output_file.empty()) {
    const int fd =
        ::open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
      return absl::UnavailableError(
          fmt::format("{}: {}", options.output_file, std::strerror(errno)));
    }
    return Output{Descriptor(fd), Descriptor()};
  }
  if (!options.on_lines) return output;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        fmt::format("start {}: {}", options.argv[0], std::strerror(errno)));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Output{Descriptor(ends[1]), Descriptor(ends[0])};
}

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

std::string InFolder(const std::string& directory) {
  return directory.empty() ? "" : fmt::format(" in {}", directory);
}

struct Spawned {
  pid_t pid = -1;
  int output = -1;  // The reading end of what it writes, if `on_lines` wants it.
};

// Lets a child that exists become the program once `before_exec` agrees.
Status OpenGate(const ChildOptions& options, pid_t pid, Descriptor gate) {
  if (!options.before_exec) return absl::OkStatus();
  RETURN_IF_ERROR(options.before_exec(pid));
  const char go = 1;
  [[maybe_unused]] const ssize_t written = ::write(gate.get(), &go, 1);
  return absl::OkStatus();
}

StatusOr<Spawned> Spawn(const ChildOptions& options) {
  if (options.argv.empty() || options.argv[0].empty()) {
    return absl::InvalidArgumentError("no program to start");
  }
  const std::string& program = options.argv[0];
  const Image image = MakeImage(options);
  const Descriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSIGN_OR_RETURN(Output output, OpenOutput(options));
  int ends[2];
  if (in.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(fmt::format("start {}: {}", program, std::strerror(errno)));
  }
  const Descriptor report_read(ends[0]);
  Descriptor report_write(ends[1]);
  int gate[2] = {-1, -1};
  if (options.before_exec && ::pipe2(gate, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(fmt::format("start {}: {}", program, std::strerror(errno)));
  }
  // Kept open by us as well: writing to it ends nobody, even when the child is dead.
  const Descriptor gate_read(gate[0]);
  Descriptor gate_write(gate[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    BecomeChild(options, image,
                {in.get(), output.write.get(), report_write.get(), gate[0], gate[1]}, parent);
  }
  if (pid < 0) {
    return absl::ResourceExhaustedError(fmt::format("start {}: {}", program, std::strerror(errno)));
  }
  ::setpgid(pid, pid);  // Both sides do it: whoever is first.
  report_write.Close();
  if (const Status status = OpenGate(options, pid, std::move(gate_write)); !status.ok()) {
    ::kill(-pid, SIGKILL);
    WaitFor(pid);
    return status;
  }
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report_read.get(), &error, sizeof(error));  // Ends at exec, which closes the pipe.
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(error))) {
    WaitFor(pid);
    return absl::NotFoundError(
        fmt::format("start {}{}: {}", program, InFolder(options.directory), std::strerror(error)));
  }
  return Spawned{pid, output.read.Release()};
}

}  // namespace

class ChildProcess::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(EventLoop& loop, const Spawned& child, int pidfd, const ChildOptions& options,
       std::function<void(const ChildExit&)> on_exit)
      : pidfd_(EventLoopIo::Of(loop), pidfd),
        output_(EventLoopIo::Of(loop)),
        pid_(child.pid),
        on_lines_(options.on_lines),
        on_exit_(std::move(on_exit)) {
    if (child.output >= 0) output_.assign(child.output);
  }

  void Watch() {
    pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (error || !self->running_) return;
                        // The reactor may wake a descriptor for one that was closed in this turn.
                        if (!self->HasExited()) return self->Watch();
                        const ChildExit exit = self->Reap();
                        // Moved out: the callback may destroy the object that owns it.
                        if (auto on_exit = std::move(self->on_exit_)) on_exit(exit);
                      });
  }
  bool HasExited() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
  }
  void ListenIfWanted() {
    if (output_.is_open()) Listen();
  }
  void Kill(int signal) {
    if (running_) ::kill(-pid_, signal);
  }
  // The group is killed while the dead child still holds its number, so that no other group can
  // have taken it.
  ChildExit Reap() {
    ::kill(-pid_, SIGKILL);
    running_ = false;
    const ChildExit exit = ExitOf(WaitFor(pid_));
    TakeLastWords();
    return exit;
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
  // One read a turn: a child that writes without end cannot keep the loop to itself.
  void Listen() {
    output_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error && self->running_ && self->Read()) self->Listen();
                       });
  }
  // Whether anything came. Not being able to say yet counts as something.
  bool Read() {
    char bytes[LineSplitter::kLineBytesMax];
    const ssize_t n = ::read(output_.native_handle(), bytes, sizeof(bytes));
    if (n <= 0) return n < 0 && (errno == EINTR || errno == EAGAIN);
    const auto lines = splitter_.Add({bytes, static_cast<std::size_t>(n)});
    if (!lines.empty()) on_lines_(lines);
    return true;
  }
  // The group is dead: what it wrote is in the pipe. Whoever left the group and writes on is not
  // waited for, nor read for longer than a pipe is deep.
  void TakeLastWords() {
    if (!output_.is_open()) return;
    constexpr std::size_t kPipeBytes = std::size_t{1} << 16;
    for (std::size_t read = 0; read < kPipeBytes; read += LineSplitter::kLineBytesMax) {
      errno = 0;
      if (!Read() || errno == EAGAIN) break;
    }
    if (std::string rest = splitter_.TakeRest(); !rest.empty()) on_lines_({std::move(rest)});
    boost::system::error_code ignored;
    output_.close(ignored);
  }

  boost::asio::posix::stream_descriptor pidfd_;
  boost::asio::posix::stream_descriptor output_;  // Closed: nobody listens.
  LineSplitter splitter_;
  pid_t pid_;
  bool running_ = true;
  std::function<void(const std::vector<std::string>&)> on_lines_;
  std::function<void(const ChildExit&)> on_exit_;
};

StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    EventLoop& loop, const ChildOptions& options, std::function<void(const ChildExit&)> on_exit) {
  ASSIGN_OR_RETURN(const Spawned child, Spawn(options));
  // glibc 2.36 declares pidfd_open without extern "C".
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0));
  if (pidfd < 0) {
    const int error = errno;
    ::kill(-child.pid, SIGKILL);
    WaitFor(child.pid);
    const Descriptor unread(child.output);
    return absl::ResourceExhaustedError(
        fmt::format("watch {}: {}", options.argv[0], std::strerror(error)));
  }
  auto impl = std::make_shared<Impl>(loop, child, pidfd, options, std::move(on_exit));
  impl->Watch();
  impl->ListenIfWanted();
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
