// Parts, and the servers' side of steps and runs → plimsoll.v1. Part of api_messages.
#pragma once

#include "coordinator/judge/server_summary.h"

namespace plimsoll {
namespace v1 {
class Drain;
class Part;
class Server;
}  // namespace v1

// Pure; a number that is none is left out, or 0 where the message has to have one.
void FillPart(const PartVerdict& part, v1::Part* out);
void FillServer(const ServerSummary& server, v1::Server* out);
void FillDrain(const DrainSummary& drain, v1::Drain* out);

}  // namespace plimsoll
