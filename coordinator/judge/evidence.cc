#include "coordinator/judge/evidence.h"

namespace plimsoll {

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
