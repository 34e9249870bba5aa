#include "agent/uplink/uplink.h"

#include <utility>

#include "common/base/limits.h"

namespace plimsoll {

Uplink::Uplink(Scheduler& scheduler, CoordinatorLink& link, std::uint32_t agent_slot,
               std::uint64_t incarnation)
    : scheduler_(scheduler), link_(link) {
  open_.agent_slot = agent_slot;
  open_.incarnation = incarnation;
  open_.sequence = 1;
}

void Uplink::Add(const CallRecord& record) {
  BeginBatch();
  open_.records.push_back(record);
  ++counts_.attempts[static_cast<std::size_t>(record.outcome)];
  counts_.body_resends += record.resends;
  AfterRecord();
}

void Uplink::AddEval(const EvalRecord& record) {
  BeginBatch();
  open_.evals.push_back(record);
  AfterRecord();
}

void Uplink::BeginBatch() {
  if (open_.size() > 0) return;
  age_ = scheduler_.After(limits::kBatchAgeMax, [this] { Flush(); });
}

void Uplink::AfterRecord() {
  ++counts_.records_queued;
  if (open_.size() >= limits::kBatchRecordsMax) Seal();
}

std::uint64_t Uplink::Flush() {
  if (open_.size() > 0) Seal();
  return open_.sequence - 1;
}

void Uplink::Seal() {
  age_.Cancel();
  if (kept_.size() >= limits::kBatchesKeptMax) {
    // The coordinator has been silent for so long that memory is at its bound. The sequence does
    // not advance, so that no gap blocks the stream; the loss is counted and voids the step.
    counts_.records_lost += open_.size();
    counts_.records_queued -= open_.size();
    open_.records.clear();
    open_.evals.clear();
    return;
  }
  RecordBatch next{.agent_slot = open_.agent_slot,
                   .incarnation = open_.incarnation,
                   .sequence = open_.sequence + 1};
  kept_.push_back(std::exchange(open_, std::move(next)));
  SendMore();
}

void Uplink::SendMore() {
  const bool idle = sent_ == 0;
  while (sent_ < kept_.size() && sent_ < limits::kBatchWindow) link_.SendBatch(kept_[sent_++]);
  if (idle && sent_ > 0) ArmResend();
}

void Uplink::ArmResend() {
  resend_ = scheduler_.After(kResendAfter, [this] {
    counts_.batch_resends += sent_;
    sent_ = 0;
    SendMore();
  });
}

void Uplink::OnAck(std::uint64_t sequence) {
  bool moved = false;
  while (!kept_.empty() && kept_.front().sequence <= sequence) {
    counts_.records_acked += kept_.front().size();
    counts_.records_queued -= kept_.front().size();
    kept_.pop_front();
    if (sent_ > 0) --sent_;
    moved = true;
  }
  if (!moved) return;
  resend_.Cancel();
  if (sent_ > 0) ArmResend();
  SendMore();
}

}  // namespace plimsoll
