// The answers' file: every question of our own set is answered right, and wrong where that is
// asked.
#include "gateway/answers/answer_book.h"

#include <fstream>
#include <iterator>
#include <string>

#include "common/base/rng.h"
#include "common/json/json.h"
#include "gtest/gtest.h"
#include "tests/gateway/answers/put_together.h"

namespace plimsoll {
namespace {

const std::string kFile = PLIMSOLL_SOURCE_DIR "/deploy/evals/basic.jsonl";

std::uint64_t QuestionOf(const EvalCase& eval) {
  const auto messages = nlohmann::json::parse(eval.messages_json);
  return HashBytes(messages.back()["content"].get<std::string>());
}

TEST(AnswerBook, AnswersEveryQuestionRightAndWrong) {
  std::ifstream in(kFile);
  const auto set = ReadEvalSet("basic", std::string{std::istreambuf_iterator<char>(in), {}});
  ASSERT_TRUE(set.ok());
  const auto book = AnswerBook::Load(kFile);
  ASSERT_TRUE(book.ok()) << MessageOf(book.status());
  EXPECT_EQ((*book)->cases().size(), set->cases.size());
  for (const EvalCase& asked : set->cases) {
    SCOPED_TRACE(asked.id);
    const EvalCase* const found = (*book)->Find(QuestionOf(asked));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->id, asked.id);
    const AnswerScript right(AnswerBook::Right(*found), 1'000);
    EXPECT_EQ(Judge(asked, PutTogether(right, right.size())).outcome, EvalOutcome::kPass);
    for (std::uint64_t draw = 0; draw < 4; ++draw) {
      const AnswerScript wrong(AnswerBook::Wrong(*found, draw), 1'000);
      EXPECT_NE(Judge(asked, PutTogether(wrong, wrong.size())).outcome, EvalOutcome::kPass);
    }
  }
  EXPECT_EQ((*book)->Find(HashBytes("Who is there?")), nullptr);
}

std::string Case(const std::string& id, const std::string& prompt, const std::string& more) {
  return R"({"id": ")" + id + R"(", "kind": "k", "prompt": ")" + prompt + R"(", )" + more + "}\n";
}

TEST(AnswerBook, HasAWrongAnswerWhereTheSetHasNone) {
  const auto book =
      AnswerBook::Read("b", Case("a", "Six?", R"("expect": {"exact": "6"}, "reference": "6")"));
  ASSERT_TRUE(book.ok()) << MessageOf(book.status());
  const EvalCase& eval = *(*book)->Find(HashBytes("Six?"));
  const AnswerScript wrong(AnswerBook::Wrong(eval, 3), 10);
  EXPECT_EQ(Judge(eval, PutTogether(wrong, wrong.size())).outcome, EvalOutcome::kWrong);
}

TEST(AnswerBook, RefusesWhatItCouldNotAnswer) {
  const std::string six = R"("expect": {"exact": "6"}, "reference": "6")";
  const auto twice = AnswerBook::Read("b", Case("a", "Six?", six) + Case("b", "Six?", six));
  EXPECT_EQ(MessageOf(twice.status()), "b: b asks the same as a: requests could not be told apart");
  const auto any =
      AnswerBook::Read("b", Case("a", "Say.", R"("expect": {"regex": ".*"}, "reference": "6")"));
  EXPECT_EQ(MessageOf(any.status()), "b: a takes any answer as right: give it one that is wrong");
  EXPECT_FALSE(AnswerBook::Read("b", "{").ok());
  EXPECT_EQ(AnswerBook::Load("/no/such").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace plimsoll
