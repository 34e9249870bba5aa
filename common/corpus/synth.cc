#include "common/corpus/synth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/rng.h"
#include "common/corpus/stats.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kBlock = limits::kBlockTokens;
constexpr double kLightMax = 69'268;
constexpr double kHeavyMin = 141'002;
constexpr int kDrawsMax = 64;

// A lognormal draw: its median and the sigma that gives the published 90th percentile.
struct Spread {
  double median;
  double sigma;
  double Draw(Rng* rng) const { return median * rng->Lognormal(sigma); }
};

// Per tier, from the 710 public sessions (medians and 90th percentiles of each).
struct TierShape {
  Tier tier;
  const char* name;
  Spread first_prompt;
  double first_min;
  double prompt_max;
  Spread growth;    // Tokens a call adds to the conversation, its predecessor's answer included.
  Spread answer;    // Output tokens.
  Spread service;   // Milliseconds.
  double fan_outs;  // Mean number of times a session fans out.
};

constexpr TierShape kLight{.tier = Tier::kLight,
                           .name = "light",
                           .first_prompt = {18'512, 0.36},
                           .first_min = 16'000,
                           .prompt_max = 130'000,
                           .growth = {625, 1.50},
                           .answer = {201, 1.05},
                           .service = {5290, 0.85},
                           .fan_outs = 0.5};
constexpr TierShape kMid{.tier = Tier::kMid,
                         .name = "mid",
                         .first_prompt = {60'000, 0.45},
                         .first_min = 16'000,
                         .prompt_max = 180'000,
                         .growth = {711, 1.39},
                         .answer = {214, 1.06},
                         .service = {5660, 0.85},
                         .fan_outs = 0.25};
constexpr TierShape kHeavy{.tier = Tier::kHeavy,
                           .name = "heavy",
                           .first_prompt = {218'232, 0.55},
                           .first_min = 128'640,
                           .prompt_max = 890'000,
                           .growth = {802, 1.30},
                           .answer = {247, 1.20},
                           .service = {8410, 0.84},
                           .fan_outs = 0};

// What an agent's client does between calls, in ms: half the delays are tools of two seconds.
constexpr Spread kDelay{1960, 3.1};
constexpr double kDelayMax = 600'000;
// Now and then a tool's result is a whole file; without these the mean growth is half the recorded.
constexpr double kWholeFile = 0.03;
constexpr Spread kWholeFileTokens{14'000, 0.8};
constexpr double kGrowthMax = 60'000;
constexpr double kTurnCalls = 6.8;  // Mean calls from one user text to the next.

// Token counts of tools and system prompts: users of one version share both.
struct PrefixClass {
  std::uint32_t tool_tokens;
  std::uint32_t system_tokens;
};
constexpr PrefixClass kMainClasses[] = {{12'262, 2'772}, {12'439, 2'979}, {9'349, 3'119}};
constexpr PrefixClass kChildClass{7'771, 2'227};
constexpr std::uint16_t kMainModel = 0;
constexpr std::uint16_t kChildModel = 1;

// One session under construction; calls are in order of creation until Finish() sorts them.
class Draft {
 public:
  Draft(const TierShape& shape, std::uint32_t scale, Rng rng)
      : shape_(shape), scale_(scale), rng_(rng) {}

  Session Make() {
    AddStream(kMainClasses[rng_.Below(std::size(kMainClasses))], kMainModel, -1, 0);
    const std::uint64_t calls = 20 + rng_.Below(41);
    const double first =
        std::clamp(shape_.first_prompt.Draw(&rng_), shape_.first_min, shape_.prompt_max);
    std::uint64_t ready_ms = AddCall({.stream = 0, .prompt = first, .ready_ms = 0, .ref = -1});
    for (std::uint64_t i = 1; i < calls; ++i) {
      const auto previous = static_cast<std::int32_t>(last_main_);
      std::vector<std::size_t> children;
      if (rng_.Chance(shape_.fan_outs / static_cast<double>(calls - 1))) {
        children = FanOut(previous, &ready_ms);
      }
      ready_ms = AddStep(0, previous, ready_ms);
      for (const std::size_t child : children) {
        session_.streams[child].join_call = static_cast<std::int32_t>(last_main_);
      }
    }
    return Finish();
  }

 private:
  struct Next {
    std::uint32_t stream = 0;
    double prompt = 0;  // Tokens, unscaled.
    std::uint64_t ready_ms = 0;
    std::int32_t ref = -1;
    std::uint32_t kept_blocks = 0;
    std::uint32_t delay_ms = 0;
    std::uint8_t flags = kUserTurn;
  };

  std::uint32_t Scaled(double tokens) const {
    return static_cast<std::uint32_t>(std::max(1.0, std::round(tokens / scale_)));
  }

  std::size_t AddStream(const PrefixClass& prefix, std::uint16_t model, std::int32_t parent,
                        std::uint32_t offset_ms) {
    const std::uint32_t tokens = (prefix.tool_tokens + prefix.system_tokens) / scale_;
    session_.streams.push_back(
        {.parent_call = parent,
         .start_offset_ms = offset_ms,
         .prefix_blocks = tokens / kBlock,
         .prefix_class = MixKey(model, prefix.tool_tokens, prefix.system_tokens)});
    prompts_.push_back(0);
    models_.push_back(model);
    return session_.streams.size() - 1;
  }

  // Returns when the call ends.
  std::uint64_t AddCall(const Next& next) {
    Call call{.stream = next.stream, .ref = next.ref, .kept_blocks = next.kept_blocks};
    call.tokens_in = std::max(Scaled(next.prompt), kBlock);
    call.kept_blocks = std::min(call.kept_blocks, call.blocks());
    call.tokens_out = Scaled(std::min(shape_.answer.Draw(&rng_), 16'000.0));
    call.delay_ms = next.delay_ms;
    call.start_ms = static_cast<std::uint32_t>(next.ready_ms + next.delay_ms);
    call.service_ms =
        static_cast<std::uint32_t>(std::clamp(shape_.service.Draw(&rng_), 500.0, 120'000.0));
    call.model = models_[next.stream];
    call.flags = next.flags;
    prompts_[next.stream] = next.prompt;
    if (next.stream == 0) last_main_ = session_.calls.size();
    session_.calls.push_back(call);
    return std::uint64_t{call.start_ms} + call.service_ms;
  }

  // The next call of a stream: it appends to the one before, or, rarely, rewrites its end.
  std::uint64_t AddStep(std::uint32_t stream, std::int32_t previous, std::uint64_t ready_ms) {
    Call& before = session_.calls[static_cast<std::size_t>(previous)];
    Next next{.stream = stream, .ready_ms = ready_ms, .ref = previous};
    const std::uint32_t prefix = session_.streams[stream].prefix_blocks;
    next.kept_blocks = before.blocks();
    const Spread& growth = rng_.Chance(kWholeFile) ? kWholeFileTokens : shape_.growth;
    next.prompt = prompts_[stream] + std::min(growth.Draw(&rng_), kGrowthMax);
    const bool user_turn = stream == 0 && rng_.Chance(1 / kTurnCalls);
    next.flags = user_turn ? kUserTurn : kToolTurn;
    if (!user_turn) before.flags |= kStopToolUse;
    const double fate = rng_.Uniform();
    if (fate < 0.021 || next.prompt > shape_.prompt_max) {  // Compaction or rewind.
      const double kept = 0.2 + 0.6 * rng_.Uniform();
      next.kept_blocks = std::max(std::min(prefix, before.blocks()),
                                  static_cast<std::uint32_t>(kept * before.blocks()));
      next.prompt = std::min(next.prompt, shape_.prompt_max) * std::min(1.0, kept + 0.1);
      next.prompt = std::max(next.prompt, (prefix + 1.0) * kBlock * scale_);
      next.flags = kRewrite;
    } else if (fate < 0.021 + 0.048 && next.kept_blocks > prefix) {  // The join changes a block.
      --next.kept_blocks;
    }
    next.delay_ms = static_cast<std::uint32_t>(std::min(kDelay.Draw(&rng_), kDelayMax));
    return AddCall(next);
  }

  // Starts one to three subagents after call `parent`; *ready_ms moves to the last one's end.
  std::vector<std::size_t> FanOut(std::int32_t parent, std::uint64_t* ready_ms) {
    const double draw = rng_.Uniform();  // Of 38 recorded groups 21 had one, 9 two, 8 three.
    const int count = draw < 21.0 / 38 ? 1 : draw < 30.0 / 38 ? 2 : 3;
    const std::uint64_t start = *ready_ms;
    std::vector<std::size_t> children;
    for (int i = 0; i < count; ++i) {
      const auto offset = static_cast<std::uint32_t>(90 + 30 * i + rng_.Below(20));
      const std::size_t stream = AddStream(kChildClass, kChildModel, parent, offset);
      children.push_back(stream);
      const auto number = static_cast<std::uint32_t>(stream);
      const double task = Spread{900, 0.8}.Draw(&rng_);
      const auto prefix = kChildClass.tool_tokens + kChildClass.system_tokens;
      auto call = static_cast<std::int32_t>(session_.calls.size());
      std::uint64_t ready =
          AddCall({.stream = number,
                   .prompt = prefix + std::min(task, 8000.0),
                   .ready_ms = start + offset,
                   .ref = first_child_,
                   .kept_blocks = first_child_ < 0 ? 0 : session_.streams[stream].prefix_blocks});
      if (first_child_ < 0) first_child_ = call;
      for (std::uint64_t more = 1 + rng_.Below(14); more > 0; --more) {
        const auto previous = call;
        call = static_cast<std::int32_t>(session_.calls.size());
        ready = AddStep(number, previous, ready);
      }
      *ready_ms = std::max(*ready_ms, ready);
    }
    return children;
  }

  // Sorts the calls by start and renames what refers to them.
  Session Finish() {
    const std::size_t count = session_.calls.size();
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return session_.calls[a].start_ms < session_.calls[b].start_ms;
    });
    std::vector<std::int32_t> renamed(count);
    std::vector<Call> calls;
    for (std::size_t i = 0; i < count; ++i) {
      renamed[order[i]] = static_cast<std::int32_t>(i);
      calls.push_back(session_.calls[order[i]]);
    }
    const auto rename = [&](std::int32_t* call) {
      if (*call >= 0) *call = renamed[static_cast<std::size_t>(*call)];
    };
    for (Call& call : calls) rename(&call.ref);
    for (Stream& stream : session_.streams) {
      rename(&stream.parent_call);
      rename(&stream.join_call);
    }
    session_.calls = std::move(calls);
    session_.tier = shape_.tier;
    return std::move(session_);
  }

  const TierShape& shape_;
  const double scale_;
  Rng rng_;
  Session session_;
  std::vector<double> prompts_;  // Latest prompt of each stream, unscaled.
  std::vector<std::uint16_t> models_;
  std::size_t last_main_ = 0;
  std::int32_t first_child_ = -1;  // First call of a subagent: all others share its prefix.
};

bool Fits(const Session& session, std::uint32_t scale) {
  const double median = MedianPrompt(session) * scale;
  switch (session.tier) {
    case Tier::kLight:
      return median <= kLightMax;
    case Tier::kHeavy:
      return median >= kHeavyMin;
    default:
      return median > kLightMax && median < kHeavyMin;
  }
}

void AddTier(const TierShape& shape, std::uint32_t count, const SynthOptions& options,
             Corpus* corpus) {
  const Rng family = Rng(options.seed).Fork(shape.name);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string id = fmt::format("synth_{}_{:04}", shape.name, i);
    Session session;
    for (int draw = 0; draw < kDrawsMax; ++draw) {
      session = Draft(shape, options.scale, family.Fork(fmt::format("{}/{}", i, draw))).Make();
      if (Fits(session, options.scale)) break;
    }
    session.id = id;
    corpus->sessions.push_back(std::move(session));
  }
}

}  // namespace

Corpus SynthCorpus(const SynthOptions& options) {
  SynthOptions checked = options;
  checked.scale = std::max(checked.scale, 1u);
  Corpus corpus;
  corpus.source =
      fmt::format("synthetic: seed {}, {} heavy, {} mid, {} light, tokens / {}", checked.seed,
                  checked.heavy, checked.mid, checked.light, checked.scale);
  corpus.models = {"main", "small"};
  AddTier(kHeavy, checked.heavy, checked, &corpus);
  AddTier(kMid, checked.mid, checked, &corpus);
  AddTier(kLight, checked.light, checked, &corpus);
  return corpus;
}

}  // namespace plimsoll
