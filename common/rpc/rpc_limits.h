// Bounds of our use of gRPC, with their reasons.
#pragma once

#include <cstddef>

#include "common/base/time.h"

namespace plimsoll::rpc {

// A tally of 16,384 lanes with a hundred plays each takes about 36 MiB; gRPC's own 4 MiB is below
// it.
inline constexpr std::size_t kMessageBytesMax = std::size_t{64} << 20;
// Messages on their way in one direction of one control stream. A corpus of 256 MiB is 256 chunks;
// a peer that lags by more than these is not alive.
inline constexpr std::size_t kControlQueueMax = 8192;
inline constexpr std::size_t kControlQueueBytesMax = std::size_t{512} << 20;
// Pings of HTTP/2 that find a dead connection on their own, below our liveness.
inline constexpr int kKeepaliveTimeMs = 5000;
inline constexpr int kKeepaliveTimeoutMs = 5000;
// Words sent as the reason for ending a stream travel in trailers, which gRPC bounds at 8 KiB.
inline constexpr std::size_t kReasonBytesMax = 1000;
// From a stream's arrival to its first message.
inline constexpr Duration kFirstMessageWait = 10s;
// Batches read from an agent that is gone, so that what had arrived is not lost.
inline constexpr Duration kDrainWait = 1s;

}  // namespace plimsoll::rpc
