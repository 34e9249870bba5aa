// Reads one target's page again and again: on a common grid of instants, with a limit of time and
// size, less often while it fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "coordinator/scrape/exchange.h"
#include "coordinator/scrape/scrape_deps.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/target_sample.h"

namespace plimsoll {

// A page and how it is to be read, everything resolved.
struct PageTarget {
  std::string source;
  std::string name;
  std::string url;
  std::string bearer_token;  // Empty: none is sent.
  std::string ca_file;
  std::shared_ptr<const Mapping> mapping;
  std::string mapping_text;  // Kept with the pages; empty: a kind that is built in.
  SourceFilter filter;
};

class PageScrape {
 public:
  // Adds the target to the log and to the keeper.
  PageScrape(const ScrapeDeps& deps, PageTarget target, Duration every, Duration timeout);

  // Asks at `origin` and every `every` after it, until Stop(). An exchange that takes longer than
  // that is waited for, and the instants that passed meanwhile are left out. After a failure it is
  // BackOff() until the next one, then the grid again.
  void Start(MonoTime origin);
  void Stop();
  // Asks at once, or if an exchange is under way, as soon as that has ended. Of a target that keeps
  // failing it changes nothing.
  void AskNow();

 private:
  void Ask();
  void PlanNext();
  void OnAnswer(ExchangeAnswer answer);
  StatusOr<Page> PageIn(const ExchangeAnswer& answer);

  ScrapeDeps deps_;
  const PageTarget target_;
  const Duration every_;
  const Duration timeout_;
  const std::size_t log_target_;
  const std::size_t asker_;
  const std::uint32_t page_target_;
  Exchange exchange_;
  PageParser parser_;
  TargetReader reader_;
  MonoTime origin_{};
  MonoTime asked_{};  // Begin of the exchange under way.
  bool running_ = false;
  bool again_ = false;  // AskNow() came while an exchange was under way.
  unsigned failures_ = 0;
  Timer next_;
};

}  // namespace plimsoll
