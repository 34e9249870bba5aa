#include "common/http/curl_multi.h"

#include <algorithm>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <curl/curl.h>

#include "common/loop/asio_access.h"

namespace plimsoll {
namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

// Idle connections kept by one multi: as many as it can have transfers.
constexpr long kConnectionsKept = 64;

}  // namespace

class CurlMulti::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(EventLoop& loop, WriteTurns& turns, std::function<void(void*, int)> on_done)
      : io_(EventLoopIo::Of(loop)),
        turns_(turns),
        timer_(io_),
        multi_(curl_multi_init()),
        on_done_(std::move(on_done)) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Impl::OnSocket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Impl::OnTimer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kConnectionsKept);
  }

  void Close() {
    closed_ = true;
    on_done_ = nullptr;
    curl_multi_cleanup(multi_);  // Closes idle connections, which takes their sockets back.
    multi_ = nullptr;
    timer_.cancel();
    for (const auto& [fd, socket] : sockets_) LetGo(*socket);
    sockets_.clear();
  }

  bool Add(void* easy) {
    if (curl_multi_add_handle(multi_, easy) != CURLM_OK) return false;
    ++active_;
    return true;
  }
  void Remove(void* easy) {
    curl_multi_remove_handle(multi_, easy);
    --active_;
  }
  bool in_curl() const { return in_curl_; }
  std::size_t active() const { return active_; }
  std::uint64_t turn() const { return turn_; }

 private:
  struct Socket {
    explicit Socket(boost::asio::io_context& io) : descriptor(io) {}
    stream_descriptor descriptor;
    int wanted = 0;           // CURL_POLL_IN | CURL_POLL_OUT
    std::uint64_t place = 0;  // In the turns, since it began to want to send.
    bool reading = false;
    bool writing = false;
    bool gone = false;
  };

  // The descriptor is curl's: it is given back, never closed here.
  static void LetGo(Socket& socket) {
    socket.gone = true;
    if (socket.descriptor.is_open()) socket.descriptor.release();
  }

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self_ptr, void*) {
    Impl* self = static_cast<Impl*>(self_ptr);
    const auto it = self->sockets_.find(fd);
    if (what == CURL_POLL_REMOVE) {
      if (it != self->sockets_.end()) {
        LetGo(*it->second);
        self->sockets_.erase(it);
      }
      return 0;
    }
    std::shared_ptr<Socket> socket;
    if (it != self->sockets_.end()) {
      socket = it->second;
    } else {
      socket = std::make_shared<Socket>(self->io_);
      error_code error;
      socket->descriptor.assign(fd, error);
      if (error) return -1;  // Curl fails the transfer.
      self->sockets_.emplace(fd, socket);
    }
    if ((what & CURL_POLL_OUT) != 0 && (socket->wanted & CURL_POLL_OUT) == 0) {
      socket->place = self->turns_.NewPlace();
    }
    socket->wanted = what;
    self->Watch(fd, socket);
    return 0;
  }

  void Watch(curl_socket_t fd, const std::shared_ptr<Socket>& socket) {
    if ((socket->wanted & CURL_POLL_IN) != 0 && !socket->reading) {
      socket->reading = true;
      socket->descriptor.async_wait(
          stream_descriptor::wait_read,
          [self = shared_from_this(), fd, socket](const error_code& error) {
            socket->reading = false;
            self->OnReady(fd, socket, CURL_POLL_IN, CURL_CSELECT_IN, error);
          });
    }
    if ((socket->wanted & CURL_POLL_OUT) != 0 && !socket->writing) {
      socket->writing = true;
      socket->descriptor.async_wait(
          stream_descriptor::wait_write,
          [self = shared_from_this(), fd, socket](const error_code& error) {
            if (self->closed_ || socket->gone) return;
            self->turns_.Queue(socket->place, [self, fd, socket, error] {
              socket->writing = false;
              self->OnReady(fd, socket, CURL_POLL_OUT, CURL_CSELECT_OUT, error);
            });
          });
    }
  }

  void OnReady(curl_socket_t fd, const std::shared_ptr<Socket>& socket, int poll, int event,
               const error_code& error) {
    if (closed_ || socket->gone || error == boost::asio::error::operation_aborted) return;
    if ((socket->wanted & poll) == 0) return;  // Curl lost interest meanwhile.
    Act(fd, error ? CURL_CSELECT_ERR : event);
    if (!closed_ && !socket->gone) Watch(fd, socket);
  }

  // Only arms or cancels: curl must not be entered from its own callback.
  static int OnTimer(CURLM*, long timeout_ms, void* self_ptr) {
    Impl* self = static_cast<Impl*>(self_ptr);
    if (timeout_ms < 0) {
      self->timer_.cancel();
      return 0;
    }
    self->timer_.expires_after(std::chrono::milliseconds(timeout_ms));
    self->timer_.async_wait([impl = self->shared_from_this()](const error_code& error) {
      if (!error && !impl->closed_) impl->Act(CURL_SOCKET_TIMEOUT, 0);
    });
    return 0;
  }

  void Act(curl_socket_t fd, int events) {
    const auto keep = shared_from_this();
    in_curl_ = true;
    ++turn_;
    int running = 0;
    curl_multi_socket_action(multi_, fd, events, &running);
    in_curl_ = false;

    // One at a time: a callback may drop a handle whose own message is still to come, and curl then
    // takes that message back.
    int left = 0;
    while (!closed_) {
      const CURLMsg* message = curl_multi_info_read(multi_, &left);
      if (message == nullptr) break;
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      const CURLcode code = message->data.result;
      Remove(easy);
      on_done_(easy, code);
    }
  }

  boost::asio::io_context& io_;
  WriteTurns& turns_;
  boost::asio::steady_timer timer_;
  CURLM* multi_;
  std::function<void(void*, int)> on_done_;
  std::unordered_map<curl_socket_t, std::shared_ptr<Socket>> sockets_;
  std::size_t active_ = 0;
  std::uint64_t turn_ = 0;
  bool in_curl_ = false;
  bool closed_ = false;
};

CurlMulti::CurlMulti(EventLoop& loop, WriteTurns& turns,
                     std::function<void(void* easy, int code)> on_done)
    : impl_(std::make_shared<Impl>(loop, turns, std::move(on_done))) {}

CurlMulti::~CurlMulti() {
  impl_->Close();
}

bool CurlMulti::Add(void* easy) {
  return impl_->Add(easy);
}
void CurlMulti::Remove(void* easy) {
  impl_->Remove(easy);
}
bool CurlMulti::in_curl() const {
  return impl_->in_curl();
}
std::size_t CurlMulti::active() const {
  return impl_->active();
}
std::uint64_t CurlMulti::turn() const {
  return impl_->turn();
}

}  // namespace plimsoll
