// YAML text to Mapping. Pure over text. All problems are found at once, each with file, line, path
// and what would be right; what nobody knows is refused.
//
// Keys; * is required:
//   kind*        text
//   detect       [NAME…]
//   model_label  LABEL
//   same         [LABEL…]
//   start_time   NAME
//   digits       count
//   signals*     {SIGNAL: {histogram|gauge|counter: [ALTERNATIVE…]  one of the three, or
//                          ratio: {of: [ALTERNATIVE…], to: [ALTERNATIVE…]}, or
//                          lifetime_mean: {mean: [ALTERNATIVE…], weight: [ALTERNATIVE…]},
//                 unit: s|ms|us|share|percent, combine: sum|max|mean|merge,
//                 moves: arrival|headers|first_token|live|finish, lazy: true|false,
//                 trust: high|low, note: text}}
//   absent       {SIGNAL: text}
// ALTERNATIVE is NAME, or {name*: NAME, plus: [NAME…],
//                          where: {LABEL: TEXT or {in|not|prefix: TEXT or [TEXT…]}}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/config/field_reader.h"
#include "common/config/problems.h"
#include "coordinator/signals/mapping.h"

namespace plimsoll {

// If there is any problem, the result is not to be used.
Mapping ReadMapping(std::string_view text, Problems& problems);

// The same with the problems as a status: InvalidArgument, one "file:line: path: …" a line.
StatusOr<Mapping> ParseMapping(std::string_view text, const std::string& file);

// The tests under `key` of `fields` ({LABEL: …}); empty if the key is not there. Also for selectors
// that a scenario adds to a source.
std::vector<LabelTest> ReadLabelTests(FieldReader& fields, std::string_view key,
                                      Problems& problems);

}  // namespace plimsoll
