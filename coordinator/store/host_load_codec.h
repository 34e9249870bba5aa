// HostLoad ↔ plimsoll.v1.StoredHostLoad. Part of run_codec.
#pragma once

#include "common/record/host_load.h"

namespace plimsoll {
namespace v1 {
class StoredHostLoad;
}

void WriteHostLoad(const HostLoad& load, v1::StoredHostLoad& out);
// What is not a number, or cannot be one of these, is absent.
HostLoad ReadHostLoad(const v1::StoredHostLoad& in);

}  // namespace plimsoll
