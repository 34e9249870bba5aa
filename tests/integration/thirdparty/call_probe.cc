// call_probe URL MODEL CALLS PARALLEL PROMPT_TOKENS MAX_TOKENS PAUSE_MS [HEADER VALUE]...
// The agent's own client against any server: one line of JSON a call, in the order of their ends.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/base/json_text.h"
#include "common/chat/http_call_transport.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "tests/fakes/call_batch.h"

namespace plimsoll {
namespace {

std::string Count(std::uint32_t tokens) {
  return tokens == kAbsentTokens ? "null" : fmt::format("{}", tokens);
}

// Instants as nanoseconds after `sent`; null: never.
std::string After(const CallResult& result, MonoTime at) {
  return at == CallResult::kNever ? "null" : fmt::format("{}", (at - result.sent).count());
}

void Print(const CallResult& r) {
  fmt::print(R"({{"outcome":"{}","status":{},"message":"{}","resends":{},"new_connection":{},)"
             R"("retry_after_ns":{},"chunks":{},"tokens_in":{},"tokens_out":{},)"
             R"("headers_ns":{},"first_token_ns":{},"last_token_ns":{},"end_ns":{}}})"
             "\n",
             Name(r.outcome), r.http_status, JsonEscaped(r.message), r.resends,
             (r.flags & kNewConnection) != 0, r.retry_after.count(), r.chunks, Count(r.tokens_in),
             Count(r.tokens_out), After(r, r.headers), After(r, r.first_token),
             After(r, r.last_token), After(r, r.end));
}

int Main(int argc, char** argv) {
  if (argc < 8) return 64;
  const auto number = [&](int i) {
    return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  };
  TargetPlan target;
  target.url = argv[1];
  target.model = argv[2];
  target.affinity_play_header = "X-Session-ID";
  target.idle_timeout = 20s;
  for (int i = 8; i + 1 < argc; i += 2) target.headers.emplace_back(argv[i], argv[i + 1]);
  EventLoop loop;
  CurlTransport http(loop);
  HttpCallTransport transport(http, loop, target, {});
  const auto results = MakeCalls(loop, transport,
                                 {.calls = number(3),
                                  .parallel = number(4),
                                  .prompt_tokens = number(5),
                                  .max_tokens = number(6),
                                  .pause = std::chrono::milliseconds(number(7))});
  for (const CallResult& result : results) Print(result);
  return results.size() == number(3) ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  return plimsoll::Main(argc, argv);
}
