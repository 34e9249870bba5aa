#include "gateway/server/gateway.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/http_date.h"
#include "common/base/rng.h"
#include "gateway/faults/copy_outages.h"
#include "gateway/faults/engine_faults.h"
#include "gateway/metrics/call_meter.h"
#include "gateway/server/answer_maker.h"
#include "gateway/server/chat_format.h"
#include "gateway/server/chat_request.h"
#include "gateway/server/chat_stream.h"
#include "gateway/server/metrics_desk.h"

namespace plimsoll {
namespace {

constexpr std::string_view kHtmlPage =
    "<!DOCTYPE html>\n<html><head><title>Welcome</title></head>"
    "<body><h1>It works!</h1></body></html>\n";

void SendJson(HttpResponder& responder, int status, std::string_view body) {
  responder.Send(status, {{"Content-Type", "application/json"}}, body);
}

// Statuses after which a gateway asks another copy.
bool Retriable(int status) {
  return status == 429 || status >= 500;
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
        maker_(config_),
        outages_(engine_.copies()),
        desk_(scheduler, clock, config_, engine_, [this] {
          for (auto& [number, stream] : streams_) stream->Sync();
        }) {
    ArmCrash();
    FollowFaults();
  }

  void OnRequest(HttpServerRequest request, HttpResponder responder) {
    if (NotUp(request, responder)) return;
    const std::string_view path = request.Path();
    const bool desk = MetricsDesk::Serves(path);
    const bool internal = desk || path == "/health";
    if (ActiveFault(config_.faults, FaultKind::kHtml, 0, Moment()) != nullptr) {
      if (!internal) NewCall().Answer(200, Now());
      return responder.Send(200, {{"Content-Type", "text/html; charset=utf-8"}}, kHtmlPage);
    }
    const std::string_view below =
        path.starts_with(config_.prefix) ? path.substr(config_.prefix.size()) : "";
    const bool chat = below == "/chat/completions";
    if (!chat && below != "/models" && !internal) {
      return Reject(NewCall(), responder, 404, fmt::format("no such path: {}", path));
    }
    if (request.method != (chat ? "POST" : "GET")) {
      const std::string what = fmt::format("{} wants {}", path, chat ? "POST" : "GET");
      if (internal) return SendJson(responder, 405, ErrorAnswer(what, "invalid_request_error", ""));
      return Reject(NewCall(), responder, 405, what);
    }
    if (chat) return OnChat(request, std::move(responder));
    if (desk) return desk_.OnRequest(request, std::move(responder), Moment(), outages_);
    if (internal) return responder.Send(200, {}, "");
    NewCall().Answer(200, Now());
    SendJson(responder, 200,
             ModelsAnswer(config_.model, Seconds(wall_start_), config_.context_limit));
  }

  const Engine& engine() const { return engine_; }

 private:
  static std::int64_t Seconds(WallTime at) {
    return std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  }

  FaultMoment Moment() const { return engine_faults_.Moment(); }
  MonoTime Now() const { return scheduler_.Now(); }
  CallMeter NewCall() { return {desk_.gateway(), desk_.start(), Now()}; }

  // Brings what faults do by themselves up to date, now and whenever one begins or ends.
  void FollowFaults() {
    const FaultMoment moment = Moment();
    for (const std::uint32_t copy : outages_.Follow(config_.faults, moment)) {
      if (outages_.Down(copy)) {
        Fell(copy);
      } else {
        desk_.Restart(copy);
      }
    }
    desk_.Follow(moment);
    std::optional<Duration> next = NextChange(config_.faults, moment);
    if (const auto back = outages_.NextReturn(moment)) next = std::min(next.value_or(*back), *back);
    fault_timer_ = next ? scheduler_.At(start_ + *next, [this] { FollowFaults(); }) : Timer();
  }

  // What the copy was doing is lost, its cache included.
  void Fell(std::uint32_t copy) {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, stream] : streams_) {
      if (stream->copy() == copy) numbers.push_back(number);
    }
    for (const std::uint64_t number : numbers) streams_.at(number)->Fail();
    engine_.DropCache(copy);
  }

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
      const std::string_view path = request.Path();
      if (!MetricsDesk::Serves(path) && path != "/health") NewCall().Answer(503, Now());
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

  // An error without an engine's part in it.
  void Reject(CallMeter meter, HttpResponder& responder, int status, std::string_view message) {
    meter.Answer(status, Now());
    SendJson(responder, status, ErrorAnswer(message, "invalid_request_error", ""));
  }

  // Refusals by the gateway and crashes are dealt with here: false, it is over.
  bool PassGate(const FaultTarget& target, CallMeter& meter, HttpResponder& responder) {
    const FaultRule* const fault = FaultOf(kGatewayFaults, target);
    if (fault == nullptr) return true;
    if (fault->kind == FaultKind::kRefuse) {
      meter.Answer(fault->status, Now());
      Refuse(fault->status, *fault, responder);
      return false;
    }
    if (!OfCopies(*fault)) {
      crash_();
      return false;
    }
    if (ByChance(*fault)) {
      outages_.Strike(*fault, Moment());
      FollowFaults();
    }
    return true;
  }

  // The copy that takes the request, the next one where one refuses and retries are left; absent:
  // the caller has been refused.
  std::optional<std::uint32_t> Route(const FaultTarget& first, CallMeter& meter,
                                     HttpResponder& responder) {
    FaultTarget target = first;
    for (std::uint32_t attempt = 0;; ++attempt) {
      const bool down = outages_.Down(target.copy);
      meter.Forward(down ? nullptr : &desk_.copy(target.copy).counts(), Now());
      constexpr FaultKind kRefusals[] = {FaultKind::kEngineRefuse};
      const FaultRule* const fault = down ? nullptr : FaultOf(kRefusals, target);
      if (!down && fault == nullptr) return target.copy;
      const int status = down ? 503 : fault->status;
      if (down) {
        meter.EngineIsGone(Now());
      } else {
        meter.EngineSays(status, Now());
      }
      if (attempt == config_.retries || !Retriable(status)) {
        meter.Answer(status, Now());
        Refuse(status, down ? FaultRule{} : *fault, responder);
        return std::nullopt;
      }
      meter.Retry();
      target.number = MixKey(first.number, attempt + 1);
      target.copy = (first.copy + attempt + 1) % engine_.copies();
    }
  }

  void OnChat(const HttpServerRequest& request, HttpResponder responder) {
    if (!Moment().first_request) {
      engine_faults_.OnFirstRequest();
      ArmCrash();
      FollowFaults();
    }
    CallMeter meter = NewCall();
    const auto chat = ParseChatRequest(request.body);
    const std::uint64_t session = chat.ok() ? SessionKey(request, *chat) : 0;
    FaultTarget target{.number = ++requests_,
                       .copy = engine_.CopyOf(session),
                       .in_flight = load_matters_ ? InFlight() : 0};
    if (!PassGate(target, meter, responder)) return;
    const auto copy = Route(target, meter, responder);
    if (!copy) return;
    target.copy = *copy;
    if (!chat.ok()) return Invalid(meter, responder, 400, MessageOf(chat.status()));
    if (chat->model != config_.model) {
      return Invalid(meter, responder, 404,
                     fmt::format("The model '{}' does not exist.", chat->model), "model_not_found");
    }
    if (chat->has_switches && config_.output_switches == OutputSwitches::kReject) {
      return Invalid(meter, responder, 400,
                     "Unrecognized request arguments: min_tokens, ignore_eos", "unknown_parameter");
    }
    ChatStreamOptions options = maker_.Make(*chat, target, Moment(), clock_.WallNow());
    const std::uint32_t prompt = options.prompt_tokens;
    const std::uint64_t asked = chat->max_tokens.value_or(options.output_tokens);
    const FaultRule* const limit =
        ActiveFault(config_.faults, FaultKind::kContextLimit, target.copy, Moment());
    if (limit != nullptr && prompt + asked > limit->tokens) {
      return RefuseContext(limit->form, {limit->tokens, prompt, asked}, meter, responder);
    }
    if (prompt + asked > config_.context_limit || !engine_.Fits(prompt, options.output_tokens)) {
      return RefuseContext(FaultForm::kOpenAi, {maker_.Limit(), prompt, asked}, meter, responder);
    }
    options.stuck = [this, copy] { return Active(FaultKind::kStuckQueue, *copy); };
    options.frozen = [this, copy] { return Active(FaultKind::kGaugesFrozen, *copy); };
    Begin(target, session, *chat, std::move(options), meter, std::move(responder));
  }

  bool Active(FaultKind kind, std::uint32_t copy) const {
    return ActiveFault(config_.faults, kind, copy, Moment()) != nullptr;
  }

  // The engine does not take the request.
  void Invalid(CallMeter& meter, HttpResponder& responder, int status, std::string_view message,
               std::string_view code = "") {
    meter.EngineSays(status, Now());
    meter.Answer(status, Now());
    SendJson(responder, status, ErrorAnswer(message, "invalid_request_error", code));
  }

  void RefuseContext(FaultForm form, const ContextOverflow& overflow, CallMeter& meter,
                     HttpResponder& responder) {
    meter.EngineSays(400, Now());
    meter.Answer(400, Now());
    SendJson(responder, 400,
             form == FaultForm::kVllm       ? VllmContextError(overflow)
             : form == FaultForm::kLlamaCpp ? LlamaCppContextError(overflow)
                                            : OpenAiContextError(overflow));
  }

  void Begin(const FaultTarget& target, std::uint64_t session, const ChatRequest& chat,
             ChatStreamOptions options, const CallMeter& meter, HttpResponder responder) {
    const std::uint64_t number = target.number;
    const EngineRequest call{.blocks = chat.prompt.blocks(),
                             .prompt_tokens = options.prompt_tokens,
                             .output_tokens = options.output_tokens,
                             .session_key = session,
                             .copy = target.copy,
                             .call_key = number};
    auto stream = std::make_unique<ChatStream>(
        scheduler_, engine_, target.copy, desk_.copy(target.copy), meter, std::move(responder),
        std::move(options), [this, number] { streams_.erase(number); });
    ChatStream& begun = *stream;
    streams_.emplace(number, std::move(stream));
    begun.Submit(call);
  }

  static std::uint64_t SessionKey(const HttpServerRequest& request, const ChatRequest& chat) {
    const std::string_view id = request.Header("x-session-id");
    return id.empty() ? chat.first_user_hash : HashBytes(id);
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
  const AnswerMaker maker_;
  CopyOutages outages_;
  MetricsDesk desk_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ChatStream>> streams_;  // By request number.
  std::vector<std::pair<HttpServerRequest, HttpResponder>> held_;  // Until the gateway is up.
  Timer crash_timer_;
  Timer fault_timer_;
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
