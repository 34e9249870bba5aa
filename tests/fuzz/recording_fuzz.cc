// Any bytes as a recording of any form: a Status of one line, or sessions that keep every rule,
// survive the codec and have prompts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/corpus/prompt.h"
#include "common/corpus/recording.h"
#include "common/corpus/stats.h"
#include "common/wire/corpus_codec.h"

using plimsoll::Corpus;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  plimsoll::StatusOr<plimsoll::Recording> read = plimsoll::ReadRecording("f", bytes);
  if (!read.ok()) {
    PLIMSOLL_CHECK(plimsoll::MessageOf(read.status()).substr(0, 2) == "f:");
    return 0;
  }
  for (plimsoll::ParsedTrace& parsed : read->sessions) {
    PLIMSOLL_CHECK(parsed.keys.empty() || parsed.keys.size() == parsed.session.calls.size());
    Corpus corpus;
    corpus.models = std::move(parsed.models);
    corpus.sessions.push_back(std::move(parsed.session));
    const plimsoll::StatusOr<Corpus> decoded =
        plimsoll::DecodeCorpus(plimsoll::EncodeCorpus(corpus));
    PLIMSOLL_CHECK(decoded.ok());
    const plimsoll::Session& session = decoded->sessions[0];
    PLIMSOLL_CHECK(plimsoll::ComputeStats(session).requests == session.calls.size());
    const plimsoll::PromptIndex index(session);
    plimsoll::Prompt prompt;
    const std::size_t step = std::max<std::size_t>(1, session.calls.size() / 200);
    for (std::size_t call = 0; call < session.calls.size(); call += step) {
      index.Build(call, {}, &prompt);
      PLIMSOLL_CHECK(prompt.messages.back().end_token == session.calls[call].tokens_in);
    }
  }
  return 0;
}
