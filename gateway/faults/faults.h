// Faults on demand: which of the configured ones strike a request, and what state the engine is
// in. Pure: functions of rules, seed, the request's number and the time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "gateway/engine/engine_config.h"

namespace plimsoll {

enum class FaultKind : std::uint8_t {
  // Instead of an answer.
  kRefuse,        // Answers `status`, with Retry-After if one is set; the engine never sees it.
  kEngineRefuse,  // The same by the engine, behind the gateway, which may try again elsewhere.
  kCrash,         // The process exits abruptly, or with `copies` these copies of the engine do.
  kHtml,          // Everything is answered with a web page and 200.
  kSlowStart,     // Not up yet: everything is answered 503, or held until it is up.
  kContextLimit,  // Prompts and answers beyond `tokens` are refused with 400.
  // In the middle of an answer.
  kErrorAfter200,  // An error in a stream that began well.
  kTruncate,       // The stream ends without finish reason and [DONE].
  kStall,          // The stream stops sending, for a time or for ever.
  kGarbage,        // The body is none of the protocol.
  // Of an answer's making.
  kMalformedToolCalls,  // The answer is a tool call that is not well formed.
  kWrongAnswers,        // A question of the answers' file is answered wrong.
  kUncapped,            // The cap on the answer's length is ignored.
  kOrphan,              // A caller's hang-up does not reach the engine.
  // Of the engine.
  kSlower,      // Every time times `factor`.
  kCacheOff,    // No prefix is found or kept.
  kKvFull,      // `share` of the cache's blocks is taken and not given back.
  kStuckQueue,  // What waits is never started, and stays though its caller hangs up.
  // Of the pages of metrics.
  kMetricsMissing,  // They cannot be had.
  kMetricsStale,    // They stay as they were.
  kMetricsReset,    // Their counters begin at 0 again, once.
  kMetricsPartial,  // They are cut, or lack families.
  kGaugesFrozen,    // After an abort the engine's gauges stay until its next step.
};

// How some kinds strike.
enum class FaultForm : std::uint8_t {
  kDefault,
  kSeconds,     // kRefuse: Retry-After in seconds …
  kDate,        // … or as a date.
  kRefuses,     // kSlowStart: 503 …
  kSilent,      // … or nothing until it is up.
  kClose,       // kTruncate: the connection closes between two chunks …
  kEnd,         // … or the body ends in order, only too early …
  kReset,       // … or the connection is reset in the middle of a chunk.
  kObject,      // kErrorAfter200: data with an error object …
  kEvent,       // … or "event: error".
  kBrokenJson,  // kGarbage: a chunk that is no JSON in a stream …
  kBytes,       // … or arbitrary bytes for a stream …
  kJson,        // … or a JSON type with no JSON in it …
  kPage,        // … or a web page.
  kOpenAi,      // kContextLimit: the error's shape.
  kVllm,
  kLlamaCpp,
  kMalformedJson,  // kMalformedToolCalls: as common/record's ToolFault names them.
  kEmptyDelta,
  kMissingName,
  kUnknownTool,
  kBlankRequired,
  kSchemaMismatch,
  kFinishWithoutCall,
  kNotFound,  // kMetricsMissing: 404 …
  kNoAnswer,  // … or the connection closes …
  kHang,      // … or nothing comes.
  kCounters,  // kMetricsReset: the start time stays …
  kRestart,   // … or moves with it.
  kCut,       // kMetricsPartial: the page ends in its middle …
  kFamilies,  // … or `families` are not on it.
};

// Which pages a fault of metrics strikes.
enum class FaultPages : std::uint8_t { kAll, kEngines, kGateway };

struct FaultRule {
  FaultKind kind = FaultKind::kRefuse;
  FaultForm form = FaultForm::kDefault;  // kDefault: the first of the kind's.
  Duration at{0};                        // From then on …
  Duration span = Duration::max();       // … for so long.
  bool from_first_request = false;    // Times run from the first chat request, not from the start.
  double probability = 1;             // Of each request in that time.
  std::uint32_t in_flight_min = 0;    // Only while the engine has at least so many requests.
  std::vector<std::uint32_t> copies;  // Only these copies of the engine; empty: all.
  int status = 429;                   // kRefuse.
  Duration retry_after{-1};           // kRefuse, kSlowStart; negative: no such header.
  std::uint32_t after_tokens = 1;     // Kinds in the middle of an answer: tokens sent before it.
  Duration pause = Duration::max();   // kStall: for so long.
  std::uint32_t tokens = 4'096;       // kContextLimit: the limit; kUncapped: the answer's length.
  double factor = 2;                  // kSlower.
  double share = 1;                   // kKvFull.
  Duration down = Duration::max();    // kCrash of copies, by chance or load: away for so long.
  FaultPages pages = FaultPages::kAll;  // Kinds of the pages of metrics.
  std::vector<std::string> families;    // kMetricsPartial.
  friend bool operator==(const FaultRule&, const FaultRule&) = default;
};

// What a person writes, and what each kind takes.
struct FaultForms {
  FaultForm form;
  std::string_view name;
};
struct FaultKindInfo {
  FaultKind kind;
  std::string_view name;
  bool per_request = true;  // May have a probability and a least load.
  std::span<const FaultForms> forms;
};
std::span<const FaultKindInfo> FaultKinds();
const FaultKindInfo& InfoOf(FaultKind kind);

// Instants as durations since the gateway's start.
struct FaultMoment {
  Duration elapsed{0};
  std::optional<Duration> first_request;  // Absent: none yet.
};

bool ActiveAt(const FaultRule& rule, const FaultMoment& moment);

// What decides beside the time whether a rule strikes a chat request.
struct FaultTarget {
  std::uint64_t number = 0;     // Of the request.
  std::uint32_t copy = 0;       // Of the engine, that would serve it.
  std::uint32_t in_flight = 0;  // Requests that the engine has.
};

// The first rule of one of `kinds` that strikes the request; null: none. Kinds are asked for apart,
// so that a request can meet several: an answer that stalls and whose hang-up goes unheard.
const FaultRule* FaultFor(std::span<const FaultRule> rules, std::span<const FaultKind> kinds,
                          std::uint64_t seed, const FaultTarget& target, const FaultMoment& moment);

// The kinds by what they do to a request.
inline constexpr std::array kGatewayFaults = {FaultKind::kRefuse, FaultKind::kCrash};
inline constexpr std::array kGateFaults = {FaultKind::kRefuse, FaultKind::kCrash,
                                           FaultKind::kEngineRefuse};
inline constexpr std::array kAnswerFaults = {FaultKind::kErrorAfter200, FaultKind::kTruncate,
                                             FaultKind::kStall, FaultKind::kGarbage};

// The first rule of that kind that is active, whatever the request; null: none.
const FaultRule* ActiveFault(std::span<const FaultRule> rules, FaultKind kind, std::uint32_t copy,
                             const FaultMoment& moment);
// One page of metrics: the gateway's own, one copy's, or that of all copies.
struct FaultPage {
  bool gateway = false;
  std::optional<std::uint32_t> copy;
  std::uint32_t copies = 1;  // That the engine has.
};
// The first rule of that kind that is active and strikes the page; null: none. The page of all
// copies is struck by rules of all copies only.
const FaultRule* PageFault(std::span<const FaultRule> rules, FaultKind kind, const FaultPage& page,
                           const FaultMoment& moment);
// A crash that ends copies of the engine, and not the process.
bool OfCopies(const FaultRule& rule);
// It strikes requests by chance or under load, and not at an instant.
bool ByChance(const FaultRule& rule);

// The state of one copy of the engine: all active rules together.
EngineCondition ConditionAt(std::span<const FaultRule> rules, std::uint32_t copy,
                            const FaultMoment& moment);
// The next instant after `moment` at which a rule's time begins or ends; absent: none is known.
std::optional<Duration> NextChange(std::span<const FaultRule> rules, const FaultMoment& moment);

// When the process crashes by itself, for the rules without a probability or load; absent: not as
// far as is known before the first request.
std::optional<Duration> CrashAt(std::span<const FaultRule> rules,
                                std::optional<Duration> first_request);

}  // namespace plimsoll
