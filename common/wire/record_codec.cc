#include "common/wire/record_codec.h"

#include <cstdint>
#include <limits>

#include "common/base/limits.h"
#include "common/wire/checks.h"
#include "common/wire/eval_codec.h"
#include "common/wire/parse.h"
#include "fmt/format.h"
#include "plimsoll/v1/records.pb.h"

namespace plimsoll {
namespace {

using google::protobuf::RepeatedField;
using wire::Checks;

constexpr std::uint8_t kKnownFlags = kNewConnection | kCapReached | kToolCallPresent | kLastAttempt;
constexpr std::uint8_t kKnownAnswers =
    kToolCallsValid | kToolCallsInvalid | kReasoningOnly | kHiddenReasoning | kRetryAfterSeen;

// Differences wrap instead of overflowing; what is out of range is refused when read.
std::int64_t Difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t Sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// One column: `value(record)` of each, or nothing if all are zero.
template <typename T, typename Value>
void WriteColumn(const RecordBatch& batch, RepeatedField<T>* column, Value value) {
  bool zeros = true;
  column->Reserve(static_cast<int>(batch.records.size()));
  for (const CallRecord& record : batch.records) {
    const T entry = static_cast<T>(value(record));
    zeros = zeros && entry == T{};
    column->AddAlreadyReserved(entry);
  }
  if (zeros) column->Clear();
}

// A stamp counted from the record's release, one too high; 0: absent.
template <StepNanos CallRecord::*kStamp>
std::uint64_t AfterRelease(const CallRecord& record) {
  if (record.*kStamp == kAbsentNanos) return 0;
  return static_cast<std::uint64_t>(Difference(record.*kStamp, record.released)) + 1;
}

void WriteIdentity(const RecordBatch& batch, v1::RecordBatch* out) {
  std::uint32_t step = 0;
  WriteColumn(batch, out->mutable_step_delta(), [&](const CallRecord& r) {
    const auto delta = static_cast<std::int32_t>(r.step - step);
    step = r.step;
    return delta;
  });
  WriteColumn(batch, out->mutable_lane(), [](const CallRecord& r) { return r.lane; });
  WriteColumn(batch, out->mutable_play(), [](const CallRecord& r) { return r.play; });
  WriteColumn(batch, out->mutable_session(), [](const CallRecord& r) { return r.session; });
  WriteColumn(batch, out->mutable_call(), [](const CallRecord& r) { return r.call; });
  WriteColumn(batch, out->mutable_stream(), [](const CallRecord& r) { return r.stream; });
  WriteColumn(batch, out->mutable_attempts_before(),
              [](const CallRecord& r) { return static_cast<std::uint32_t>(r.attempt) - 1; });
  WriteColumn(batch, out->mutable_tier(), [](const CallRecord& r) { return r.tier; });
  WriteColumn(batch, out->mutable_block_code(),
              [](const CallRecord& r) { return wire::BlockCode(r.block); });
}

void WriteStamps(const RecordBatch& batch, v1::RecordBatch* out) {
  StepNanos previous = 0;
  WriteColumn(batch, out->mutable_released_delta_ns(), [&](const CallRecord& r) {
    const std::int64_t delta = Difference(r.released, previous);
    previous = r.released;
    return delta;
  });
  WriteColumn(batch, out->mutable_released_after_first_ns(),
              [](const CallRecord& r) { return Difference(r.released, r.first_released); });
  WriteColumn(batch, out->mutable_connecting_after_release_ns(),
              AfterRelease<&CallRecord::connecting>);
  WriteColumn(batch, out->mutable_sent_after_release_ns(), AfterRelease<&CallRecord::sent>);
  WriteColumn(batch, out->mutable_upload_done_after_release_ns(),
              AfterRelease<&CallRecord::upload_done>);
  WriteColumn(batch, out->mutable_headers_after_release_ns(), AfterRelease<&CallRecord::headers>);
  WriteColumn(batch, out->mutable_first_chunk_after_release_ns(),
              AfterRelease<&CallRecord::first_chunk>);
  WriteColumn(batch, out->mutable_first_token_after_release_ns(),
              AfterRelease<&CallRecord::first_token>);
  WriteColumn(batch, out->mutable_last_token_after_release_ns(),
              AfterRelease<&CallRecord::last_token>);
  WriteColumn(batch, out->mutable_duration_ns(),
              [](const CallRecord& r) { return Difference(r.end, r.released); });
}

void WriteCounts(const RecordBatch& batch, v1::RecordBatch* out) {
  // kAbsentTokens is the one value that wraps to 0.
  static_assert(kAbsentTokens + 1u == 0);
  WriteColumn(batch, out->mutable_tokens_in_plus_one(),
              [](const CallRecord& r) { return r.tokens_in + 1; });
  WriteColumn(batch, out->mutable_tokens_cached_plus_one(),
              [](const CallRecord& r) { return r.tokens_cached + 1; });
  WriteColumn(batch, out->mutable_tokens_out_plus_one(),
              [](const CallRecord& r) { return r.tokens_out + 1; });
  WriteColumn(batch, out->mutable_tokens_first_chunk_plus_one(),
              [](const CallRecord& r) { return r.tokens_first_chunk + 1; });
  WriteColumn(batch, out->mutable_chunks(), [](const CallRecord& r) { return r.chunks; });
  WriteColumn(batch, out->mutable_tokens_planned(),
              [](const CallRecord& r) { return r.tokens_planned; });
  WriteColumn(batch, out->mutable_http_status(), [](const CallRecord& r) { return r.http_status; });
  WriteColumn(batch, out->mutable_outcome(),
              [](const CallRecord& r) { return static_cast<int>(r.outcome); });
  WriteColumn(batch, out->mutable_flags(), [](const CallRecord& r) { return r.flags; });
  WriteColumn(batch, out->mutable_resends(), [](const CallRecord& r) { return r.resends; });
  WriteColumn(batch, out->mutable_messages(), [](const CallRecord& r) { return r.messages; });
  WriteColumn(batch, out->mutable_tokens_asked(),
              [](const CallRecord& r) { return r.tokens_asked; });
  WriteColumn(batch, out->mutable_answer_flags(), [](const CallRecord& r) { return r.answer; });
  WriteColumn(batch, out->mutable_tool_faults(), [](const CallRecord& r) { return r.tool_faults; });
}

// A column as it is read: an absent one is all zeros.
template <typename T>
class Column {
 public:
  Column(const RepeatedField<T>& field, std::size_t records, std::string_view name, Checks* checks)
      : data_(field.empty() ? nullptr : field.data()) {
    checks->Require(field.empty() || static_cast<std::size_t>(field.size()) == records, name,
                    "empty or of one entry a record");
  }
  T operator[](std::size_t i) const { return data_ == nullptr ? T{} : data_[i]; }

 private:
  const T* data_;
};

struct Columns {
  Columns(const v1::RecordBatch& in, std::size_t n, Checks* c)
      : step(in.step_delta(), n, "step_delta", c),
        lane(in.lane(), n, "lane", c),
        play(in.play(), n, "play", c),
        session(in.session(), n, "session", c),
        call(in.call(), n, "call", c),
        stream(in.stream(), n, "stream", c),
        attempts_before(in.attempts_before(), n, "attempts_before", c),
        tier(in.tier(), n, "tier", c),
        block(in.block_code(), n, "block_code", c),
        released(in.released_delta_ns(), n, "released_delta_ns", c),
        after_first(in.released_after_first_ns(), n, "released_after_first_ns", c),
        connecting(in.connecting_after_release_ns(), n, "connecting_after_release_ns", c),
        sent(in.sent_after_release_ns(), n, "sent_after_release_ns", c),
        upload(in.upload_done_after_release_ns(), n, "upload_done_after_release_ns", c),
        headers(in.headers_after_release_ns(), n, "headers_after_release_ns", c),
        first_chunk(in.first_chunk_after_release_ns(), n, "first_chunk_after_release_ns", c),
        first_token(in.first_token_after_release_ns(), n, "first_token_after_release_ns", c),
        last_token(in.last_token_after_release_ns(), n, "last_token_after_release_ns", c),
        duration(in.duration_ns(), n, "duration_ns", c),
        tokens_in(in.tokens_in_plus_one(), n, "tokens_in_plus_one", c),
        cached(in.tokens_cached_plus_one(), n, "tokens_cached_plus_one", c),
        out(in.tokens_out_plus_one(), n, "tokens_out_plus_one", c),
        in_first(in.tokens_first_chunk_plus_one(), n, "tokens_first_chunk_plus_one", c),
        chunks(in.chunks(), n, "chunks", c),
        planned(in.tokens_planned(), n, "tokens_planned", c),
        status(in.http_status(), n, "http_status", c),
        outcome(in.outcome(), n, "outcome", c),
        flags(in.flags(), n, "flags", c),
        resends(in.resends(), n, "resends", c),
        messages(in.messages(), n, "messages", c),
        asked(in.tokens_asked(), n, "tokens_asked", c),
        answer(in.answer_flags(), n, "answer_flags", c),
        faults(in.tool_faults(), n, "tool_faults", c) {}

  Column<std::int32_t> step;
  Column<std::uint32_t> lane, play, session, call, stream, attempts_before, tier, block;
  Column<std::int64_t> released;
  Column<std::uint64_t> after_first, connecting, sent, upload, headers, first_chunk, first_token,
      last_token, duration;
  Column<std::uint32_t> tokens_in, cached, out, in_first, chunks, planned, status;
  Column<int> outcome;
  Column<std::uint32_t> flags, resends, messages, asked, answer, faults;
};

template <typename Small>
Small Narrow(std::uint32_t value, std::string_view field, Checks* checks) {
  return static_cast<Small>(
      checks->Below(value, std::uint32_t{std::numeric_limits<Small>::max()} + 1, field));
}

void ReadIdentity(const Columns& in, std::size_t i, std::uint32_t step, CallRecord* record,
                  Checks* checks) {
  record->step = checks->Below(step, limits::kStepsMax, "step_delta");
  record->lane = checks->Below(in.lane[i], limits::kLanesMax, "lane");
  record->play = in.play[i];
  record->session = in.session[i];
  record->call = checks->Below(in.call[i], limits::kCallsPerSessionMax, "call");
  record->stream = Narrow<std::uint16_t>(in.stream[i], "stream", checks);
  const std::uint32_t before = checks->Below(in.attempts_before[i], 255, "attempts_before");
  record->attempt = static_cast<std::uint8_t>(before + 1);
  record->tier = static_cast<std::uint8_t>(checks->Below(in.tier[i], limits::kTiersMax, "tier"));
  record->block = wire::BlockOf(in.block[i], "block_code", checks);
}

void ReadStamps(const Columns& in, std::size_t i, StepNanos released, CallRecord* record,
                Checks* checks) {
  constexpr std::uint64_t kSpan = static_cast<std::uint64_t>(Duration(wire::kSpanMax).count());
  record->released = checks->Offset(released, "released_delta_ns");
  checks->Require(in.after_first[i] <= kSpan, "released_after_first_ns", "at most 30 days");
  const std::uint64_t duration = in.duration[i];
  checks->Require(duration <= kSpan, "duration_ns", "at most 30 days");
  if (!checks->ok()) return;
  record->first_released = record->released - static_cast<std::int64_t>(in.after_first[i]);
  record->end = record->released + static_cast<std::int64_t>(duration);
  const auto stamp = [&](std::uint64_t plus_one, std::string_view field) {
    if (plus_one == 0) return kAbsentNanos;
    checks->Require(plus_one - 1 <= duration, field, "at most the duration");
    return Sum(record->released, static_cast<std::int64_t>(plus_one - 1));
  };
  record->connecting = stamp(in.connecting[i], "connecting_after_release_ns");
  record->sent = stamp(in.sent[i], "sent_after_release_ns");
  record->upload_done = stamp(in.upload[i], "upload_done_after_release_ns");
  record->headers = stamp(in.headers[i], "headers_after_release_ns");
  record->first_chunk = stamp(in.first_chunk[i], "first_chunk_after_release_ns");
  record->first_token = stamp(in.first_token[i], "first_token_after_release_ns");
  record->last_token = stamp(in.last_token[i], "last_token_after_release_ns");
  checks->Require((in.first_token[i] == 0) == (in.last_token[i] == 0),
                  "last_token_after_release_ns", "present exactly when the first token is");
  checks->Require(in.first_token[i] <= in.last_token[i], "last_token_after_release_ns",
                  "not before the first token");
}

void ReadCounts(const Columns& in, std::size_t i, CallRecord* record, Checks* checks) {
  record->tokens_in = in.tokens_in[i] - 1;
  record->tokens_cached = in.cached[i] - 1;
  record->tokens_out = in.out[i] - 1;
  record->tokens_first_chunk = in.in_first[i] - 1;
  record->chunks = in.chunks[i];
  record->tokens_planned = in.planned[i];
  const std::uint32_t status = in.status[i];
  checks->Require(status == 0 || (status >= 100 && status <= 999), "http_status",
                  "0 or 100 to 999");
  record->http_status = static_cast<std::uint16_t>(status);
  const auto outcome = static_cast<unsigned>(in.outcome[i]);
  checks->Require(IsOutcome(outcome), "outcome", "a known outcome");
  if (checks->ok()) record->outcome = static_cast<Outcome>(outcome);
  checks->Require((in.flags[i] & ~std::uint32_t{kKnownFlags}) == 0, "flags", "known bits");
  record->flags = static_cast<std::uint8_t>(in.flags[i]);
  record->resends = Narrow<std::uint8_t>(in.resends[i], "resends", checks);
  record->messages = in.messages[i];
  record->tokens_asked = in.asked[i];
  const std::uint32_t answer = in.answer[i];
  checks->Require((answer & ~std::uint32_t{kKnownAnswers}) == 0, "answer_flags", "known bits");
  checks->Require(
      (answer & (kToolCallsValid | kToolCallsInvalid)) != (kToolCallsValid | kToolCallsInvalid),
      "answer_flags", "tool calls valid or invalid, not both");
  record->answer = static_cast<std::uint8_t>(answer);
  const std::uint32_t faults = in.faults[i];
  checks->Require(AreToolFaultBits(faults), "tool_faults", "known bits");
  checks->Require(faults == 0 || (answer & kToolCallsInvalid) != 0, "tool_faults",
                  "of an answer whose tool calls are invalid");
  record->tool_faults = static_cast<ToolFaultBits>(faults);
}

}  // namespace

void ToProto(const RecordBatch& batch, v1::RecordBatch* out) {
  out->Clear();
  out->set_agent_slot(batch.agent_slot);
  out->set_incarnation(batch.incarnation);
  out->set_sequence(batch.sequence);
  out->set_records(static_cast<std::uint32_t>(batch.records.size()));
  WriteIdentity(batch, out);
  WriteStamps(batch, out);
  WriteCounts(batch, out);
  wire::WriteEvals(batch.evals, out);
}

StatusOr<RecordBatch> FromProto(const v1::RecordBatch& in) {
  Checks checks("RecordBatch");
  RecordBatch batch;
  batch.agent_slot = checks.Below(in.agent_slot(), limits::kAgentsMax, "agent_slot");
  checks.Require(in.incarnation() != 0, "incarnation", "set");
  batch.incarnation = in.incarnation();
  checks.Require(in.sequence() != 0, "sequence", "from 1");
  batch.sequence = in.sequence();
  checks.Require(in.records() <= limits::kBatchRecordsMax, "records", "at most 512");
  if (!checks.ok()) return checks.status();
  const std::size_t records = in.records();
  const Columns columns(in, records, &checks);
  if (!checks.ok()) return checks.status();
  ASSIGN_OR_RETURN(batch.evals, wire::ReadEvals(in));
  batch.records.resize(records);
  std::uint32_t step = 0;
  StepNanos released = 0;
  for (std::size_t i = 0; i < records; ++i) {
    step += static_cast<std::uint32_t>(columns.step[i]);
    released = Sum(released, columns.released[i]);
    CallRecord* record = &batch.records[i];
    ReadIdentity(columns, i, step, record, &checks);
    ReadStamps(columns, i, released, record, &checks);
    ReadCounts(columns, i, record, &checks);
    if (!checks.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("{} (record {} of {})", MessageOf(checks.status()), i + 1, records));
    }
  }
  return batch;
}

std::string EncodeBatch(const RecordBatch& batch) {
  v1::RecordBatch message;
  ToProto(batch, &message);
  return message.SerializeAsString();
}

StatusOr<RecordBatch> DecodeBatch(std::string_view bytes) {
  v1::RecordBatch message;
  if (!wire::Parse(bytes, &message)) {
    return absl::InvalidArgumentError("RecordBatch: not a message");
  }
  return FromProto(message);
}

}  // namespace plimsoll
