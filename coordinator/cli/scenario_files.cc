#include "coordinator/cli/scenario_files.h"

#include <ctime>
#include <filesystem>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/corpus/synth.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/recipe_files.h"
#include "coordinator/cli/signal_files.h"
#include "coordinator/evals/builtin_sets.h"
#include "coordinator/scenario/scenario_reader.h"

namespace plimsoll {
namespace {

constexpr std::size_t kScenarioBytesMax = std::size_t{1} << 20;

Status LoadCorpus(LoadedScenario* loaded) {
  const CorpusSource& source = loaded->scenario.corpus;
  if (!source.file.empty()) {
    auto bytes = ReadWholeFile(source.file, limits::kCorpusBytesMax);
    if (!bytes.ok()) return Annotate(bytes.status(), source.file);
    loaded->corpus_bytes = *std::move(bytes);
    auto corpus = DecodeCorpus(loaded->corpus_bytes);
    if (!corpus.ok()) return Annotate(corpus.status(), source.file);
    loaded->corpus_label =
        fmt::format("{}, {} sessions", std::filesystem::path(source.file).filename().string(),
                    corpus->sessions.size());
    loaded->corpus = std::make_shared<const Corpus>(*std::move(corpus));
  } else {
    Corpus corpus = SynthCorpus({.seed = source.seed,
                                 .heavy = source.heavy,
                                 .mid = source.mid,
                                 .light = source.light,
                                 .scale = source.scale});
    loaded->corpus_label = fmt::format("synthetic {} (seed {}), {} sessions", source.synthetic,
                                       source.seed, corpus.sessions.size());
    loaded->corpus_bytes = EncodeCorpus(corpus);
    loaded->corpus = std::make_shared<const Corpus>(std::move(corpus));
  }
  loaded->corpus_digest = Sha256Hex(loaded->corpus_bytes);
  return absl::OkStatus();
}

Status LoadEvals(LoadedScenario* loaded) {
  if (!loaded->scenario.evals) return absl::OkStatus();
  const EvalsSpec& spec = *loaded->scenario.evals;
  if (spec.file.empty()) {
    ASSIGN_OR_RETURN(loaded->evals_text, BuiltinSetText(spec.builtin));
    loaded->evals_label = spec.builtin;
  } else {
    auto text = ReadWholeFile(spec.file, kEvalSetBytesMax);
    if (!text.ok()) return Annotate(text.status(), spec.file);
    loaded->evals_text = *std::move(text);
    loaded->evals_label = std::filesystem::path(spec.file).filename().string();
  }
  // Each case proves itself here, before a window is spent.
  auto set = ReadEvalSet(spec.file.empty() ? spec.builtin : spec.file, loaded->evals_text);
  if (!set.ok()) return set.status();
  loaded->evals = std::make_shared<const EvalSet>(*std::move(set));
  return absl::OkStatus();
}

}  // namespace

StatusOr<LoadedScenario> LoadScenario(const std::string& path) {
  LoadedScenario loaded;
  auto text = ReadWholeFile(path, kScenarioBytesMax);
  if (!text.ok()) return Annotate(text.status(), path);
  loaded.text = *std::move(text);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  ASSIGN_OR_RETURN(loaded.scenario, ParseScenario(loaded.text, path, folder));
  auto recipe = ReadRecipe(loaded.scenario.recipe, folder);
  if (!recipe.ok()) return Annotate(recipe.status(), path);
  loaded.recipe = *std::move(recipe);
  if (loaded.scenario.signals.has_value()) {
    ASSIGN_OR_RETURN(loaded.scrape, MakeScrapePlan(*loaded.scenario.signals));
  }
  RETURN_IF_ERROR(LoadEvals(&loaded));
  RETURN_IF_ERROR(LoadCorpus(&loaded));
  return loaded;
}

std::string EvalsSaid(const LoadedScenario& loaded) {
  return fmt::format("evals: {}, {} cases (SHA-256 {}), {:.4g}% of all requests",
                     loaded.evals_label, loaded.evals->cases.size(), Sha256Hex(loaded.evals_text),
                     loaded.scenario.evals->share * 100);
}

std::string MakeRunId(WallTime now, const std::string& name) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  std::string id = fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(seconds));
  id += '-';
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    id += plain ? c : '-';
    if (id.size() == 60) break;  // Of the store's 64: some are left to tell ids of a second apart.
  }
  return id;
}

}  // namespace plimsoll
