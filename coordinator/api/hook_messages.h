// A run's hooks → plimsoll.v1. Part of api_messages.
#pragma once

#include "coordinator/hooks/hook_outcome.h"

namespace plimsoll {
namespace v1 {
class Hook;
}  // namespace v1

// Texts are mended to UTF-8.
void FillHook(const HookOutcome& hook, v1::Hook* out);

}  // namespace plimsoll
