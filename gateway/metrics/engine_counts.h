// What one copy of the engine counts for its page, in the buckets of the server that it stands for.
// What the engine model itself counts (EngineGauges) stands beside it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gateway/metrics/metric_histogram.h"
#include "gateway/metrics/metric_kind.h"

namespace plimsoll {

// Upper edges of the buckets of one kind of server.
struct EngineBounds {
  std::span<const double> ttft;
  std::span<const double> gap;
  std::span<const double> per_token;
  std::span<const double> duration;
  std::span<const double> queue;
  std::span<const double> phase;   // Of prefill, decode and both.
  std::span<const double> tokens;  // Of prompts and answers.
};
// Of an engine's kind. llama.cpp has no histograms: vLLM's stand in, and are not shown.
const EngineBounds& BoundsOf(MetricKind kind);

// Moments: A at a first token, L as tokens come, F as the engine finishes a request.
struct EngineCounts {
  explicit EngineCounts(const EngineBounds& bounds);
  // As a counter that begins anew.
  void Clear();

  MetricHistogram ttft;               // A.
  MetricHistogram gap;                // L.
  MetricHistogram per_token;          // F: decode time / (n - 1); 0 for answers of one token.
  MetricHistogram duration;           // F.
  MetricHistogram queue;              // Until the prefill began: F as vLLM has it …
  MetricHistogram queue_started;      // … and when the prefill began, as SGLang has it.
  MetricHistogram inference;          // F: from there to the end.
  MetricHistogram prefill;            // F.
  MetricHistogram decode;             // F.
  MetricHistogram prompt_length;      // F.
  MetricHistogram output_length;      // F.
  std::uint64_t stop = 0;             // F: finished by themselves …
  std::uint64_t length = 0;           // … and by their cap.
  std::uint64_t aborted = 0;          // Whose caller's hang-up reached the engine.
  std::uint64_t finished_cached = 0;  // F: tokens of their prompts that were cached.
  // llama.cpp's sums: of prefills, A; of answers that ended, by a hang-up too.
  double prefill_seconds = 0;
  std::uint64_t predicted = 0;
  double predicted_seconds = 0;
  std::uint64_t longest = 0;  // Prompt and answer so far of the longest request, in tokens.
  // Answers of the API server in front of the engine by class of status, as they end.
  std::array<std::uint64_t, 6> http{};
};

}  // namespace plimsoll
