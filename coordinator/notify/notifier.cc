#include "coordinator/notify/notifier.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/scenario/url_form.h"

namespace plimsoll {
namespace {

constexpr std::size_t kUrlBytesMax = 4096;

class TextBody final : public BodySource {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::size_t Read(char* to, std::size_t capacity) override {
    const std::size_t bytes = std::min(capacity, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
};

// Without the transport's own message: it may name what it was sent to.
std::string_view WordsOf(TransferResult result) {
  switch (result) {
    case TransferResult::kOk:
      return "it answered";
    case TransferResult::kConnectError:
      return "no connection";
    case TransferResult::kBroken:
      return "its connection broke";
    case TransferResult::kProtocol:
      return "it does not speak HTTP";
    case TransferResult::kClientError:
      break;
  }
  return "this machine could not send";
}

StatusOr<std::string> UrlIn(const NotifySpec& spec) {
  std::string url;
  if (!spec.url_env.empty()) {
    const char* value = std::getenv(spec.url_env.c_str());
    if (value == nullptr) {
      return absl::NotFoundError(fmt::format(
          "notify: set {} in the environment to the webhook's URL, or take it out", spec.url_env));
    }
    url = value;
  } else {
    std::ifstream in(spec.url_file, std::ios::binary);
    if (!in || !std::getline(in, url)) {
      return absl::NotFoundError(fmt::format(
          "notify: {} holds no URL of a webhook, or cannot be read", Printable(spec.url_file)));
    }
  }
  while (!url.empty() && (url.back() == '\r' || url.back() == '\n' || url.back() == ' ')) {
    url.pop_back();
  }
  if (url.size() > kUrlBytesMax || !UrlFault(url, true).empty()) {
    return absl::NotFoundError(
        fmt::format("notify: what {} holds is no URL of a webhook, such as https://host/path",
                    Printable(LabelOf(spec))));
  }
  return url;
}

}  // namespace

StatusOr<std::vector<Webhook>> ReadWebhooks(const std::vector<NotifySpec>& specs) {
  std::vector<Webhook> webhooks;
  for (const NotifySpec& spec : specs) {
    ASSIGN_OR_RETURN(std::string url, UrlIn(spec));
    webhooks.push_back({.spec = spec, .url = std::move(url)});
  }
  return webhooks;
}

// The messages of one webhook, one after the other.
class Notifier::Line final : public TransferObserver {
 public:
  Line(HttpTransport& http, Scheduler& scheduler, Webhook webhook, const NotifierLimits& limits,
       std::function<void(const std::string&)> outcome, std::function<void()> rested)
      : http_(http),
        scheduler_(scheduler),
        webhook_(std::move(webhook)),
        limits_(limits),
        outcome_(std::move(outcome)),
        rested_(std::move(rested)) {}

  bool idle() const { return queue_.empty(); }

  void Add(const NotifyMessage& message) {
    const auto& on = webhook_.spec.on;
    if (std::find(on.begin(), on.end(), message.event) == on.end()) return;
    if (queue_.size() >= limits_.queued_max) {
      Say(message.event, fmt::format("dropped: {} wait for it already", queue_.size()));
      return;
    }
    queue_.push_back({message.event, webhook_.spec.form == NotifyForm::kSlack ? SlackBody(message)
                                                                              : JsonBody(message)});
    if (queue_.size() == 1) Try();
  }

  void GiveUp(const std::string& why) {
    transfer_.reset();
    timer_.Cancel();
    while (!queue_.empty()) {
      Say(queue_.front().event, "not delivered: " + why);
      queue_.pop_front();
    }
  }

  void OnSent(MonoTime) override {}
  void OnUploadDone(MonoTime) override {}
  void OnHeader(std::string_view name, std::string_view value) override {
    if (name != "retry-after") return;
    int seconds = 0;
    for (const char c : value) {
      if (c < '0' || c > '9' || seconds > 10'000) return;
      seconds = seconds * 10 + (c - '0');
    }
    retry_after_ = std::chrono::seconds(seconds);
  }
  void OnHeaders(std::uint16_t status, MonoTime) override { status_ = status; }
  void OnBody(std::string_view, MonoTime) override {}
  void OnEnd(const TransferEnd& end) override {
    if (end.result != TransferResult::kOk) return Failed(std::string(WordsOf(end.result)), true);
    if (status_ >= 200 && status_ < 300) return Delivered();
    // Most of 400 to 499 say that the message or the URL is wrong: that is so the next time, too.
    const bool again = status_ >= 500 || status_ == 429 || status_ == 408;
    Failed(fmt::format("it answered {}", status_), again);
  }

 private:
  struct Waiting {
    NotifyEvent event;
    std::string body;
  };

  void Try() {
    ++attempt_;
    status_ = 0;
    retry_after_ = {};
    HttpRequest request{.method = "POST",
                        .url = webhook_.url,
                        .headers = {{"Content-Type", "application/json"}},
                        .body = std::make_unique<TextBody>(queue_.front().body)};
    request.connect_timeout = limits_.attempt_limit;
    transfer_ = http_.Start(std::move(request), *this);
    timer_ = scheduler_.After(limits_.attempt_limit, [this] {
      transfer_.reset();
      Failed(fmt::format("no answer in {}", ShortTime(limits_.attempt_limit)), true);
    });
  }

  void Delivered() {
    Say(queue_.front().event,
        attempt_ == 1 ? "delivered" : fmt::format("delivered at attempt {}", attempt_));
    Next();
  }

  void Failed(const std::string& why, bool again) {
    if (!again || attempt_ >= limits_.attempts_max) {
      Say(queue_.front().event, fmt::format("not delivered: {}, attempt {}", why, attempt_));
      return Next();
    }
    Duration wait = limits_.first_wait;
    for (int i = 1; i < attempt_ && wait < limits_.wait_max; ++i) wait *= 2;
    wait = std::min(std::max(wait, retry_after_), limits_.wait_max);
    timer_ = scheduler_.After(wait, [this] {
      transfer_.reset();
      Try();
    });
  }

  // In a turn of its own: this may be the transfer's callback.
  void Next() {
    queue_.pop_front();
    attempt_ = 0;
    timer_ = scheduler_.After(Duration{0}, [this] {
      transfer_.reset();
      if (!queue_.empty()) return Try();
      rested_();
    });
  }

  void Say(NotifyEvent event, const std::string& what) {
    outcome_(fmt::format("notify: {} to {}: {}", Name(event), LabelOf(webhook_.spec), what));
  }

  HttpTransport& http_;
  Scheduler& scheduler_;
  const Webhook webhook_;
  const NotifierLimits limits_;
  const std::function<void(const std::string&)> outcome_;
  const std::function<void()> rested_;
  std::deque<Waiting> queue_;  // The first is under way.
  int attempt_ = 0;
  std::uint16_t status_ = 0;
  Duration retry_after_{};
  std::unique_ptr<HttpTransport::Transfer> transfer_;
  Timer timer_;
};

Notifier::Notifier(HttpTransport& http, Scheduler& scheduler, std::vector<Webhook> webhooks,
                   std::function<void(const std::string&)> outcome, NotifierLimits limits)
    : scheduler_(scheduler) {
  for (Webhook& webhook : webhooks) {
    lines_.push_back(std::make_unique<Line>(http, scheduler, std::move(webhook), limits, outcome,
                                            [this] { LookFinished(); }));
  }
}

Notifier::~Notifier() = default;

void Notifier::Send(const NotifyMessage& message) {
  for (const auto& line : lines_) line->Add(message);
}

bool Notifier::idle() const {
  return std::all_of(lines_.begin(), lines_.end(), [](const auto& line) { return line->idle(); });
}

void Notifier::LookFinished() {
  if (!finished_ || !idle()) return;
  limit_.Cancel();
  scheduler_.Post(std::exchange(finished_, nullptr));
}

void Notifier::Finish(Duration limit, std::function<void()> done) {
  finished_ = std::move(done);
  if (idle()) return LookFinished();
  limit_ = scheduler_.After(limit, [this, limit] {
    for (const auto& line : lines_) {
      line->GiveUp(fmt::format("the process ended {} later", ShortTime(limit)));
    }
    if (finished_) scheduler_.Post(std::exchange(finished_, nullptr));
  });
}

}  // namespace plimsoll
