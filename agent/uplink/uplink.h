// Uplink: records on their way to the coordinator. Batches them, numbers the batches, keeps what is
// not acked, sends it again when nothing moves, and counts what it had to drop.
#pragma once

#include <cstdint>
#include <deque>

#include "agent/replay/record_sink.h"
#include "common/base/scheduler.h"
#include "common/plan/links.h"
#include "common/record/outcome.h"

namespace plimsoll {

// Since the uplink was made.
struct UplinkCounts {
  OutcomeCounts attempts{};          // Records added, by outcome.
  std::uint64_t body_resends = 0;    // Bodies sent again within them.
  std::uint64_t records_queued = 0;  // Of calls and evals: neither acked nor lost, now.
  std::uint64_t records_acked = 0;
  std::uint64_t records_lost = 0;
  std::uint64_t batch_resends = 0;  // Batches sent again because no ack came.
};

class Uplink final : public RecordSink {
 public:
  // No ack for this long with batches on the way: they are sent again from the oldest. The
  // coordinator recognises repeats by their sequence.
  static constexpr Duration kResendAfter = 3s;

  Uplink(Scheduler& scheduler, CoordinatorLink& link, std::uint32_t agent_slot,
         std::uint64_t incarnation);

  void Add(const CallRecord& record) override;
  void AddEval(const EvalRecord& record) override;
  // Seals what is there, and returns the sequence that covers every record added so far.
  std::uint64_t Flush();
  void OnAck(std::uint64_t sequence);

  std::uint64_t records_lost() const { return counts_.records_lost; }
  const UplinkCounts& counts() const { return counts_; }

 private:
  void BeginBatch();  // Before a record is added.
  void AfterRecord();
  void Seal();
  void SendMore();
  void ArmResend();

  Scheduler& scheduler_;
  CoordinatorLink& link_;
  RecordBatch open_;
  std::deque<RecordBatch> kept_;  // Sealed and not acked, by sequence.
  std::size_t sent_ = 0;          // How many of kept_ are on the way.
  UplinkCounts counts_;
  Timer age_;
  Timer resend_;
};

}  // namespace plimsoll
