// Reads the section `notify` of a scenario: one webhook, or a list of them.
//
// Keys; * is required:
//   url*   {env: VARIABLE} or {file: PATH}: where the URL stands, never the URL itself
//   form   slack|json
//   on     [started|phase_ended|verdict|rollback_failed|window_missed …]
#pragma once

#include <string_view>
#include <vector>

#include "common/config/field_reader.h"
#include "common/config/problems.h"
#include "coordinator/scenario/notify_spec.h"

namespace plimsoll {

// Empty: the section is absent. A file's path is relative to `folder`, the scenario's. Pure.
void ReadNotify(FieldReader& top, std::string_view folder, Problems& problems,
                std::vector<NotifySpec>& notify);

}  // namespace plimsoll
