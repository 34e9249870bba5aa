#include "coordinator/store/preflight_codec.h"

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {

namespace {

void WriteDoubts(const UsageDoubts& doubts, v1::StoredUsageDoubts* out) {
  out->set_no_output(doubts.no_output);
  out->set_first_chunk_over(doubts.first_chunk_over);
  out->set_output_over_cap(doubts.output_over_cap);
  out->set_cached_over_prompt(doubts.cached_over_prompt);
  out->set_rate_unbelievable(doubts.rate_unbelievable);
  out->set_answers(doubts.answers);
  out->set_answers_unlike(doubts.answers_unlike);
  out->set_chunks(doubts.chunks);
  out->set_tokens(doubts.tokens);
}

UsageDoubts ReadDoubts(const v1::StoredUsageDoubts& in) {
  return {.no_output = in.no_output(),
          .first_chunk_over = in.first_chunk_over(),
          .output_over_cap = in.output_over_cap(),
          .cached_over_prompt = in.cached_over_prompt(),
          .rate_unbelievable = in.rate_unbelievable(),
          .answers = in.answers(),
          .answers_unlike = in.answers_unlike(),
          .chunks = in.chunks(),
          .tokens = in.tokens()};
}

}  // namespace

void WriteFidelity(const FidelitySummary& summary, v1::StoredFidelity* out) {
  out->set_output_n(summary.output_n);
  if (summary.output_ratio) out->set_output_ratio(*summary.output_ratio);
  if (summary.output_ratio_p50) out->set_output_ratio_p50(*summary.output_ratio_p50);
  out->set_prompt_n(summary.prompt_n);
  out->set_cached_n(summary.cached_n);
  out->set_tokens_out_n(summary.tokens_out_n);
  if (summary.drift_p50) out->set_drift_p50(*summary.drift_p50);
  if (summary.drift_max) out->set_drift_max(*summary.drift_max);
  if (summary.drift_total) out->set_drift_total(*summary.drift_total);
  out->set_drift_over(summary.drift_over);
  out->set_tool_present(summary.tool_present);
  out->set_tool_valid(summary.tool_valid);
  out->set_tool_invalid(summary.tool_invalid);
  out->set_reasoning_only(summary.reasoning_only);
  out->set_hidden_reasoning(summary.hidden_reasoning);
  WriteDoubts(summary.doubts, out->mutable_doubts());
}

FidelitySummary ReadFidelity(const v1::StoredFidelity& in) {
  FidelitySummary summary;
  summary.output_n = in.output_n();
  if (in.has_output_ratio()) summary.output_ratio = in.output_ratio();
  if (in.has_output_ratio_p50()) summary.output_ratio_p50 = in.output_ratio_p50();
  summary.prompt_n = in.prompt_n();
  summary.cached_n = in.cached_n();
  summary.tokens_out_n = in.tokens_out_n();
  if (in.has_drift_p50()) summary.drift_p50 = in.drift_p50();
  if (in.has_drift_max()) summary.drift_max = in.drift_max();
  if (in.has_drift_total()) summary.drift_total = in.drift_total();
  summary.drift_over = in.drift_over();
  summary.tool_present = in.tool_present();
  summary.tool_valid = in.tool_valid();
  summary.tool_invalid = in.tool_invalid();
  summary.reasoning_only = in.reasoning_only();
  summary.hidden_reasoning = in.hidden_reasoning();
  summary.doubts = ReadDoubts(in.doubts());
  return summary;
}

void WritePreflight(const PreflightSummary& summary, v1::StoredPreflight* out) {
  for (const Finding& finding : summary.findings) {
    v1::StoredFinding* stored = out->add_findings();
    stored->set_level(static_cast<v1::StoredFindingLevel>(finding.level));
    stored->set_text(finding.text);
  }
  if (summary.fit) {
    out->mutable_fit()->set_per_request(summary.fit->per_request);
    out->mutable_fit()->set_per_message(summary.fit->per_message);
    out->mutable_fit()->set_per_word(summary.fit->per_word);
  }
  out->set_min_tokens(summary.min_tokens);
  out->set_ignore_eos(summary.ignore_eos);
}

StatusOr<PreflightSummary> ReadPreflight(const v1::StoredPreflight& in) {
  PreflightSummary summary;
  for (const v1::StoredFinding& stored : in.findings()) {
    const int level = stored.level();
    if (level < v1::STORED_FINDING_LEVEL_OK || level > v1::STORED_FINDING_LEVEL_BLOCKING) {
      return absl::DataLossError("a stored finding is damaged");
    }
    summary.findings.push_back({static_cast<FindingLevel>(level), stored.text()});
  }
  if (in.has_fit()) {
    summary.fit = TemplateFit{.per_request = in.fit().per_request(),
                              .per_message = in.fit().per_message(),
                              .per_word = in.fit().per_word()};
  }
  summary.min_tokens = in.min_tokens();
  summary.ignore_eos = in.ignore_eos();
  return summary;
}

}  // namespace plimsoll
