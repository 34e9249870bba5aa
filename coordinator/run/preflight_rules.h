// Which calls preflight makes of a deployment, and what their answers mean. Pure: the calls
// themselves are coordinator/run/preflight's.
//
//   probe          asks                                  finds
//   models         the list of models                    reachable, the model's name
//   first prompt   one token of the load's longest       answers, context limit, usage
//                  first prompt
//   cap            at most 32 tokens                     streaming, the cap is honoured
//   switches       exactly 32 by min_tokens and          which of the two are accepted and honoured
//                  ignore_eos, then by each alone
//   long, many     one token of longer prompts, and      the chat template's overhead and the
//   tokens
//                  of more messages                      of a word (with all the calls before)
//
// The first blocking finding ends it. A probe whose answer broke off is made once more.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/chat/call_transport.h"
#include "common/plan/plan.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/run/calibration.h"
#include "coordinator/run/model_list.h"

namespace plimsoll {

struct PreflightReport {
  // Converts, so that a status alone is a report too.
  PreflightReport(Status s = absl::OkStatus()) : status(std::move(s)) {}  // NOLINT
  Status status;  // Not OK: the first blocking finding.
  PreflightSummary summary;
  double tokens_per_s = 0;  // Of the last answer with tokens to tell it by; 0: there was none.
};

struct PreflightSetup {
  std::string model;
  OutputMode output_mode = OutputMode::kRecorded;
  std::uint32_t first_tokens = 0;    // Of the load's longest first prompt.
  std::uint32_t first_messages = 1;  // Of the same.
  bool system_first = true;          // It begins with a system message: probes look like the load.
};

enum class ProbeKind : std::uint8_t {
  kModels,
  kFirstPrompt,
  kCap,
  kSwitches,
  kMinTokens,
  kIgnoreEos,
  kLong,
  kMany,
};

struct Probe {
  ProbeKind kind = ProbeKind::kModels;
  std::uint32_t words = 0;  // Of the prompt; kFirstPrompt has its own.
  std::uint32_t messages = 0;
  std::uint32_t max_tokens = 1;
  bool min_tokens = false;
  bool ignore_eos = false;
};

class PreflightRules {
 public:
  // Tokens that the cap and the switches are tried with: enough that a model ends earlier by itself
  // now and then, few enough to take a second or two.
  static constexpr std::uint32_t kOutputTried = 32;
  // Share by which lengths may be off before it is said.
  static constexpr double kOffMax = 0.02;

  explicit PreflightRules(PreflightSetup setup);

  // The next probe; absent: all is known, or something blocks. The same until it is answered.
  std::optional<Probe> Next() const;
  // The answer to the probe that Next() named.
  void OnModels(const ModelsAnswer& answer);
  void OnCall(const CallResult& result);
  // Once Next() is absent.
  PreflightReport Report();

 private:
  void Say(FindingLevel level, std::string text);
  void Block(std::string_view what, const std::string& detail, std::string_view to_do);
  void BlockBy(const CallResult& result);
  void BlockByHttp(const CallResult& result, const std::string& detail);
  void OnFirstPrompt(const CallResult& result);
  void OnCap(const CallResult& result);
  void JudgeStreaming(const CallResult& result);
  void JudgeCap(const CallResult& result);
  void OnSwitches(const CallResult& result);
  void OnOneSwitch(const CallResult& result, bool min_tokens);
  void Calibrate();

  const PreflightSetup setup_;
  std::deque<ProbeKind> todo_;
  bool again_ = false;  // The first of todo_ broke off once.
  std::vector<std::string> models_;
  std::vector<CalibrationPoint> points_;
  std::uint32_t natural_ = kAbsentTokens;  // What the cap's call came to without switches.
  std::string switch_words_;               // Of those tried one by one.
  PreflightReport report_;
};

}  // namespace plimsoll
