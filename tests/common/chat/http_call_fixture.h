// The call transport over a scripted HttpTransport in virtual time, for its tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/chat/http_call_transport.h"
#include "tests/fakes/scripted_transport.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {

using Headers = std::vector<std::pair<std::string, std::string>>;
inline const Headers kSse = {{"content-type", "text/event-stream; charset=utf-8"}};
inline const Headers kJson = {{"content-type", "Application/JSON"}};

inline std::string Data(const std::string& payload) {
  return "data: " + payload + "\n\n";
}
inline std::string Token(const std::string& text) {
  return Data(R"({"choices":[{"index":0,"delta":{"content":")" + text + R"("}}]})");
}
inline std::string Finish(const std::string& reason) {
  return Data(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + reason + R"("}]})");
}
inline const std::string kRole =
    Data(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})");
inline const std::string kUsage = Data(
    R"({"choices":[],"usage":{"prompt_tokens":70,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":64}}})");
inline const std::string kDone = Data("[DONE]");
class HttpCallTest : public testing::Test, public CallObserver {
 protected:
  HttpCallTest() {
    prompt_.tokens = 70;
    prompt_.spans = {{9, 0, 2}};
    prompt_.messages = {{Role::kSystem, 0, 10}, {Role::kUser, 10, 70}};
    target_.url = "http://gateway/v1";
    target_.model = "glm";
    request_.prompt = &prompt_;
    request_.max_tokens = 3;
    request_.play_id = 0xabc;
    request_.released = scheduler_.Now();
  }
  void OnCallEnded(const CallResult& result) override {
    EXPECT_FALSE(result_.has_value()) << "ended twice";
    result_ = result;
    call_.reset();  // Allowed, and what the replay does.
  }
  void StartCall() {
    if (transport_ == nullptr) {
      transport_ = std::make_unique<HttpCallTransport>(http_, scheduler_, target_, options_);
    }
    result_.reset();
    call_ = transport_->Start(request_, *this);
    EXPECT_FALSE(result_.has_value());
  }
  const CallResult& Run() {
    StartCall();
    scheduler_.RunUntilIdle(scheduler_.Now() + 1h);
    EXPECT_TRUE(result_.has_value());
    if (!result_) result_ = CallResult{};
    EXPECT_EQ(http_.open(), 0u);
    EXPECT_EQ(transport_->active(), 0u);
    return *result_;
  }
  // A 200 with an event stream: one read, then the end.
  const CallResult& Stream(const std::string& body, TransferResult end = TransferResult::kOk) {
    http_.Add(ScriptedAnswer()
                  .Sent(1ms)
                  .UploadDone(2ms)
                  .Headers(5ms, 200, kSse)
                  .Body(6ms, body)
                  .End(9ms, end));
    return Run();
  }
  const CallResult& Status(std::uint16_t status, const std::string& body,
                           const Headers& headers = kJson) {
    http_.Add(ScriptedAnswer().Sent(1ms).Headers(5ms, status, headers).Body(6ms, body).End(7ms));
    return Run();
  }
  Duration Since(MonoTime t) const { return t - start_; }

  SimScheduler scheduler_;
  ScriptedTransport http_{scheduler_};
  MonoTime start_ = scheduler_.Now();
  Prompt prompt_;
  TargetPlan target_;
  HttpCallOptions options_;
  CallRequest request_;
  std::unique_ptr<HttpCallTransport> transport_;
  std::unique_ptr<CallTransport::Call> call_;
  std::optional<CallResult> result_;
};

}  // namespace plimsoll
