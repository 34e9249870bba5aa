#include "coordinator/judge/evidence.h"

namespace plimsoll {

void FidelityEvidence::Merge(const FidelityEvidence& other) {
  output_n += other.output_n;
  tokens_asked += other.tokens_asked;
  tokens_came += other.tokens_came;
  output_ratio_ppm.Merge(other.output_ratio_ppm);
  prompt_n += other.prompt_n;
  cached_n += other.cached_n;
  tokens_out_n += other.tokens_out_n;
  tokens_expected += other.tokens_expected;
  tokens_reported += other.tokens_reported;
  drift_ppm.Merge(other.drift_ppm);
  drift_over += other.drift_over;
  tool_present += other.tool_present;
  tool_valid += other.tool_valid;
  tool_invalid += other.tool_invalid;
  tool_faults.Add(other.tool_faults);
  reasoning_only += other.reasoning_only;
  hidden_reasoning += other.hidden_reasoning;
  doubts.Merge(other.doubts);
}

void CallEvidence::Merge(const CallEvidence& other) {
  for (std::size_t o = 0; o < kOutcomes; ++o) outcomes[o] += other.outcomes[o];
  usage_missing += other.usage_missing;
  usage_contradicted += other.usage_contradicted;
  ttft_ns.Merge(other.ttft_ns);
  rate_mtok_s.Merge(other.rate_mtok_s);
  end_to_end_rate_mtok_s.Merge(other.end_to_end_rate_mtok_s);
  answer_ns.Merge(other.answer_ns);
  ttft_infinite += other.ttft_infinite;
  rate_zero += other.rate_zero;
  end_to_end_zero += other.end_to_end_zero;
  answer_infinite += other.answer_infinite;
}

}  // namespace plimsoll
