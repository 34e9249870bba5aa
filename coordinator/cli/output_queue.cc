#include "coordinator/cli/output_queue.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace plimsoll {
namespace {

// Blocking, by whoever can afford it. Somebody else may have set the descriptor to O_NONBLOCK.
void WriteAll(int fd, std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      struct pollfd wanted {
        .fd = fd, .events = POLLOUT, .revents = 0
      };
      ::poll(&wanted, 1, -1);
      continue;
    }
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace

struct OutputQueue::Shared {
  explicit Shared(int descriptor, std::size_t most) : fd(descriptor), bytes_max(most) {}

  void Serve() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !waiting.empty() || closing; });
      if (waiting.empty()) return;
      const std::string text = std::exchange(waiting, {});
      writing = text.size();
      lock.unlock();
      WriteAll(fd, text);
      lock.lock();
      writing = 0;
      changed.notify_all();
    }
  }
  bool idle() const { return waiting.empty() && writing == 0; }

  const int fd;
  const std::size_t bytes_max;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::string waiting;
  std::size_t writing = 0;  // Bytes in the thread's hands.
  bool closing = false;
  bool threadless = false;  // None could be made: then the writer waits itself.
};

OutputQueue::OutputQueue(int fd, std::size_t bytes_max)
    : shared_(std::make_shared<Shared>(fd, bytes_max)) {
  // Signals are for the loop's thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([shared = shared_] { shared->Serve(); }).detach();
  } catch (const std::system_error&) {
    shared_->threadless = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OutputQueue::~OutputQueue() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closing = true;
  shared_->changed.notify_all();
}

bool OutputQueue::Offer(std::string_view text) {
  if (shared_->threadless) {
    WriteAll(shared_->fd, text);
    return true;
  }
  const std::lock_guard lock(shared_->mutex);
  const std::size_t held = shared_->waiting.size() + shared_->writing;
  if (text.size() > shared_->bytes_max - std::min(held, shared_->bytes_max)) return false;
  shared_->waiting += text;
  shared_->changed.notify_all();
  return true;
}

bool OutputQueue::idle() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->idle();
}

bool OutputQueue::Drain(Duration patience) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, patience, [this] { return shared_->idle(); });
}

}  // namespace plimsoll
