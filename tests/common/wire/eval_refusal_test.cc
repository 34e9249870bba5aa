// What of evals a peer may not send: each refusal names its field.
#include <functional>

#include "common/base/limits.h"
#include "common/wire/message_codec.h"
#include "common/wire/record_codec.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/control.pb.h"
#include "tests/common/wire/random_values.h"

namespace plimsoll::test {
namespace {

template <typename Proto>
void ExpectRefusal(const Proto& good, const char* words, const std::function<void(Proto*)>& spoil) {
  ASSERT_TRUE(FromProto(good).ok()) << FromProto(good).status();
  Proto bad = good;
  spoil(&bad);
  const Status status = FromProto(bad).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
  EXPECT_NE(MessageOf(status).find(words), std::string_view::npos) << status;
}

TEST(EvalRefusals, OfRecords) {
  Rng rng(4);
  RecordBatch batch{.agent_slot = 1, .incarnation = 2, .sequence = 3};
  batch.evals = {AnyEval(&rng), AnyEval(&rng)};
  v1::RecordBatch good;
  ToProto(batch, &good);
  using B = v1::RecordBatch;
  const auto eval = [](B* b) { return b->mutable_evals(1); };
  const struct {
    const char* words;
    std::function<void(B*)> spoil;
  } cases[] = {
      {"EvalRecord.step_plus_one", [=](B* b) { eval(b)->set_step_plus_one(66); }},
      {"EvalRecord.lane", [=](B* b) { eval(b)->set_lane(limits::kLanesMax); }},
      {"EvalRecord.case_index", [=](B* b) { eval(b)->set_case_index(1000); }},
      {"EvalRecord.block_code", [=](B* b) { eval(b)->set_block_code(limits::kBlocksMax + 2); }},
      {"EvalRecord.released_ns", [=](B* b) { eval(b)->set_released_ns(INT64_MIN); }},
      {"EvalRecord.duration_ns", [=](B* b) { eval(b)->set_duration_ns(UINT64_MAX); }},
      {"EvalRecord.http_status", [=](B* b) { eval(b)->set_http_status(1000); }},
      {"EvalRecord.call", [=](B* b) { eval(b)->clear_call(); }},
      {"EvalRecord.outcome", [=](B* b) { eval(b)->clear_outcome(); }},
      {"EvalRecord.outcome", [=](B* b) { eval(b)->set_outcome(static_cast<v1::EvalOutcome>(8)); }},
      {"EvalRecord.tool_faults", [=](B* b) { eval(b)->set_tool_faults(1); }},
      {"EvalRecord.tool_faults", [=](B* b) { eval(b)->set_tool_faults(1u << 9); }},
      {"(eval 2 of 2)", [=](B* b) { eval(b)->clear_call(); }},
      {"RecordBatch.evals", [](B* b) {
         while (b->evals_size() <= 512) *b->add_evals() = b->evals(0);
       }}};
  for (const auto& one : cases) ExpectRefusal<B>(good, one.words, one.spoil);
}

TEST(EvalRefusals, OfAToolFaultWithoutAnInvalidAnswer) {
  RecordBatch batch{.agent_slot = 1, .incarnation = 2, .sequence = 3};
  batch.records.resize(1);
  batch.records[0].outcome = Outcome::kOk;
  batch.records[0].tool_faults = 1u << static_cast<unsigned>(ToolFault::kMissingName);
  EXPECT_NE(MessageOf(DecodeBatch(EncodeBatch(batch)).status()).find("tool_faults"),
            std::string_view::npos);
  batch.records[0].answer = kToolCallsInvalid;
  EXPECT_TRUE(DecodeBatch(EncodeBatch(batch)).ok());
  batch.records[0].tool_faults = 1;
  EXPECT_FALSE(DecodeBatch(EncodeBatch(batch)).ok());
}

TEST(EvalRefusals, OfMessages) {
  using C = v1::CoordinatorMessage;
  C ask;
  ToProto(CoordinatorMessage(AskEvals{.part = 1, .parts = 2, .at_once = 4, .limit = 1s}), &ask);
  ExpectRefusal<C>(ask, "AskEvals.part", [](C* m) { m->mutable_ask_evals()->set_part(2); });
  ExpectRefusal<C>(ask, "AskEvals.parts", [](C* m) { m->mutable_ask_evals()->set_parts(0); });
  ExpectRefusal<C>(ask, "AskEvals.at_once", [](C* m) { m->mutable_ask_evals()->set_at_once(0); });
  ExpectRefusal<C>(ask, "AskEvals.at_once", [](C* m) { m->mutable_ask_evals()->set_at_once(65); });
  ExpectRefusal<C>(ask, "AskEvals.limit_ns", [](C* m) { m->mutable_ask_evals()->set_limit_ns(0); });
  using A = v1::AgentMessage;
  A asked;
  ToProto(AgentMessage(EvalsAsked{.asked = 5, .left = 1, .last_sequence = 7}), &asked);
  ExpectRefusal<A>(asked, "EvalsAsked.asked",
                   [](A* m) { m->mutable_evals_asked()->set_asked(10'001); });
  ExpectRefusal<A>(asked, "EvalsAsked.left",
                   [](A* m) { m->mutable_evals_asked()->set_left(10'001); });
  A closed;
  StepTally tally;
  tally.evals.Add(EvalOutcome::kPass);
  ToProto(AgentMessage(StepClosed{.tally = tally}), &closed);
  const auto t = [](A* m) { return m->mutable_step_closed()->mutable_tally(); };
  ExpectRefusal<A>(closed, "evals.outcome", [=](A* m) { t(m)->add_evals(); });
  ExpectRefusal<A>(closed, "listed once", [=](A* m) { *t(m)->add_evals() = t(m)->evals(0); });
  ExpectRefusal<A>(closed, "evals.count",
                   [=](A* m) { t(m)->mutable_evals(0)->set_count(UINT64_MAX); });
  ExpectRefusal<A>(closed, "evals_asked", [=](A* m) { t(m)->set_evals_asked(UINT64_MAX); });
}

}  // namespace
}  // namespace plimsoll::test
