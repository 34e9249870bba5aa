#include "common/loop/signals.h"

#include <csignal>
#include <utility>

#include <boost/asio/signal_set.hpp>

#include "common/loop/asio_access.h"

namespace plimsoll {

class Signals::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(EventLoop& loop, std::function<void(int, int)> on_signal)
      : set_(EventLoopIo::Of(loop), SIGINT, SIGTERM), on_signal_(std::move(on_signal)) {
    struct sigaction before {};
    const bool ignored = ::sigaction(SIGHUP, nullptr, &before) == 0 &&
                         !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_IGN;
    if (!ignored) set_.add(SIGHUP);
  }

  void Wait() {
    set_.async_wait(
        [self = shared_from_this()](const boost::system::error_code& error, int number) {
          if (error || self->closed_) return;
          self->Wait();
          if (number == SIGHUP && self->count_ > 0) return;
          self->on_signal_(++self->count_, number);
        });
  }
  void Close() {
    closed_ = true;
    boost::system::error_code ignored;
    set_.clear(ignored);   // Gives the signals back.
    set_.cancel(ignored);  // Ends the wait.
  }

 private:
  boost::asio::signal_set set_;
  std::function<void(int, int)> on_signal_;
  int count_ = 0;
  bool closed_ = false;
};

Signals::Signals(EventLoop& loop, std::function<void(int count, int number)> on_signal)
    : impl_(std::make_shared<Impl>(loop, std::move(on_signal))) {
  std::signal(SIGPIPE, SIG_IGN);
  impl_->Wait();
}

Signals::~Signals() {
  impl_->Close();
}

}  // namespace plimsoll
