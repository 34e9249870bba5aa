// What `plimsoll corpus show` prints of a session, computed from the corpus alone: the recording is
// not needed, so the figures also check that importing lost nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "common/corpus/session.h"

namespace plimsoll {

struct SessionStats {
  std::uint64_t requests = 0;
  std::uint64_t main_requests = 0;
  std::uint64_t subagent_groups = 0;  // Subagents, one each.
  std::uint64_t subagent_requests = 0;
  std::uint64_t median_prompt = 0;  // Tokens, over all calls; half to even.
  std::uint64_t max_prompt = 0;
  std::uint64_t first_prompt = 0;
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::uint64_t block_refs = 0;         // Full blocks over all prompts.
  std::uint64_t unique_blocks = 0;      // Different ones among them.
  std::uint64_t prefix_hit_blocks = 0;  // Hits of an infinite prefix cache of this session alone.
  std::uint64_t duration_s = 0;     // First recorded start to last recorded end, to the nearest.
  std::uint64_t max_in_flight = 0;  // Of the recorded intervals [start, start + service).
};

SessionStats ComputeStats(const Session& session);

// What several sessions are like together: all values of each quantity, and how busy they were.
// Sums and appends; Quantile() reads the lists.
struct CorpusSpread {
  std::vector<double> calls;  // Of each session.
  std::vector<double> tokens_in;
  std::vector<double> tokens_out;
  std::vector<double> appended;  // Tokens beyond the blocks shared with the stream's call before.
  std::vector<double> growth;    // Prompt less the prompt before it in its stream; may be < 0.
  std::vector<double> delay_s;   // Of calls that have one before them in their stream.
  std::vector<double> service_s;
  std::vector<double> hit_rate;  // Tokens of each session's prompts found cached, 0 to 1.
  std::uint64_t rewrites = 0;    // Calls that keep less than nine tenths of the prompt before.
  std::uint64_t fan_outs = 0;    // Sessions with subagents.
  double busy_s = 0;             // Time with a call in flight, …
  double idle_s = 0;             // … and without, each stretch counted for 60 s at most.
  double in_flight_s = 0;        // Durations of all calls.
  std::uint64_t max_in_flight = 0;
};
void AddSpread(const Session& session, CorpusSpread* spread);

// Median of the prompts over all calls, exact (a multiple of 0.5).
double MedianPrompt(const Session& session);

// The value at `quantile` (0 to 1) of `values`, interpolated linearly between neighbours; 0 if
// there are none.
double Quantile(std::vector<double> values, double quantile);

struct TierBounds {
  double light_max = 0;  // Sessions with a median prompt of at most this are light …
  double heavy_min = 0;  // … and else, of at least this, heavy.
};

// The quartiles of the sessions' median prompts.
TierBounds QuartileBounds(const Corpus& corpus);

// Sets the tier of every session by its median prompt.
void AssignTiers(const TierBounds& bounds, Corpus* corpus);

// "light", "mid", "heavy", "unspecified".
const char* NameOf(Tier tier);

}  // namespace plimsoll
