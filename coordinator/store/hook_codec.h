// HookOutcome ↔ plimsoll.v1.StoredHook.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/hooks/hook_outcome.h"

namespace plimsoll {

// Of an output that is longer than kHookTailBytesMax the end.
std::string EncodeHook(const HookOutcome& outcome);
// DataLoss: not a message, an unknown kind, an attempt of 0, a negative duration, an output that is
// too long.
StatusOr<HookOutcome> DecodeHook(std::string_view bytes);

}  // namespace plimsoll
