#include "coordinator/run/cancel_probe.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/rng.h"
#include "common/base/text.h"
#include "coordinator/run/preflight.h"
#include "coordinator/signals/target_reading.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr Duration kLookEvery = 100ms;
constexpr Duration kIdleLimit = 2s;  // For our own calls before to be gone from the gauges.
constexpr Duration kRiseLimit = 5s;
constexpr Duration kFallLimit = 3s;
constexpr Duration kNudgeLimit = 4s;      // For the one-token call.
constexpr Duration kNudgedLimit = 600ms;  // For a page after it.
constexpr Duration kLingerSlack = 3s;
// What falls within so much of the time that the answer had left did so for the hang-up.
constexpr double kEarlyShare = 0.75;
constexpr Duration kLeftMin = 500ms;
// What a cancellation may take on its way, and the tokens that are made in that time.
constexpr Duration kOnTheWay = 1s;
constexpr double kTokensOnTheWay = 8;
constexpr std::size_t kNudgesMax = 8;
constexpr double kRateAssumed = 50;
constexpr std::uint32_t kTokensMin = 256;

std::uint32_t TokensOf(const CancelProbeSetup& setup) {
  const double rate = setup.tokens_per_s > 0 ? setup.tokens_per_s : kRateAssumed;
  const double tokens = std::min(rate * ToSeconds(CancelProbe::kLasts), 1e6);
  return std::clamp(static_cast<std::uint32_t>(tokens), kTokensMin, CancelProbe::kTokensMax);
}

std::string Seconds(Duration time) {
  return fmt::format("{:.1f} s", ToSeconds(time));
}

}  // namespace

Finding CancellationUnseen() {
  return {FindingLevel::kWarning,
          "cancellation: it could not be proved that a hang-up reaches the engine, since no "
          "engine's page is read; name them under signals.engines"};
}

CancelProbe::CancelProbe(Scheduler& scheduler, CallTransport& calls, SignalFeed& feed,
                         CancelProbeSetup setup, std::function<void(Finding)> done)
    : scheduler_(scheduler),
      calls_(calls),
      feed_(feed),
      setup_(setup),
      tokens_(TokensOf(setup)),
      done_(std::move(done)),
      stage_began_(scheduler.Now()),
      begun_(scheduler.Now()) {
  feed_.AskNow();
  timer_ = scheduler_.After(kLookEvery, [this] { Look(); });
}

CancelProbe::~CancelProbe() = default;

CancelProbe::Running CancelProbe::RunningSince(MonoTime at) const {
  Running running;
  const SignalHistory history = feed_.Between(at, scheduler_.Now());
  for (const TargetSeries& target : history.targets) {
    if (target.source != kEnginesSource) continue;
    if (target.mapping->Find(Signal::kRunning) == nullptr) continue;
    ++running.engines;
    const auto last = std::find_if(target.samples.rbegin(), target.samples.rend(),
                                   [at](const TargetSample& s) { return s.at >= at; });
    if (last == target.samples.rend()) continue;
    if (!last->readable()) {
      if (running.unread.empty()) {
        running.unread =
            fmt::format("{}: {}", Printable(target.name), Printable(MessageOf(last->status), 160));
      }
      continue;
    }
    const TargetReading reading = ReadTarget(*target.mapping, std::span(&*last, 1));
    const SignalReading& gauge = reading.Of(Signal::kRunning);
    if (gauge.here()) {
      ++running.fresh;
      running.sum += gauge.gauge.last;
    } else if (running.unread.empty()) {
      running.unread = fmt::format("{}: {}", Printable(target.name),
                                   gauge.why.empty() ? MissingWords(gauge.missing) : gauge.why);
    }
  }
  return running;
}

void CancelProbe::Look() {
  feed_.AskNow();
  // After the last thing that we did: a page from before it says nothing of it.
  const MonoTime since = std::max({begun_, called_, hung_up_, stage_began_});
  const Running running = RunningSince(since);
  switch (stage_) {
    case Stage::kIdle:
      LookIdle(running);
      break;
    case Stage::kRise:
      LookRise(running);
      break;
    case Stage::kFall:
      LookFall(running);
      break;
    case Stage::kNudge:
      if (scheduler_.Now() - stage_began_ >= kNudgeLimit) {
        call_.reset();
        Unproved("a call of one token, to make the engine write its gauges again, did not end",
                 "look at the engine's load");
      }
      break;
    case Stage::kNudged:
      LookNudged(running);
      break;
    case Stage::kLinger:
      if ((running.fresh == running.engines && running.sum <= before_) ||
          scheduler_.Now() >= natural_end() + kLingerSlack) {
        End(*std::exchange(lost_, std::nullopt));
      }
      break;
    case Stage::kDone:
      return;
  }
  if (stage_ != Stage::kDone) timer_ = scheduler_.After(kLookEvery, [this] { Look(); });
}

void CancelProbe::LookIdle(const Running& running) {
  const Duration waited = scheduler_.Now() - stage_began_;
  if (running.engines == 0 && waited < kIdleLimit) return;
  if (running.engines == 0) return End(CancellationUnseen());
  const bool all = running.fresh == running.engines;
  if (!(all && running.sum == 0) && waited < kIdleLimit) return;
  if (!all) {
    return Unproved(running.unread.empty() ? "the engines' pages come too rarely" : running.unread,
                    "let signals.engines name each engine's own page");
  }
  if (running.sum > 0) {
    return Unproved(fmt::format("{:g} requests of others run in the engines", running.sum),
                    "begin when they are idle");
  }
  before_ = running.sum;
  engines_ = running.engines;
  stage_ = Stage::kRise;
  StartCall(tokens_);
  called_ = stage_began_ = scheduler_.Now();
}

void CancelProbe::LookRise(const Running& running) {
  if (running.fresh > 0 && running.sum >= before_ + 1) return HangUp(running.sum);
  if (scheduler_.Now() - stage_began_ < kRiseLimit) return;
  call_.reset();
  Unproved(fmt::format("running did not rise within {} of a call", Seconds(kRiseLimit)),
           "let signals.engines name every copy behind the gateway, each with its own page");
}

void CancelProbe::HangUp(double running) {
  call_.reset();
  during_ = running;
  hung_up_ = stage_began_ = scheduler_.Now();
  stage_ = Stage::kFall;
}

MonoTime CancelProbe::natural_end() const {
  const double rate = setup_.tokens_per_s > 0 ? setup_.tokens_per_s : kRateAssumed;
  return called_ + FromSeconds(tokens_ / rate);
}

void CancelProbe::LookFall(const Running& running) {
  const MonoTime now = scheduler_.Now();
  const Duration since = now - hung_up_;
  const Duration left = natural_end() - hung_up_;
  if (left < kLeftMin) {
    return Unproved("the answer was about to end by itself as it was hung up",
                    "nothing can be done where answers are that fast");
  }
  if (running.fresh == running.engines && running.sum <= before_) {
    if (ToSeconds(since) <= kEarlyShare * ToSeconds(left)) {
      return Reached(fmt::format("within {}", Seconds(since)));
    }
    return Lost(fmt::format("running fell only {} after a hang-up, as the answer would have ended",
                            Seconds(since)));
  }
  if (since < kFallLimit) return;
  if (WorksOn().value_or(false)) {
    return Lost(fmt::format("running stayed at {:g}, and tokens were made, {} after a hang-up",
                            running.sum, Seconds(since)));
  }
  Nudge();
}

std::optional<bool> CancelProbe::WorksOn() const {
  const MonoTime from = hung_up_ + kOnTheWay;
  double tokens = 0;
  bool counted = false;
  for (const TargetSeries& target : feed_.Between(from, scheduler_.Now()).targets) {
    if (target.source != kEnginesSource) continue;
    std::vector<TargetSample> since;
    for (const TargetSample& sample : target.samples) {
      if (sample.readable() && sample.at >= from) since.push_back(sample);
    }
    const TargetReading reading = ReadTarget(*target.mapping, since);
    for (const Signal signal : {Signal::kTokensOut, Signal::kTokensDecoded}) {
      const SignalReading& made = reading.Of(signal);
      if (!made.here() || made.moves != Moves::kLive) continue;
      counted = true;
      tokens += made.increase;
      break;
    }
  }
  if (!counted) return std::nullopt;
  return tokens > kTokensOnTheWay + static_cast<double>(nudges_);
}

void CancelProbe::Nudge() {
  ++nudges_;
  stage_ = Stage::kNudge;
  stage_began_ = scheduler_.Now();
  StartCall(1);
}

void CancelProbe::LookNudged(const Running& running) {
  const Duration since = scheduler_.Now() - hung_up_;
  if (running.fresh == running.engines && running.sum <= before_) {
    if (scheduler_.Now() < natural_end() || WorksOn() == false) {
      return Reached(fmt::format("once another call made it write its gauges again, {} later",
                                 Seconds(since)));
    }
    return Unproved("the gauge was written again only after the answer would have ended",
                    "look at the engine's page while a call is hung up");
  }
  if (scheduler_.Now() - stage_began_ < kNudgedLimit) return;
  const std::optional<bool> works_on = WorksOn();
  if (!works_on.value_or(false) && nudges_ < std::min(2 * engines_, kNudgesMax)) return Nudge();
  if (works_on == false) {
    return Unproved(
        fmt::format("running stayed at {:g} for {} after a hang-up, and no token was made: the "
                    "gauge was not written again",
                    running.sum, Seconds(since)),
        "look at that engine's page once it has worked again");
  }
  Lost(fmt::format("running stayed at {:g} for {} after a hang-up", running.sum, Seconds(since)));
}

void CancelProbe::StartCall(std::uint32_t tokens) {
  const std::uint64_t play = MixKey(setup_.key, 0xca11ull);
  const std::uint64_t key = MixKey(play, ++calls_made_);
  prompt_ = ProbePrompt(key, 64, setup_.system_first ? 2 : 1, setup_.system_first);
  call_ = calls_.Start({.prompt = &prompt_,
                        .max_tokens = tokens,
                        .min_tokens = setup_.min_tokens && tokens > 1,
                        .ignore_eos = setup_.ignore_eos && tokens > 1,
                        .play_id = play,  // A router that keeps sessions together keeps these.
                        .call_key = key,
                        .released = scheduler_.Now()},
                       *this);
}

void CancelProbe::OnCallEnded(const CallResult& result) {
  if (stage_ == Stage::kNudge) {
    stage_ = Stage::kNudged;
    stage_began_ = scheduler_.Now();
    return;
  }
  if (stage_ != Stage::kRise) return;
  timer_.Cancel();
  if (result.outcome == Outcome::kOk) {
    Unproved(fmt::format("the answer ended by itself after {} tokens, before running was seen to "
                         "rise",
                         result.tokens_out == kAbsentTokens ? 0 : result.tokens_out),
             "let signals.engines name every copy behind the gateway, with pages that are read "
             "directly");
  } else {
    Unproved(fmt::format("a long call ended as {}", Name(result.outcome)),
             "check the gateway's log");
  }
}

void CancelProbe::Reached(const std::string& how) {
  End({FindingLevel::kOk, fmt::format("cancellation reaches the engine: running fell from {:g} to "
                                      "{:g} {}",
                                      during_, before_, how)});
}

void CancelProbe::Unproved(const std::string& why, const std::string& to_do) {
  End({FindingLevel::kWarning,
       fmt::format("cancellation: it could not be proved that a hang-up reaches the engine: {}; {}",
                   why, to_do)});
}

void CancelProbe::Lost(const std::string& how) {
  lost_ = Finding{
      setup_.may_be_lost ? FindingLevel::kWarning : FindingLevel::kBlocking,
      fmt::format("cancellation does not reach the engine: {}: calls that are given up would load "
                  "it on, and so would a kill switch; {}",
                  how,
                  setup_.may_be_lost
                      ? "the scenario accepts it (target.cancellation: may_be_lost)"
                      : "make the gateway pass hang-ups on, or accept it with target: "
                        "{cancellation: may_be_lost}")};
  if (!setup_.may_be_lost) return End(*std::exchange(lost_, std::nullopt));
  // Until it is over, it would be part of what the deployment showed before the run.
  stage_ = Stage::kLinger;
  stage_began_ = scheduler_.Now();
}

void CancelProbe::End(Finding finding) {
  stage_ = Stage::kDone;
  timer_.Cancel();
  // In a turn of its own: this one may be the call's.
  timer_ = scheduler_.After(Duration{0}, [this, finding = std::move(finding)] {
    call_.reset();
    if (const auto done = std::exchange(done_, nullptr)) done(finding);
  });
}

}  // namespace plimsoll
