#include "common/plan/corpus_index.h"

#include <utility>

namespace plimsoll {

CorpusIndex::CorpusIndex(std::shared_ptr<const Corpus> corpus, const RunPlan& plan)
    : corpus_(std::move(corpus)), rotation_(*corpus_, plan.tiers, plan.seed) {
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  graphs_.reserve(corpus_->sessions.size());
  prompts_.reserve(corpus_->sessions.size());
  for (const Session& session : corpus_->sessions) {
    graphs_.emplace_back(session, rule);
    prompts_.emplace_back(session);
  }
}

}  // namespace plimsoll
