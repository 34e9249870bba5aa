#include "coordinator/run/preflight.h"

#include <utility>

#include <fmt/format.h>

namespace plimsoll {

Preflight::Preflight(CallTransport& transport, Prompt prompt, std::uint64_t key, MonoTime now,
                     std::function<void(Status)> done)
    : prompt_(std::move(prompt)), done_(std::move(done)) {
  call_ = transport.Start(
      {.prompt = &prompt_, .max_tokens = 1, .play_id = key, .call_key = key, .released = now},
      *this);
}

Preflight::~Preflight() = default;

void Preflight::OnCallEnded(const CallResult& result) {
  const Status status = Judge(result, prompt_.tokens);
  const auto done = std::exchange(done_, nullptr);
  if (done) done(status);
}

Status Preflight::Judge(const CallResult& result, std::uint32_t prompt_tokens) {
  const std::string detail = result.message.empty() ? "" : ": " + result.message;
  const auto blocked = [&](std::string_view what, std::string_view to_do) {
    return absl::FailedPreconditionError(fmt::format("{}{}; {}", what, detail, to_do));
  };
  switch (result.outcome) {
    case Outcome::kOk:
      if (result.tokens_out == kAbsentTokens) {
        return blocked("the gateway reports no usage",
                       "interactivity needs it: enable stream_options.include_usage");
      }
      return absl::OkStatus();
    case Outcome::kRefused:
      return blocked(fmt::format("the gateway refuses calls (HTTP {})", result.http_status),
                     "wait until it has room, or raise its limit");
    case Outcome::kContextOverflow:
      return blocked(
          fmt::format("the context limit is below the corpus's first prompts ({} tokens)",
                      prompt_tokens),
          "raise the limit, or import shorter sessions");
    case Outcome::kConnectError:
      return blocked("the gateway cannot be reached", "check target.url and that it is up");
    case Outcome::kHttpError:
      return blocked(fmt::format("the gateway does not answer as a chat completion API (HTTP {})",
                                 result.http_status),
                     "check target.url, target.model and the token");
    case Outcome::kDeadline:
    case Outcome::kIdleTimeout:
      return blocked("the gateway did not answer in time", "check that the engine is up");
    case Outcome::kClientError:
      return blocked("this machine could not send the call", "check its ports and descriptors");
    default:
      return blocked(fmt::format("the one call ended as {}", Name(result.outcome)),
                     "check the gateway's log");
  }
}

}  // namespace plimsoll
