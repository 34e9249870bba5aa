// The gateway's configuration: values, defaults, and their reading from YAML.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "gateway/answers/answer_book.h"
#include "gateway/engine/engine_config.h"
#include "gateway/faults/faults.h"
#include "gateway/metrics/metric_kind.h"

namespace plimsoll {

// What min_tokens and ignore_eos do in a request.
enum class OutputSwitches : std::uint8_t {
  kHonour,  // They force the answer's length.
  kIgnore,  // Nothing, as in servers that drop fields they do not know.
  kReject,  // 400, as in servers that refuse such fields.
};

struct GatewayConfig {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string prefix = "/v1";                // Of the API's paths.
  std::string model = "plimsoll-rehearsal";  // The one served; others get 404.
  std::uint32_t context_limit = 262'144;     // Prompt and answer together, in tokens.
  // Length of answers that nobody forces by ignore_eos or min_tokens: this, or max_tokens if less.
  std::uint32_t output_natural = 512;
  double stop_probability = 0;  // That such an answer ends with a token, before its length.
  OutputSwitches output_switches = OutputSwitches::kHonour;
  // Of answers to requests that offer tools: calls one of them.
  double tool_call_probability = 0;
  // The chat template's: what usage reports beyond the words, and tokens for each word.
  std::uint32_t template_request_tokens = 0;
  std::uint32_t template_message_tokens = 0;
  double tokens_per_word = 1;
  std::uint64_t seed = 1;  // Of drift, calls and faults.
  // Whose names the pages of metrics have: at least one; of the engines' at most one.
  std::vector<MetricKind> metrics = {MetricKind::kVllm};
  Duration stats_flush = 5s;  // Envoy's histograms show what was observed by the last flush.
  std::uint32_t retries = 0;  // Of an attempt that a copy of the engine refused, at the next copy.
  std::string answers_file;   // As written; empty: none.
  std::shared_ptr<const AnswerBook> answers;  // What is in it; null: not loaded.
  EngineConfig engine;
  std::vector<FaultRule> faults;
};

// Reads YAML text; `file` names it in errors. Keys that are absent keep their defaults; unknown
// keys, wrong types and values out of range are errors, all of them listed as "file:line: path:
// problem".
StatusOr<GatewayConfig> ParseGatewayConfig(std::string_view yaml, std::string_view file);
// The same from a file, with its answers' file, which is looked for beside it.
StatusOr<GatewayConfig> LoadGatewayConfig(const std::string& file);

}  // namespace plimsoll
