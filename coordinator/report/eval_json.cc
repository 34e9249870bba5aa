#include "coordinator/report/eval_json.h"

#include <cmath>

#include "common/json/json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

Json Number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json Of(const FaultyAnswers& faults) {
  Json json = Json::object();
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) {
    json[std::string(Name(static_cast<ToolFault>(kind)))] = faults.by_kind[kind];
  }
  return json;
}

Json Of(const EvalCounts& counts) {
  Json outcomes = Json::object();
  for (std::size_t o = 1; o < kEvalOutcomes; ++o) {
    outcomes[std::string(Name(static_cast<EvalOutcome>(o)))] = counts.by_outcome[o];
  }
  return {{"asked", Asked(counts)},
          {"n", counts.judged()},
          {"pass_share", Number(PassRate(counts))},
          {"outcomes", std::move(outcomes)}};
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string EvalsJson(const std::optional<EvalSummary>& evals) {
  if (!evals) return "null";
  Json kinds = Json::array();
  for (const EvalKindSummary& kind : evals->kinds) {
    kinds.push_back(
        {{"kind", kind.kind}, {"loaded", Of(kind.loaded)}, {"unloaded", Of(kind.unloaded)}});
  }
  Json json = {{"verdict", Name(evals->verdict)},
               {"lean", evals->lean == Lean::kNone   ? Json()
                        : evals->lean == Lean::kPass ? Json("pass")
                                                     : Json("fail")},
               {"reason", evals->reason},
               {"loaded", Of(evals->loaded)},
               {"unloaded", Of(evals->unloaded)},
               {"design_effect", Number(evals->design_effect)},
               {"pass_share_low_95", Json()},
               {"pass_share_high_95", Json()},
               {"change_low_95", Json()},
               {"change_high_95", Json()},
               {"tool_call_faults", Of(evals->faults)},
               {"tool_call_faults_unloaded", Of(evals->faults_unloaded)},
               {"kinds", std::move(kinds)}};
  if (evals->loaded.judged() > 0) {
    json["pass_share_low_95"] = Number(evals->interval.low);
    json["pass_share_high_95"] = Number(evals->interval.high);
  }
  if (evals->change) {
    json["change_low_95"] = Number(evals->change->low);
    json["change_high_95"] = Number(evals->change->high);
  }
  return Text(json);
}

std::string EvalBarJson(const EvalBar& bar) {
  if (!bar.asks()) return "null";
  return Text({{"pass_share", Number(bar.pass_rate)}, {"drop_share", Number(bar.drop)}});
}

std::string FaultsJson(const FaultyAnswers& faults) {
  return Text(Of(faults));
}

}  // namespace plimsoll
