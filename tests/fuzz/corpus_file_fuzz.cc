// Any bytes as a corpus file: a Status, or a corpus that is written and read back the same, and
// whose prompts can be built.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/corpus/copies.h"
#include "common/corpus/prompt.h"
#include "common/corpus/stats.h"
#include "common/wire/corpus_codec.h"

using plimsoll::Corpus;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const plimsoll::StatusOr<Corpus> corpus = plimsoll::DecodeCorpus(bytes);
  if (!corpus.ok()) {
    PLIMSOLL_CHECK(!plimsoll::MessageOf(corpus.status()).empty());
    return 0;
  }
  const std::string written = plimsoll::EncodeCorpus(*corpus);
  const plimsoll::StatusOr<Corpus> again = plimsoll::DecodeCorpus(written);
  PLIMSOLL_CHECK(again.ok());
  PLIMSOLL_CHECK(plimsoll::EncodeCorpus(*again) == written);
  PLIMSOLL_CHECK(plimsoll::FindCopies(*corpus).size() <= corpus->sessions.size());
  plimsoll::Prompt prompt;
  for (const plimsoll::Session& session : corpus->sessions) {
    plimsoll::ComputeStats(session);
    const plimsoll::PromptIndex index(session);
    // Chains are quadratic in total; a long session is sampled.
    const std::size_t step = std::max<std::size_t>(1, session.calls.size() / 200);
    for (std::size_t call = 0; call < session.calls.size(); call += step) {
      index.Build(call, {}, &prompt);
      PLIMSOLL_CHECK(prompt.messages.back().end_token == session.calls[call].tokens_in);
    }
  }
  return 0;
}
