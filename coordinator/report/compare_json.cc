#include "coordinator/report/compare_json.h"

#include <cmath>

#include "common/json/json.h"
#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

constexpr int kSchemaVersion = 1;

Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}
Json Number(const std::optional<double>& value) {
  return value ? Number(*value) : Json();
}
Json Number(const std::optional<std::uint32_t>& value) {
  return value ? Json(*value) : Json();
}
Json Words(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json Of(const CapacityEnd& end) {
  constexpr const char* kKinds[] = {"", "below", "at", "at_least"};
  return {{"kind", kKinds[static_cast<std::size_t>(end.kind)]},
          {"sessions", Number(end.sessions)},
          {"whole_sessions", end.whole()},
          {"requests_in_flight", Number(end.requests_in_flight)},
          {"requests_in_flight_interpolated", end.interpolated}};
}

Json Of(const Capacity& capacity) {
  Json band;
  if (capacity.band) {
    band = {{"value", Of(capacity.band->value)},
            {"low_95", Of(capacity.band->low)},
            {"high_95", Of(capacity.band->high)}};
  }
  return {{"sentence", capacity.sentence},
          {"sessions", std::move(band)},
          {"last_passed_sessions", Number(capacity.passed)},
          {"first_failed_sessions", Number(capacity.failed)},
          {"limited_by", capacity.limited_by ? Json(Name(*capacity.limited_by)) : Json()}};
}

Json Of(const Cost& cost) {
  Json json = {{"nodes", {}}, {"per_node_hour", {}}, {"currency", {}}};
  if (cost.settings) {
    json["nodes"] = cost.settings->nodes;
    json["per_node_hour"] = static_cast<double>(cost.settings->micros) * 1e-6;
    json["currency"] = cost.settings->currency;
  }
  json["sessions"] = Number(cost.sessions);
  Json absent = Json::object();
  for (const auto& [name, figure] : FiguresOf(cost)) {
    json[name] = Number(figure.value);
    if (!figure.value) absent[name] = figure.why_not;
  }
  json["absent_because"] = std::move(absent);
  return json;
}

Json Of(const RankedRun& run) {
  return {{"letter", run.letter},
          {"name", run.name},
          {"id", run.id},
          {"started_at", run.started_at},
          {"target_verdict",
           {{"verdict", Name(run.verdict.verdict)},
            {"exit_code", run.verdict.exit_code},
            {"reason", run.verdict.reason},
            {"requests_in_flight_mean", Number(run.target_in_flight)}}},
          {"capacity", Of(run.capacity)},
          {"cost", Of(run.cost)},
          {"error_share", Number(run.error_share)},
          {"requests_in_flight_mean", Number(run.requests_in_flight)}};
}

Json Of(const ShareInterval& share) {
  return {{"n", share.n},
          {"value", Number(share.share)},
          {"low_95", Number(share.low)},
          {"high_95", Number(share.high)}};
}

Json Of(const StepDifference& step) {
  Json json = {{"sessions", step.sessions},
               {"first_requests_in_flight_mean", Number(step.in_flight_first)},
               {"other_requests_in_flight_mean", Number(step.in_flight_other)},
               {"part", PartKey(step.limit)},
               {"share_is_of_bad_calls", IsBadShare(step.limit.metric)},
               {"no_data_because", Words(step.why_not)},
               {"first", {}},
               {"other", {}},
               {"difference", {}},
               {"supported", false},
               {"better", {}}};
  if (!step.why_not.empty()) return json;
  const ShareDifference& d = step.share;
  json["first"] = Of(d.a);
  json["other"] = Of(d.b);
  json["difference"] = {{"value", Number(d.value)},
                        {"low_95", Number(d.low)},
                        {"high_95", Number(d.high)},
                        {"from_lanes", d.by_lane}};
  json["supported"] = d.supported();
  if (d.supported()) json["better"] = step.first_better ? "first" : "other";
  return json;
}

Json Of(const PairComparison& pair);
Json Of(const Limit& limit);

template <typename T>
Json ListOf(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(Of(value));
  return list;
}

Json Of(const PairComparison& pair) {
  return {{"first", "A"},
          {"other", pair.letter},
          {"paired", pair.paired},
          {"unpaired_because", Words(pair.why_unpaired)},
          {"steps", ListOf(pair.steps)},
          {"capacity", {{"supported", pair.capacity_supported}, {"sentence", pair.capacity}}},
          {"cost", {{"supported", pair.cost_supported}, {"sentence", pair.cost}}}};
}

Json Of(const Limit& limit) {
  Json json = {{"key", PartKey(limit)},
               {"limit", Number(limit.value)},
               {"unit", TraitsOf(limit.metric).unit}};
  if (!IsBadShare(limit.metric)) json["quantile"] = Number(limit.quantile);
  return json;
}

}  // namespace

std::string CompareJson(const Comparison& comparison) {
  const Json json = {
      {"schema_version", kSchemaVersion},
      {"target_sessions", Number(comparison.target)},
      {"bar", ListOf(comparison.bar.limits)},
      {"winner",
       {{"letter", comparison.has_winner ? Json("A") : Json()}, {"sentence", comparison.winner}}},
      {"runs", ListOf(comparison.runs)},
      {"pairs", ListOf(comparison.pairs)},
      {"warnings", comparison.warnings},
      {"notes", comparison.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll
