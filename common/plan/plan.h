// What an agent needs to know to play its share of a run: values only, made by
// coordinator/planning, carried by common/wire, played by agent/replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/limits.h"
#include "common/base/time.h"
#include "common/corpus/session.h"
#include "common/plan/liveness.h"
#include "common/record/outcome.h"

namespace plimsoll {

// A class of sessions and its share of the mix.
struct TierPlan {
  std::string name;                // "heavy", "light".
  Tier tier = Tier::kUnspecified;  // Which sessions of the corpus.
  std::uint32_t share = 0;  // In parts of the sum over tiers; 0: only in a ladder of its own.
  friend bool operator==(const TierPlan&, const TierPlan&) = default;
};

enum class ThinkTime : std::uint8_t { kNone = 0, kRecorded = 1 };  // Sent: never renumber.

// What length of answer a call asks for. Sent: never renumber.
enum class OutputMode : std::uint8_t {
  kRecorded = 0,  // The recorded one, divided by output_divisor.
  kFixed = 1,     // RunPlan::output_tokens.
  kFree = 2,      // None: the model ends by itself, at the target's cap at the latest.
};

// What sends nothing while a failed call's back-off runs. Sent: never renumber.
enum class Silence : std::uint8_t {
  kLane = 0,    // All streams of the lane, as of a user whose client shows an error.
  kStream = 1,  // Only the failed call's; a session's other agents go on.
};

// The failure policy of design section 2: how a real agent's client behaves.
struct FailurePolicy {
  std::uint32_t attempts_max = limits::kAttemptsMax;  // Of one call, the first included.
  Duration back_off_min = limits::kBackOffMin;
  Duration back_off_max = limits::kBackOffMax;
  bool honour_retry_after = true;
  // A Retry-After above this is not honoured: the back-off counts instead.
  Duration retry_after_max = limits::kRetryAfterMax;
  // Outcomes after which a call is tried again, while it has attempts left. A prompt that is too
  // long stays too long.
  OutcomeSet retry = {Outcome::kRefused,     Outcome::kHttpError,    Outcome::kStreamError,
                      Outcome::kTruncated,   Outcome::kEmpty,        Outcome::kDeadline,
                      Outcome::kIdleTimeout, Outcome::kConnectError, Outcome::kClientError};
  // Outcomes that end the play when their call is not tried again. After the others the play goes
  // on as if the call had been answered. A cut always ends it.
  OutcomeSet end_play = kAnsweredFailures;
  Silence silence = Silence::kLane;
  friend bool operator==(const FailurePolicy&, const FailurePolicy&) = default;
};

// What is done with calls whose prompt and asked output together exceed the plan's context limit.
// Sent: never renumber.
enum class OverLimit : std::uint8_t {
  kSend = 0,            // Sent all the same; the server says what it thinks of them.
  kSkipCalls = 1,       // Left out; their session goes on without them.
  kEndSession = 2,      // The session ends before its first such call.
  kDropSessions = 3,    // A session with any such call is not played.
  kDropLongStarts = 4,  // A session whose first call is one is not played; the others are sent.
};
inline constexpr std::size_t kOverLimitPolicies = 5;

struct ContextLimit {
  std::uint32_t tokens = 0;  // Prompt and asked output; 0: no limit.
  OverLimit policy = OverLimit::kSend;
  friend bool operator==(const ContextLimit&, const ContextLimit&) = default;
};

// Where the assistant's turns of a prompt's history come from. Sent: never renumber.
enum class History : std::uint8_t {
  kRecorded = 0,  // Synthetic text of the recorded length.
  kLive = 1,      // What the server answered in this play.
};

struct TargetPlan {
  std::string url;  // Base, "http://127.0.0.1:8080/v1"; no slash at the end.
  std::string model;
  std::string
      bearer_env;  // Environment variable that holds the token; the token itself never travels.
  std::string ca_file;  // PEM bundle for https; empty: the system's.
  std::vector<std::pair<std::string, std::string>> headers;  // Static ones.
  std::string affinity_play_header;  // Carries the play's id; empty: not sent.
  std::string
      affinity_parent_header;  // Carries the parent's id for subagent streams; empty: not sent.
  std::uint32_t max_tokens = 65'536;  // Cap on the cap asked for.
  bool min_tokens_accepted = false;   // Preflight found that min_tokens is honoured.
  bool ignore_eos_accepted = false;   // The same of ignore_eos.
  bool tools = false;                 // Requests offer a tool.
  std::string extra_body;             // Further fields of each request as JSON text without braces.
  Duration connect_timeout = 10s;
  Duration idle_timeout = 120s;   // Nothing arrived for this long.
  Duration call_deadline = 600s;  // From the attempt's release to its end.
  friend bool operator==(const TargetPlan&, const TargetPlan&) = default;
};

// Evals asked beside the load (docs/evals.md).
struct EvalPlan {
  // The set, JSON lines, as it was read: agents read the same text with the same code. It travels
  // within the plan, since it is small (limits::kEvalSetBytesMax) and a run has one.
  std::string set_text;
  double share = 0;           // Of all requests: evals ÷ (evals + calls of the load).
  std::uint32_t repeats = 1;  // How often the mini run asks each case.
  Duration deadline = 2min;   // Of one eval, from its release to its end.
  friend bool operator==(const EvalPlan&, const EvalPlan&) = default;
};
inline constexpr std::uint32_t kEvalRepeatsMax = 10;
inline constexpr Duration kEvalDeadlineMax = 1h;

// Fixed for a whole run.
struct RunPlan {
  std::string run_id;
  std::uint64_t seed = 0;     // Of the schedule: sessions, start points, back-off.
  std::uint64_t nonce = 0;    // Of the prompts: differs per run, so that no cache knows them.
  std::string corpus_digest;  // SHA-256 of the corpus file, hex.
  std::vector<TierPlan> tiers;
  ThinkTime think_time = ThinkTime::kNone;
  Duration think_time_cap = 60s;
  OutputMode output_mode = OutputMode::kRecorded;
  std::uint32_t output_tokens = 0;   // Of kFixed; > 0.
  std::uint32_t output_divisor = 1;  // Recorded output lengths are divided by this (rehearsals).
  bool isolate_prefixes = false;     // Salt the shared prefix per play too.
  ContextLimit context_limit;
  History history = History::kRecorded;
  FailurePolicy failure;
  TargetPlan target;
  std::optional<EvalPlan> evals;  // Absent: none is asked.
  // Of the usual times of liveness (LivenessAt): both sides keep to it. Rehearsals shorten them.
  std::uint32_t liveness_percent = kLivenessPercentMax;
  friend bool operator==(const RunPlan&, const RunPlan&) = default;
};

// One step as every agent plays it. Phases from the common start:
//   [0, warm_up) warm-up · [warm_up, warm_up + measure) measured · then cool-down, until every call
//   released in the measured time has ended or drain_limit has passed.
struct StepPlan {
  std::uint32_t step = 0;      // Index in the run, repeats counted apart.
  std::uint32_t sessions = 0;  // Lanes over all agents.
  Duration warm_up{};
  Duration measure{};  // A whole number of blocks.
  Duration block{};
  Duration drain_limit{};
  Duration prime_limit{};  // Priming of the added lanes ends here, whatever is left.
  // Whole blocks of the measured time; 0 without a length of a block.
  std::uint32_t blocks() const {
    return block > Duration{0} ? static_cast<std::uint32_t>(measure / block) : 0;
  }
  friend bool operator==(const StepPlan&, const StepPlan&) = default;
};

// Lane k as a fixed function of k, the seed and the fleet's order (common/plan/lanes.h).
struct LaneSpec {
  std::uint32_t lane = 0;
  std::uint8_t tier = 0;   // Index into RunPlan::tiers.
  std::uint32_t rank = 0;  // How many lanes of its tier have a lower number.
  std::uint32_t agent_slot = 0;
  // Number of its first play: 0, unless an agent that ran the lane was lost. Its successor then
  // counts on from here, so that no prompt of the lost plays is sent again.
  std::uint32_t first_play = 0;
  friend bool operator==(const LaneSpec&, const LaneSpec&) = default;
};

}  // namespace plimsoll
