// Fuzz target: any text is read as a set of evals. It ends in a set or in problems; what is
// accepted keeps the promises of its values, and its request is JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "common/base/json_text.h"
#include "common/evals/eval_set.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto set = plimsoll::ReadEvalSet("fuzz.jsonl", text);
  if (!set.ok()) {
    if (plimsoll::MessageOf(set.status()).empty()) std::abort();
    return 0;
  }
  std::set<std::string> ids;
  for (const plimsoll::EvalCase& eval : set->cases) {
    plimsoll::JsonObjectChecker body;
    body.Feed(plimsoll::EvalBody(eval, {.model = "m"}));
    const bool kept =
        ids.insert(eval.id).second && eval.max_tokens > 0 && eval.tools != nullptr &&
        plimsoll::Judge(eval, eval.reference).outcome == plimsoll::EvalOutcome::kPass &&
        body.complete();
    if (!kept) std::abort();
  }
  if (set->cases.empty() || set->kinds.empty()) std::abort();
  return 0;
}
