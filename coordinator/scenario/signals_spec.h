// The section `signals:` of a scenario as values: which servers are asked for what they say of
// themselves, and what it is used for. Every default of the section stands here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "coordinator/signals/judge_mode.h"
#include "coordinator/signals/mapping.h"

namespace plimsoll {

// What a source's numbers are called on its page: exactly one of the two is set.
struct MappingSpec {
  std::string kind;  // Of a mapping that is built in: "vllm".
  std::string file;  // As to be opened: relative paths are already relative to the scenario.
  friend bool operator==(const MappingSpec&, const MappingSpec&) = default;
};

// One page of metrics: one process of a server, never a load balancer's choice of several.
struct SignalTargetSpec {
  std::string source;  // "engines", "gateway" or "production".
  std::string name;    // Unique within the source; by default the URL's host and port.
  std::string url;     // Of the page itself.
  MappingSpec mapping;
  std::string model;             // Only series of this model; empty: of any.
  std::vector<LabelTest> where;  // Only series that pass, where they have the label.
  std::string bearer_env;        // Variable that holds a token; empty: none is sent.
  std::string ca_file;           // https only; empty: the system's bundle.
  friend bool operator==(const SignalTargetSpec&, const SignalTargetSpec&) = default;
};

// A source that a Prometheus server reads for us: as many targets as it knows.
struct PrometheusSourceSpec {
  std::string source;
  MappingSpec mapping;
  std::string model;
  std::vector<LabelTest> where;  // Become the query's selectors.
  // Labels whose values tell one target's series from another's.
  std::vector<std::string> split = {"instance"};
  // It is asked for because nothing says what there is; not found, it is not missed.
  bool optional = false;
  friend bool operator==(const PrometheusSourceSpec&, const PrometheusSourceSpec&) = default;
};

struct PrometheusSpec {
  std::string url;  // Without a slash at its end; /api/v1 is below it.
  std::string bearer_env;
  std::string ca_file;
  Duration every = 5s;  // It is asked. How often it asks its targets is its own configuration's.
  std::vector<PrometheusSourceSpec> sources;  // Not empty.
  friend bool operator==(const PrometheusSpec&, const PrometheusSpec&) = default;
};

struct SignalsSpec {
  std::vector<SignalTargetSpec> targets;  // Gateway, engines, production: in this order.
  std::optional<PrometheusSpec> prometheus;
  Duration every = 1s;    // Each page is asked for.
  Duration timeout = 5s;  // For a whole answer.
  JudgeMode judge = JudgeMode::kBoth;
  // The sweep ends after a step in which an engine's cache was so full for so long.
  double kv_full = 0.95;
  Duration kv_full_for = 30s;
  // At the run's end servers are awaited for so long where they were before it; and what a gateway
  // with other callers may have open above that, as a share of it.
  Duration drain_within = 2min;
  double drain_tolerance = 0.1;
  // Whether a page of the candidate itself is read, not production's alone.
  bool AsksCandidate() const {
    const auto is = [](const auto& one) { return one.source != "production"; };
    return std::any_of(targets.begin(), targets.end(), is) ||
           (prometheus && std::any_of(prometheus->sources.begin(), prometheus->sources.end(), is));
  }
  friend bool operator==(const SignalsSpec&, const SignalsSpec&) = default;
};

// More pages than any one deployment has that one coordinator reads each second.
inline constexpr std::size_t kSignalTargetsMax = 256;

}  // namespace plimsoll
