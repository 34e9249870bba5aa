#include "coordinator/scrape/scrape_thread.h"

#include <csignal>
#include <thread>
#include <utility>

#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

// All but the log belongs to the thread from its start to its end.
class ScrapeThread::Impl {
 public:
  Impl(ScrapePlan plan, const Clock& clock, std::optional<PageKeeper::Sink> sink)
      : http_(loop_),
        keeper_(sink.has_value() ? std::make_unique<PageKeeper>(*std::move(sink)) : nullptr),
        scraper_({loop_, http_, clock, log_, keeper_.get()}, std::move(plan)) {
    // Signals to the process are for the thread that runs the run: a new thread inherits the mask.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
      scraper_.Start();
      loop_.Run();
      scraper_.Stop();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Impl() { Stop(); }

  void Stop() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
  }
  void AskNow() {
    loop_.Post([this] { scraper_.AskNow(); });
  }
  const SignalLog& log() const { return log_; }
  const PageKeeper* keeper() const { return keeper_.get(); }

 private:
  SignalLog log_;
  EventLoop loop_;
  CurlTransport http_;
  std::unique_ptr<PageKeeper> keeper_;
  Scraper scraper_;
  std::thread thread_;
};

ScrapeThread::ScrapeThread(ScrapePlan plan, const Clock& clock,
                           std::optional<PageKeeper::Sink> sink)
    : impl_(std::make_unique<Impl>(std::move(plan), clock, std::move(sink))) {}

ScrapeThread::~ScrapeThread() = default;

void ScrapeThread::Stop() {
  impl_->Stop();
}

ScrapeThread::Kept ScrapeThread::kept() const {
  const PageKeeper* keeper = impl_->keeper();
  if (keeper == nullptr) return {};
  return {.pages = keeper->pages_kept(),
          .left_out = keeper->pages_left_out(),
          .bytes = keeper->bytes_kept(),
          .status = keeper->status()};
}

std::vector<std::string> ScrapeThread::Notes() const {
  return impl_->log().Notes();
}

SignalHistory ScrapeThread::Between(MonoTime from, MonoTime to) const {
  return impl_->log().Between(from, to);
}

bool ScrapeThread::AskedSince(MonoTime at) const {
  return impl_->log().AskedSince(at);
}

void ScrapeThread::AskNow() {
  impl_->AskNow();
}

}  // namespace plimsoll
