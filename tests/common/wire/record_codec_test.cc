#include "common/wire/record_codec.h"

#include "gtest/gtest.h"
#include "tests/common/wire/random_values.h"

namespace plimsoll::test {
namespace {

TEST(RecordCodec, KeepsAnyBatch) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const RecordBatch batch = AnyBatch(&rng);
    const StatusOr<RecordBatch> read = DecodeBatch(EncodeBatch(batch));
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(*read, batch);
  }
}

TEST(RecordCodec, RefusesOrReadsDamagedBytesButNeverFails) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    RecordBatch batch = AnyBatch(&rng);
    batch.records.resize(std::min<std::size_t>(batch.records.size(), 20));
    std::string bytes = EncodeBatch(batch);
    EXPECT_EQ(DecodeBatch(bytes.substr(0, bytes.size() - 1)).ok(), false);
    for (std::uint64_t damage = 1 + rng.Below(4); damage > 0; --damage) {
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
    }
    const StatusOr<RecordBatch> read = DecodeBatch(bytes);
    if (!read.ok()) continue;
    for (const CallRecord& record : read->records) {  // What is read is in range.
      EXPECT_LT(record.lane, limits::kLanesMax);
      EXPECT_LE(record.released, record.end);
      EXPECT_TRUE(IsOutcome(static_cast<unsigned>(record.outcome)));
    }
  }
}

// What a writer holds by mistake is refused by the reader, with the record's place.
TEST(RecordCodec, RefusesRecordsThatCannotBe) {
  struct Case {
    void (*spoil)(CallRecord*);
    const char* words;
  };
  const Case cases[] = {
      {[](CallRecord* r) { r->step = limits::kStepsMax; }, "step_delta"},
      {[](CallRecord* r) { r->lane = limits::kLanesMax; }, "lane"},
      {[](CallRecord* r) { r->call = limits::kCallsPerSessionMax; }, "call"},
      {[](CallRecord* r) { r->attempt = 0; }, "attempts_before"},
      {[](CallRecord* r) { r->tier = limits::kTiersMax; }, "tier"},
      {[](CallRecord* r) { r->block = limits::kBlocksMax; }, "block_code"},
      {[](CallRecord* r) { r->released = kAbsentNanos; }, "released_delta_ns"},
      {[](CallRecord* r) { r->first_released = r->released + 1; }, "released_after_first_ns"},
      {[](CallRecord* r) { r->end = r->released - 1; }, "duration_ns"},
      {[](CallRecord* r) { r->connecting = r->end + 1; }, "connecting_after_release_ns"},
      {[](CallRecord* r) { r->sent = r->released - 2; }, "sent_after_release_ns"},
      {[](CallRecord* r) { r->upload_done = r->end + 1; }, "upload_done_after_release_ns"},
      {[](CallRecord* r) { r->headers = r->end + 1; }, "headers_after_release_ns"},
      {[](CallRecord* r) { r->first_chunk = r->end + 1; }, "first_chunk_after_release_ns"},
      {[](CallRecord* r) { r->first_token = r->end + 1; }, "first_token_after_release_ns"},
      {[](CallRecord* r) { r->last_token = r->end + 1; }, "last_token_after_release_ns"},
      {[](CallRecord* r) { r->last_token = r->first_token - 1; }, "not before the first token"},
      {[](CallRecord* r) { r->last_token = kAbsentNanos; }, "present exactly when"},
      {[](CallRecord* r) { r->http_status = 99; }, "http_status"},
      {[](CallRecord* r) { r->http_status = 1000; }, "http_status"},
      {[](CallRecord* r) { r->outcome = static_cast<Outcome>(0); }, "outcome"},
      {[](CallRecord* r) { r->outcome = static_cast<Outcome>(kOutcomes); }, "outcome"},
      {[](CallRecord* r) { r->flags = 16; }, "flags"},
  };
  for (const Case& one : cases) {
    CallRecord good;
    good.outcome = Outcome::kOk;
    good.first_released = good.released = 1000;
    good.first_token = good.last_token = 1500;
    good.end = 2000;
    RecordBatch batch{.incarnation = 1, .sequence = 1, .records = {good, good, good}};
    ASSERT_TRUE(DecodeBatch(EncodeBatch(batch)).ok());
    one.spoil(&batch.records[1]);
    const Status status = DecodeBatch(EncodeBatch(batch)).status();
    ASSERT_FALSE(status.ok()) << one.words;
    EXPECT_NE(MessageOf(status).find(one.words), std::string::npos) << status;
    EXPECT_NE(MessageOf(status).find("record 2 of 3"), std::string::npos) << status;
  }
}

TEST(RecordCodec, RefusesBatchesThatCannotBe) {
  const RecordBatch good{.incarnation = 1, .sequence = 1};
  ASSERT_TRUE(DecodeBatch(EncodeBatch(good)).ok());
  RecordBatch bad = good;
  bad.agent_slot = limits::kAgentsMax;
  EXPECT_FALSE(DecodeBatch(EncodeBatch(bad)).ok());
  bad = good;
  bad.incarnation = 0;
  EXPECT_FALSE(DecodeBatch(EncodeBatch(bad)).ok());
  bad = good;
  bad.sequence = 0;
  EXPECT_FALSE(DecodeBatch(EncodeBatch(bad)).ok());
  bad = good;
  bad.records.resize(limits::kBatchRecordsMax + 1);
  EXPECT_FALSE(DecodeBatch(EncodeBatch(bad)).ok());
  EXPECT_FALSE(DecodeBatch("\xff").ok());
}

}  // namespace
}  // namespace plimsoll::test
