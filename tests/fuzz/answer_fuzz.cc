// Fuzz target: the body of an answer, whatever it is called. The first byte says how (an event
// stream, JSON, an error) and how the rest is cut into reads; every cut must lead to what the whole
// leads to, in counts, flags, end and words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/chat/answer_reader.h"

namespace {

using plimsoll::AnswerReader;
using plimsoll::BodyKind;
using plimsoll::CallResult;
using plimsoll::MonoTime;

// Stamps count the reads. False: the reader broke one of its promises.
bool Read(AnswerReader* reader, BodyKind kind, std::string_view text, std::size_t step,
          CallResult* result) {
  reader->Begin(kind);
  MonoTime now{};
  bool failed = false;
  for (std::size_t at = 0; at < text.size(); at += step) {
    reader->Read(text.substr(at, step), now += plimsoll::Duration{1});
    if (failed && !reader->failed()) return false;
    failed = reader->failed();
  }
  reader->Finish();
  reader->Fill(result);
  const bool token = result->chunks > 0;
  return token == reader->has_token() && token == (result->first_token != CallResult::kNever) &&
         (!token || (result->first_chunk <= result->first_token &&
                     result->first_token <= result->last_token && result->last_token <= now));
}

bool Same(const AnswerReader& a, const AnswerReader& b, const CallResult& x, const CallResult& y) {
  return a.failed() == b.failed() && a.done() == b.done() && a.valid() == b.valid() &&
         a.terminated() == b.terminated() && a.finished() == b.finished() &&
         a.Reason() == b.Reason() &&
         // After a failure nothing more is read, so how much of the beginning was seen may differ.
         (a.failed() || a.FirstBytes() == b.FirstBytes()) &&
         a.IsContextOverflow() == b.IsContextOverflow() && x.chunks == y.chunks &&
         x.tokens_in == y.tokens_in && x.tokens_out == y.tokens_out &&
         x.tokens_cached == y.tokens_cached && x.tokens_first_chunk == y.tokens_first_chunk &&
         x.flags == y.flags;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr BodyKind kKinds[] = {BodyKind::kEvents, BodyKind::kJson, BodyKind::kError,
                                 BodyKind::kNone};
  const BodyKind kind = kKinds[data[0] % 4];
  const std::size_t step = 1 + data[0] / 4 % 23;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static AnswerReader used;  // Has read all inputs before.
  AnswerReader fresh;
  CallResult whole;
  CallResult cut;
  if (!Read(&fresh, kind, text, text.size() + 1, &whole)) std::abort();
  if (!Read(&used, kind, text, step, &cut)) std::abort();
  if (!Same(fresh, used, whole, cut)) std::abort();
  return 0;
}
