// Composition root of plimsoll-agent: the only place where the agent's concrete types meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace plimsoll {

struct AgentOptions {
  std::string coordinator;         // "host:port".
  std::string name;                // Empty: "host:pid".
  std::vector<std::string> allow;  // Hosts that may be loaded, besides loopback.
  Duration patience = 60s;         // How long to look for the coordinator.
  std::string metrics;             // Where to serve /metrics, "host:port"; empty: nowhere.
};

// Runs one agent to its end. Returns the process's exit code: 0 after an orderly run, 4 if it could
// not take part, 5 if it was stopped by a signal, 64 for an address that may not be listened on.
int RunAgent(const AgentOptions& options);

}  // namespace plimsoll
