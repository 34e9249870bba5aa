// A corpus ready to be played: graph and prompts of every session, looked up by index. Immutable
// and shared by all lanes of a process.
#pragma once

#include <memory>
#include <vector>

#include "common/corpus/prompt.h"
#include "common/plan/context_limit.h"
#include "common/plan/lanes.h"
#include "common/plan/session_graph.h"

namespace plimsoll {

class CorpusIndex {
 public:
  // `corpus` is kept alive by the index.
  CorpusIndex(std::shared_ptr<const Corpus> corpus, const RunPlan& plan);

  const Corpus& corpus() const { return *corpus_; }
  const SessionRotation& rotation() const { return rotation_; }
  const Session& session(std::uint32_t i) const { return corpus_->sessions[i]; }
  const SessionGraph& graph(std::uint32_t i) const { return graphs_[i]; }
  const PromptIndex& prompts(std::uint32_t i) const { return prompts_[i]; }

 private:
  std::shared_ptr<const Corpus> corpus_;  // Shared with whoever decoded it.
  ContextFilter filter_;
  SessionRotation rotation_;
  std::vector<SessionGraph> graphs_;
  std::vector<PromptIndex> prompts_;
};

}  // namespace plimsoll
