#include "coordinator/scenario/evals_reader.h"

#include <string>

#include "common/config/quantities.h"
#include "common/evals/eval_schedule.h"
#include "common/plan/plan.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::string_view kOursOnly = "basic";
constexpr Duration kMiniRunMax = 1h;

std::string Resolved(std::string_view folder, const std::string& path) {
  if (folder.empty() || path.starts_with('/')) return path;
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", path);
}

// A set of ours by its name; what looks like a path is a file.
void TakeSet(FieldReader& fields, std::string_view folder, EvalsSpec& evals) {
  const std::optional<std::string> set = fields.Text("set");
  if (!set) return;
  if (*set == kOursOnly) {
    evals.builtin = *set;
  } else if (set->find('/') != std::string::npos || set->find('.') != std::string::npos) {
    evals.builtin.clear();
    evals.file = Resolved(folder, *set);
  } else {
    fields.Problem("set", fmt::format("is \"{}\", which is no set of ours ({}) and no file; write "
                                      "e.g. basic, or evals/mine.jsonl",
                                      *set, kOursOnly));
  }
}

void TakeTime(FieldReader& fields, std::string_view key, Duration most, Duration& into) {
  const std::optional<Duration> time = fields.Time(key);
  if (!time) return;
  if (*time <= Duration{0} || *time > most) {
    fields.Problem(key, fmt::format("is {}, it must be above zero and at most {}",
                                    PrintDuration(*time), PrintDuration(most)));
    return;
  }
  into = *time;
}

}  // namespace

void ReadEvals(FieldReader& top, std::string_view folder, std::optional<EvalsSpec>& evals) {
  std::optional<FieldReader> fields = top.Map("evals");
  if (!fields) return;
  EvalsSpec spec;
  TakeSet(*fields, folder, spec);
  if (const std::optional<double> share = fields->Share("share")) {
    if (CheckEvalShare(*share).ok()) {
      spec.share = *share;
    } else {
      fields->Problem("share", fmt::format("is {}, evals are {} to {} of all requests, write e.g. "
                                           "10%",
                                           PrintShare(*share), PrintShare(kEvalShareMin),
                                           PrintShare(kEvalShareMax)));
    }
  }
  if (const auto repeats = fields->Count("repeats", 1, kEvalRepeatsMax)) {
    spec.repeats = static_cast<std::uint32_t>(*repeats);
  }
  TakeTime(*fields, "deadline", kEvalDeadlineMax, spec.deadline);
  TakeTime(*fields, "mini_run_limit", kMiniRunMax, spec.mini_run_limit);
  fields->Finish();
  evals = spec;
}

void ReadEvalBar(FieldReader& bar, EvalBar& evals) {
  const ConfigNode* node = bar.Find("evals");
  if (node == nullptr) return;
  const auto take = [&evals](FieldReader& fields, std::string_view key, bool rate) {
    const std::optional<double> share = fields.Share(key);
    if (!share) return;
    if (rate ? *share > 0 : *share < 1) {
      (rate ? evals.pass_rate : evals.drop) = *share;
    } else {
      fields.Problem(key, rate ? "is 0%, which nothing misses, write e.g. 90%"
                               : "is 100%, which nothing misses, write e.g. 5%");
    }
  };
  if (node->kind != ConfigNode::Kind::kMap) return take(bar, "evals", true);
  std::optional<FieldReader> fields = bar.Map("evals");
  if (!fields) return;
  take(*fields, "pass_rate", true);
  take(*fields, "drop", false);
  if (fields->Keys().empty()) {
    bar.Problem("evals", "asks nothing, write e.g. 90% or {pass_rate: 90%, drop: 5%}");
  }
  fields->Finish();
}

void CheckEvals(const std::optional<EvalsSpec>& evals, const EvalBar& bar,
                const ConfigNode& document, Problems& problems) {
  if (!bar.asks() || evals || problems.Touches("evals")) return;
  problems.Add(LineOf(document, "bar.evals"), "bar.evals",
               "can only be judged where evals are asked, write evals: {set: basic}");
}

}  // namespace plimsoll
