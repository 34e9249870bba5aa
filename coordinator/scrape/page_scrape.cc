#include "coordinator/scrape/page_scrape.h"

#include <utility>

#include "coordinator/scrape/back_off.h"
#include "coordinator/signals/page_syntax.h"

namespace plimsoll {

PageScrape::PageScrape(const ScrapeDeps& deps, PageTarget target, Duration every, Duration timeout)
    : deps_(deps),
      target_(std::move(target)),
      every_(every),
      timeout_(timeout),
      log_target_(deps_.log.AddTarget(target_.source, target_.name, target_.mapping)),
      asker_(deps_.log.AddAsker()),
      page_target_(static_cast<std::uint32_t>(log_target_)),
      exchange_(deps_.scheduler, deps_.http, kAnswerBytesMax),
      reader_(target_.mapping, target_.filter) {
  if (deps_.keeper == nullptr) return;
  deps_.keeper->AddTarget({.source = target_.source,
                           .name = target_.name,
                           .url = target_.url,
                           .kind = target_.mapping->kind,
                           .mapping = target_.mapping_text});
}

void PageScrape::Start(MonoTime origin) {
  origin_ = origin;
  running_ = true;
  next_ = deps_.scheduler.At(origin, [this] { Ask(); });
}

void PageScrape::Stop() {
  running_ = false;
  next_.Cancel();
  exchange_.Cancel();
}

void PageScrape::AskNow() {
  if (!running_ || failures_ > 0) return;
  if (exchange_.under_way()) {
    again_ = true;
  } else {
    next_.Cancel();
    Ask();
  }
}

void PageScrape::Ask() {
  again_ = false;
  asked_ = deps_.scheduler.Now();
  HttpRequest request;
  request.url = target_.url;
  request.headers.emplace_back("Accept", std::string(kAcceptMetrics));
  if (!target_.bearer_token.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + target_.bearer_token);
  }
  request.accept_encoding = "gzip";
  request.ca_file = target_.ca_file;
  exchange_.Start(std::move(request), timeout_,
                  [this](ExchangeAnswer answer) { OnAnswer(std::move(answer)); });
}

StatusOr<Page> PageScrape::PageIn(const ExchangeAnswer& answer) {
  RETURN_IF_ERROR(CheckAnswer(answer));
  ASSIGN_OR_RETURN(const PageKind kind, PageKindOf(answer.content_type));
  if (!kind.warning.empty()) deps_.log.Note(log_target_, kind.warning);
  return parser_.Parse(answer.body, kind.syntax);
}

void PageScrape::OnAnswer(ExchangeAnswer answer) {
  const MonoTime at = answer.middle();
  const StatusOr<Page> page = PageIn(answer);
  failures_ = page.ok() ? 0 : failures_ + 1;
  deps_.log.Add(log_target_,
                page.ok() ? reader_.Read(*page, at, answer.uncertainty(), answer.started)
                          : TargetReader::Unreadable(page.status(), at, answer.uncertainty()));
  if (deps_.keeper != nullptr) {
    const WallTime wall = deps_.clock.WallNow() - (deps_.scheduler.Now() - at);
    deps_.keeper->Add(page_target_,
                      {.at = wall,
                       .took = answer.ended - answer.sent,
                       .http = answer.http,
                       .content_type = std::move(answer.content_type),
                       .error = page.ok() ? "" : std::string(MessageOf(page.status())),
                       .body = std::move(answer.body)});
  }
  PlanNext();
  deps_.log.Asked(asker_, asked_, failures_ > 0);
}

void PageScrape::PlanNext() {
  const MonoTime now = deps_.scheduler.Now();
  MonoTime due;
  if (failures_ > 0) {
    due = now + BackOff(every_, failures_);
  } else if (again_) {
    due = now;
  } else {
    due = origin_ + ((now - origin_) / every_ + 1) * every_;
  }
  next_ = deps_.scheduler.At(due, [this] { Ask(); });
}

}  // namespace plimsoll
