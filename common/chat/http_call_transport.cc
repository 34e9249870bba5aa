#include "common/chat/http_call_transport.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/http_date.h"
#include "common/base/text.h"
#include "common/chat/answer_reader.h"
#include "common/chat/chat_body.h"
#include "common/evals/eval_set.h"
#include "common/evals/tool_set.h"

namespace plimsoll {
namespace {

constexpr Duration kRetryAfterMax = 24h;
constexpr std::uint8_t kResendsMax = 1;
constexpr std::size_t kReadersKept = 256;
// After "[DONE]" the answer is over for whoever asked. A server that does not end its message is
// waited for this long, so that the connection can be kept.
constexpr Duration kLinger = 500ms;

// A number of `unit`s at the start of `text`, capped; negative when there is none. A fraction is
// dropped.
Duration Units(std::string_view text, Duration unit) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc::result_out_of_range) return kRetryAfterMax;
  if (error != std::errc() || (end != text.data() + text.size() && *end != '.')) {
    return Duration{-1};
  }
  const auto most = static_cast<std::uint64_t>(kRetryAfterMax / unit);
  return unit * static_cast<Duration::rep>(std::min(count, most));
}

// A server may quote the token that it refuses; what it says is stored and shown.
std::string WithoutSecret(std::string text, std::string_view secret) {
  if (secret.empty()) return text;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;) {
    text.replace(at, secret.size(), "[token]");
    at += std::string_view("[token]").size();
  }
  return text;
}

bool StartsWithNoCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char p, char t) {
           return p == (t >= 'A' && t <= 'Z' ? static_cast<char>(t - 'A' + 'a') : t);
         });
}

// A body that lies in memory: an eval's.
class TextBody final : public BodySource {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::size_t Read(char* to, std::size_t capacity) override {
    const std::size_t count = text_.copy(to, capacity, at_);
    at_ += count;
    return count;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

Duration ParseRetryAfter(std::string_view retry_after, std::string_view milliseconds,
                         std::string_view date) {
  const Duration exact = Units(milliseconds, 1ms);
  if (exact >= Duration{0}) return exact;
  // Both by the server's clock, so that ours does not matter.
  const auto until = ParseHttpDate(retry_after);
  const auto now = ParseHttpDate(date);
  if (until && now) {
    const auto most = std::chrono::duration_cast<std::chrono::seconds>(kRetryAfterMax).count();
    return std::clamp<std::int64_t>(*until - *now, 0, most) * Duration(1s);
  }
  return until ? Duration{-1} : Units(retry_after, 1s);
}

// What the calls of a transport share.
class HttpCallTransport::Impl {
 public:
  Impl(HttpTransport& transport, Scheduler& timers, const TargetPlan& plan, HttpCallOptions given)
      : http(transport), scheduler(timers), target(plan), options(std::move(given)) {
    if (!target.tools) return;
    if (auto offered = ToolSet::Read(OfferedTools()); offered.ok()) tools = *std::move(offered);
  }

  HttpRequest MakeRequest(const CallRequest& call) const {
    HttpRequest request;
    request.method = "POST";
    request.url = target.url + "/chat/completions";
    request.headers.reserve(5 + target.headers.size());
    request.headers.emplace_back("Content-Type", "application/json");
    request.headers.emplace_back("Accept", "text/event-stream, application/json");
    if (!options.bearer_token.empty()) {
      request.headers.emplace_back("Authorization", "Bearer " + options.bearer_token);
    }
    for (const auto& header : target.headers) request.headers.push_back(header);
    if (!target.affinity_play_header.empty()) {
      request.headers.emplace_back(target.affinity_play_header,
                                   fmt::format("{:016x}", call.play_id));
    }
    if (!target.affinity_parent_header.empty() && call.parent_play_id != 0) {
      request.headers.emplace_back(target.affinity_parent_header,
                                   fmt::format("{:016x}", call.parent_play_id));
    }
    request.body = MakeBody(call);
    request.accept_encoding = "gzip, deflate";  // As the usual clients do.
    request.ca_file = target.ca_file;
    request.connect_timeout = target.connect_timeout;
    return request;
  }

  std::unique_ptr<BodySource> MakeBody(const CallRequest& call) const {
    if (call.eval != nullptr) {
      return std::make_unique<TextBody>(
          EvalBody(*call.eval, {.model = target.model, .extra_fields = target.extra_body}));
    }
    ChatBodyOptions body;
    body.model = target.model;
    body.max_tokens = std::max(1u, std::min(call.max_tokens, target.max_tokens));
    body.min_tokens = call.min_tokens;
    body.ignore_eos = call.ignore_eos;
    body.tools = target.tools;
    body.extra_fields = target.extra_body;
    body.live = call.live;
    return std::make_unique<ChatBody>(*call.prompt, body);
  }

  AnswerWants WantsOf(const CallRequest& call) const {
    if (call.eval != nullptr) {
      return {.content_bytes_max = AnswerCheck::kContentBytesMax, .whole = true};
    }
    return {.content_bytes_max = call.content_bytes_max, .tools = tools ? &*tools : nullptr};
  }

  std::unique_ptr<AnswerReader> TakeReader() {
    if (readers.empty()) return std::make_unique<AnswerReader>();
    auto reader = std::move(readers.back());
    readers.pop_back();
    return reader;
  }
  void GiveReader(std::unique_ptr<AnswerReader> reader) {
    if (reader != nullptr && readers.size() < kReadersKept) readers.push_back(std::move(reader));
  }

  HttpTransport& http;
  Scheduler& scheduler;
  const TargetPlan target;
  const HttpCallOptions options;
  std::optional<ToolSet> tools;  // Offered by calls of the load; absent: none.
  std::vector<std::unique_ptr<AnswerReader>> readers;  // Free ones.
  std::size_t active = 0;
};

// One call. Every path ends in End(), once.
class HttpCallTransport::HttpCall final : public CallTransport::Call, private TransferObserver {
 public:
  HttpCall(Impl& shared, const CallRequest& request, CallObserver& observer)
      : shared_(shared), request_(request), observer_(observer), reader_(shared.TakeReader()) {
    ++shared_.active;
    reader_->Begin(BodyKind::kNone);
    last_heard_ = shared_.scheduler.Now();
    const Duration limit =
        request.deadline > Duration{0} ? request.deadline : shared_.target.call_deadline;
    deadline_ = shared_.scheduler.At(request.released + limit,
                                     [this] { OnTimeUp(Outcome::kDeadline, "deadline passed"); });
    ArmIdle();
    transfer_ = shared_.http.Start(shared_.MakeRequest(request_), *this);
  }
  ~HttpCall() override { Release(); }

 private:
  void ArmIdle() {
    // Checked when it is due rather than armed anew for every read.
    idle_ = shared_.scheduler.At(last_heard_ + shared_.target.idle_timeout, [this] {
      if (shared_.scheduler.Now() - last_heard_ < shared_.target.idle_timeout) return ArmIdle();
      OnTimeUp(Outcome::kIdleTimeout, "nothing arrived for too long");
    });
  }

  void OnConnecting(MonoTime at) override {
    // A resend's connection is made after the call was first sent: it is not what that waited for.
    if (result_.connecting == CallResult::kNever && result_.sent == CallResult::kNever) {
      result_.connecting = at;
    }
  }
  void OnSent(MonoTime at) override {
    last_heard_ = at;
    if (result_.sent == CallResult::kNever) result_.sent = at;  // A resend is not a later start.
  }
  void OnUploadDone(MonoTime at) override {
    last_heard_ = at;
    result_.upload_done = at;
  }
  void OnHeader(std::string_view name, std::string_view value) override {
    if (name == "content-type") content_type_ = value.substr(0, kShortHeader);
    if (name == "retry-after") retry_after_ = value.substr(0, kShortHeader);
    if (name == "date") date_ = value.substr(0, kShortHeader);
    if (name == "retry-after-ms") retry_after_ms_ = value.substr(0, kShortHeader);
  }
  void OnHeaders(std::uint16_t status, MonoTime at) override {
    last_heard_ = at;
    result_.http_status = status;
    result_.headers = at;
    result_.retry_after = ParseRetryAfter(retry_after_, retry_after_ms_, date_);
    if (!Succeeded()) {
      reader_->Begin(BodyKind::kError);
    } else if (content_type_.empty() || StartsWithNoCase(content_type_, "text/event-stream")) {
      reader_->Begin(BodyKind::kEvents, shared_.WantsOf(request_));
    } else if (StartsWithNoCase(content_type_, "application/json")) {
      reader_->Begin(BodyKind::kJson, shared_.WantsOf(request_));
    } else {
      foreign_ = true;  // Its beginning says more than its type.
    }
  }
  void OnBody(std::string_view bytes, MonoTime at) override {
    last_heard_ = at;
    reader_->Read(bytes, at);
    if (foreign_ && reader_->head_full()) return EndForeign(at);
    if (reader_->failed()) return End(Outcome::kStreamError, at, reader_->Reason());
    if (reader_->done() && !lingering_) {
      lingering_ = true;
      idle_ = shared_.scheduler.At(at + kLinger, [this] { OnTimeUp(Outcome::kOk, ""); });
    }
  }
  void OnEnd(const TransferEnd& end) override {
    if (end.result == TransferResult::kConnectError && !end.new_connection &&
        result_.http_status == 0 && result_.resends < kResendsMax) {
      ++result_.resends;
      last_heard_ = end.at;
      transfer_ = shared_.http.Start(shared_.MakeRequest(request_), *this);
      return;
    }
    if (end.new_connection) result_.flags |= kNewConnection;
    if (result_.http_status == 0) return EndWithoutAnswer(end);
    if (end.result == TransferResult::kClientError) {
      return End(Outcome::kClientError, end.at, end.message);
    }
    if (end.result == TransferResult::kOk || !Succeeded()) reader_->Finish();
    if (!Succeeded()) return EndByStatus(end.at);
    if (foreign_) return EndForeign(end.at);
    EndOfAnswer(end);
  }

  bool Succeeded() const { return result_.http_status >= 200 && result_.http_status < 300; }

  void EndWithoutAnswer(const TransferEnd& end) {
    switch (end.result) {
      case TransferResult::kClientError:
        return End(Outcome::kClientError, end.at, end.message);
      case TransferResult::kProtocol:
        return End(Outcome::kHttpError, end.at, end.message);
      case TransferResult::kOk:
      case TransferResult::kConnectError:
      case TransferResult::kBroken:
        break;
    }
    End(Outcome::kConnectError, end.at, end.message);
  }

  void EndByStatus(MonoTime at) {
    const std::uint16_t status = result_.http_status;
    Outcome outcome = Outcome::kHttpError;
    if (status == 429 || status == 503) outcome = Outcome::kRefused;
    if ((status == 400 || status == 413 || status == 422) && reader_->IsContextOverflow()) {
      outcome = Outcome::kContextOverflow;
    }
    End(outcome, at, fmt::format("status {}: {}", status, reader_->Reason()));
  }

  void EndForeign(MonoTime at) {
    End(Outcome::kHttpError, at,
        fmt::format("status {} with {}", result_.http_status,
                    Printable(content_type_, kShortHeader)));
  }

  void EndOfAnswer(const TransferEnd& end) {
    if (reader_->failed()) return End(Outcome::kStreamError, end.at, reader_->Reason());
    if (end.result == TransferResult::kProtocol && !reader_->done()) {
      return End(Outcome::kStreamError, end.at, end.message);  // Garbage, not a cut.
    }
    if (end.result != TransferResult::kOk && !reader_->done()) {
      return End(Outcome::kTruncated, end.at, end.message);
    }
    if (!reader_->terminated()) {
      return End(Outcome::kTruncated, end.at, "ended without a finish reason or a terminal event");
    }
    if (!reader_->has_token() && !reader_->finished()) {
      return End(Outcome::kEmpty, end.at, "no token and no stop reason");
    }
    End(Outcome::kOk, end.at, "");
  }

  // An answer that was whole before its connection fell silent is judged by what it said.
  void OnTimeUp(Outcome outcome, std::string_view why) {
    const MonoTime now = shared_.scheduler.Now();
    if (result_.http_status != 0 && !Succeeded()) {
      reader_->Finish();
      return EndByStatus(now);
    }
    if (foreign_) return EndForeign(now);
    if (reader_->done()) return EndOfAnswer(TransferEnd{TransferResult::kOk, "", false, now});
    End(outcome, now, std::string(why));
  }

  // The observer may destroy the call: nothing of it is touched afterwards.
  void End(Outcome outcome, MonoTime at, std::string message) {
    if (ended_) return;
    ended_ = true;
    result_.outcome = outcome;
    result_.end = at;
    result_.message = std::move(message);
    // A stream that never was one says so best itself.
    if (IsFailure(outcome) && Succeeded() && !reader_->failed() && !reader_->valid()) {
      const std::string first = reader_->FirstBytes();
      result_.message += first.empty() ? "; no byte of a body came" : "; it began: " + first;
    }
    result_.message = WithoutSecret(std::move(result_.message), shared_.options.bearer_token);
    reader_->Fill(&result_);
    Release();
    const CallResult result = std::move(result_);
    observer_.OnCallEnded(result);
  }

  void Release() {
    transfer_.reset();
    deadline_.Cancel();
    idle_.Cancel();
    if (reader_ == nullptr) return;
    shared_.GiveReader(std::move(reader_));
    --shared_.active;
  }

  static constexpr std::size_t kShortHeader = 64;

  Impl& shared_;
  const CallRequest request_;
  CallObserver& observer_;
  std::unique_ptr<AnswerReader> reader_;
  std::unique_ptr<HttpTransport::Transfer> transfer_;
  Timer deadline_;
  Timer idle_;
  MonoTime last_heard_{};
  std::string content_type_;
  std::string retry_after_;
  std::string retry_after_ms_;
  std::string date_;
  CallResult result_;
  bool foreign_ = false;    // A 200 with neither an event stream nor JSON.
  bool lingering_ = false;  // "[DONE]" came; see kLinger.
  bool ended_ = false;
};

HttpCallTransport::HttpCallTransport(HttpTransport& http, Scheduler& scheduler,
                                     const TargetPlan& target, HttpCallOptions options)
    : impl_(std::make_unique<Impl>(http, scheduler, target, std::move(options))) {}

HttpCallTransport::~HttpCallTransport() = default;

std::unique_ptr<CallTransport::Call> HttpCallTransport::Start(const CallRequest& request,
                                                              CallObserver& observer) {
  return std::make_unique<HttpCall>(*impl_, request, observer);
}

std::size_t HttpCallTransport::active() const {
  return impl_->active;
}

}  // namespace plimsoll
