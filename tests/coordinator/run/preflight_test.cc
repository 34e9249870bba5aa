// What preflight's one call means, in words.
#include "coordinator/run/preflight.h"

#include <set>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(Preflight, EachOutcomeBlocksInWordsThatSayWhatToDo) {
  struct {
    Outcome outcome;
    std::uint16_t status;
    const char* what;
    const char* to_do;
  } const cases[] = {
      {Outcome::kRefused, 429, "refuses calls (HTTP 429)", "wait until it has room"},
      {Outcome::kContextOverflow, 400, "context limit is below the corpus's first prompts (5120",
       "raise the limit"},
      {Outcome::kHttpError, 404, "does not answer as a chat completion API (HTTP 404)",
       "target.url"},
      {Outcome::kStreamError, 200, "stream_error", "gateway's log"},
      {Outcome::kTruncated, 200, "truncated", "gateway's log"},
      {Outcome::kEmpty, 200, "empty", "gateway's log"},
      {Outcome::kDeadline, 200, "in time", "engine is up"},
      {Outcome::kIdleTimeout, 200, "in time", "engine is up"},
      {Outcome::kConnectError, 0, "cannot be reached", "target.url"},
      {Outcome::kCut, 0, "cut", "gateway's log"},
      {Outcome::kClientError, 0, "this machine", "descriptors"},
  };
  std::set<Outcome> seen = {Outcome::kOk};
  for (const auto& c : cases) {
    seen.insert(c.outcome);
    CallResult result;
    result.outcome = c.outcome;
    result.http_status = c.status;
    result.message = "the detail";
    const Status status = Preflight::Judge(result, 5120);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    for (const char* words : {c.what, c.to_do, ": the detail; "}) {
      EXPECT_NE(MessageOf(status).find(words), std::string_view::npos) << MessageOf(status);
    }
  }
  EXPECT_EQ(seen.size(), kOutcomes - 1) << "every outcome has its words";
}

TEST(Preflight, AnAnswerWithoutUsageBlocksAndOneWithItDoesNot) {
  CallResult result;
  result.outcome = Outcome::kOk;
  const Status without = Preflight::Judge(result, 100);
  EXPECT_NE(MessageOf(without).find("include_usage"), std::string_view::npos);
  result.tokens_out = 0;
  EXPECT_TRUE(Preflight::Judge(result, 100).ok()) << "zero is not absent";
}

class OneCall final : public CallTransport {
 public:
  std::unique_ptr<Call> Start(const CallRequest& r, CallObserver& o) override {
    request = r;
    observer = &o;
    return std::make_unique<Call>();
  }
  CallRequest request;
  CallObserver* observer = nullptr;
};

TEST(Preflight, SendsOneTokenOfItsPromptAndAnswersOnce) {
  OneCall transport;
  int answers = 0;
  Status status;
  Prompt prompt;
  prompt.tokens = 77;
  Preflight preflight(transport, prompt, 9, MonoTime(5s), [&](Status s) {
    ++answers;
    status = std::move(s);
  });
  EXPECT_EQ(transport.request.max_tokens, 1u);
  EXPECT_EQ(transport.request.prompt->tokens, 77u);
  EXPECT_EQ(transport.request.released, MonoTime(5s));
  EXPECT_EQ(answers, 0);
  transport.observer->OnCallEnded({.outcome = Outcome::kConnectError});
  transport.observer->OnCallEnded({.outcome = Outcome::kOk});
  EXPECT_EQ(answers, 1);
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace plimsoll
