// Any bytes as a recorded trace: a Status, or a session that keeps every rule, survives the codec
// and has prompts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/corpus/prompt.h"
#include "common/corpus/stats.h"
#include "common/corpus/trace_v8.h"
#include "common/wire/corpus_codec.h"

using plimsoll::Corpus;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plimsoll::StatusOr<plimsoll::ParsedTrace> parsed = plimsoll::ParseTraceV8(bytes);
  if (!parsed.ok()) {
    PLIMSOLL_CHECK(!plimsoll::MessageOf(parsed.status()).empty());
    return 0;
  }
  Corpus corpus;
  corpus.models = parsed->models;
  corpus.sessions.push_back(parsed->session);
  const plimsoll::StatusOr<Corpus> decoded = plimsoll::DecodeCorpus(plimsoll::EncodeCorpus(corpus));
  PLIMSOLL_CHECK(decoded.ok());
  const plimsoll::Session& session = decoded->sessions[0];
  PLIMSOLL_CHECK(plimsoll::ComputeStats(session).requests == session.calls.size());
  const plimsoll::PromptIndex index(session);
  plimsoll::Prompt prompt;
  for (std::size_t call = 0; call < session.calls.size(); ++call) {
    index.Build(call, {}, &prompt);
    PLIMSOLL_CHECK(prompt.messages.back().end_token == session.calls[call].tokens_in);
  }
  return 0;
}
