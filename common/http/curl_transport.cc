#include "common/http/curl_transport.h"

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include <curl/curl.h>

#include "common/base/real_clock.h"
#include "common/http/curl_multi.h"
#include "common/http/curl_transfer.h"

namespace plimsoll {
namespace {

// The cost of a start grows with the transfers in its multi: 5,000 in one inflated TTFT from 58 ms
// to 998 ms.
constexpr std::size_t kTransfersPerMulti = 64;
// A start costs a tenth of a millisecond: what arrives meanwhile waits for no more than these.
constexpr std::size_t kStartsPerTurn = 4;
constexpr std::size_t kEasiesKept = 256;

void InitCurlOnce() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(code);
}

}  // namespace

class CurlTransport::Impl {
 public:
  explicit Impl(EventLoop& loop) : loop_(loop), turns_(loop) {
    InitCurlOnce();
    // One resolution and one TLS session for all multis. No locks: the loop's thread alone uses it.
    share_ = curl_share_init();
    curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }

  ~Impl() {
    *alive_ = false;
    for (auto& [easy, transfer] : active_) {
      transfer->Silence();
      transfer->multi->Remove(easy);
      curl_easy_cleanup(easy);
    }
    multis_.clear();
    for (void* easy : free_) curl_easy_cleanup(easy);
    curl_share_cleanup(share_);
  }

  using Shared = std::shared_ptr<CurlTransfer>;

  Shared Start(HttpRequest request, TransferObserver& observer) {
    auto transfer = std::make_shared<CurlTransfer>(std::move(request), observer, clock_);
    waiting_.push_back(transfer);
    ++waiting_count_;
    PostTurn();
    return transfer;
  }

  // The owner let go. A handle cannot leave its multi from inside curl's callbacks; it is swept
  // right after them.
  void Cancel(const Shared& transfer) {
    if (transfer->silenced()) return;
    transfer->Silence();
    if (transfer->multi == nullptr) {
      --waiting_count_;  // Skipped when its turn comes.
    } else if (transfer->multi->in_curl()) {
      doomed_.push_back(transfer);
      PostTurn();
    } else {
      Drop(transfer);
    }
  }

  std::size_t active() const { return active_.size(); }
  std::size_t queued() const { return waiting_count_; }
  const std::shared_ptr<bool>& alive() const { return alive_; }

 private:
  void PostTurn() {
    if (std::exchange(turn_posted_, true)) return;
    loop_.Post([this, alive = alive_] {
      if (!*alive) return;
      turn_posted_ = false;
      Turn();
    });
  }

  void Turn() {
    for (const Shared& transfer : std::exchange(doomed_, {})) {
      if (transfer->multi != nullptr) Drop(transfer);
    }
    for (std::size_t started = 0; started < kStartsPerTurn && !waiting_.empty();) {
      const Shared transfer = std::move(waiting_.front());
      waiting_.pop_front();
      if (transfer->silenced()) continue;
      --waiting_count_;
      ++started;
      Begin(transfer);
    }
    if (!waiting_.empty()) PostTurn();
  }

  void Begin(const Shared& transfer) {
    void* easy = TakeEasy();
    CurlMulti* multi = easy == nullptr ? nullptr : ChooseMulti(transfer->host());
    if (multi == nullptr || !transfer->Configure(easy) || !multi->Add(easy)) {
      if (easy != nullptr) curl_easy_cleanup(easy);
      transfer->Report(TransferEnd{TransferResult::kClientError,
                                   transfer->host() + ": out of memory for a transfer", false,
                                   clock_.MonoNow()});
      return;
    }
    transfer->multi = multi;
    active_.emplace(easy, transfer);
  }

  // Called by a multi, outside of curl; the handle is out of it already.
  void OnDone(CurlMulti* multi, void* easy, int code) {
    const auto it = active_.find(easy);
    if (it == active_.end()) return;
    const Shared transfer = std::move(it->second);
    active_.erase(it);
    transfer->multi = nullptr;
    const TransferEnd end = transfer->EndOf(code);
    if (end.result == TransferResult::kOk) ++multi->idle[transfer->host()];
    GiveEasy(easy);
    transfer->Report(end);
  }

  void Drop(const Shared& transfer) {
    void* easy = transfer->easy();
    transfer->multi->Remove(easy);
    transfer->multi = nullptr;
    active_.erase(easy);
    GiveEasy(easy);
  }

  // The least loaded with an idle connection to the host, so that connections are reused; else the
  // least loaded of all; else a new one.
  CurlMulti* ChooseMulti(const std::string& host) {
    CurlMulti* reusing = nullptr;
    CurlMulti* least = nullptr;
    for (const auto& multi : multis_) {
      if (multi->active() >= kTransfersPerMulti) continue;
      if (least == nullptr || multi->active() < least->active()) least = multi.get();
      const auto idle = multi->idle.find(host);
      if (idle == multi->idle.end() || idle->second == 0) continue;
      if (reusing == nullptr || multi->active() < reusing->active()) reusing = multi.get();
    }
    if (reusing != nullptr) {
      --reusing->idle[host];
      return reusing;
    }
    if (least != nullptr) return least;
    auto slot = std::make_unique<CurlMulti*>(nullptr);
    CurlMulti** self = slot.get();
    multis_.push_back(std::make_unique<CurlMulti>(
        loop_, turns_, [this, self](void* easy, int code) { OnDone(*self, easy, code); }));
    *self = multis_.back().get();
    slots_.push_back(std::move(slot));
    return *self;
  }

  void* TakeEasy() {
    if (free_.empty()) {
      CURL* made = curl_easy_init();
      if (made != nullptr) curl_easy_setopt(made, CURLOPT_SHARE, share_);  // Survives a reset.
      return made;
    }
    void* easy = free_.back();
    free_.pop_back();
    return easy;
  }
  void GiveEasy(void* easy) {
    if (free_.size() >= kEasiesKept) {
      curl_easy_cleanup(easy);
      return;
    }
    curl_easy_reset(easy);
    free_.push_back(easy);
  }

  EventLoop& loop_;
  WriteTurns turns_;
  RealClock clock_;
  CURLSH* share_ = nullptr;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::vector<std::unique_ptr<CurlMulti>> multis_;
  std::vector<std::unique_ptr<CurlMulti*>> slots_;  // What each multi's callback knows itself by.
  std::unordered_map<void*, Shared> active_;        // By easy handle.
  std::deque<Shared> waiting_;
  std::size_t waiting_count_ = 0;  // Those in waiting_ that nobody cancelled.
  std::vector<Shared> doomed_;
  std::vector<void*> free_;
  bool turn_posted_ = false;
};

namespace {

class Handle final : public HttpTransport::Transfer {
 public:
  Handle(std::function<void()> cancel, std::shared_ptr<bool> alive)
      : cancel_(std::move(cancel)), alive_(std::move(alive)) {}
  ~Handle() override {
    if (*alive_) cancel_();
  }

 private:
  std::function<void()> cancel_;
  std::shared_ptr<bool> alive_;
};

}  // namespace

CurlTransport::CurlTransport(EventLoop& loop) : impl_(std::make_unique<Impl>(loop)) {}

CurlTransport::~CurlTransport() = default;

std::unique_ptr<HttpTransport::Transfer> CurlTransport::Start(HttpRequest request,
                                                              TransferObserver& observer) {
  auto transfer = impl_->Start(std::move(request), observer);
  return std::make_unique<Handle>(
      [impl = impl_.get(), transfer = std::move(transfer)] { impl->Cancel(transfer); },
      impl_->alive());
}

std::size_t CurlTransport::active() const {
  return impl_->active();
}
std::size_t CurlTransport::queued() const {
  return impl_->queued();
}

}  // namespace plimsoll
