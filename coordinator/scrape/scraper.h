// Everything that a scenario's `signals` ask, on one scheduler and transport: the pages and the
// Prometheus server. Runs in virtual time as in real.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "coordinator/scrape/page_scrape.h"
#include "coordinator/scrape/prometheus_scrape.h"
#include "coordinator/scrape/scrape_deps.h"

namespace plimsoll {

// A scenario's `signals` with mappings and tokens read.
struct ScrapePlan {
  std::vector<PageTarget> pages;
  std::optional<PrometheusTarget> prometheus;
  Duration every = 1s;  // Each page.
  Duration prometheus_every = 5s;
  Duration timeout = 5s;
};

class Scraper {
 public:
  Scraper(const ScrapeDeps& deps, ScrapePlan plan);

  // Asks at once and then on. All pages are asked at the same instants, so that what several
  // servers say can be compared.
  void Start();
  // Cuts what is under way. The keeper is flushed.
  void Stop();
  void AskNow();

 private:
  ScrapeDeps deps_;
  std::vector<std::unique_ptr<PageScrape>> pages_;
  std::unique_ptr<PrometheusScrape> prometheus_;
};

}  // namespace plimsoll
