// Reads the section `signals` of a scenario. Pure over text: mapping files are not opened.
//
// Keys; * is required, and one of gateway, engines, production and prometheus:
//   gateway, engines, production   PAGE, or [PAGE…]
//   prometheus   URL, or {url*: URL, every: duration, bearer_env: VARIABLE, ca_file: PATH,
//                         gateway, engines, production: QUERIED, or [QUERIED…]}
//   every        duration: how often each page is asked for
//   timeout      duration: for a whole page
//   judge        client|server|both
//   kv_full      {fill: share, for: duration}
//   drain        {within: duration, tolerance: share}
// PAGE is    {url*: URL, kind: KIND or mapping: PATH*, name: text, model: text,
//             where: {LABEL: TEXT or {in|not|prefix: TEXT or [TEXT…]}},
//             bearer_env: VARIABLE, ca_file: PATH}
// QUERIED is {kind: KIND or mapping: PATH*, model: text, where: {…}, split: [LABEL…]}
// KIND is one that is built in (deploy/signals). `prometheus: URL` alone asks for every kind that
// is built in, and misses none.
#pragma once

#include <optional>
#include <string_view>

#include "common/config/field_reader.h"
#include "coordinator/scenario/signals_spec.h"

namespace plimsoll {

// `folder` is the scenario's. Nothing where the section is absent; what is wrong in it becomes a
// problem with line and path.
void ReadSignals(FieldReader& top, std::string_view folder, Problems& problems,
                 std::optional<SignalsSpec>& signals);

// The pages of production that another section names under `gateway` and `engines`: added to
// `spec`, with the source "production" whichever they are.
void ReadProductionPages(FieldReader& section, std::string_view folder, Problems& problems,
                         SignalsSpec& spec);

}  // namespace plimsoll
