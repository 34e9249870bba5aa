#include "gateway/server/gateway.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "gateway/server/chat_format.h"
#include "gateway/server/chat_request.h"
#include "gateway/server/chat_stream.h"
#include "gateway/server/engine_metrics.h"

namespace plimsoll {
namespace {

constexpr std::string_view kHtmlPage =
    "<!DOCTYPE html>\n<html><head><title>Welcome</title></head>"
    "<body><h1>It works!</h1></body></html>\n";

void SendJson(HttpResponder& responder, int status, std::string_view body) {
  responder.Send(status, {{"Content-Type", "application/json"}}, body);
}

void SendError(HttpResponder& responder, int status, std::string_view message,
               std::string_view code = "") {
  SendJson(responder, status, ErrorAnswer(message, "invalid_request_error", code));
}

}  // namespace

class Gateway::Impl {
 public:
  Impl(Scheduler& scheduler, const Clock& clock, const GatewayConfig& config,
       std::function<void()> crash)
      : scheduler_(scheduler),
        clock_(clock),
        config_(config),
        crash_(std::move(crash)),
        start_(scheduler.Now()),
        wall_start_(clock.WallNow()),
        engine_(scheduler, config.engine,
                {.path = MixKey(config.seed, 1), .calls = MixKey(config.seed, 2)}),
        metrics_(engine_.copies()) {
    ArmCrash();
  }

  void OnRequest(const HttpServerRequest& request, HttpResponder responder) {
    if (HtmlAt(config_.faults, Moment())) {
      return responder.Send(200, {{"Content-Type", "text/html; charset=utf-8"}}, kHtmlPage);
    }
    const std::string_view path = request.Path();
    const bool api = path.starts_with(config_.prefix);
    const std::string_view below = api ? path.substr(config_.prefix.size()) : "";
    const bool chat = below == "/chat/completions";
    if (!chat && below != "/models" && path != "/health" && path != "/metrics") {
      return SendError(responder, 404, fmt::format("no such path: {}", path));
    }
    if (request.method != (chat ? "POST" : "GET")) {
      return SendError(responder, 405, fmt::format("{} wants {}", path, chat ? "POST" : "GET"));
    }
    if (chat) return OnChat(request, std::move(responder));
    if (path == "/health") return responder.Send(200, {}, "");
    if (path == "/metrics") return OnMetrics(std::move(responder));
    SendJson(responder, 200,
             ModelsAnswer(config_.model, Seconds(wall_start_), config_.context_limit));
  }

  const Engine& engine() const { return engine_; }

 private:
  static std::int64_t Seconds(WallTime at) {
    return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  }

  FaultMoment Moment() const { return {scheduler_.Now() - start_, first_request_}; }

  void ArmCrash() {
    if (const auto at = CrashAt(config_.faults, first_request_)) {
      crash_timer_ = scheduler_.At(start_ + *at, [this] { crash_(); });
    }
  }

  // The fault of this chat request. Refusals and crashes are dealt with: false, it is over.
  bool PassFaults(std::uint64_t number, HttpResponder& responder, std::optional<FaultRule>* later) {
    const FaultRule* const fault = FaultFor(config_.faults, config_.seed, number, Moment());
    if (fault == nullptr) return true;
    if (fault->kind == FaultKind::kCrash) {
      crash_();
      return false;
    }
    if (fault->kind != FaultKind::kRefuse) {
      *later = *fault;
      return true;
    }
    HttpHeaders headers = {{"Content-Type", "application/json"}};
    if (fault->retry_after >= 0ns) {
      // Whole seconds, rounded up: the header knows no other.
      const auto whole = std::chrono::ceil<std::chrono::seconds>(fault->retry_after);
      headers.emplace_back("Retry-After", fmt::format("{}", whole.count()));
    }
    const bool busy = fault->status == 429;
    responder.Send(
        fault->status, headers,
        ErrorAnswer(busy ? "too many requests" : "the service is overloaded",
                    busy ? "rate_limit_error" : "server_error", busy ? "rate_limit_exceeded" : ""));
    return false;
  }

  void OnChat(const HttpServerRequest& request, HttpResponder responder) {
    if (!first_request_) {
      first_request_ = scheduler_.Now() - start_;
      ArmCrash();
    }
    const std::uint64_t number = ++requests_;
    ChatStreamOptions options;
    if (!PassFaults(number, responder, &options.fault)) return;
    const auto chat = ParseChatRequest(request.body);
    if (!chat.ok()) return SendError(responder, 400, MessageOf(chat.status()));
    if (chat->model != config_.model) {
      return SendError(responder, 404, fmt::format("The model '{}' does not exist.", chat->model),
                       "model_not_found");
    }
    if (chat->has_switches && config_.output_switches == OutputSwitches::kReject) {
      return SendError(responder, 400, "Unrecognized request arguments: min_tokens, ignore_eos",
                       "unknown_parameter");
    }
    const std::uint32_t prompt = PromptTokens(*chat);
    const std::uint32_t output = OutputOf(*chat, prompt, number);
    const std::uint64_t asked = std::uint64_t{prompt} + chat->max_tokens.value_or(output);
    if (asked > config_.context_limit || !engine_.Fits(prompt, output)) {
      return SendError(
          responder, 400,
          fmt::format("This model's maximum context length is {} tokens. However, you requested {} "
                      "tokens ({} in the messages, {} in the completion).",
                      Limit(), asked, prompt, asked - prompt),
          "context_length_exceeded");
    }
    options.head = {fmt::format("chatcmpl-{:016x}", MixKey(config_.seed, 3, number)), config_.model,
                    Seconds(clock_.WallNow())};
    options.stream = chat->stream;
    options.include_usage = chat->include_usage;
    options.length_limited = chat->max_tokens && output == *chat->max_tokens;
    options.tool_call = chat->has_tools &&
                        Rng(MixKey(config_.seed, 5, number)).Chance(config_.tool_call_probability);
    options.tool_call_cut = options.tool_call && options.length_limited && !Forces(*chat);
    options.prompt_tokens = prompt;
    options.output_tokens = output;
    Begin(number, SessionKey(request, *chat), *chat, std::move(options), std::move(responder));
  }

  void Begin(std::uint64_t number, std::uint64_t session, const ChatRequest& chat,
             ChatStreamOptions options, HttpResponder responder) {
    const EngineRequest call{.blocks = chat.prompt.blocks(),
                             .prompt_tokens = options.prompt_tokens,
                             .output_tokens = options.output_tokens,
                             .session_key = session,
                             .call_key = number};
    auto stream = std::make_unique<ChatStream>(
        scheduler_, engine_, metrics_[engine_.CopyOf(session)], std::move(responder),
        std::move(options), [this, number] { streams_.erase(number); });
    ChatStream& begun = *stream;
    streams_.emplace(number, std::move(stream));
    begun.Submit(call);
  }

  // With what the chat template adds.
  std::uint32_t PromptTokens(const ChatRequest& chat) const {
    const double tokens =
        config_.template_request_tokens +
        static_cast<double>(config_.template_message_tokens) * chat.messages +
        std::round(config_.tokens_per_word * static_cast<double>(chat.prompt.tokens()));
    return static_cast<std::uint32_t>(std::min(tokens, 4e9));
  }

  bool Forces(const ChatRequest& chat) const {
    return config_.output_switches == OutputSwitches::kHonour &&
           ((chat.ignore_eos && chat.max_tokens) || chat.min_tokens > 0);
  }

  // Where an answer ends by itself: at its natural length, or a token earlier by chance.
  std::uint32_t NaturalLength(std::uint64_t number) const {
    const double p = config_.stop_probability;
    if (p <= 0) return config_.output_natural;
    const double u = Rng(MixKey(config_.seed, 4, number)).Uniform();
    const double length = 1 + std::floor(std::log1p(-u) / std::log1p(-p));
    return static_cast<std::uint32_t>(std::min<double>(config_.output_natural, length));
  }

  // ignore_eos and min_tokens force a length; otherwise the answer ends by itself.
  std::uint32_t OutputOf(const ChatRequest& chat, std::uint32_t prompt,
                         std::uint64_t number) const {
    const std::uint32_t room = config_.context_limit > prompt ? config_.context_limit - prompt : 1;
    const std::uint32_t most = chat.max_tokens.value_or(room);
    const std::uint32_t natural = std::max(1u, std::min(most, NaturalLength(number)));
    if (!Forces(chat)) return natural;
    return chat.ignore_eos && chat.max_tokens ? most : std::max(chat.min_tokens, natural);
  }

  std::uint64_t Limit() const {
    return std::min<std::uint64_t>(config_.context_limit,
                                   std::uint64_t{config_.engine.kv_blocks} * limits::kBlockTokens);
  }

  static std::uint64_t SessionKey(const HttpServerRequest& request, const ChatRequest& chat) {
    const std::string_view id = request.Header("x-session-id");
    return id.empty() ? chat.first_user_hash : HashBytes(id);
  }

  void OnMetrics(HttpResponder responder) {
    std::vector<EngineGauges> gauges;
    for (std::uint32_t i = 0; i < engine_.copies(); ++i) gauges.push_back(engine_.CopyGauges(i));
    responder.Send(200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                   FormatMetrics({.model = config_.model,
                                  .started = wall_start_,
                                  .copies = metrics_,
                                  .gauges = gauges,
                                  .kv_blocks = config_.engine.kv_blocks,
                                  .prefix_cache = config_.engine.prefix_cache}));
  }

  Scheduler& scheduler_;
  const Clock& clock_;
  const GatewayConfig config_;
  const std::function<void()> crash_;
  const MonoTime start_;
  const WallTime wall_start_;
  std::optional<Duration> first_request_;
  std::uint64_t requests_ = 0;
  Engine engine_;
  std::vector<CopyMetrics> metrics_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ChatStream>> streams_;  // By request number.
  Timer crash_timer_;
};

Gateway::Gateway(Scheduler& scheduler, const Clock& clock, const GatewayConfig& config,
                 std::function<void()> crash)
    : impl_(std::make_unique<Impl>(scheduler, clock, config, std::move(crash))) {}

Gateway::~Gateway() = default;

void Gateway::OnRequest(const HttpServerRequest& request, HttpResponder responder) {
  impl_->OnRequest(request, std::move(responder));
}

const Engine& Gateway::engine() const {
  return impl_->engine();
}

}  // namespace plimsoll
