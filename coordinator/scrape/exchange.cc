#include "coordinator/scrape/exchange.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kHeaderBytesMax = 256;
constexpr std::size_t kSaidBytesMax = 160;

// Seconds since 1970, "1774000000.25"; nothing if it is no such number.
std::optional<double> SecondsIn(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

Status CheckAnswer(const ExchangeAnswer& answer) {
  RETURN_IF_ERROR(answer.status);
  if (answer.http == 200) return absl::OkStatus();
  if (answer.http == 401 || answer.http == 403) {
    return absl::UnauthenticatedError(fmt::format(
        "it refuses us (HTTP {}): name the variable that holds a token it takes, bearer_env: NAME",
        answer.http));
  }
  if (answer.http == 404) {
    return absl::NotFoundError(
        "there is no such page (HTTP 404): the address is not that of the metrics, or not any "
        "more");
  }
  if (answer.http >= 300 && answer.http < 400) {
    return absl::FailedPreconditionError(
        fmt::format("it sends us on to {} (HTTP {}), which is not followed; give the page's own "
                    "address",
                    answer.location.empty() ? "nowhere" : answer.location, answer.http));
  }
  return absl::UnavailableError(fmt::format("it answers HTTP {}", answer.http));
}

Exchange::Exchange(Scheduler& scheduler, HttpTransport& http, std::size_t body_bytes_max)
    : scheduler_(scheduler), http_(http), body_bytes_max_(body_bytes_max) {}

void Exchange::Start(HttpRequest request, Duration timeout, Done done) {
  PLIMSOLL_CHECK(transfer_ == nullptr);
  timeout_ = timeout;
  done_ = std::move(done);
  answer_ = {};
  answer_.sent = scheduler_.Now();
  answer_.body.reserve(body_bytes_before_);
  request.connect_timeout = timeout;
  limit_ = scheduler_.After(timeout, [this] {
    const char* what = answer_.http == 0 ? "nothing came within" : "it was not whole within";
    Finish(absl::DeadlineExceededError(fmt::format("{} {}", what, ShortTime(timeout_))),
           scheduler_.Now());
  });
  transfer_ = http_.Start(std::move(request), *this);
}

void Exchange::Cancel() {
  limit_.Cancel();
  transfer_.reset();
  done_ = nullptr;
}

void Exchange::OnSent(MonoTime at) {
  answer_.sent = at;
}

void Exchange::OnHeader(std::string_view name_lower, std::string_view value) {
  if (name_lower == "content-type") {
    answer_.content_type = value.substr(0, kHeaderBytesMax);
  } else if (name_lower == "location") {
    answer_.location = Printable(value, kSaidBytesMax);
  } else if (name_lower == "process-start-time-unix") {
    answer_.started = SecondsIn(value);
  }
}

void Exchange::OnHeaders(std::uint16_t status, MonoTime) {
  answer_.http = status;
}

void Exchange::OnBody(std::string_view bytes, MonoTime at) {
  if (answer_.body.size() + bytes.size() <= body_bytes_max_) {
    answer_.body.append(bytes);
    return;
  }
  Finish(absl::ResourceExhaustedError(
             fmt::format("its answer has more than {} MiB", body_bytes_max_ >> 20)),
         at);
}

void Exchange::OnEnd(const TransferEnd& end) {
  if (end.result == TransferResult::kOk) return Finish(absl::OkStatus(), end.at);
  const std::string why = Printable(end.message, kSaidBytesMax);
  Finish(absl::UnavailableError(answer_.http == 0 ? why : "its answer broke off: " + why), end.at);
}

void Exchange::Finish(Status status, MonoTime at) {
  limit_.Cancel();
  transfer_.reset();
  answer_.status = std::move(status);
  answer_.ended = std::max(at, answer_.sent);
  if (answer_.status.ok()) body_bytes_before_ = answer_.body.size();
  const Done done = std::exchange(done_, nullptr);
  if (done) done(std::exchange(answer_, {}));
}

}  // namespace plimsoll
