#include "coordinator/report/server_json.h"

#include <cmath>
#include <optional>
#include <utility>

#include "common/json/json.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/server_words.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

Json Number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json LeanOf(Lean lean) {
  if (lean == Lean::kNone) return nullptr;
  return lean == Lean::kPass ? "pass" : "fail";
}

Json Of(const SourcePart& part, const StepVerdict& step) {
  const PartVerdict& verdict = part.verdict;
  Json json = {{"source", Name(part.source)},
               {"key", part.part < step.parts.size() ? PartKey(step.parts[part.part].limit) : ""},
               {"verdict", Name(verdict.verdict)},
               {"lean", LeanOf(verdict.lean)},
               {"reason", verdict.reason},
               {"n", verdict.n},
               {"value", Number(verdict.value)},
               {"value_low_95", Number(verdict.value_low.value)},
               {"value_high_95", Number(verdict.value_high.value)},
               {"share", Json()}};
  if (verdict.n > 0) {
    json["share"] = {{"value", Number(verdict.share_within)},
                     {"low_95", Number(verdict.share_low)},
                     {"high_95", Number(verdict.share_high)}};
  }
  return json;
}

Json Of(const NotGotSignal& missing) {
  return {{"source", Name(missing.source)},
          {"target", missing.target},
          {"signal", TraitsOf(missing.signal).key},
          {"missing", MissingWords(missing.missing)},
          {"why", missing.why}};
}

Json Of(const TargetOutcome& outcome) {
  return {{"source", Name(outcome.source)},
          {"target", outcome.target},
          {"what", ContinuityWords(outcome.continuity)},
          {"why", outcome.why}};
}

Json Of(const SourceFigure& figure) {
  return {{"source", Name(figure.source)},
          {"signal", TraitsOf(figure.signal).key},
          {"kind", KindName(TraitsOf(figure.signal).kind)},
          {"value", Number(figure.value)},
          {"max", Number(figure.max)},
          {"partial", figure.partial}};
}

Json Of(const DrainGauge& gauge) {
  return {{"source", Name(gauge.source)},
          {"target", gauge.target},
          {"signal", TraitsOf(gauge.signal).key},
          {"before", Number(gauge.before)},
          {"now", Number(gauge.now)},
          {"back", gauge.back}};
}

template <typename T>
Json ListOf(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(Of(value));
  return list;
}

}  // namespace

std::string PreflightJson(const PreflightSummary& preflight) {
  Json findings = Json::array();
  for (const Finding& finding : preflight.findings) {
    findings.push_back({{"level", Name(finding.level)}, {"text", finding.text}});
  }
  Json fit;
  if (preflight.fit) {
    fit = {{"per_request", Number(preflight.fit->per_request)},
           {"per_message", Number(preflight.fit->per_message)},
           {"per_word", Number(preflight.fit->per_word)}};
  }
  return Dump({{"findings", std::move(findings)},
               {"prompt_tokens", std::move(fit)},
               {"min_tokens_honoured", preflight.min_tokens},
               {"ignore_eos_honoured", preflight.ignore_eos}});
}

std::string ServerJson(const ServerSummary& server, const StepVerdict& step) {
  Json parts = Json::array();
  for (const SourcePart& part : server.parts) parts.push_back(Of(part, step));
  const bool ends = server.ends_sweep != SweepEvent::kNone;
  return Dump({{"judge", Name(server.mode)},
               {"parts", std::move(parts)},
               {"wanted_and_not_got", ListOf(server.not_got)},
               {"restarts", ListOf(server.outcomes)},
               {"figures", ListOf(server.figures)},
               {"findings", server.findings},
               {"ends_sweep", ends ? Json(server.ends_why) : Json()}});
}

std::string DrainJson(const DrainSummary& drain) {
  return Dump({{"state", Name(drain.state)},
               {"took_s", ToSeconds(drain.took)},
               {"orphaned_requests", Number(drain.orphaned)},
               {"gauges", ListOf(drain.gauges)},
               {"lines", drain.lines},
               {"text", Words(drain)}});
}

}  // namespace plimsoll
