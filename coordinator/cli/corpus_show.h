// A corpus as text: one line a session, for people (with totals per tier), as TSV or as JSON. The
// columns of TSV and JSON are those of the trace set's manifest.tsv.
#pragma once

#include <string>

#include "common/corpus/session.h"

namespace plimsoll {

std::string CorpusTable(const Corpus& corpus);
std::string CorpusTsv(const Corpus& corpus);
std::string CorpusJson(const Corpus& corpus, const std::string& digest);

}  // namespace plimsoll
