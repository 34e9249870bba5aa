#include "coordinator/report/text_report.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/capacity_words.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/server_words.h"
#include "coordinator/report/agent_text.h"
#include "coordinator/report/bar_text.h"
#include "coordinator/report/cost_text.h"
#include "coordinator/report/eval_text.h"
#include "coordinator/report/fidelity_text.h"
#include "coordinator/report/replay_text.h"
#include "coordinator/report/server_text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

constexpr const char* kAbsent = "–";

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string Shown(const ShownPercentile& percentile) {
  if (percentile.infinite) return "inf";
  return percentile.value ? ThreeDigits(*percentile.value) : kAbsent;
}

std::string Shown(const std::optional<double>& value) {
  return value ? ThreeDigits(*value) : kAbsent;
}

std::string Percent(double share) {
  return fmt::format("{:.1f}", share * 100);
}

std::string VerdictWord(const StepSummary& step) {
  if (step.broken_off_after) return "stopped";
  const StepVerdict& verdict = step.verdict;
  if (verdict.is_void) return "no data*";
  if (step.origin.failed_early_after && verdict.verdict == Verdict::kFail) {
    return fmt::format("fail {}/{}", *step.origin.failed_early_after, step.plan.blocks());
  }
  if (verdict.verdict != Verdict::kTooClose) return Name(verdict.verdict);
  return LeanOf(verdict) == Lean::kPass ? "too close +" : "too close -";
}

// What is known if every agent has told of the step.
std::string IfTold(const StepSummary& step, std::string text) {
  return HasTallies(step) ? std::move(text) : kAbsent;
}

// "15", or how the step came about beside it.
std::string SessionsWord(const StepSummary& step) {
  constexpr const char* kMarks[] = {"", "", "e", "r", "b"};
  return fmt::format("{}{}", step.plan.sessions,
                     kMarks[static_cast<std::size_t>(step.origin.kind)]);
}

std::string LadderTable(const ReportModel& model, const std::string& ladder) {
  std::vector<std::vector<std::string>> rows = {
      {"", "", "requests", "TTFT", "TTFT", "", "tok/s", "tok/s"},
      {"sessions", "verdict", "in flight", "P50 s", "P90 s", "n", "P50", "P90", "n", "errors%",
       "sent%", "offered%"}};
  for (const ReportedStep& step : model.steps) {
    const StepSummary& s = step.summary;
    if (s.origin.ladder != ladder) continue;
    rows.push_back(
        {SessionsWord(s), VerdictWord(s),
         IfTold(s, fmt::format("{:.1f}", s.requests_in_flight_mean)), Shown(s.ttft.p50_s),
         Shown(s.ttft.p90_s), fmt::format("{}", s.ttft.n), Shown(s.rate.reached_by_50_tok_s),
         Shown(s.rate.reached_by_90_tok_s), fmt::format("{}", s.rate.n),
         s.errors.error_share ? fmt::format("{:.2f}", *s.errors.error_share * 100) : kAbsent,
         IfTold(s, Percent(s.verdict.sent_share)), IfTold(s, Percent(s.verdict.offered_share))});
  }
  return Table(rows, 2);
}

std::string StepTable(const ReportModel& model) {
  std::string text = LadderTable(model, kMixLadder);
  for (const LadderResult& ladder : model.tier_ladders) {
    text += fmt::format("\n{} sessions alone\n{}", ladder.tier, LadderTable(model, ladder.tier));
  }
  return text;
}

// What the bar's rarer limits mean, by their terms.
std::vector<std::pair<std::string, std::string>> BarTerms(const Bar& bar) {
  const auto any = [&bar](auto holds) {
    return std::any_of(bar.limits.begin(), bar.limits.end(), holds);
  };
  std::vector<std::pair<std::string, std::string>> terms;
  if (any([](const Limit& l) { return l.metric == Metric::kEndToEndInteractivity; })) {
    terms.emplace_back("end to end",
                       "interactivity from the instant a call was due to its last token; P90: nine "
                       "in ten calls reach or beat it");
  }
  if (any([](const Limit& l) { return l.metric == Metric::kGoodput; })) {
    terms.emplace_back(
        "goodput",
        "time to a whole usable answer, from the instant a call was due; P90: nine in "
        "ten calls had theirs by then, a failed call never");
  }
  if (any([](const Limit& l) { return l.origin.has_value(); })) {
    terms.emplace_back("baseline",
                       "stored runs of today's recipe; what they differ by is the limit's own "
                       "interval, and a part passes or fails only on all of it");
  }
  return terms;
}

// Every abbreviation of the table and of the details, and the marks that are in it.
std::string Legend(const ReportModel& model) {
  const auto any = [&](auto holds) {
    return std::any_of(model.steps.begin(), model.steps.end(),
                       [&](const ReportedStep& step) { return holds(step.summary); });
  };
  std::string text;
  const auto add = [&text](const std::string& term, const std::string& meaning) {
    text += Wrap(fmt::format("  {:<9} ", term), meaning, kReportColumns);
  };
  add("sessions", "concurrent agent sessions held; requests in flight: what they kept open, mean");
  add("TTFT",
      "time to first token, from the instant a call was due; P90: nine in ten calls are at "
      "or under it");
  add("tok/s",
      "interactivity, tokens per second once they flow; P90: nine in ten calls reach or "
      "beat it");
  add("n",
      "calls behind the number, failed ones included (infinitely slow); answers in one chunk "
      "have no tok/s");
  for (const auto& [term, meaning] : BarTerms(model.bar)) add(term, meaning);
  add("errors%", "attempts that failed and calls never sent");
  add("sent%",
      "session time with a call open or in a recorded pause; under 95% latencies are not "
      "judged");
  add("offered%",
      "session time that was not lost by this load generator; under 95% the step is "
      "void");
  add("capacity",
      "sessions that hold, interpolated between steps and rounded down, [low–high] its 95% "
      "interval; open: beyond the steps that were run");
  add("95%",
      "interval, beside a percentile as [low–high]: the values that a repetition would plausibly "
      "give; the verdict is on all of it; open: nothing measured bounds it there");
  add("agent",
      "skew: its start against the common one; late P99: releases behind their plan; loop lag: its "
      "longest stall; cpu%: its busiest second, of one core");
  if (any([](const StepSummary& s) { return s.evals.has_value(); })) {
    add("evals",
        "questions with known answers, asked beside the load and in none of its numbers; they "
        "decide a step only by failing confidently");
  }
  if (any([](const StepSummary& s) { return !HostTable(s).empty(); })) {
    add("machine",
        "cores used of those it may use and its busiest thread beside the loop's, worst second; "
        "throttled by a quota, stolen by other guests: of the measured time; descriptors and TCP "
        "sockets against their limits");
  }
  add("books", "counts of agents, records and store that must agree, or the step is void");
  if (any([](const StepSummary& s) { return s.verdict.verdict == Verdict::kTooClose; })) {
    add("too close", "the interval crosses the limit; + leans to pass, - to fail");
  }
  if (any([](const StepSummary& s) { return s.verdict.is_void && !s.broken_off_after; })) {
    add("no data*", "void: the step says nothing, whatever it shows");
  }
  if (any([](const StepSummary& s) { return s.broken_off_after.has_value(); })) {
    add("stopped", "interrupted: its numbers so far, without a verdict");
  }
  const auto came = [&](StepKind kind) {
    return any([kind](const StepSummary& s) { return s.origin.kind == kind; });
  };
  if (came(StepKind::kExtension)) {
    add("15e", "extension: more time for the step before it, judged on both together");
  }
  if (came(StepKind::kRepeat)) add("15r", "repeat of a step that had no data");
  if (came(StepKind::kRefinement)) {
    add("15b", "between the last step that held and the first that did not");
  }
  if (any([](const StepSummary& s) { return s.origin.failed_early_after.has_value(); })) {
    add("fail 3/5", "failed early: clear after 3 of 5 blocks, and ended there");
  }
  return "legend\n" + text;
}

// The sentence that goes with "P90 interactivity", and what was left out of it.
std::string InteractivitySentence(const ReportedStep& step) {
  const RateSummary& rate = step.summary.rate;
  const std::string one_chunk =
      rate.one_chunk > 0 ? fmt::format("; {} answered in one chunk have none", rate.one_chunk) : "";
  if (!rate.reached_by_90_tok_s) {
    if (rate.n == 0) return "no call had one" + one_chunk;
    // Withheld: so few cannot carry it.
    return fmt::format("{} call{} had one or failed, at least {} are needed for P90{}", rate.n,
                       rate.n == 1 ? "" : "s", FewestForQuantile(0.9), one_chunk);
  }
  std::string text = fmt::format("90% of {} calls reach or beat {} tok/s per user", rate.n,
                                 ThreeDigits(*rate.reached_by_90_tok_s));
  text += fmt::format(" (end to end {}", Shown(rate.end_to_end_reached_by_90_tok_s));
  if (rate.reached_by_90_ok_tok_s && rate.reached_by_90_ok_tok_s != rate.reached_by_90_tok_s) {
    text += fmt::format("; without failed calls {}", ThreeDigits(*rate.reached_by_90_ok_tok_s));
  }
  text += ")";
  if (rate.reached_by_95_tok_s)
    text += fmt::format(", 95% {}", ThreeDigits(*rate.reached_by_95_tok_s));
  if (rate.reached_by_99_tok_s)
    text += fmt::format(", 99% {}", ThreeDigits(*rate.reached_by_99_tok_s));
  return text + one_chunk;
}

std::string Seconds(const ShownPercentile& percentile) {
  return percentile.infinite ? "infinite" : Shown(percentile) + " s";
}

std::string TtftSentence(const TtftSummary& ttft) {
  std::string text = fmt::format("P50 {}, P90 {}", Seconds(ttft.p50_s), Seconds(ttft.p90_s));
  if (ttft.p95_s.value || ttft.p95_s.infinite) text += ", P95 " + Seconds(ttft.p95_s);
  if (ttft.p99_s.value || ttft.p99_s.infinite) text += ", P99 " + Seconds(ttft.p99_s);
  text += "; P90 from sent " + Seconds(ttft.p90_sent_s);
  if (!(ttft.p90_ok_s == ttft.p90_s)) {
    text += "; P90 without failed calls " + Seconds(ttft.p90_ok_s);
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

// 3425510 as "3,425,510".
std::string Grouped(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string TokenSentence(const StepSummary& s) {
  const FidelitySummary& f = s.fidelity;
  std::string text = s.tokens_in ? Grouped(*s.tokens_in) + " in" : "those in not reported";
  text += s.tokens_cached ? fmt::format(", {} of them cached", Grouped(*s.tokens_cached))
                          : std::string(", cached ones not reported");
  text += s.tokens_out ? fmt::format("; {} out", Grouped(*s.tokens_out))
                       : std::string("; those out not reported");
  if (f.cached_n > 0 && f.cached_n < f.prompt_n) {
    text += fmt::format("; {} calls without cached tokens reported", f.prompt_n - f.cached_n);
  }
  if (s.usage_missing > 0) text += fmt::format("; {} ok calls without usage", s.usage_missing);
  return text;
}

std::string IdentitySentence(const std::vector<Identity>& identities) {
  if (identities.empty()) return "none was checked";
  std::string broken;
  for (const Identity& identity : identities) {
    if (identity.holds()) continue;
    if (!broken.empty()) broken += "; ";
    broken += fmt::format("{} ({} against {})", identity.name, identity.left, identity.right);
  }
  if (broken.empty()) return fmt::format("identities hold, all {}", identities.size());
  return "identities DO NOT hold: " + broken;
}

// A line of a step's details, its label in a column of its own.
std::string Detail(const std::string& label, const std::string& text) {
  return Wrap(fmt::format("  {:<14} ", label), Printable(text), kReportColumns);
}

std::string StepDetails(const ReportedStep& step) {
  const StepSummary& s = step.summary;
  std::string text = fmt::format(
      "\n{}{} sessions{}: {}\n", s.plan.sessions,
      s.origin.ladder == kMixLadder ? "" : " " + s.origin.ladder,
      s.origin.kind == StepKind::kPlanned ? "" : fmt::format(" ({})", Name(s.origin.kind)),
      Upper(Name(s.verdict.verdict)));
  if (s.verdict.is_void) {
    for (const std::string& reason : s.verdict.reasons) {
      text += Detail(s.broken_off_after ? "interrupted" : "void", reason);
    }
  } else {
    for (std::size_t i = 0; i < s.verdict.parts.size(); ++i) {
      const PartVerdict& part = s.verdict.parts[i];
      text += Detail(LabelOf(s.verdict, i), fmt::format("{}: {}", Name(part.verdict), part.reason));
      const std::string server = s.server ? ServerPartText(*s.server, i) : "";
      if (!server.empty()) text += Detail("  server", server);
    }
  }
  if (s.evals) text += Detail("evals", EvalSentence(*s.evals, s.errors.attempts));
  text += Detail("TTFT", TtftSentence(s.ttft));
  text += Detail("interactivity", InteractivitySentence(step));
  text += Detail("attempts", OutcomeSentence(s.errors));
  text += Detail("tokens", TokenSentence(s));
  for (const auto& [label, line] : FidelityLines(s.fidelity)) text += Detail(label, line);
  if (HasTallies(s)) {
    for (const std::string& line : ReplaySentences(s.replay)) text += Detail("replay", line);
  }
  if (s.server) {
    for (const auto& [label, line] : ServerLines(*s.server)) text += Detail(label, line);
  }
  if (!s.broken_off_after) text += Detail("books", IdentitySentence(s.identities));
  for (const Suspicion& suspicion : s.suspicions) text += Detail("suspicion", suspicion.text);
  for (const std::string& note : step.notes) text += Detail("note", note);
  return text + AgentTables(s);
}

// "2 copies, 4 nodes: recipes/7.yaml (sha256 3f2a…)"; empty: none is kept.
std::string RecipeSentence(const ReportModel& model) {
  constexpr std::size_t kDigestShown = 12;
  std::string files;
  for (const ReportedRecipeFile& file : model.recipe_files) {
    files += fmt::format("{}{} (sha256 {}", files.empty() ? "" : ", ", file.path,
                         file.digest.substr(0, kDigestShown));
    if (file.secrets_left_out > 0) {
      files +=
          fmt::format(", {} of its values left out: they look like secrets", file.secrets_left_out);
    }
    files += ")";
  }
  if (model.recipe_note.empty() || files.empty()) return model.recipe_note + files;
  return model.recipe_note + ": " + files;
}

std::string Heading(const ReportModel& model) {
  std::string text = LabelledLine(Upper(Name(model.verdict.verdict)), model.verdict.reason);
  text += LabelledLine("capacity", model.capacity.sentence);
  text += LabelledLine("cost", CostSentence(model.cost, model.capacity));
  for (const LadderResult& ladder : model.tier_ladders) {
    text += LabelledLine(ladder.tier, "alone: " + ladder.bracket.sentence);
  }
  if (model.capacity.band) text += LabelledLine("by part", PartsSentence(model.capacity));
  text += LabelledLine("run",
                       fmt::format("{} ({}){}{}", model.run_name, model.run_id,
                                   model.started_at.empty() ? "" : ", started ", model.started_at));
  text += LabelledLine("against", fmt::format("{} at {}", model.model, model.target_url));
  if (!model.corpus.empty()) text += LabelledLine("corpus", model.corpus);
  text += LabelledLine("bar", BarSentence(model.bar));
  if (model.target) text += LabelledLine("target", fmt::format("{} sessions", *model.target));
  if (!model.steps.empty()) {  // The same for every step: the plan's.
    const std::string context = ContextSentence(model.steps.front().summary.replay);
    if (!context.empty()) text += LabelledLine("context", context);
  }
  const std::string recipe = RecipeSentence(model);
  if (!recipe.empty()) text += LabelledLine("recipe", recipe);
  if (!model.stopped_because.empty()) text += LabelledLine("sweep", model.stopped_because);
  if (model.drain) text += LabelledLine("drain", Words(*model.drain));
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
      text += Detail(Name(finding.level), finding.text);
    }
  }
  const std::vector<std::string> not_got = NotGotLines(model);
  if (!not_got.empty()) text += "\nwanted and not got\n";
  for (const std::string& line : not_got) text += Wrap("  ", Printable(line), kReportColumns);
  if (!model.steps.empty()) text += '\n' + Legend(model);
  if (!model.notes.empty() || !model.files_written.empty()) text += '\n';
  for (const std::string& note : model.notes) text += LabelledLine("note", note);
  for (const std::string& file : model.files_written) text += LabelledLine("written", file);
  return text;
}

}  // namespace plimsoll
