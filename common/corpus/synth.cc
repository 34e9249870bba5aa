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
#include "common/corpus/synth_tiers.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kBlock = limits::kBlockTokens;
constexpr double kLightMax = 69'268;
constexpr double kHeavyMin = 141'002;
constexpr int kDrawsMax = 64;  // Short subagents can keep a median out of its tier: half without.

// Calls that a person asked for come after the longer delays: 14.8% of all, most of the slowest
// quarter.
constexpr double kAskedAbove = 0.80;
constexpr double kAskedSlow = 0.60;
constexpr double kAskedFast = 0.035;
constexpr double kMostKept = 0.89;             // A rewrite loses more than a tenth.
constexpr std::uint64_t kFanOutCallsMin = 40;  // Those recorded with subagents are long.

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

  // A session of `calls` calls, which stand at `share` of the sessions by their number. `fan_outs`
  // decides on its subagents, null for none: drawing a session again must not make those with any
  // rarer.
  Session Make(std::uint64_t calls, double share, const Rng* fan_outs) {
    if (fan_outs != nullptr) PlanFanOuts(*fan_outs, &calls);
    AddStream(kMainClasses[rng_.Below(std::size(kMainClasses))], kMainModel, -1, 0);
    const Fit& fit = shape_.fit;
    const double level = fit.level * NormalQuantile(std::clamp(share, 1e-6, 1 - 1e-6)) +
                         std::sqrt(1 - fit.level * fit.level) * rng_.Normal();
    const double first = shape_.first.At(std::erfc(-level / std::sqrt(2.0)) / 2) * fit.first;
    ceiling_ = std::max(shape_.longest.At(rng_.Uniform()) * fit.ceiling, first * 1.02);
    std::uint64_t ready_ms = AddCall({.stream = 0, .prompt = first, .ready_ms = 0, .ref = -1});
    PlanSizes(calls);
    for (std::uint64_t i = 1; i < calls; ++i) {
      mains_ = i;
      const auto previous = static_cast<std::int32_t>(last_main_);
      std::vector<std::size_t> children;
      if (!plans_.empty() &&
          rng_.Chance(static_cast<double>(plans_.size()) / static_cast<double>(calls - i))) {
        children = FanOut(plans_.back(), previous, &ready_ms);
        plans_.pop_back();
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
    const double length = rng_.Uniform();
    call.tokens_out = Scaled(shape_.answer.At(length));
    call.delay_ms = next.delay_ms;
    call.start_ms = static_cast<std::uint32_t>(next.ready_ms + next.delay_ms);
    // Long answers take long; what else does is not known.
    call.service_ms =
        static_cast<std::uint32_t>(shape_.service.At(rng_.Chance(0.7) ? length : rng_.Uniform()));
    call.model = models_[next.stream];
    call.flags = next.flags;
    prompts_[next.stream] = next.prompt;
    if (next.stream == 0) last_main_ = session_.calls.size();
    session_.calls.push_back(call);
    return std::uint64_t{call.start_ms} + call.service_ms;
  }

  // The next call of a stream: it appends to the one before, or, rarely, rewrites its history.
  std::uint64_t AddStep(std::uint32_t stream, std::int32_t previous, std::uint64_t ready_ms) {
    Call& before = session_.calls[static_cast<std::size_t>(previous)];
    const double whole = std::floor(prompts_[stream] / kBlock) * kBlock;
    Next next{.stream = stream, .ready_ms = ready_ms, .ref = previous};
    const bool compacts = prompts_[stream] > ceiling_ && rng_.Chance(shape_.fit.compact);
    if (compacts || rng_.Chance(shape_.fit.rewrite)) {
      Rewrite(compacts, whole, before.blocks(), &next);
    } else {
      const double draw = rng_.Uniform();  // The answer's end changes a block or three.
      const std::uint32_t lost = draw < 0.041 ? 1 : draw < 0.048 ? 2 : 0;
      next.kept_blocks = before.blocks() - std::min(before.blocks(), lost);
      const double size = stream == 0 ? sizes_[mains_] : rng_.Uniform();
      const double appended = shape_.appended.At(size * (1 - shape_.lost * shape_.fit.fresh));
      next.prompt = std::max(whole - lost * kBlock, 0.0) + appended;
    }
    const double slow = rng_.Uniform();
    next.delay_ms = static_cast<std::uint32_t>(shape_.delay.At(slow));
    const bool asked = stream == 0 && rng_.Chance(slow > kAskedAbove ? kAskedSlow : kAskedFast);
    if (next.flags != kRewrite) next.flags = asked ? kUserTurn : kToolTurn;
    if (!asked) before.flags |= kStopToolUse;
    return AddCall(next);
  }

  // What a rewrite keeps of the prompt before it and adds to that.
  void Rewrite(bool compacts, double whole, std::uint32_t blocks, Next* next) {
    const Fit& fit = shape_.fit;
    const double draw = rng_.Uniform();
    const double appended =
        shape_.appended.At(rng_.Chance(fit.fresh) ? 1 - shape_.lost * draw : draw);
    const bool halves = compacts || rng_.Chance(shape_.halved);
    const double share =
        halves ? fit.left + 0.3 * rng_.Uniform() : fit.rewritten + 0.2 * rng_.Uniform();
    const double target = whole * share;
    const double kept = std::clamp(target - appended, 0.0, kMostKept * whole);
    next->kept_blocks = std::min(static_cast<std::uint32_t>(kept / kBlock / scale_), blocks);
    const double rest = std::floor(kept / kBlock) * kBlock;
    next->prompt = std::max(rest > 0 ? rest + appended : std::min(appended, target), 1000.0);
    next->flags = kRewrite;
  }

  // Where each main call's addition stands among all; agents read much at first and less later.
  void PlanSizes(std::uint64_t calls) {
    for (std::uint64_t i = 0; i < calls; ++i) sizes_.push_back(rng_.Uniform());
    for (std::uint64_t i = 1; i < calls / 2; ++i) {
      double& late = sizes_[calls - i];
      if (sizes_[i] < late && rng_.Chance(shape_.fit.early)) std::swap(sizes_[i], late);
    }
  }

  // Decides on fan-outs before anything else, so that the number of calls includes theirs.
  void PlanFanOuts(Rng rng, std::uint64_t* calls) {
    if (*calls < kFanOutCallsMin || !rng.Chance(shape_.fan_out / ShareOfLong())) return;
    std::uint64_t nested = 0;
    const std::uint64_t nested_max = *calls * 35 / 100;  // Recorded: a third of such sessions.
    for (std::uint64_t runs = 1 + rng.Below(3); runs > 0; --runs) {
      const double draw = rng.Uniform();  // Of 38 recorded groups 21 had one, 9 two, 8 three.
      std::vector<std::uint64_t> lengths;
      for (int left = draw < 21.0 / 38 ? 1 : draw < 30.0 / 38 ? 2 : 3; left > 0; --left) {
        const std::uint64_t length = std::min(2 + rng.Below(18), nested_max - nested);
        if (length < 2) break;
        lengths.push_back(length);
        nested += length;
      }
      if (!lengths.empty()) plans_.push_back(std::move(lengths));
    }
    *calls -= nested;
  }

  // Of the tier's sessions, those long enough for fan-outs.
  double ShareOfLong() const {
    double below = 0;
    while (below < 0.99 && shape_.calls.At(below) < kFanOutCallsMin) below += 0.01;
    return 1 - below;
  }

  // Starts a subagent of each length after call `parent`; *ready_ms moves to the last one's end.
  std::vector<std::size_t> FanOut(const std::vector<std::uint64_t>& lengths, std::int32_t parent,
                                  std::uint64_t* ready_ms) {
    const std::uint64_t start = *ready_ms;
    std::vector<std::size_t> children;
    for (std::uint64_t length : lengths) {
      const auto offset = static_cast<std::uint32_t>(90 + 30 * children.size() + rng_.Below(20));
      const std::size_t stream = AddStream(kChildClass, kChildModel, parent, offset);
      children.push_back(stream);
      const auto number = static_cast<std::uint32_t>(stream);
      const double task = 900 * rng_.Lognormal(0.8);
      const auto prefix = kChildClass.tool_tokens + kChildClass.system_tokens;
      auto call = static_cast<std::int32_t>(session_.calls.size());
      std::uint64_t ready =
          AddCall({.stream = number,
                   .prompt = prefix + std::min(task, 8000.0),
                   .ready_ms = start + offset,
                   .ref = first_child_,
                   .kept_blocks = first_child_ < 0 ? 0 : session_.streams[stream].prefix_blocks});
      if (first_child_ < 0) first_child_ = call;
      for (; length > 1; --length) {
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
  std::vector<double> sizes_;  // Of each main call's addition, its share among all additions.
  std::size_t mains_ = 0;      // Index of the main call at hand.
  double ceiling_ = 0;         // Tokens above which history is compacted.
  std::vector<std::vector<std::uint64_t>> plans_;  // Fan-outs to come: calls of each subagent.
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
  constexpr double kGoldenRatio = 0.6180339887498949;
  const Rng family = Rng(options.seed).Fork(shape.name);
  const double start = family.Fork("start").Uniform();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string id = fmt::format("synth_{}_{:04}", shape.name, i);
    Session session;
    bool found = false;
    // Steps of the golden ratio: any number of sessions is spread evenly over the shares.
    const double turns = start + i * kGoldenRatio;
    const double share = turns - std::floor(turns);
    const auto calls = static_cast<std::uint64_t>(std::lround(shape.calls.At(share)));
    const Rng fan_outs = family.Fork(fmt::format("{}/fan-out", i));
    Rng choice = family.Fork(fmt::format("{}/choice", i));
    int wanted = choice.Chance(shape.fit.longer) ? 2 : 1;
    for (int draw = 0; draw < kDrawsMax && wanted > 0; ++draw) {
      Session drawn = Draft(shape, options.scale, family.Fork(fmt::format("{}/{}", i, draw)))
                          .Make(calls, share, draw < kDrawsMax / 2 ? &fan_outs : nullptr);
      const bool fits = Fits(drawn, options.scale);
      if (fits) --wanted;
      if (draw == 0 || (fits && (!found || MedianPrompt(drawn) > MedianPrompt(session)))) {
        session = std::move(drawn);
      }
      found = found || fits;
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
