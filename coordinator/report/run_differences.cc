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
  return std::equal(a.limits.begin(), a.limits.end(), b.limits.begin(), b.limits.end(),
                    [](const Limit& x, const Limit& y) {
                      return x.metric == y.metric && x.quantile == y.quantile &&
                             x.value == y.value && x.tier == y.tier;
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

std::string Times(const Sweep& sweep) {
  return fmt::format("{} in blocks of {}", PrintDuration(sweep.measure),
                     PrintDuration(sweep.block));
}

// Which headers were added, taken out or changed; their values may be nobody's business.
std::string HeaderWords(const TargetPlan& a, const TargetPlan& b) {
  std::string words;
  const auto add = [&words](const std::string& name) {
    if (words.find(name) == std::string::npos) words += (words.empty() ? "" : ", ") + name;
  };
  for (const auto& header : a.headers) {
    if (std::find(b.headers.begin(), b.headers.end(), header) == b.headers.end()) add(header.first);
  }
  for (const auto& header : b.headers) {
    if (std::find(a.headers.begin(), a.headers.end(), header) == a.headers.end()) add(header.first);
  }
  return words;
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
  for (const FileDifference& file : DiffRecipes(*a.recipe, *b.recipe)) {
    things->Add(file.changes, fmt::format("{} ({})", file.file, file.what));
  }
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
  const Sweep& of_a = a.scenario.sweep;
  const Sweep& of_b = b.scenario.sweep;
  if (of_a.measure != of_b.measure || of_a.block != of_b.block) {
    words.push_back(fmt::format("another measured time ({} against {})", Times(of_a), Times(of_b)));
  }
  if (of_a.warm_up != of_b.warm_up) {
    words.push_back(fmt::format("another warm-up ({} against {})", PrintDuration(of_a.warm_up),
                                PrintDuration(of_b.warm_up)));
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
  const TargetPlan& of_a = a.scenario.target;
  const TargetPlan& of_b = b.scenario.target;
  // Where one is not known, the missing price is said.
  things.AddIf(NodesOf(a) != NodesOf(b) && NodesOf(a) > 0 && NodesOf(b) > 0,
               fmt::format("nodes ({} against {})", NodesOf(a), NodesOf(b)));
  const std::string price = PriceWords(a.model.price, b.model.price);
  things.AddIf(!price.empty(), price);
  things.AddIf(of_a.model != of_b.model,
               fmt::format("model ({} against {})", of_a.model, of_b.model));
  const std::string headers = HeaderWords(of_a, of_b);
  things.AddIf(!headers.empty(), fmt::format("target headers ({})", headers));
  things.AddIf(of_a.extra_body != of_b.extra_body, "extra_body");
  things.AddIf(of_a.max_tokens != of_b.max_tokens,
               fmt::format("max_tokens ({} against {})", of_a.max_tokens, of_b.max_tokens));
  things.AddIf(of_a.tools != of_b.tools, "tools");
  const std::string replay = ReplayWords(a.scenario.replay, b.scenario.replay);
  things.AddIf(!replay.empty(), fmt::format("replay ({})", replay));
  things.AddIf(!SameBar(a.model.bar, b.model.bar), "bar");
  return things.Take();
}

}  // namespace plimsoll
