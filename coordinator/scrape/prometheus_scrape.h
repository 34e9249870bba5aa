// Asks a Prometheus server again and again for the pages it has read since, source by source, and
// compares its clock with ours now and then. See prometheus_pages.h for what that can and cannot
// say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/scrape/exchange.h"
#include "coordinator/scrape/prometheus_pages.h"
#include "coordinator/scrape/scrape_deps.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/target_sample.h"

namespace plimsoll {

// One source of a server, everything resolved.
struct QueriedSource {
  std::string source;
  std::shared_ptr<const Mapping> mapping;
  std::string mapping_text;  // Kept with the pages; empty: a kind that is built in.
  SourceFilter filter;       // Of the model; the tests of labels are part of the query.
  std::vector<LabelTest> where;
  std::vector<std::string> split;
  bool optional = false;  // Not missed where it is not found.
};

struct PrometheusTarget {
  std::string url;
  std::string bearer_token;  // Empty: none is sent.
  std::string ca_file;
  std::vector<QueriedSource> sources;
};

class PrometheusScrape {
 public:
  // The first query looks back so far, so that a page from before the run is there.
  static constexpr Duration kFirstWindow = 2min;
  // Later ones so far beyond the last good one: pages come in some time after their instant.
  static constexpr Duration kOverlap = 15s;
  // Prometheus itself forgets a series after that; so a longer gap stays one.
  static constexpr Duration kWindowMax = 5min;
  static constexpr Duration kClockEvery = 1min;

  PrometheusScrape(const ScrapeDeps& deps, PrometheusTarget target, Duration every,
                   Duration timeout);

  void Start(MonoTime origin);
  void Stop();
  void AskNow();

 private:
  struct Known {
    std::size_t log_target = 0;
    PageParser parser;
    TargetReader reader;
    WallTime last{};      // Instant of the last page.
    Duration interval{};  // Between the last two; 0: not known.
  };
  struct Source {
    QueriedSource spec;
    std::vector<std::string> names;
    std::map<std::string, Known> known;
    std::optional<std::size_t> stand_in;  // Of a source of which nothing was found.
  };
  // Its clock less our monotonic one, and how sure that is.
  struct ClockDifference {
    Duration offset{};
    Duration uncertainty{};
    MonoTime at{};
  };

  void Ask();
  void Next();
  void Send(std::string_view query, Exchange::Done done);
  void OnClock(const ExchangeAnswer& answer);
  void OnSeries(const ExchangeAnswer& answer);
  void Fail(const Status& status);
  void End(bool failed);
  void Take(Source& source, const std::string& name, const std::vector<PrometheusPage>& pages);
  void TakePage(Source& source, Known& known, const PrometheusPage& page);
  void LookForSilent(Source& source, const Status& why);
  Known& KnowTarget(Source& source, const std::string& name);
  std::size_t AddTarget(const Source& source, const std::string& name);
  void StandIn(Source& source, const Status& status);
  void AddUnreadable(std::size_t log_target, const Status& status, MonoTime at);
  void Keep(std::size_t log_target, WallTime at, Duration took, std::string text,
            std::string error);
  MonoTime OursOf(WallTime theirs) const;

  ScrapeDeps deps_;
  const PrometheusTarget target_;
  const Duration every_;
  const Duration timeout_;
  const std::size_t asker_;
  Exchange exchange_;
  std::vector<Source> sources_;
  std::optional<ClockDifference> clock_;
  std::optional<MonoTime> good_since_;  // Begin of the last round that ended well.
  MonoTime origin_{};
  MonoTime asked_{};  // Begin of the round under way.
  std::size_t at_source_ = 0;
  bool running_ = false;
  bool asking_ = false;
  bool again_ = false;
  unsigned failures_ = 0;
  Timer next_;
};

}  // namespace plimsoll
