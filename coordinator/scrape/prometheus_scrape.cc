#include "coordinator/scrape/prometheus_scrape.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/text.h"
#include "coordinator/scrape/back_off.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::string_view kTokenWords =
    "name the variable that holds a token it takes, prometheus: {bearer_env: NAME}";

// A body that is there already.
class TextBody final : public BodySource {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::size_t Read(char* to, std::size_t capacity) override {
    const std::size_t n = std::min(capacity, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
};

// Whether the source's targets are named, so that one which is down from the start is known to be
// one of them.
bool NamesTargets(const QueriedSource& source) {
  return std::any_of(source.where.begin(), source.where.end(), [](const LabelTest& test) {
    return test.label == "job" || test.label == "instance";
  });
}

}  // namespace

PrometheusScrape::PrometheusScrape(const ScrapeDeps& deps, PrometheusTarget target, Duration every,
                                   Duration timeout)
    : deps_(deps),
      target_(std::move(target)),
      every_(every),
      timeout_(timeout),
      asker_(deps_.log.AddAsker()),
      exchange_(deps_.scheduler, deps_.http, kAnswerBytesMax) {
  for (const QueriedSource& spec : target_.sources) {
    sources_.push_back({.spec = spec, .names = SeriesNames(*spec.mapping), .known = {}});
  }
}

void PrometheusScrape::Start(MonoTime origin) {
  origin_ = origin;
  running_ = true;
  next_ = deps_.scheduler.At(origin, [this] { Ask(); });
}

void PrometheusScrape::Stop() {
  running_ = false;
  asking_ = false;
  next_.Cancel();
  exchange_.Cancel();
}

void PrometheusScrape::AskNow() {
  if (!running_ || failures_ > 0) return;
  if (asking_) {
    again_ = true;
  } else {
    next_.Cancel();
    Ask();
  }
}

void PrometheusScrape::Ask() {
  asking_ = true;
  again_ = false;
  asked_ = deps_.scheduler.Now();
  at_source_ = 0;
  if (!clock_.has_value() || asked_ - clock_->at >= kClockEvery) {
    Send("time()", [this](const ExchangeAnswer& answer) { OnClock(answer); });
  } else {
    Next();
  }
}

void PrometheusScrape::Send(std::string_view query, Exchange::Done done) {
  HttpRequest request;
  request.method = "POST";
  request.url = target_.url + "/api/v1/query";
  request.headers.emplace_back("Accept", "application/json");
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  if (!target_.bearer_token.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + target_.bearer_token);
  }
  request.accept_encoding = "gzip";
  request.ca_file = target_.ca_file;
  request.body = std::make_unique<TextBody>(QueryBody(query));
  exchange_.Start(std::move(request), timeout_, std::move(done));
}

void PrometheusScrape::OnClock(const ExchangeAnswer& answer) {
  const PrometheusAsked asked{target_.url, kTokenWords};
  if (!answer.status.ok()) return Fail(answer.status);
  const StatusOr<WallTime> theirs = ParseTimeAnswer(answer.http, answer.body, asked);
  if (!theirs.ok()) return Fail(theirs.status());
  // It answers with milliseconds.
  clock_ =
      ClockDifference{.offset = theirs->time_since_epoch() - answer.middle().time_since_epoch(),
                      .uncertainty = answer.uncertainty() + 500us,
                      .at = answer.middle()};
  Next();
}

void PrometheusScrape::Next() {
  if (at_source_ == sources_.size()) return End(false);
  const Duration window =
      good_since_.has_value()
          ? std::min(kWindowMax, deps_.scheduler.Now() - *good_since_ + kOverlap)
          : kFirstWindow;
  const Source& source = sources_[at_source_];
  Send(PagesQuery(source.names, source.spec.where, window),
       [this](const ExchangeAnswer& answer) { OnSeries(answer); });
}

void PrometheusScrape::OnSeries(const ExchangeAnswer& answer) {
  if (!answer.status.ok()) return Fail(answer.status);
  Source& source = sources_[at_source_];
  const StatusOr<std::vector<PrometheusSeries>> series =
      ParseSeriesAnswer(answer.http, answer.body, {target_.url, kTokenWords});
  if (!series.ok()) return Fail(series.status());
  for (const auto& [name, pages] : PagesIn(*series, source.spec.split)) Take(source, name, pages);
  LookForSilent(source, absl::OkStatus());
  if (source.known.empty() && !source.spec.optional) {
    StandIn(source, absl::NotFoundError(fmt::format(
                        "Prometheus at {} has no page of kind {}{}", Printable(target_.url),
                        source.spec.mapping->kind,
                        source.spec.where.empty() ? "" : " with the labels that were asked for")));
  }
  ++at_source_;
  Next();
}

void PrometheusScrape::Take(Source& source, const std::string& name,
                            const std::vector<PrometheusPage>& pages) {
  const bool ours = source.known.contains(name) ||
                    std::any_of(pages.begin(), pages.end(), [&source](const PrometheusPage& page) {
                      return !page.text.empty() || (page.up == false && NamesTargets(source.spec));
                    });
  if (!ours) return;
  Known& known = KnowTarget(source, name);
  for (const PrometheusPage& page : pages) {
    if (page.at <= known.last) continue;  // Had before: windows overlap.
    if (known.last != WallTime{}) known.interval = page.at - known.last;
    known.last = page.at;
    TakePage(source, known, page);
  }
}

void PrometheusScrape::TakePage(Source& source, Known& known, const PrometheusPage& page) {
  const MonoTime at = OursOf(page.at + page.took / 2);
  const Duration uncertainty = page.took / 2 + clock_->uncertainty;
  Status wrong;
  if (page.up == false) {
    wrong = absl::UnavailableError("Prometheus could not read the page (up is 0)");
  } else if (page.text.empty()) {
    wrong =
        absl::NotFoundError(fmt::format("Prometheus has none of the page's series that kind {} "
                                        "has",
                                        source.spec.mapping->kind));
  } else {
    const StatusOr<Page> parsed = known.parser.Parse(page.text, PageSyntax::kText);
    wrong = parsed.status();
    if (parsed.ok()) {
      deps_.log.Add(known.log_target, known.reader.Read(*parsed, at, uncertainty));
    }
  }
  if (!wrong.ok()) {
    deps_.log.Add(known.log_target, TargetReader::Unreadable(wrong, at, uncertainty));
  }
  Keep(known.log_target, page.at + page.took / 2, page.took, page.text,
       std::string(MessageOf(wrong)));
}

// A target of which no page comes any more has no sample that says so. `why` is not OK if the
// server itself could not be asked; what it read meanwhile may still come, so nothing is said at
// once.
void PrometheusScrape::LookForSilent(Source& source, const Status& why) {
  if (!clock_.has_value()) return;
  const MonoTime now = deps_.scheduler.Now();
  const Duration theirs = now.time_since_epoch() + clock_->offset;
  for (auto& [name, known] : source.known) {
    const Duration interval = known.interval > Duration{0} ? known.interval : Duration{1min};
    const Duration silent = theirs - known.last.time_since_epoch();
    if (silent <= 2 * interval + kOverlap) continue;
    const std::string words =
        fmt::format("Prometheus has had no page of it for {}", ShortTime(silent));
    AddUnreadable(known.log_target, why.ok() ? absl::UnavailableError(words) : why, now);
  }
}

PrometheusScrape::Known& PrometheusScrape::KnowTarget(Source& source, const std::string& name) {
  const auto found = source.known.find(name);
  if (found != source.known.end()) return found->second;
  if (source.stand_in.has_value()) {
    deps_.log.Retire(*source.stand_in);
    source.stand_in.reset();
  }
  Known known{.log_target = AddTarget(source, name.empty() ? "prometheus" : name),
              .parser = PageParser(),
              .reader = TargetReader(source.spec.mapping, source.spec.filter)};
  return source.known.emplace(name, std::move(known)).first->second;
}

std::size_t PrometheusScrape::AddTarget(const Source& source, const std::string& name) {
  if (deps_.keeper != nullptr) {
    deps_.keeper->AddTarget({.source = source.spec.source,
                             .name = name,
                             .url = target_.url,
                             .kind = source.spec.mapping->kind,
                             .mapping = source.spec.mapping_text});
  }
  return deps_.log.AddTarget(source.spec.source, name, source.spec.mapping);
}

void PrometheusScrape::StandIn(Source& source, const Status& status) {
  if (!source.stand_in.has_value()) source.stand_in = AddTarget(source, "prometheus");
  AddUnreadable(*source.stand_in, status, deps_.scheduler.Now());
}

void PrometheusScrape::AddUnreadable(std::size_t log_target, const Status& status, MonoTime at) {
  deps_.log.Add(log_target, TargetReader::Unreadable(status, at, Duration{0}));
}

void PrometheusScrape::Keep(std::size_t log_target, WallTime at, Duration took, std::string text,
                            std::string error) {
  if (deps_.keeper == nullptr) return;
  deps_.keeper->Add(static_cast<std::uint32_t>(log_target),
                    {.at = at,
                     .took = took,
                     .http = 200,
                     .content_type = "text/plain; version=0.0.4",
                     .error = std::move(error),
                     .body = std::move(text)});
}

MonoTime PrometheusScrape::OursOf(WallTime theirs) const {
  return MonoTime(theirs.time_since_epoch() - clock_->offset);
}

void PrometheusScrape::Fail(const Status& status) {
  const Status said =
      Annotate(status, absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)
                           ? "Prometheus does not answer"
                           : "Prometheus");
  for (; at_source_ < sources_.size(); ++at_source_) {
    Source& source = sources_[at_source_];
    LookForSilent(source, said);
    if (source.known.empty() && !source.spec.optional) StandIn(source, said);
  }
  End(true);
}

void PrometheusScrape::End(bool failed) {
  asking_ = false;
  failures_ = failed ? failures_ + 1 : 0;
  if (!failed) good_since_ = asked_;
  const MonoTime now = deps_.scheduler.Now();
  MonoTime due = origin_ + ((now - origin_) / every_ + 1) * every_;
  if (failed) {
    due = now + BackOff(every_, failures_);
  } else if (again_) {
    due = now;
  }
  next_ = deps_.scheduler.At(due, [this] { Ask(); });
  deps_.log.Asked(asker_, asked_, failed);
}

}  // namespace plimsoll
