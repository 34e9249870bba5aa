// Whether a hang-up reaches the engine: hangs up on a long streaming call and watches the engines'
// running gauge. Runs on one scheduler, in virtual time as in real.
//
// The answer is made long enough (kLasts at the rate that preflight saw, at most kTokensMax tokens)
// that its own end cannot be taken for the hang-up's: a gauge that falls well before that end
// proves it. Where it stays up, an engine that makes tokens meanwhile works for nobody. One that
// makes none has not written its gauge again, as some do only while they work: further calls of one
// token make it, of the same play and as many as there may be copies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/run/signal_feed.h"

namespace plimsoll {

// Said where no engine's page is read.
Finding CancellationUnseen();

struct CancelProbeSetup {
  std::uint64_t key = 0;    // Salts its prompts apart from all others.
  double tokens_per_s = 0;  // Of one call, as preflight saw it; 0: it did not.
  // Of the output's length, as preflight found them honoured.
  bool min_tokens = false;
  bool ignore_eos = false;
  bool system_first = true;
  bool may_be_lost = false;  // What does not reach the engine is a warning.
};

class CancelProbe final : public CallObserver {
 public:
  static constexpr Duration kLasts = 8s;
  static constexpr std::uint32_t kTokensMax = 1024;

  // Begins at once; `done` is called once, later, after about a second, at most some twenty. It
  // must not destroy this.
  CancelProbe(Scheduler& scheduler, CallTransport& calls, SignalFeed& feed, CancelProbeSetup setup,
              std::function<void(Finding)> done);
  ~CancelProbe() override;

  void OnCallEnded(const CallResult& result) override;

 private:
  enum class Stage : std::uint8_t { kIdle, kRise, kFall, kNudge, kNudged, kLinger, kDone };

  // What the engines' pages say runs: pages that came after an instant.
  struct Running {
    std::size_t engines = 0;  // Pages that have the gauge.
    std::size_t fresh = 0;    // Of these, read since.
    double sum = 0;
    std::string unread;  // Of the first engine that is not: why.
  };
  Running RunningSince(MonoTime at) const;
  void Look();
  void LookIdle(const Running& running);
  void LookRise(const Running& running);
  void LookFall(const Running& running);
  void LookNudged(const Running& running);
  void StartCall(std::uint32_t tokens);
  void HangUp(double running);
  void Nudge();
  // Whether tokens were made that no call of ours waits for; absent: no page counts them live.
  std::optional<bool> WorksOn() const;
  void Unproved(const std::string& why, const std::string& to_do);
  void Lost(const std::string& how);
  void Reached(const std::string& how);
  void End(Finding finding);
  // When the answer would end by itself.
  MonoTime natural_end() const;

  Scheduler& scheduler_;
  CallTransport& calls_;
  SignalFeed& feed_;
  const CancelProbeSetup setup_;
  const std::uint32_t tokens_;
  std::function<void(Finding)> done_;
  Stage stage_ = Stage::kIdle;
  MonoTime stage_began_{};
  MonoTime begun_{};
  double before_ = 0;  // Running, before the call.
  double during_ = 0;
  MonoTime called_{};
  MonoTime hung_up_{};
  std::size_t engines_ = 0;
  std::uint32_t calls_made_ = 0;
  std::size_t nudges_ = 0;
  std::optional<Finding> lost_;  // Told once the work has ended by itself.
  Prompt prompt_;
  std::unique_ptr<CallTransport::Call> call_;
  Timer timer_;
};

}  // namespace plimsoll
