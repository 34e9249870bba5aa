// Corpus <-> bytes of a corpus file (proto/plimsoll/v1/corpus.proto). The only reader and writer of
// that form; no generated type appears outside it.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/corpus/session.h"

namespace plimsoll {

// The same corpus gives the same bytes. `corpus` passes ValidateCorpus().
std::string EncodeCorpus(const Corpus& corpus);

// The corpus, which passes ValidateCorpus(), so that nothing that uses it needs to check an index
// again. InvalidArgument if the bytes are no corpus, or hold one with a value out of range;
// FailedPrecondition if it is of another format version.
StatusOr<Corpus> DecodeCorpus(std::string_view bytes);

// SHA-256 in lower-case hex: the digest by which a corpus is known, and the provenance of a trace.
std::string Sha256Hex(std::string_view bytes);

}  // namespace plimsoll
