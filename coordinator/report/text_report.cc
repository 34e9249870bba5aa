#include "coordinator/report/text_report.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

constexpr const char* kAbsent = "–";

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Three significant digits, plain: 0.0123, 4.81, 57.3, 412.
std::string Number(double value) {
  if (value >= 999.5) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string Shown(const ShownPercentile& percentile) {
  if (percentile.infinite) return "inf";
  return percentile.value ? Number(*percentile.value) : kAbsent;
}

std::string Shown(const std::optional<double>& value) {
  return value ? Number(*value) : kAbsent;
}

std::string Percent(double share) {
  return fmt::format("{:.1f}", share * 100);
}

std::string Line(const std::string& label, const std::string& text) {
  return Wrap(fmt::format("{:<11}", label), Printable(text), kReportColumns);
}

std::string Item(const std::string& text) {
  return Wrap("  ", Printable(text), kReportColumns);
}

std::string VerdictWord(const StepVerdict& step) {
  if (step.is_void) return "no data*";
  if (step.verdict != Verdict::kTooClose) return Name(step.verdict);
  return LeanOf(step) == Lean::kPass ? "too close +" : "too close -";
}

std::string BarSentence(const Bar& bar) {
  std::string text;
  for (const Limit& limit : bar.limits) {
    if (!text.empty()) text += " · ";
    switch (limit.metric) {
      case Metric::kTtft:
        text += fmt::format("TTFT P{:g} <= {:g} s", limit.quantile * 100, limit.value);
        break;
      case Metric::kInteractivity:
        text += fmt::format("interactivity P{:g} >= {:g} tok/s", limit.quantile * 100, limit.value);
        break;
      case Metric::kErrors:
      case Metric::kToolCalls:
        text += fmt::format("{} <= {:g}%", Name(limit.metric), limit.value * 100);
        break;
    }
  }
  return text;
}

std::string StepTable(const ReportModel& model) {
  std::vector<std::vector<std::string>> rows = {{"sessions", "verdict", "in flight", "calls",
                                                 "TTFT P50", "P90 s", "tok/s P90", "n", "errors%",
                                                 "sent%", "offered%"}};
  for (const ReportedStep& step : model.steps) {
    const StepSummary& s = step.summary;
    rows.push_back(
        {fmt::format("{}", s.plan.sessions), VerdictWord(s.verdict),
         fmt::format("{:.1f}", s.requests_in_flight_mean), fmt::format("{}", s.ttft.n),
         Shown(s.ttft.p50_s), Shown(s.ttft.p90_s), Shown(s.rate.reached_by_90_tok_s),
         fmt::format("{}", s.rate.n),
         s.errors.error_share ? fmt::format("{:.2f}", *s.errors.error_share * 100) : kAbsent,
         Percent(s.verdict.sent_share), Percent(s.verdict.offered_share)});
  }
  std::string text = Table(rows, 2);
  const auto any = [&](auto holds) {
    return std::any_of(model.steps.begin(), model.steps.end(),
                       [&](const ReportedStep& step) { return holds(step.summary.verdict); });
  };
  if (any([](const StepVerdict& v) { return v.verdict == Verdict::kTooClose; })) {
    text += "too close + leans to pass, - to fail\n";
  }
  if (any([](const StepVerdict& v) { return v.is_void; })) {
    text += "* void: the step says nothing, whatever it shows\n";
  }
  return text;
}

// The sentence that goes with "P90 interactivity", and what was left out of it.
std::string InteractivitySentence(const ReportedStep& step) {
  const RateSummary& rate = step.summary.rate;
  if (!rate.reached_by_90_tok_s) return "no call had an interactivity";
  std::string text = fmt::format("90% of {} calls reach or beat {} tok/s per user", rate.n,
                                 Number(*rate.reached_by_90_tok_s));
  text += fmt::format(" (end to end {}", Shown(rate.end_to_end_reached_by_90_tok_s));
  if (rate.reached_by_90_ok_tok_s && rate.reached_by_90_ok_tok_s != rate.reached_by_90_tok_s) {
    text += fmt::format("; without failed calls {}", Number(*rate.reached_by_90_ok_tok_s));
  }
  text += fmt::format("); {} answered in one chunk have none", rate.one_chunk);
  return text;
}

std::string TtftSentence(const TtftSummary& ttft) {
  std::string text = fmt::format("TTFT P90 {} s from release, {} s from sent", Shown(ttft.p90_s),
                                 Shown(ttft.p90_sent_s));
  if (!(ttft.p90_ok_s == ttft.p90_s)) {
    text += fmt::format("; without failed calls {} s", Shown(ttft.p90_ok_s));
  }
  return text;
}

std::string OutcomeSentence(const ErrorSummary& errors) {
  std::string text = fmt::format("{} attempts", errors.attempts);
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    if (errors.outcomes[i] == 0) continue;
    text += fmt::format(" · {} {}", errors.outcomes[i], Name(static_cast<Outcome>(i)));
  }
  if (errors.unsent > 0) text += fmt::format(" · {} calls never sent", errors.unsent);
  return text;
}

std::string TokenSentence(const StepSummary& s) {
  const FidelitySummary& f = s.fidelity;
  const std::string cached = f.cached_n > 0 ? fmt::format("{} of them cached", s.tokens_cached)
                                            : "cached ones not reported";
  std::string text = fmt::format("{} tokens in, {}, {} out", s.tokens_in, cached, s.tokens_out);
  if (f.cached_n > 0 && f.cached_n < f.prompt_n) {
    text += fmt::format("; {} calls without cached tokens reported", f.prompt_n - f.cached_n);
  }
  if (s.usage_missing > 0) text += fmt::format("; {} ok calls without usage", s.usage_missing);
  return text;
}

std::string Percent2(const std::optional<double>& share) {
  return share ? fmt::format("{:.2g}%", *share * 100) : kAbsent;
}

std::string OutputSentence(const FidelitySummary& f) {
  if (!f.output_ratio) return "output: no length was asked for, or none was reported";
  return fmt::format(
      "output: {:.1f}% of the tokens asked for came, of the median call {:.1f}% "
      "(n {})",
      *f.output_ratio * 100, f.output_ratio_p50.value_or(0) * 100, f.output_n);
}

std::string PromptSentence(const FidelitySummary& f) {
  if (!f.drift_p50) return "prompt lengths: usage reports none";
  std::string text = fmt::format(
      "prompt lengths: off the plan by {} in the median call, {} in the "
      "worst (n {})",
      Percent2(f.drift_p50), Percent2(f.drift_max), f.prompt_n);
  if (f.drift_over == 0) return text;
  const double total = f.drift_total.value_or(0);
  return fmt::format(
      "warning: {}; {} calls over {:g}%, all tokens {:.2g}% {} than planned: the "
      "load was not the recorded one",
      text, f.drift_over, kDriftShareMax * 100, std::abs(total) * 100,
      total < 0 ? "fewer" : "more");
}

std::string ToolSentence(const FidelitySummary& f) {
  std::string text = fmt::format("tool calls in {} answers: {} well formed, {} malformed",
                                 f.tool_present, f.tool_valid, f.tool_invalid);
  const std::uint64_t judged = f.tool_valid + f.tool_invalid;
  if (judged < f.tool_present) {
    text += fmt::format(", {} cut by their cap", f.tool_present - judged);
  }
  return text;
}

std::string FidelityItems(const FidelitySummary& f) {
  std::string text = Item(OutputSentence(f)) + Item(PromptSentence(f));
  if (f.tool_present > 0) text += Item(ToolSentence(f));
  if (f.reasoning_only > 0) {
    text += Item(fmt::format("{} answers were reasoning and nothing else", f.reasoning_only));
  }
  if (f.hidden_reasoning > 0) {
    text +=
        Item(fmt::format("warning: usage of {} answers counts reasoning that was not streamed: "
                         "their TTFT includes it",
                         f.hidden_reasoning));
  }
  return text;
}

std::string AgentSentence(const AgentEvidence& agent) {
  return fmt::format(
      "{}{}: {} lanes, {} attempts, skew {:.1f} ms, lateness P99 {:.1f} ms, loop lag max {:.1f} "
      "ms, "
      "cpu {:.0f}%{}",
      agent.name, agent.lost ? " (lost)" : "", agent.lanes, agent.attempts,
      static_cast<double>(agent.skew_ns) * 1e-6, static_cast<double>(agent.lateness_p99_ns) * 1e-6,
      static_cast<double>(agent.loop_lag_max_ns) * 1e-6, agent.cpu_share_max * 100,
      agent.records_lost > 0 ? fmt::format(", {} records lost", agent.records_lost) : "");
}

std::string IdentitySentence(const std::vector<Identity>& identities) {
  if (identities.empty()) return "identities: none was checked";
  std::string broken;
  for (const Identity& identity : identities) {
    if (identity.holds()) continue;
    if (!broken.empty()) broken += "; ";
    broken += fmt::format("{} ({} against {})", identity.name, identity.left, identity.right);
  }
  if (broken.empty()) return fmt::format("identities hold, all {}", identities.size());
  return "identities DO NOT hold: " + broken;
}

std::string StepDetails(const ReportedStep& step) {
  const StepSummary& s = step.summary;
  std::string text =
      fmt::format("\n{} sessions: {}\n", s.plan.sessions, Upper(Name(s.verdict.verdict)));
  if (s.verdict.is_void) {
    for (const std::string& reason : s.verdict.reasons) text += Item("void: " + reason);
  } else {
    for (const PartVerdict& part : s.verdict.parts) {
      text +=
          Item(fmt::format("{} {}: {}", Name(part.limit.metric), Name(part.verdict), part.reason));
    }
  }
  text += Item(InteractivitySentence(step));
  text += Item(TtftSentence(s.ttft));
  text += Item(OutcomeSentence(s.errors));
  text += Item(TokenSentence(s));
  text += FidelityItems(s.fidelity);
  for (const AgentEvidence& agent : s.agents) text += Item(AgentSentence(agent));
  text += Item(IdentitySentence(s.identities));
  for (const std::string& note : step.notes) text += Item(note);
  return text;
}

std::string Heading(const ReportModel& model) {
  std::string text = Line(Upper(Name(model.verdict.verdict)), model.verdict.reason);
  text += Line("capacity", model.capacity.sentence);
  text += Line("run", fmt::format("{} ({}){}{}", model.run_name, model.run_id,
                                  model.started_at.empty() ? "" : ", started ", model.started_at));
  text += Line("against", fmt::format("{} at {}", model.model, model.target_url));
  if (!model.corpus.empty()) text += Line("corpus", model.corpus);
  text += Line("bar", BarSentence(model.bar));
  if (model.target) text += Line("target", fmt::format("{} sessions", *model.target));
  if (!model.stopped_because.empty()) text += Line("sweep", model.stopped_because);
  return text;
}

}  // namespace

std::string TextReport(const ReportModel& model) {
  std::string text = Heading(model);
  if (!model.steps.empty()) text += '\n' + StepTable(model);
  for (const ReportedStep& step : model.steps) text += StepDetails(step);
  if (model.preflight) {
    text += "\npreflight\n";
    for (const Finding& finding : model.preflight->findings) {
      const std::string level =
          finding.level == FindingLevel::kOk ? "" : fmt::format("{}: ", Name(finding.level));
      text += Item(level + finding.text);
    }
  }
  if (!model.notes.empty() || !model.files_written.empty()) text += '\n';
  for (const std::string& note : model.notes) text += Line("note", note);
  for (const std::string& file : model.files_written) text += Line("written", file);
  return text;
}

}  // namespace plimsoll
