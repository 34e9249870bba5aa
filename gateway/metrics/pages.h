// Pages of metrics under the names of real servers: functions from what was counted to text. Pure.
//
// Names, labels, units, buckets and the order of lines are those of vLLM's V1 engine, SGLang,
// llama.cpp's server, Envoy and the Envoy AI Gateway; docs/gateway.md says what is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "gateway/engine/engine.h"
#include "gateway/metrics/engine_counts.h"
#include "gateway/metrics/gateway_counts.h"
#include "gateway/metrics/metric_kind.h"

namespace plimsoll {

// One copy of the engine as its page shows it.
struct EngineState {
  std::uint32_t copy = 0;
  WallTime started{};
  EngineCounts counts;
  EngineGauges gauges;
  // Tokens a second of prompts and answers: SGLang's since its last log line, llama.cpp's since
  // the page was last read.
  double prompt_rate = 0;
  double output_rate = 0;
};

struct EnginePage {
  std::string_view model;
  std::string_view prefix;  // Of the API's paths: "/v1".
  std::uint32_t kv_blocks = 0;
  bool prefix_cache = true;
  std::span<const EngineState> copies;
  bool one_of_many = false;  // Other copies have pages of their own.
  bool open_metrics = false;
  std::span<const std::string> without;  // Families that are left out.
};

std::string VllmPage(const EnginePage& page);
std::string SglangPage(const EnginePage& page);
// Of the first copy: that server has no labels to tell several apart.
std::string LlamaCppPage(const EnginePage& page);
// Of one of these, which is an engine's.
std::string EnginePageOf(MetricKind kind, const EnginePage& page);

struct GatewayPage {
  std::string_view model;
  Duration up{};  // Since the start.
  std::span<const std::string> without;
};

std::string EnvoyPage(GatewayCounts& counts, const GatewayPage& page);
std::string AiGatewayPage(const GatewayCounts& counts, const GatewayPage& page);

}  // namespace plimsoll
