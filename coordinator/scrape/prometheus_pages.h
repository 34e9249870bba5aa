// The pages that a Prometheus server read, out of its series: how to ask for them, and how to put
// them together again. Pure.
//
// Asked for are the raw samples of a mapping's names over the last while (an instant query of a
// range selector): they carry the instants at which Prometheus read its targets, are never
// interpolated and never carried over. Series of one target and one instant are what stood on one
// page. "up" and "scrape_duration_seconds", which Prometheus adds, say whether the page could be
// read and how long that took. Limits of this:
// - there is a page only where Prometheus read one: every 15 s or 60 s, not at a block's edges;
// - what Prometheus was told to drop or rename is not there; timestamps of the page's own
//   (honor_timestamps) tear a page apart;
// - its clock is another machine's: instants are as good as the comparison of the two clocks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "coordinator/scrape/prometheus_answer.h"
#include "coordinator/signals/mapping.h"

namespace plimsoll {

// Every name of a series that the mapping may look at, with the suffixes of histograms; sorted.
std::vector<std::string> SeriesNames(const Mapping& mapping);

// "{__name__=~\"a|b\",job=\"vllm\"}[75s]".
std::string PagesQuery(const std::vector<std::string>& names, const std::vector<LabelTest>& where,
                       Duration window);

// The body of a POST to /api/v1/query.
std::string QueryBody(std::string_view query);

struct PrometheusPage {
  WallTime at{};           // The scrape's begin, on the server's clock.
  std::optional<bool> up;  // Absent: not said.
  Duration took{};         // 0: not said.
  std::string text;        // Prometheus text 0.0.4; empty: no series of the mapping.
};

// By target (the values of the labels in `split`, joined by a slash), each target's pages in the
// order of their time. Series without any of these labels are of the target "".
std::map<std::string, std::vector<PrometheusPage>> PagesIn(
    const std::vector<PrometheusSeries>& series, const std::vector<std::string>& split);

}  // namespace plimsoll
