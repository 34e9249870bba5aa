#include "agent/uplink/uplink.h"

#include "common/base/limits.h"
#include "gtest/gtest.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

class Link final : public CoordinatorLink {
 public:
  void Send(AgentMessage) override {}
  void SendBatch(const RecordBatch& batch) override { sent.push_back(batch); }
  std::vector<RecordBatch> sent;
};

CallRecord RecordOf(std::uint32_t call) {
  CallRecord r;
  r.call = call;
  return r;
}

TEST(Uplink, SealsByAgeAndBySize) {
  SimScheduler scheduler;
  Link link;
  Uplink uplink(scheduler, link, 3, 77);
  uplink.Add(RecordOf(1));
  scheduler.Advance(limits::kBatchAgeMax - 1ms);
  EXPECT_TRUE(link.sent.empty());
  scheduler.Advance(1ms);
  ASSERT_EQ(link.sent.size(), 1u);
  EXPECT_EQ(link.sent[0].sequence, 1u);
  EXPECT_EQ(link.sent[0].agent_slot, 3u);
  EXPECT_EQ(link.sent[0].incarnation, 77u);
  for (std::size_t i = 0; i < limits::kBatchRecordsMax; ++i) uplink.Add(RecordOf(2));
  ASSERT_EQ(link.sent.size(), 2u);
  EXPECT_EQ(link.sent[1].records.size(), limits::kBatchRecordsMax);
  EXPECT_EQ(uplink.Flush(), 2u);
}

TEST(Uplink, KeepsAWindowAndSendsOnAsAcksCome) {
  SimScheduler scheduler;
  Link link;
  Uplink uplink(scheduler, link, 0, 1);
  for (std::uint32_t i = 0; i < limits::kBatchWindow + 10; ++i) {
    uplink.Add(RecordOf(i));
    uplink.Flush();
  }
  EXPECT_EQ(link.sent.size(), limits::kBatchWindow);
  uplink.OnAck(4);
  EXPECT_EQ(link.sent.size(), limits::kBatchWindow + 4);
  EXPECT_EQ(link.sent.back().sequence, limits::kBatchWindow + 4);
  uplink.OnAck(limits::kBatchWindow + 10);
  EXPECT_EQ(uplink.counts().records_queued, 0u);
}

TEST(Uplink, SendsAgainFromTheOldestWhenNothingMoves) {
  SimScheduler scheduler;
  Link link;
  Uplink uplink(scheduler, link, 0, 1);
  for (std::uint32_t i = 0; i < 3; ++i) {
    uplink.Add(RecordOf(i));
    uplink.Flush();
  }
  uplink.OnAck(1);
  link.sent.clear();
  scheduler.Advance(Uplink::kResendAfter + 1ms);
  ASSERT_EQ(link.sent.size(), 2u);
  EXPECT_EQ(link.sent[0].sequence, 2u);
  EXPECT_EQ(link.sent[1].sequence, 3u);
  scheduler.Advance(Uplink::kResendAfter + 1ms);
  EXPECT_EQ(link.sent.size(), 4u) << "and again, until it is acked";
  uplink.OnAck(3);
  scheduler.Advance(1min);
  EXPECT_EQ(link.sent.size(), 4u);
}

TEST(Uplink, CountsWhatItsBoundMadeItDrop) {
  SimScheduler scheduler;
  Link link;
  Uplink uplink(scheduler, link, 0, 1);
  for (std::uint32_t i = 0; i < limits::kBatchesKeptMax + 5; ++i) {
    uplink.Add(RecordOf(i));
    uplink.Flush();
  }
  EXPECT_EQ(uplink.records_lost(), 5u);
  EXPECT_EQ(uplink.Flush(), limits::kBatchesKeptMax) << "the sequence has no gap";
}

TEST(Uplink, CountsWhatBecameOfItsRecords) {
  SimScheduler scheduler;
  Link link;
  Uplink uplink(scheduler, link, 0, 1);
  CallRecord cut = RecordOf(1);
  cut.outcome = Outcome::kCut;
  cut.resends = 2;
  CallRecord ok = RecordOf(2);
  ok.outcome = Outcome::kOk;
  uplink.Add(cut);
  uplink.Add(ok);
  uplink.Flush();
  uplink.Add(ok);
  EXPECT_EQ(uplink.counts().records_queued, 3u);
  uplink.OnAck(1);
  const UplinkCounts& counts = uplink.counts();
  EXPECT_EQ(counts.records_queued, 1u);
  EXPECT_EQ(counts.records_acked, 2u);
  EXPECT_EQ(counts.attempts[static_cast<std::size_t>(Outcome::kOk)], 2u);
  EXPECT_EQ(counts.attempts[static_cast<std::size_t>(Outcome::kCut)], 1u);
  EXPECT_EQ(counts.body_resends, 2u);
  EXPECT_EQ(counts.batch_resends, 0u);
  scheduler.Advance(limits::kBatchAgeMax + Uplink::kResendAfter);
  EXPECT_EQ(counts.batch_resends, 1u);
  EXPECT_EQ(counts.records_queued, 1u);
}

}  // namespace
}  // namespace plimsoll
