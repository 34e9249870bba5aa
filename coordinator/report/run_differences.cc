#include "coordinator/report/run_differences.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/config/quantities.h"
#include "coordinator/report/bar_text.h"
#include "coordinator/report/recipe_diff.h"

namespace plimsoll {
namespace {

constexpr std::size_t kDigestShown = 12;

std::string MixText(const std::vector<TierPlan>& mix) {
  std::string text;
  for (const TierPlan& tier : mix) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " : ", tier.share, tier.name);
  }
  return text;
}

// Limits alike in what they demand, wherever the numbers come from.
bool SameBar(const Bar& a, const Bar& b) {
  return a.evals == b.evals && std::equal(a.limits.begin(), a.limits.end(), b.limits.begin(),
                                          b.limits.end(), [](const Limit& x, const Limit& y) {
                                            return x.metric == y.metric &&
                                                   x.quantile == y.quantile && x.value == y.value &&
                                                   x.tier == y.tier;
                                          });
}

std::string ReplayWords(const ReplaySpec& a, const ReplaySpec& b) {
  std::string words;
  const auto differ = [&words](bool differs, const char* what) {
    if (differs) words += fmt::format("{}{}", words.empty() ? "" : ", ", what);
  };
  differ(a.think_time != b.think_time || a.think_time_cap != b.think_time_cap, "think time");
  differ(a.output_mode != b.output_mode || a.output_tokens != b.output_tokens, "output");
  differ(a.output_divisor != b.output_divisor, "output_divisor");
  differ(a.isolate_prefixes != b.isolate_prefixes, "isolate_prefixes");
  differ(!(a.context_limit == b.context_limit), "context limit");
  differ(a.history != b.history, "history");
  differ(!(a.failure == b.failure), "failure policy");
  if (words.empty() && !(a == b)) words = "replay";
  return words;
}

// What the deployment is asked beside the load: "basic, 10% of all requests", "none".
std::string EvalsWords(const std::optional<EvalsSpec>& evals) {
  if (!evals) return "none";
  return fmt::format("{}, {} of all requests", evals->file.empty() ? evals->builtin : evals->file,
                     PrintShare(evals->share));
}

// What decides when a call counts as failed: "call_deadline 10m against 5m, idle_timeout …".
std::string TimeLimitWords(const TargetPlan& a, const TargetPlan& b) {
  std::string words;
  const auto differ = [&words](Duration of_a, Duration of_b, const char* what) {
    if (of_a == of_b) return;
    words += fmt::format("{}{} {} against {}", words.empty() ? "" : ", ", what, PrintDuration(of_a),
                         PrintDuration(of_b));
  };
  differ(a.call_deadline, b.call_deadline, "call_deadline");
  differ(a.idle_timeout, b.idle_timeout, "idle_timeout");
  differ(a.connect_timeout, b.connect_timeout, "connect_timeout");
  return words;
}

std::string Times(const Sweep& sweep) {
  return fmt::format("{} in blocks of {}", PrintDuration(sweep.measure),
                     PrintDuration(sweep.block));
}

// Which headers were added, taken out or changed; their values may be nobody's business.
std::string HeaderWords(const TargetPlan& a, const TargetPlan& b) {
  std::vector<std::string> names;
  const auto add_missing = [&names](const auto& from, const auto& in) {
    for (const auto& header : from) {
      const bool known = std::find(in.begin(), in.end(), header) != in.end() ||
                         std::find(names.begin(), names.end(), header.first) != names.end();
      if (!known) names.push_back(header.first);
    }
  };
  add_missing(a.headers, b.headers);
  add_missing(b.headers, a.headers);
  return fmt::format("{}", fmt::join(names, ", "));
}

// "play X-Session-ID against none": which header carries what a router pins a session by.
std::string AffinityWords(const TargetPlan& a, const TargetPlan& b) {
  std::string words;
  const auto differ = [&words](const std::string& of_a, const std::string& of_b, const char* what) {
    if (of_a == of_b) return;
    words += fmt::format("{}{} {} against {}", words.empty() ? "" : ", ", what,
                         of_a.empty() ? "none" : of_a, of_b.empty() ? "none" : of_b);
  };
  differ(a.affinity_play_header, b.affinity_play_header, "play");
  differ(a.affinity_parent_header, b.affinity_parent_header, "parent");
  return words;
}

// Fields of a target that stand for nothing by themselves: who may call and how it is found.
std::string AccessWords(const TargetPlan& a, const TargetPlan& b) {
  std::string words;
  if (a.bearer_env != b.bearer_env) words = "bearer_env";
  if (a.ca_file != b.ca_file) words += words.empty() ? "ca_file" : ", ca_file";
  return words;
}

// "min_tokens, ignore_eos", "none"; empty: no preflight is kept.
std::string LengthSwitches(const ComparedRun& run) {
  if (!run.info.preflight) return "";
  const bool min_tokens = run.info.preflight->min_tokens;
  const bool ignore_eos = run.info.preflight->ignore_eos;
  if (min_tokens && ignore_eos) return "min_tokens, ignore_eos";
  return min_tokens ? "min_tokens" : ignore_eos ? "ignore_eos" : "none";
}

std::uint32_t NodesOf(const ComparedRun& run) {
  return run.model.price ? run.model.price->nodes : 0;
}

// "price of a node-hour (14.40 USD against 20.00 USD)"; empty: the same, or one is not known, and
// then the missing price is said.
std::string PriceWords(const std::optional<CostSettings>& a, const std::optional<CostSettings>& b) {
  if (!a || !b || (a->micros == b->micros && a->currency == b->currency)) return "";
  const auto money = [](const CostSettings& price) {
    return PrintMoney({.micros = price.micros, .currency = price.currency});
  };
  return fmt::format("price of a node-hour ({} against {})", money(*a), money(*b));
}

class Things {
 public:
  void Add(std::size_t count, std::string words) {
    found_.things += count;
    found_.words.push_back(std::move(words));
  }
  void AddIf(bool differs, std::string words) {
    if (differs) Add(1, std::move(words));
  }
  RecipeDifferences Take() { return std::move(found_); }

 private:
  RecipeDifferences found_;
};

void AddFiles(const ComparedRun& a, const ComparedRun& b, Things* things) {
  if (!a.recipe || !b.recipe) return;
  const std::vector<FileDifference> files = DiffRecipes(*a.recipe, *b.recipe);
  for (const FileDifference& file : files) {
    things->Add(file.changes, fmt::format("{} ({})", file.file, file.what));
  }
  // Beside files that differ it says what they do; alone it may say what no file does.
  things->AddIf(
      files.empty() && a.recipe->note != b.recipe->note,
      fmt::format("note of the recipe (\"{}\" against \"{}\")", a.recipe->note, b.recipe->note));
}

void AddTarget(const TargetPlan& a, const TargetPlan& b, Things* things) {
  things->AddIf(a.url != b.url, fmt::format("url ({} against {})", a.url, b.url));
  things->AddIf(a.model != b.model, fmt::format("model ({} against {})", a.model, b.model));
  const std::string headers = HeaderWords(a, b);
  things->AddIf(!headers.empty(), fmt::format("target headers ({})", headers));
  const std::string affinity = AffinityWords(a, b);
  things->AddIf(!affinity.empty(), fmt::format("affinity headers ({})", affinity));
  const std::string access = AccessWords(a, b);
  things->AddIf(!access.empty(), fmt::format("access ({})", access));
  things->AddIf(a.extra_body != b.extra_body, "extra_body");
  things->AddIf(a.max_tokens != b.max_tokens,
                fmt::format("max_tokens ({} against {})", a.max_tokens, b.max_tokens));
  things->AddIf(a.tools != b.tools, "tools");
}

}  // namespace

std::vector<std::string> LoadDifferences(const ComparedRun& a, const ComparedRun& b) {
  std::vector<std::string> words;
  if (a.info.corpus_digest != b.info.corpus_digest) {
    words.push_back(fmt::format("another corpus ({} against {})",
                                a.info.corpus_digest.substr(0, kDigestShown),
                                b.info.corpus_digest.substr(0, kDigestShown)));
  }
  if (!(a.scenario.mix == b.scenario.mix)) {
    words.push_back(fmt::format("another mix ({} against {})", MixText(a.scenario.mix),
                                MixText(b.scenario.mix)));
  }
  if (!SameBar(a.model.bar, b.model.bar)) {
    words.push_back(fmt::format("another bar ({} against {})", BarSentence(a.model.bar),
                                BarSentence(b.model.bar)));
  }
  if (const std::string replay = ReplayWords(a.scenario.replay, b.scenario.replay);
      !replay.empty()) {
    words.push_back(fmt::format("other replay settings ({})", replay));
  }
  const std::string evals_a = EvalsWords(a.scenario.evals);
  const std::string evals_b = EvalsWords(b.scenario.evals);
  if (evals_a != evals_b) {
    words.push_back(fmt::format("other evals beside the load ({} against {})", evals_a, evals_b));
  }
  const Sweep& of_a = a.scenario.sweep;
  const Sweep& of_b = b.scenario.sweep;
  if (of_a.measure != of_b.measure || of_a.block != of_b.block) {
    words.push_back(fmt::format("another measured time ({} against {})", Times(of_a), Times(of_b)));
  }
  if (of_a.warm_up != of_b.warm_up) {
    words.push_back(fmt::format("another warm-up ({} against {})", PrintDuration(of_a.warm_up),
                                PrintDuration(of_b.warm_up)));
  }
  if (of_a.drain_limit != of_b.drain_limit) {
    words.push_back(fmt::format("another drain_limit ({} against {})",
                                PrintDuration(of_a.drain_limit), PrintDuration(of_b.drain_limit)));
  }
  if (of_a.prime_limit != of_b.prime_limit) {
    words.push_back(fmt::format("another prime_limit ({} against {})",
                                PrintDuration(of_a.prime_limit), PrintDuration(of_b.prime_limit)));
  }
  if (const std::string limits = TimeLimitWords(a.scenario.target, b.scenario.target);
      !limits.empty()) {
    words.push_back(fmt::format("other time limits of a call ({})", limits));
  }
  if (of_a.drain_between_steps != of_b.drain_between_steps) {
    words.push_back(fmt::format("other between_steps ({} against {})", BetweenStepsWord(of_a),
                                BetweenStepsWord(of_b)));
  }
  return words;
}

RecipeDifferences DifferencesOf(const ComparedRun& a, const ComparedRun& b) {
  Things things;
  AddFiles(a, b, &things);
  // Where one is not known, the missing price is said.
  things.AddIf(NodesOf(a) != NodesOf(b) && NodesOf(a) > 0 && NodesOf(b) > 0,
               fmt::format("nodes ({} against {})", NodesOf(a), NodesOf(b)));
  const std::string price = PriceWords(a.model.price, b.model.price);
  things.AddIf(!price.empty(), price);
  AddTarget(a.scenario.target, b.scenario.target, &things);
  const std::string switches_a = LengthSwitches(a);
  const std::string switches_b = LengthSwitches(b);
  things.AddIf(switches_a != switches_b && !switches_a.empty() && !switches_b.empty(),
               fmt::format("switches of the output's length that are honoured ({} against {})",
                           switches_a, switches_b));
  const std::string replay = ReplayWords(a.scenario.replay, b.scenario.replay);
  things.AddIf(!replay.empty(), fmt::format("replay ({})", replay));
  things.AddIf(!SameBar(a.model.bar, b.model.bar), "bar");
  return things.Take();
}

}  // namespace plimsoll
