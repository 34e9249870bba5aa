#include "common/loop/process_watch.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/loop/asio_access.h"

namespace plimsoll {

class ProcessWatch::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(EventLoop& loop, int pidfd, std::function<void()> on_gone)
      : pidfd_(EventLoopIo::Of(loop), pidfd), on_gone_(std::move(on_gone)) {}

  void Watch() {
    pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (error || !self->on_gone_) return;
                        // The reactor may wake a descriptor for one that was closed in this turn.
                        if (!self->Gone()) return self->Watch();
                        std::exchange(self->on_gone_, nullptr)();
                      });
  }
  void Close() {
    on_gone_ = nullptr;
    boost::system::error_code ignored;
    pidfd_.close(ignored);
  }

 private:
  bool Gone() {
    pollfd look{.fd = pidfd_.native_handle(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, 0) > 0;
  }

  boost::asio::posix::stream_descriptor pidfd_;
  std::function<void()> on_gone_;
};

StatusOr<std::unique_ptr<ProcessWatch>> ProcessWatch::Start(EventLoop& loop, int pid,
                                                            std::function<void()> on_gone) {
  // glibc 2.36 declares pidfd_open without extern "C".
  const int pidfd = pid <= 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    if (pid <= 0 || errno == ESRCH) {
      return absl::NotFoundError(fmt::format("there is no process {}", pid));
    }
    return absl::ResourceExhaustedError(
        fmt::format("watch process {}: {}", pid, std::strerror(errno)));
  }
  auto impl = std::make_shared<Impl>(loop, pidfd, std::move(on_gone));
  impl->Watch();
  return std::unique_ptr<ProcessWatch>(new ProcessWatch(std::move(impl)));
}

ProcessWatch::ProcessWatch(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ProcessWatch::~ProcessWatch() {
  impl_->Close();
}

}  // namespace plimsoll
