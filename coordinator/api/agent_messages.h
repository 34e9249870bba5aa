// AgentEvidence → plimsoll.v1.StepAgent. Part of api_messages.
#pragma once

#include "coordinator/judge/evidence.h"

namespace plimsoll {
namespace v1 {
class StepAgent;
}

// `told`: whether it has told of the step; else all but slot, name, lanes and lost is absent. Pure.
void FillAgent(const AgentEvidence& agent, bool told, v1::StepAgent* out);

}  // namespace plimsoll
