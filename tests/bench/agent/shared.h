// What the benchmark's processes share: one block of memory that all of them map. The source of
// streams runs apart, so that its work is never counted as the agent's or the reader's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plimsoll::bench {

// One answer as the source sent it: CLOCK_MONOTONIC nanoseconds, taken just before each send().
struct AnswerStamp {
  std::uint64_t play_id = 0;  // Of the request's x-play header.
  std::int64_t received_ns = 0;
  std::int64_t first_token_ns = 0;
  std::int64_t last_token_ns = 0;
};

struct SourceOptions {
  std::uint32_t interval_ms = 20;  // Between the tokens of a stream; 0: as fast as it goes.
  std::uint32_t first_ms = 50;     // From a request's last byte to its first token, at least.
  std::uint32_t chunks_min = 200;  // Tokens of an answer, one a chunk: uniform over [min, max].
  std::uint32_t chunks_max = 600;
  std::uint32_t stop_after = 0;  // Tokens after which a stream pauses for ever; 0: none does.
};

struct ReaderOptions {
  std::uint32_t connections = 0;
  std::uint32_t body_bytes = 0;
};

constexpr std::size_t kStampsMax = 1 << 18;

struct Shared {
  SourceOptions source;
  ReaderOptions reader;
  std::atomic<std::uint32_t> port{0};    // The source's; 0 until it listens.
  std::atomic<std::uint64_t> chunks{0};  // Tokens sent so far.
  std::atomic<std::uint64_t> open{0};    // Answers under way.
  std::atomic<std::int64_t> read_at{0};  // The reader's last stamp, which it must not save itself.
  std::atomic<std::uint64_t> stamps_used{0};
  AnswerStamp stamps[kStampsMax];  // Those of ended answers, the first stamps_used.
};

// Both never return: a signal ends them.
[[noreturn]] void RunSource(Shared* shared);
[[noreturn]] void RunEpollReader(Shared* shared);

}  // namespace plimsoll::bench
