#include "coordinator/evals/eval_verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/stats/share_difference.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kTail = (1 - kConfidence) / 2;
constexpr std::size_t kBlocksMin = 5;  // Fewer say nothing of how blocks differ.

std::optional<double> RateOf(const EvalCounts& counts) {
  if (counts.judged() == 0) return std::nullopt;
  return static_cast<double>(counts.passed()) / static_cast<double>(counts.judged());
}

// Whole counts of the effective size, passes rounded up: never nearer to a fail than they are.
ShareCounts Effective(const EvalCounts& counts, double design_effect) {
  const double n = std::floor(static_cast<double>(counts.judged()) / design_effect);
  const double rate = RateOf(counts).value_or(0);
  const auto trials = static_cast<std::uint64_t>(std::max(n, 1.0));
  const double hits = std::ceil(rate * static_cast<double>(trials) - 1e-9);
  return {.hits = std::min(trials, static_cast<std::uint64_t>(hits)), .trials = trials};
}

std::string Percent(double share) {
  return fmt::format("{:.1f}%", share * 100);
}

struct Answer {
  Verdict verdict = Verdict::kTooClose;
  std::string reason;
  bool leans_to_fail = false;
};

Answer AgainstThreshold(double wanted, const EvalVerdict& v) {
  const std::string seen =
      fmt::format("{} of {} passed, 95% interval {} to {}", v.loaded.passed(), v.loaded.judged(),
                  Percent(v.interval.low), Percent(v.interval.high));
  if (v.interval.high < wanted) {
    return {Verdict::kFail, fmt::format("{}: below {}", seen, Percent(wanted))};
  }
  if (v.interval.low >= wanted) {
    return {Verdict::kPass, fmt::format("{}: at least {}", seen, Percent(wanted))};
  }
  return {Verdict::kTooClose, fmt::format("{}: {} lies within", seen, Percent(wanted)),
          *v.rate < wanted};
}

Answer AgainstUnloaded(double tolerated, EvalVerdict* v) {
  if (!v->unloaded_rate) return {Verdict::kTooClose, "no unloaded answers to compare with"};
  const ShareCounts loaded = Effective(v->loaded, v->design_effect);
  const ShareCounts unloaded{.hits = v->unloaded.passed(), .trials = v->unloaded.judged()};
  v->drop_p_value = LowerDifferencePValue(loaded, unloaded, -tolerated);
  v->change = ShareDifferenceInterval(loaded, unloaded, kConfidence);
  const double change = *v->rate - *v->unloaded_rate;
  const std::string seen = fmt::format(
      "{} passed under load, {} unloaded, a change of {:+.1f} points, 95% interval {:+.1f} to "
      "{:+.1f}",
      Percent(*v->rate), Percent(*v->unloaded_rate), change * 100, v->change->low * 100,
      v->change->high * 100);
  const std::string limit = fmt::format("{:.1f} points", tolerated * 100);
  if (v->drop_p_value <= kTail) {
    return {Verdict::kFail, fmt::format("{}: a drop of more than {}", seen, limit)};
  }
  if (v->change->low >= -tolerated) {
    return {Verdict::kPass, fmt::format("{}: no drop of more than {}", seen, limit)};
  }
  return {Verdict::kTooClose, fmt::format("{}: a drop of {} lies within", seen, limit),
          change < -tolerated};
}

}  // namespace

double EvalDesignEffect(const std::vector<EvalCounts>& blocks) {
  double judged = 0;
  double passed = 0;
  for (const EvalCounts& block : blocks) {
    judged += static_cast<double>(block.judged());
    passed += static_cast<double>(block.passed());
  }
  const double rate = judged > 0 ? passed / judged : 0;
  std::vector<double> residuals;  // Of the blocks that judged any.
  for (const EvalCounts& block : blocks) {
    if (block.judged() == 0) continue;
    residuals.push_back(static_cast<double>(block.passed()) -
                        rate * static_cast<double>(block.judged()));
  }
  if (residuals.size() < kBlocksMin || passed == 0 || passed == judged) return 1;
  const double effect = SquaresOf(residuals) / (judged * rate * (1 - rate));
  if (!(effect > 1)) return 1;
  // The variance was itself estimated, from so many blocks: Student's quantile for the normal one.
  const double t =
      StudentTQuantile(1 - kTail, static_cast<double>(residuals.size()) - 1) / 1.959963984540054;
  return std::clamp(effect * t * t, 1.0, judged);
}

EvalVerdict JudgeEvals(const EvalBar& bar, const std::vector<EvalCounts>& loaded,
                       const EvalCounts& unloaded) {
  EvalVerdict v{.unloaded = unloaded};
  for (const EvalCounts& block : loaded) v.loaded.Add(block);
  v.rate = RateOf(v.loaded);
  v.unloaded_rate = RateOf(unloaded);
  if (!v.rate) {
    const auto unanswered = v.loaded.of(EvalOutcome::kUnanswered);
    v.reason = unanswered > 0 ? fmt::format("none of {} evals was answered", unanswered)
                              : std::string("no eval was asked");
    return v;
  }
  v.design_effect = EvalDesignEffect(loaded);
  v.interval =
      ClopperPearson(static_cast<double>(v.loaded.passed()) / v.design_effect,
                     static_cast<double>(v.loaded.judged()) / v.design_effect, kConfidence);
  std::vector<Answer> answers;
  if (bar.pass_rate) answers.push_back(AgainstThreshold(*bar.pass_rate, v));
  if (bar.drop) answers.push_back(AgainstUnloaded(*bar.drop, &v));
  if (answers.empty()) {
    v.reason = "the bar asks nothing of evals";
    return v;
  }
  // The worst decides; the first of equals.
  const auto rank = [](const Answer& a) {
    return a.verdict == Verdict::kFail ? 0 : a.verdict == Verdict::kTooClose ? 1 : 2;
  };
  const Answer& worst =
      *std::min_element(answers.begin(), answers.end(),
                        [&](const Answer& a, const Answer& b) { return rank(a) < rank(b); });
  v.verdict = worst.verdict;
  v.reason = worst.reason;
  if (v.verdict == Verdict::kTooClose) {
    const bool fails = std::any_of(answers.begin(), answers.end(),
                                   [](const Answer& a) { return a.leans_to_fail; });
    v.lean = fails ? Lean::kFail : Lean::kPass;
  }
  return v;
}

std::optional<std::uint64_t> MostThatFails(std::uint64_t judged, double pass_rate) {
  const auto fails = [&](std::uint64_t passed) {
    return judged > 0 &&
           ClopperPearson(static_cast<double>(passed), static_cast<double>(judged), kConfidence)
                   .high < pass_rate;
  };
  if (!fails(0)) return std::nullopt;
  std::uint64_t low = 0;  // Fails.
  std::uint64_t high = judged;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fails(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace plimsoll
