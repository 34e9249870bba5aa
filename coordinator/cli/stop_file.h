// How `plimsoll stop` reaches the coordinator that runs on a store, with or without a results API:
// a small file in the store's folder, written whole, which the coordinator takes away as it obeys.
#pragma once

#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/plan/messages.h"

namespace plimsoll {

// STORE/stop/RUN.
std::string StopFilePath(const std::string& store, const std::string& run_id);

// Replaces a request that nobody has taken yet. InvalidArgument, Internal: as they say.
Status AskToStop(const std::string& store, const std::string& run_id, StopKind kind);

// Takes the request away, if there is one. What is none of our words means drain.
std::optional<StopKind> TakeStopRequest(const std::string& store, const std::string& run_id);

// Whether a request waits to be taken.
bool StopRequestWaits(const std::string& store, const std::string& run_id);
void WithdrawStopRequest(const std::string& store, const std::string& run_id);

}  // namespace plimsoll
