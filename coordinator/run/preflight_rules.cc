#include "coordinator/run/preflight_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "coordinator/run/unreachable_words.h"

namespace plimsoll {
namespace {

// Of an answer that may come better a second time; asking again after the others would only hammer
// or wait as long once more.
bool MayTryAgain(Outcome outcome) {
  return outcome == Outcome::kStreamError || outcome == Outcome::kTruncated ||
         outcome == Outcome::kEmpty;
}

bool IsRejection(const CallResult& result) {
  return result.outcome == Outcome::kHttpError &&
         (result.http_status == 400 || result.http_status == 404 || result.http_status == 422);
}

constexpr std::uint32_t kTokensForRate = 8;

bool Known(std::uint32_t tokens) {
  return tokens != kAbsentTokens;
}

std::string ListOf(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    list += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) list += fmt::format(" and {} more", names.size() - kShown);
  return list;
}

std::string DetailOf(const CallResult& result) {
  return result.message.empty() ? std::string(Name(result.outcome)) : result.message;
}

}  // namespace

PreflightRules::PreflightRules(PreflightSetup setup) : setup_(std::move(setup)) {
  todo_ = {ProbeKind::kModels, ProbeKind::kFirstPrompt, ProbeKind::kCap};
  if (setup_.output_mode != OutputMode::kFree) todo_.push_back(ProbeKind::kSwitches);
  todo_.push_back(ProbeKind::kLong);
  todo_.push_back(ProbeKind::kMany);
}

std::optional<Probe> PreflightRules::Next() const {
  if (todo_.empty()) return std::nullopt;
  Probe probe{.kind = todo_.front()};
  // As the load's prompts: a system message if they have one, then turns that end with the user's.
  const auto messages = [&](std::uint32_t turns) {
    return (setup_.system_first ? 1u : 0u) + 2 * turns - 1;
  };
  switch (probe.kind) {
    case ProbeKind::kModels:
    case ProbeKind::kFirstPrompt:
      break;
    case ProbeKind::kCap:
      probe.words = 128;
      probe.messages = messages(1);
      probe.max_tokens = kOutputTried;
      break;
    case ProbeKind::kSwitches:
    case ProbeKind::kMinTokens:
    case ProbeKind::kIgnoreEos:
      probe.words = 192;
      probe.messages = messages(2);
      probe.max_tokens = kOutputTried;
      probe.min_tokens = probe.kind != ProbeKind::kIgnoreEos;
      probe.ignore_eos = probe.kind != ProbeKind::kMinTokens;
      break;
    case ProbeKind::kLong:
      // No longer than the load's own, which the context holds.
      probe.words = std::clamp(setup_.first_tokens, 256u, 2048u);
      probe.messages = messages(1);
      break;
    case ProbeKind::kMany:
      probe.words = 256;
      probe.messages = messages(6);
      break;
  }
  return probe;
}

void PreflightRules::Say(FindingLevel level, std::string text) {
  report_.summary.findings.push_back({level, std::move(text)});
}

void PreflightRules::Block(std::string_view what, const std::string& detail,
                           std::string_view to_do) {
  todo_.clear();
  std::string text = fmt::format("{}{}{}; {}", what, detail.empty() ? "" : ": ", detail, to_do);
  report_.status = absl::FailedPreconditionError(text);
  Say(FindingLevel::kBlocking, std::move(text));
}

void PreflightRules::OnModels(const ModelsAnswer& answer) {
  todo_.pop_front();
  switch (answer.kind) {
    case ModelsAnswer::Kind::kUnreachable:
      return Block(UnreachableWords(answer.tls).what, answer.message,
                   UnreachableWords(answer.tls).to_do);
    case ModelsAnswer::Kind::kNoList:
      return Say(FindingLevel::kWarning,
                 fmt::format("models: the gateway lists none ({}), so the name was only tried",
                             answer.message));
    case ModelsAnswer::Kind::kListed:
      models_ = answer.ids;
      if (std::find(models_.begin(), models_.end(), setup_.model) != models_.end()) {
        Say(FindingLevel::kOk, fmt::format("model: '{}' is served", setup_.model));
      }
  }
}

void PreflightRules::OnCall(const CallResult& result) {
  const Probe probe = *Next();
  if (MayTryAgain(result.outcome) && !std::exchange(again_, true)) return;
  again_ = false;
  todo_.pop_front();
  const bool ok = result.outcome == Outcome::kOk;
  if (ok && Known(result.tokens_in)) {
    const bool first = probe.kind == ProbeKind::kFirstPrompt;
    points_.push_back({.words = first ? setup_.first_tokens : probe.words,
                       .messages = first ? setup_.first_messages : probe.messages,
                       .tokens = result.tokens_in});
  }
  if (ok && Known(result.tokens_out) && result.tokens_out >= kTokensForRate &&
      result.last_token > result.first_token) {
    report_.tokens_per_s =
        (result.tokens_out - 1) / ToSeconds(result.last_token - result.first_token);
  }
  switch (probe.kind) {
    case ProbeKind::kModels:
      break;
    case ProbeKind::kFirstPrompt:
      OnFirstPrompt(result);
      break;
    case ProbeKind::kCap:
      OnCap(result);
      break;
    case ProbeKind::kSwitches:
      OnSwitches(result);
      break;
    case ProbeKind::kMinTokens:
    case ProbeKind::kIgnoreEos:
      OnOneSwitch(result, probe.kind == ProbeKind::kMinTokens);
      break;
    case ProbeKind::kLong:
    case ProbeKind::kMany:
      if (ok) break;
      Say(FindingLevel::kWarning, fmt::format("calibration: a call of {} words failed ({})",
                                              probe.words, DetailOf(result)));
      break;
  }
  if (todo_.empty() && report_.status.ok()) Calibrate();
}

void PreflightRules::OnFirstPrompt(const CallResult& result) {
  if (result.outcome != Outcome::kOk) return BlockBy(result);
  if (!models_.empty() &&
      std::find(models_.begin(), models_.end(), setup_.model) == models_.end()) {
    Say(FindingLevel::kWarning,
        fmt::format("model: '{}' answers, but the gateway lists only {}; check target.model",
                    setup_.model, ListOf(models_)));
  }
  if (!Known(result.tokens_out)) {
    return Block("the gateway reports no usage", "",
                 "interactivity needs it: enable stream_options.include_usage");
  }
  if (!Known(result.tokens_in)) {
    return Say(FindingLevel::kWarning,
               "usage: prompt_tokens are not reported, so prompt lengths cannot be compared");
  }
  Say(FindingLevel::kOk,
      fmt::format("usage: the load's longest first prompt has {} tokens, {}", result.tokens_in,
                  Known(result.tokens_cached) ? "cached tokens are reported"
                                              : "cached tokens are not reported"));
}

void PreflightRules::BlockByHttp(const CallResult& result, const std::string& detail) {
  const bool listed =
      models_.empty() || std::find(models_.begin(), models_.end(), setup_.model) != models_.end();
  if (!listed) {
    return Block(fmt::format("the model '{}' is not served here (HTTP {})", setup_.model,
                             result.http_status),
                 "", fmt::format("served: {}; set target.model to one of them", ListOf(models_)));
  }
  if (result.http_status == 401 || result.http_status == 403) {
    return Block(fmt::format("the gateway lets nobody in (HTTP {})", result.http_status), detail,
                 "check the token in the variable that target.auth.bearer_env names");
  }
  const bool extras = result.http_status == 400 || result.http_status == 422;
  Block(fmt::format("the gateway does not answer as a chat completion API (HTTP {})",
                    result.http_status),
        detail,
        extras ? "check target.url, target.model, target.extra_body and target.tools"
               : "check target.url, target.model and the token");
}

void PreflightRules::BlockBy(const CallResult& result) {
  const std::string& detail = result.message;
  switch (result.outcome) {
    case Outcome::kRefused:
      return Block(fmt::format("the gateway refuses calls (HTTP {})", result.http_status), detail,
                   "wait until it has room, or raise its limit");
    case Outcome::kContextOverflow:
      return Block(fmt::format("the context limit is below the corpus's first prompts ({} tokens)",
                               setup_.first_tokens),
                   detail, "raise the limit, or import shorter sessions");
    case Outcome::kConnectError:
      return Block("the gateway cannot be reached", detail, "check target.url and that it is up");
    case Outcome::kHttpError:
      return BlockByHttp(result, detail);
    case Outcome::kDeadline:
    case Outcome::kIdleTimeout:
      return Block("the gateway did not answer in time", detail, "check that the engine is up");
    case Outcome::kClientError:
      return Block("this machine could not send the call", detail,
                   "check its ports and descriptors");
    default:
      return Block(fmt::format("a call ended as {}", Name(result.outcome)), detail,
                   "check the gateway's log");
  }
}

void PreflightRules::OnCap(const CallResult& result) {
  if (result.outcome != Outcome::kOk) return BlockBy(result);
  natural_ = result.tokens_out;
  JudgeStreaming(result);
  if (report_.status.ok()) JudgeCap(result);
}

void PreflightRules::JudgeStreaming(const CallResult& result) {
  if (!result.streamed) {
    return Block("the gateway answers in one piece, not as an event stream", "",
                 "TTFT and interactivity need its \"stream\": true");
  }
  const std::uint32_t tokens = Known(result.tokens_out) ? result.tokens_out : 0;
  if (result.chunks == 0 && tokens > 0) {
    return Say(FindingLevel::kWarning,
               fmt::format("streaming: none of {} tokens was streamed: the gateway hides its "
                           "reasoning, so TTFT counts from the first token after it",
                           tokens));
  }
  if (tokens >= 8 && (result.chunks == 1 || result.first_token == result.last_token)) {
    return Say(FindingLevel::kWarning,
               fmt::format("streaming: all {} tokens came at once; something on the way buffers "
                           "the stream, switch that off (nginx: proxy_buffering off)",
                           tokens));
  }
  Say(FindingLevel::kOk, fmt::format("streaming: {} tokens in {} chunks", tokens, result.chunks));
}

void PreflightRules::JudgeCap(const CallResult& result) {
  if (!Known(result.tokens_out)) return;
  if (result.tokens_out <= kOutputTried) {
    return Say(FindingLevel::kOk, fmt::format("cap: at most {} tokens were asked for, {} came",
                                              kOutputTried, result.tokens_out));
  }
  const std::string text =
      fmt::format("at most {} tokens were asked for, {} came", kOutputTried, result.tokens_out);
  if (result.tokens_out > kOutputTried + kOutputTried / 10) {
    return Block("the gateway does not honour max_tokens", text,
                 "answers without a cap make every call another one: make it pass the field on");
  }
  Say(FindingLevel::kWarning, fmt::format("cap: {}; its count is not the engine's", text));
}

void PreflightRules::OnSwitches(const CallResult& result) {
  if (IsRejection(result)) {
    switch_words_ = fmt::format("HTTP {}", result.http_status);
    todo_.push_front(ProbeKind::kIgnoreEos);
    todo_.push_front(ProbeKind::kMinTokens);
    return;
  }
  if (result.outcome != Outcome::kOk || !Known(result.tokens_out)) {
    return Say(FindingLevel::kWarning,
               fmt::format("output length: min_tokens and ignore_eos could not be tried ({}), so "
                           "answers end where the model ends them",
                           DetailOf(result)));
  }
  if (result.tokens_out < kOutputTried) {
    return Say(FindingLevel::kWarning,
               fmt::format("output length: min_tokens and ignore_eos are accepted and not honoured "
                           "({} tokens of {}), so answers end where the model ends them",
                           result.tokens_out, kOutputTried));
  }
  report_.summary.min_tokens = report_.summary.ignore_eos = true;
  const bool proven = Known(natural_) && natural_ < kOutputTried;
  Say(FindingLevel::kOk,
      proven ? fmt::format("output length: min_tokens and ignore_eos are honoured ({} tokens of "
                           "{}, {} without them)",
                           result.tokens_out, kOutputTried, natural_)
             : fmt::format("output length: min_tokens and ignore_eos are accepted; answers of {} "
                           "tokens come without them too, so whether they are honoured is seen in "
                           "the steps",
                           kOutputTried));
}

void PreflightRules::OnOneSwitch(const CallResult& result, bool min_tokens) {
  const bool honoured = result.outcome == Outcome::kOk && Known(result.tokens_out) &&
                        result.tokens_out >= kOutputTried;
  (min_tokens ? report_.summary.min_tokens : report_.summary.ignore_eos) = honoured;
  if (min_tokens) return;
  const PreflightSummary& found = report_.summary;
  if (found.min_tokens || found.ignore_eos) {
    const bool both = found.min_tokens && found.ignore_eos;
    return Say(FindingLevel::kOk,
               fmt::format("output length: {} alone is honoured; together they are rejected ({})",
                           both               ? "each"
                           : found.min_tokens ? "min_tokens"
                                              : "ignore_eos",
                           switch_words_));
  }
  Say(FindingLevel::kWarning,
      fmt::format("output length: min_tokens and ignore_eos are rejected ({}), so answers end "
                  "where the model ends them",
                  switch_words_));
}

void PreflightRules::Calibrate() {
  const auto fit = FitTemplate(points_);
  if (!fit) {
    return Say(FindingLevel::kWarning,
               "calibration: usage tells too little of prompt lengths; they are compared as "
               "recorded");
  }
  const double off = WorstShareOff(*fit, points_);
  const std::string words =
      fmt::format("calibration: a word is {:.2f} tokens, a request costs {:.0f} + {:.0f} a message",
                  fit->per_word, fit->per_request, fit->per_message);
  if (!(fit->per_word > 0.5 && fit->per_word < 4) || off > 5 * kOffMax) {
    return Say(FindingLevel::kWarning,
               fmt::format("{}, off by up to {:.1f}%: what usage says does not follow the prompt's "
                           "length, so lengths are compared as recorded",
                           words, off * 100));
  }
  report_.summary.fit = fit;
  if (std::abs(fit->per_word - 1) > kOffMax) {
    return Say(
        FindingLevel::kWarning,
        fmt::format("{}: prompts are {:+.0f}% as long as recorded to this model's tokenizer, "
                    "and the load so much {}",
                    words, (fit->per_word - 1) * 100, fit->per_word > 1 ? "heavier" : "lighter"));
  }
  Say(off > kOffMax ? FindingLevel::kWarning : FindingLevel::kOk,
      fmt::format("{} ({} calls, off by up to {:.1f}%)", words, points_.size(), off * 100));
}

PreflightReport PreflightRules::Report() {
  return std::move(report_);
}

}  // namespace plimsoll
