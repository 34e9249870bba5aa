// What one copy's page shows: the engine model's numbers at the moments at which a server of its
// kind writes them, and apart from them while the page is stale, reset or frozen by a fault. No
// sockets; instants are arguments.
//
// vLLM and llama.cpp show what is now. SGLang shows what its scheduler last logged: at each
// prefill, on going idle, and else once forty steps have passed.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/time.h"
#include "gateway/engine/engine.h"
#include "gateway/metrics/engine_counts.h"
#include "gateway/metrics/pages.h"

namespace plimsoll {

class EngineDisplay {
 public:
  // `kind` is an engine's; `engine` outlives the display.
  EngineDisplay(const Engine& engine, std::uint32_t copy, MetricKind kind, WallTime started);

  EngineCounts& counts() { return counts_; }

  // The engine did something: began a prefill (`prefill`), finished a request.
  void Stepped(MonoTime now, bool prefill);
  // A request is taken away from the engine: before it, and after. With `frozen` the gauges do not
  // hear of it. What is aborted within a tenth of a second is aborted at once.
  void Aborting(MonoTime now, bool frozen);
  void Aborted(MonoTime now, bool frozen);

  // Counters begin at 0 again.
  void Reset(MonoTime now);
  // The same with another start time, and nothing left of what was.
  void Restart(MonoTime now, WallTime started);
  // From now on the page stays as it is, or no longer does.
  void SetStale(bool stale, MonoTime now);

  // llama.cpp's rates are since the last call of this.
  EngineState Show(MonoTime now);

 private:
  struct Log {
    EngineGauges gauges;
    MonoTime at{};
    double output_rate = 0;
  };
  struct Frozen {
    EngineGauges gauges;
    MonoTime at{};
  };

  EngineGauges Live() const { return engine_.CopyGauges(copy_); }
  void WriteLog(const EngineGauges& live, MonoTime now);
  EngineGauges SinceReset(EngineGauges gauges) const;

  const Engine& engine_;
  const std::uint32_t copy_;
  const MetricKind kind_;
  WallTime started_;
  EngineCounts counts_;
  EngineGauges base_;  // The engine's counters at the last reset.
  Log log_;            // SGLang's last line.
  std::optional<Frozen> frozen_;
  std::optional<EngineState> stale_;
  // llama.cpp's marks of the last reading.
  double read_prefill_s_ = 0;
  double read_decode_s_ = 0;
  std::uint64_t read_prompt_ = 0;
  std::uint64_t read_predicted_ = 0;
};

}  // namespace plimsoll
