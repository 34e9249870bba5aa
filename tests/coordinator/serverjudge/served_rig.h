// A step of servers that count what a test tells them, and what is judged of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/serverjudge/judge_server.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/fake_servers.h"

namespace plimsoll::testing {

inline constexpr Duration kBlock = 60s;
inline constexpr int kBlocks = 5;
// The measured time begins at 120 s; pages come every ten seconds.
inline constexpr MonoTime kFrom{120s};
inline constexpr MonoTime kTo = kFrom + kBlocks * kBlock;

inline Limit Ttft(double seconds) {
  return {.metric = Metric::kTtft, .quantile = 0.9, .value = seconds, .tier = "", .origin = {}};
}
inline Limit Speed(double tok_s) {
  return {
      .metric = Metric::kInteractivity, .quantile = 0.9, .value = tok_s, .tier = "", .origin = {}};
}
inline Limit Errors(double share) {
  return {.metric = Metric::kErrors, .quantile = 0, .value = share, .tier = "", .origin = {}};
}

inline PartVerdict Client(const Limit& limit, Verdict verdict) {
  return {.limit = limit, .verdict = verdict, .reason = "as the client saw it", .n = 600};
}

// A rig of servers under a steady load of two requests a second.
struct Rig {
  std::vector<std::unique_ptr<FakeEngine>> engines;
  std::unique_ptr<FakeEnvoy> envoy;
  // What happens in each second: `second` counts from the measured time's start, below 0 before.
  std::function<void(int second)> each = [](int) {};

  explicit Rig(int copies = 1, bool gateway = true) {
    for (int i = 0; i < copies; ++i) {
      engines.push_back(std::make_unique<FakeEngine>("engine-" + std::to_string(i)));
    }
    if (gateway) envoy = std::make_unique<FakeEnvoy>();
  }
  FakeEngine& engine(int i = 0) { return *engines[static_cast<std::size_t>(i)]; }

  // One request, answered by engine `i`.
  void Answer(int i, double ttft_s, double per_token_s = 0.02) {
    engine(i).Answer(ttft_s, per_token_s);
    if (envoy) ++envoy->accepted;
  }
  // Every `bad_of_ten`-th of ten requests gets its first token after `bad_s`.
  void Steady(int second, int bad_of_twenty, double good_s, double bad_s) {
    for (int k = 0; k < 2; ++k) {
      const int which = (second * 2 + k) % 20;
      const auto copy = static_cast<int>(static_cast<std::size_t>(second + 1000) % engines.size());
      Answer(copy, which < bad_of_twenty ? bad_s : good_s);
    }
  }

  SignalHistory Run(int until_s = kBlocks * 60 + 60) {
    for (int second = -120; second <= until_s; ++second) {
      if (second % 10 == 0) {
        const MonoTime at = kFrom + second * 1s;
        for (const auto& engine : engines) engine->Scrape(at);
        if (envoy) envoy->Scrape(at);
      }
      each(second);
    }
    std::vector<const FakeTarget*> all;
    for (const auto& engine : engines) all.push_back(engine.get());
    if (envoy) all.push_back(envoy.get());
    return HistoryFrom(all);
  }
};

struct Judged {
  ServerJudgement judgement;
  const PartVerdict& part(std::size_t i = 0) const { return judgement.verdict.parts[i]; }
  // What a source alone says of part `i`; fails the test without one.
  PartVerdict Of(PartSource source, std::size_t i = 0) const {
    for (const SourcePart& one : judgement.summary.parts) {
      if (one.source == source && one.part == i) return one.verdict;
    }
    ADD_FAILURE() << "no part of " << Name(source);
    return {};
  }
};

inline Judged Judge(
    const SignalHistory& history, JudgeMode mode, const std::vector<PartVerdict>& parts,
    ClientLoad load = {
        .sessions = 60, .attempts = 600, .first_tokens = 600, .ok = 600, .in_flight = 5}) {
  StepVerdict client{.parts = parts, .offered_share = 1, .sent_share = load.sent_share};
  client.verdict = VerdictOf(parts);
  const ServerStep step{.mode = mode,
                        .history = history,
                        .spans = {{.from = kFrom, .to = kTo, .ended = kTo + 20s, .block = kBlock}},
                        .begin = MonoTime{},
                        .end = kTo + 60s,
                        .kv_full = {}};
  return {JudgeServer(step, client, load)};
}

}  // namespace plimsoll::testing
