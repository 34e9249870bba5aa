#include "gateway/server/gateway.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/http_date.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "gateway/faults/engine_faults.h"
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
        engine_faults_(scheduler, engine_, config.faults),
        load_matters_(std::any_of(config.faults.begin(), config.faults.end(),
                                  [](const FaultRule& rule) { return rule.in_flight_min > 0; })),
        metrics_(engine_.copies()) {
    ArmCrash();
  }

  void OnRequest(HttpServerRequest request, HttpResponder responder) {
    if (NotUp(request, responder)) return;
    if (ActiveFault(config_.faults, FaultKind::kHtml, 0, Moment()) != nullptr) {
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

  FaultMoment Moment() const { return engine_faults_.Moment(); }

  void ArmCrash() {
    if (const auto at = CrashAt(config_.faults, Moment().first_request)) {
      crash_timer_ = scheduler_.At(start_ + *at, [this] { crash_(); });
    }
  }

  // Whether the gateway is still coming up; then the request is dealt with.
  bool NotUp(HttpServerRequest& request, HttpResponder& responder) {
    const FaultRule* const rule = ActiveFault(config_.faults, FaultKind::kSlowStart, 0, Moment());
    if (rule == nullptr) return false;
    if (rule->form != FaultForm::kSilent) {
      Refuse(503, *rule, responder);
      return true;
    }
    held_.emplace_back(std::move(request), std::move(responder));
    if (held_.size() == 1 && rule->span < Duration::max() - rule->at) {
      up_timer_ = scheduler_.At(start_ + rule->at + rule->span, [this] {
        for (auto& [waiting, answer] : std::exchange(held_, {})) {
          if (answer.open()) OnRequest(std::move(waiting), std::move(answer));
        }
      });
    }
    return true;
  }

  void Refuse(int status, const FaultRule& rule, HttpResponder& responder) {
    HttpHeaders headers = {{"Content-Type", "application/json"}};
    if (rule.retry_after >= 0ns) {
      // Whole seconds, rounded up: the header knows no others.
      const auto whole = std::chrono::ceil<std::chrono::seconds>(rule.retry_after).count();
      const std::int64_t now = Seconds(clock_.WallNow());
      const bool date = rule.form == FaultForm::kDate;
      if (date) headers.emplace_back("Date", FormatHttpDate(now));
      headers.emplace_back("Retry-After",
                           date ? FormatHttpDate(now + whole) : fmt::format("{}", whole));
    }
    std::string body = ErrorAnswer("internal error", "server_error", "");
    if (status == 429) {
      body = ErrorAnswer("too many requests", "rate_limit_error", "rate_limit_exceeded");
    } else if (status == 503) {
      body = ErrorAnswer("the service is overloaded", "server_error", "");
    } else if (status < 500) {
      body = ErrorAnswer("the request is refused", "invalid_request_error", "");
    }
    responder.Send(status, headers, body);
  }

  // Asks every running request: not for each one that comes if nobody wants to know.
  std::uint32_t InFlight() const {
    const EngineGauges load = engine_.gauges();
    return load.running + load.waiting;
  }

  const FaultRule* FaultOf(std::span<const FaultKind> kinds, const FaultTarget& target) const {
    return FaultFor(config_.faults, kinds, config_.seed, target, Moment());
  }
  bool Strikes(FaultKind kind, const FaultTarget& target) const {
    return FaultOf({&kind, 1}, target) != nullptr;
  }

  // Refusals and crashes are dealt with here: false, it is over.
  bool PassGate(const FaultTarget& target, HttpResponder& responder) {
    const FaultRule* const fault = FaultOf(kGateFaults, target);
    if (fault == nullptr) return true;
    if (fault->kind == FaultKind::kCrash) {
      crash_();
    } else {
      Refuse(fault->status, *fault, responder);
    }
    return false;
  }

  void OnChat(const HttpServerRequest& request, HttpResponder responder) {
    if (!Moment().first_request) {
      engine_faults_.OnFirstRequest();
      ArmCrash();
    }
    const auto chat = ParseChatRequest(request.body);
    const std::uint64_t session = chat.ok() ? SessionKey(request, *chat) : 0;
    const FaultTarget target{.number = ++requests_,
                             .copy = engine_.CopyOf(session),
                             .in_flight = load_matters_ ? InFlight() : 0};
    if (!PassGate(target, responder)) return;
    if (!chat.ok()) return SendError(responder, 400, MessageOf(chat.status()));
    if (chat->model != config_.model) {
      return SendError(responder, 404, fmt::format("The model '{}' does not exist.", chat->model),
                       "model_not_found");
    }
    if (chat->has_switches && config_.output_switches == OutputSwitches::kReject) {
      return SendError(responder, 400, "Unrecognized request arguments: min_tokens, ignore_eos",
                       "unknown_parameter");
    }
    ChatStreamOptions options = OptionsFor(*chat, target);
    const std::uint32_t prompt = options.prompt_tokens;
    const std::uint64_t asked = chat->max_tokens.value_or(options.output_tokens);
    const FaultRule* const limit =
        ActiveFault(config_.faults, FaultKind::kContextLimit, target.copy, Moment());
    if (limit != nullptr && prompt + asked > limit->tokens) {
      return RefuseContext(limit->form, {limit->tokens, prompt, asked}, responder);
    }
    if (prompt + asked > config_.context_limit || !engine_.Fits(prompt, options.output_tokens)) {
      return RefuseContext(FaultForm::kOpenAi, {Limit(), prompt, asked}, responder);
    }
    Begin(target.number, session, *chat, std::move(options), std::move(responder));
  }

  static void RefuseContext(FaultForm form, const ContextOverflow& overflow,
                            HttpResponder& responder) {
    SendJson(responder, 400,
             form == FaultForm::kVllm       ? VllmContextError(overflow)
             : form == FaultForm::kLlamaCpp ? LlamaCppContextError(overflow)
                                            : OpenAiContextError(overflow));
  }

  ChatStreamOptions OptionsFor(const ChatRequest& chat, const FaultTarget& target) const {
    ChatStreamOptions options;
    const std::uint32_t output = OutputOf(chat, target.number);
    options.head = {fmt::format("chatcmpl-{:016x}", MixKey(config_.seed, 3, target.number)),
                    config_.model, Seconds(clock_.WallNow())};
    options.stream = chat.stream;
    options.include_usage = chat.include_usage;
    options.length_limited = chat.max_tokens && output == *chat.max_tokens;
    options.prompt_tokens = PromptTokens(chat);
    options.output_tokens = output;
    if (const FaultRule* const fault = FaultOf(kAnswerFaults, target)) options.fault = *fault;
    constexpr FaultKind kUncapped[] = {FaultKind::kUncapped};
    if (const FaultRule* const fault = FaultOf(kUncapped, target)) {
      options.output_tokens = std::max(output, std::min(fault->tokens, RoomOf(chat)));
      options.length_limited = false;
    }
    options.broken_tool_call = Strikes(FaultKind::kMalformedToolCalls, target);
    const bool calls =
        chat.has_tools &&
        Rng(MixKey(config_.seed, 5, target.number)).Chance(config_.tool_call_probability);
    options.tool_call = calls || options.broken_tool_call;
    options.tool_call_cut =
        options.tool_call && !options.broken_tool_call && options.length_limited && !Forces(chat);
    options.orphan = Strikes(FaultKind::kOrphan, target);
    options.stuck = [this, copy = target.copy] {
      return ActiveFault(config_.faults, FaultKind::kStuckQueue, copy, Moment()) != nullptr;
    };
    return options;
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
  std::uint32_t OutputOf(const ChatRequest& chat, std::uint64_t number) const {
    const std::uint32_t most = chat.max_tokens.value_or(RoomOf(chat));
    const std::uint32_t natural = std::max(1u, std::min(most, NaturalLength(number)));
    if (!Forces(chat)) return natural;
    return chat.ignore_eos && chat.max_tokens ? most : std::max(chat.min_tokens, natural);
  }

  std::uint32_t RoomOf(const ChatRequest& chat) const {
    const std::uint32_t prompt = PromptTokens(chat);
    return config_.context_limit > prompt ? config_.context_limit - prompt : 1;
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
  std::uint64_t requests_ = 0;
  Engine engine_;
  EngineFaults engine_faults_;
  const bool load_matters_;
  std::vector<CopyMetrics> metrics_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ChatStream>> streams_;  // By request number.
  std::vector<std::pair<HttpServerRequest, HttpResponder>> held_;  // Until the gateway is up.
  Timer crash_timer_;
  Timer up_timer_;
};

Gateway::Gateway(Scheduler& scheduler, const Clock& clock, const GatewayConfig& config,
                 std::function<void()> crash)
    : impl_(std::make_unique<Impl>(scheduler, clock, config, std::move(crash))) {}

Gateway::~Gateway() = default;

void Gateway::OnRequest(HttpServerRequest request, HttpResponder responder) {
  impl_->OnRequest(std::move(request), std::move(responder));
}

const Engine& Gateway::engine() const {
  return impl_->engine();
}

}  // namespace plimsoll
