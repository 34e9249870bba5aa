#include "common/plan/corpus_index.h"

#include <utility>

namespace plimsoll {

CorpusIndex::CorpusIndex(std::shared_ptr<const Corpus> corpus, const RunPlan& plan)
    : corpus_(std::move(corpus)),
      filter_(plan, *corpus_),
      rotation_(*corpus_, plan.tiers, plan.seed, &filter_) {
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  graphs_.reserve(corpus_->sessions.size());
  prompts_.reserve(corpus_->sessions.size());
  for (std::uint32_t i = 0; i < corpus_->sessions.size(); ++i) {
    const Session& session = corpus_->sessions[i];
    graphs_.emplace_back(session, rule, filter_.left_out(i));
    prompts_.emplace_back(session);
  }
}

}  // namespace plimsoll
