// HostLoad <-> plimsoll.v1.HostLoad (proto/plimsoll/v1/records.proto). Part of tally_codec.
#pragma once

#include "common/record/host_load.h"
#include "common/wire/checks.h"

namespace plimsoll {
namespace v1 {
class HostLoad;
}

// Overwrites what `out` held.
void ToProto(const HostLoad& load, v1::HostLoad* out);
// What is wrong is refused by `checks` as "host.…".
HostLoad ReadHostLoad(const v1::HostLoad& in, wire::Checks* checks);

}  // namespace plimsoll
