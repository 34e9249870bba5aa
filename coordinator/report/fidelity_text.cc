#include "coordinator/report/fidelity_text.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "coordinator/report/eval_text.h"

namespace plimsoll {
namespace {

std::string Percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.2g}%", *share * 100) : "–";
}

std::string OutputSentence(const FidelitySummary& f) {
  if (!f.output_ratio) return "no length was asked for, or none was reported";
  return fmt::format("{:.1f}% of the tokens asked for came, of the median call {:.1f}% (n {})",
                     *f.output_ratio * 100, f.output_ratio_p50.value_or(0) * 100, f.output_n);
}

std::string PromptSentence(const FidelitySummary& f) {
  if (!f.drift_p50) return "usage reports none";
  std::string text = fmt::format("off the plan by {} in the median call, {} in the worst (n {})",
                                 Percent(f.drift_p50), Percent(f.drift_max), f.prompt_n);
  if (f.drift_over == 0) return text;
  const double total = f.drift_total.value_or(0);
  return fmt::format("{}; {} calls over {:g}%, all tokens {:.2g}% {} than planned", text,
                     f.drift_over, kDriftShareMax * 100, std::abs(total) * 100,
                     total < 0 ? "fewer" : "more");
}

std::string ToolSentence(const FidelitySummary& f) {
  std::string text = fmt::format("in {} answers: {} well formed, {} malformed", f.tool_present,
                                 f.tool_valid, f.tool_invalid);
  if (const std::string faults = FaultSentence(f.tool_faults); !faults.empty()) {
    text += fmt::format(" ({})", faults);
  }
  const std::uint64_t judged = f.tool_valid + f.tool_invalid;
  if (judged < f.tool_present) {
    text += fmt::format(", {} cut by their cap", f.tool_present - judged);
  }
  return text;
}

// Every kind that came, however rare: what cannot be is a wrong count or a wrong clock.
void AddDoubts(const UsageDoubts& d, std::vector<std::pair<std::string, std::string>>* lines) {
  const auto add = [&](std::uint64_t n, std::string_view what) {
    if (n == 0) return;
    lines->emplace_back("impossible",
                        fmt::format("warning: {} answer{} {}", n, n == 1 ? "" : "s", what));
  };
  add(d.no_output,
      "with a token of which usage counts none: not in interactivity, the count is wrong");
  add(d.first_chunk_over,
      "with more tokens in the first chunk than in all, as usage counts: not in interactivity");
  add(d.output_over_cap,
      "longer than the request allowed: the server ignores max_tokens, or miscounts");
  add(d.cached_over_prompt, "with more cached tokens than the prompt has: the count is wrong");
  if (d.rate_unbelievable > 0) {
    add(d.rate_unbelievable,
        fmt::format("faster than {:g} tok/s: tokens were held back and came at once, or the count "
                    "is wrong",
                    kRateBelievable));
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> FidelityLines(const FidelitySummary& f) {
  std::vector<std::pair<std::string, std::string>> lines = {{"output length", OutputSentence(f)},
                                                            {"prompt length", PromptSentence(f)}};
  if (f.tool_present > 0) lines.emplace_back("tool calls", ToolSentence(f));
  if (f.reasoning_only > 0) {
    lines.emplace_back("reasoning",
                       fmt::format("{} answers were reasoning and nothing else", f.reasoning_only));
  }
  if (f.hidden_reasoning > 0) {
    lines.emplace_back("reasoning",
                       fmt::format("warning: usage of {} answers counts reasoning that was not "
                                   "streamed: their TTFT includes it",
                                   f.hidden_reasoning));
  }
  AddDoubts(f.doubts, &lines);
  return lines;
}

}  // namespace plimsoll
