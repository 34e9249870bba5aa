#include "coordinator/scrape/scraper.h"

#include <utility>

namespace plimsoll {

Scraper::Scraper(const ScrapeDeps& deps, ScrapePlan plan) : deps_(deps) {
  for (PageTarget& page : plan.pages) {
    pages_.push_back(
        std::make_unique<PageScrape>(deps_, std::move(page), plan.every, plan.timeout));
  }
  if (plan.prometheus.has_value()) {
    prometheus_ = std::make_unique<PrometheusScrape>(deps_, *std::move(plan.prometheus),
                                                     plan.prometheus_every, plan.timeout);
  }
}

void Scraper::Start() {
  const MonoTime now = deps_.scheduler.Now();
  for (const auto& page : pages_) page->Start(now);
  if (prometheus_ != nullptr) prometheus_->Start(now);
}

void Scraper::Stop() {
  for (const auto& page : pages_) page->Stop();
  if (prometheus_ != nullptr) prometheus_->Stop();
  if (deps_.keeper != nullptr) deps_.keeper->Flush();
}

void Scraper::AskNow() {
  for (const auto& page : pages_) page->AskNow();
  if (prometheus_ != nullptr) prometheus_->AskNow();
}

}  // namespace plimsoll
