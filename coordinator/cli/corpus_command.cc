#include "coordinator/cli/corpus_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/status.h"
#include "common/cli/command_line.h"
#include "common/corpus/copies.h"
#include "common/corpus/stats.h"
#include "common/corpus/synth.h"
#include "common/corpus/trace_v8.h"
#include "common/corpus/validate.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/corpus_show.h"

namespace plimsoll {
namespace {

constexpr int kExitFine = 0;
constexpr int kExitUsage = 64;
constexpr int kExitInternal = 70;
constexpr std::uint32_t kSynthSessionsMax = 10'000;
constexpr std::uint32_t kScaleMax = 1'000;

struct ImportOptions {
  std::vector<std::string> paths;
  std::string out;
  bool keep_copies = false;
  std::optional<std::uint64_t> light_max;
  std::optional<std::uint64_t> heavy_min;
  std::string license;
};

struct ShowOptions {
  std::string file;
  bool tsv = false;
  bool json = false;
};

struct SynthCommand {
  std::string out;
  SynthOptions options;
};

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Adds a parsed session, its models renumbered to the corpus's.
void AddSession(ParsedTrace parsed, Corpus* corpus) {
  std::vector<std::uint16_t> renumbered;
  for (std::string& model : parsed.models) {
    const auto at = std::find(corpus->models.begin(), corpus->models.end(), model);
    renumbered.push_back(static_cast<std::uint16_t>(at - corpus->models.begin()));
    if (at == corpus->models.end()) corpus->models.push_back(std::move(model));
  }
  for (Call& call : parsed.session.calls) call.model = renumbered[call.model];
  corpus->sessions.push_back(std::move(parsed.session));
}

StatusOr<ParsedTrace> ReadSession(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string json, ReadTrace(path, kTraceBytesMax));
  ASSIGN_OR_RETURN(ParsedTrace parsed, ParseTraceV8(json));
  parsed.session.file = ShortPath(path);
  parsed.session.sha256_json = Sha256Hex(json);
  parsed.session.json_bytes = json.size();
  return parsed;
}

// The commonest model gets number 0, which costs the file nothing.
void SortModels(Corpus* corpus) {
  std::vector<std::size_t> uses(corpus->models.size(), 0);
  for (const Session& session : corpus->sessions) {
    for (const Call& call : session.calls) ++uses[call.model];
  }
  std::vector<std::size_t> order(uses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return uses[a] > uses[b]; });
  std::vector<std::uint16_t> renumbered(order.size());
  std::vector<std::string> models;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (uses[order[i]] == 0) break;  // Only copies that were dropped used it.
    renumbered[order[i]] = static_cast<std::uint16_t>(i);
    models.push_back(std::move(corpus->models[order[i]]));
  }
  corpus->models = std::move(models);
  for (Session& session : corpus->sessions) {
    for (Call& call : session.calls) call.model = renumbered[call.model];
  }
}

std::size_t CountCalls(const Corpus& corpus) {
  std::size_t calls = 0;
  for (const Session& session : corpus.sessions) calls += session.calls.size();
  return calls;
}

// Writes the corpus and says what was written.
Status WriteCorpus(const Corpus& corpus, const std::string& out) {
  RETURN_IF_ERROR(ValidateCorpus(corpus));
  const std::string bytes = EncodeCorpus(corpus);
  if (bytes.size() > limits::kCorpusBytesMax) {
    return absl::InvalidArgumentError(fmt::format("a corpus of {} bytes; at most {} are allowed",
                                                  bytes.size(), limits::kCorpusBytesMax));
  }
  RETURN_IF_ERROR(WriteFileWhole(out, bytes));
  Print(fmt::format("{}: {} sessions, {} calls, {} bytes, sha256 {}\n", out, corpus.sessions.size(),
                    CountCalls(corpus), bytes.size(), Sha256Hex(bytes)));
  return absl::OkStatus();
}

std::string DescribeCopies(const std::vector<Copy>& copies, const Corpus& corpus) {
  std::string report;
  for (const Copy& copy : copies) {
    const Session& session = corpus.sessions[copy.session];
    report += fmt::format("dropped {}: {} of {} ({} of {} calls equal)\n", session.file,
                          copy.exact ? "a copy" : "a near copy",
                          corpus.sessions[copy.original].file, copy.shared, session.calls.size());
  }
  return report;
}

Status RunImport(const ImportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ListTraces(options.paths));
  Corpus corpus;
  for (const std::string& file : files) {
    StatusOr<ParsedTrace> parsed = ReadSession(file);
    if (!parsed.ok()) return Annotate(parsed.status(), file);
    AddSession(*std::move(parsed), &corpus);
  }
  std::string report;
  if (!options.keep_copies) {
    const std::vector<Copy> copies = FindCopies(corpus);
    report = DescribeCopies(copies, corpus);
    DropCopies(copies, &corpus);
  }
  SortModels(&corpus);
  TierBounds bounds = QuartileBounds(corpus);
  if (options.light_max) bounds.light_max = static_cast<double>(*options.light_max);
  if (options.heavy_min) bounds.heavy_min = static_cast<double>(*options.heavy_min);
  if (bounds.light_max > bounds.heavy_min) {
    return absl::InvalidArgumentError(
        fmt::format("light sessions up to {} tokens and heavy ones from {} overlap; give both "
                    "--light-max and --heavy-min, the first below the second",
                    bounds.light_max, bounds.heavy_min));
  }
  AssignTiers(bounds, &corpus);
  corpus.source = fmt::format("{} recorded sessions in the v8 form", corpus.sessions.size());
  corpus.license = options.license;
  report += fmt::format("tiers by median prompt: light up to {} tokens, heavy from {}\n",
                        bounds.light_max, bounds.heavy_min);
  RETURN_IF_ERROR(WriteCorpus(corpus, options.out));
  Print(report);
  return absl::OkStatus();
}

Status RunShow(const ShowOptions& options) {
  const StatusOr<std::string> bytes = ReadWholeFile(options.file, limits::kCorpusBytesMax);
  if (!bytes.ok()) return Annotate(bytes.status(), options.file);
  const StatusOr<Corpus> corpus = DecodeCorpus(*bytes);
  if (!corpus.ok()) return Annotate(corpus.status(), options.file);
  if (options.tsv) {
    Print(CorpusTsv(*corpus));
  } else if (options.json) {
    Print(CorpusJson(*corpus, Sha256Hex(*bytes)));
  } else {
    Print(CorpusTable(*corpus));
    Print(fmt::format("{}: {}, {} bytes, sha256 {}\n", options.file, corpus->source, bytes->size(),
                      Sha256Hex(*bytes)));
  }
  return absl::OkStatus();
}

Status RunSynth(const SynthCommand& command) {
  const SynthOptions& options = command.options;
  if (options.heavy + options.mid + options.light == 0) {
    return absl::InvalidArgumentError("no session asked for; give --heavy, --mid or --light");
  }
  return WriteCorpus(SynthCorpus(options), command.out);
}

int Finish(const Status& status) {
  if (status.ok()) {
    if (std::fflush(stdout) == 0) return kExitFine;
    std::fputs("plimsoll corpus: cannot write to standard output\n", stderr);
    return kExitInternal;
  }
  std::fputs(fmt::format("plimsoll corpus: {}\n", MessageOf(status)).c_str(), stderr);
  return status.code() == absl::StatusCode::kInternal ? kExitInternal : kExitUsage;
}

CLI::App* AddImport(CLI::App* app, ImportOptions* options) {
  CLI::App* import = app->add_subcommand("import", "Make a corpus of recorded sessions (v8 form)");
  import->add_option("PATH", options->paths, "Files (.json, .json.zst), or folders of them")
      ->required();
  import->add_option("--out", options->out, "The corpus file to write")->required();
  import->add_flag("--keep-copies", options->keep_copies, "Keep copies and near copies");
  import->add_option("--light-max", options->light_max,
                     "Median prompt up to which a session is light (default: first quartile)");
  import->add_option("--heavy-min", options->heavy_min,
                     "Median prompt from which a session is heavy (default: third quartile)");
  import->add_option("--license", options->license, "The recordings' licence, kept in the file");
  return import;
}

CLI::App* AddShow(CLI::App* app, ShowOptions* options) {
  CLI::App* show = app->add_subcommand("show", "Show the sessions of a corpus");
  show->add_option("FILE", options->file, "The corpus file")->required();
  CLI::Option* tsv = show->add_flag("--tsv", options->tsv, "Tab-separated, one line a session");
  show->add_flag("--json", options->json, "JSON")->excludes(tsv);
  return show;
}

CLI::App* AddSynth(CLI::App* app, SynthCommand* command) {
  CLI::App* synth = app->add_subcommand("synth", "Draw sessions from published statistics");
  SynthOptions* options = &command->options;
  const CLI::Range count(0u, kSynthSessionsMax);
  synth->add_option("--out", command->out, "The corpus file to write")->required();
  synth->add_option("--seed", options->seed, "Same seed, same corpus")->capture_default_str();
  synth->add_option("--heavy", options->heavy, "Heavy sessions")
      ->check(count)
      ->capture_default_str();
  synth->add_option("--mid", options->mid, "Mid sessions")->check(count)->capture_default_str();
  synth->add_option("--light", options->light, "Light sessions")
      ->check(count)
      ->capture_default_str();
  synth->add_option("--scale", options->scale, "Divide all token counts by this")
      ->check(CLI::Range(1u, kScaleMax))
      ->capture_default_str();
  return synth;
}

}  // namespace

int CorpusMain(int argc, const char* const* argv) {
  try {
    CLI::App app("Makes corpus files of recorded sessions and shows what is in them",
                 "plimsoll corpus");
    app.require_subcommand(1);
    ImportOptions import_options;
    ShowOptions show_options;
    SynthCommand synth_command;
    const CLI::App* import = AddImport(&app, &import_options);
    const CLI::App* show = AddShow(&app, &show_options);
    AddSynth(&app, &synth_command);
    if (const auto code = ParseCommandLine(app, {argv, argv + argc}, "plimsoll corpus")) {
      return *code;
    }
    if (import->parsed()) return Finish(RunImport(import_options));
    if (show->parsed()) return Finish(RunShow(show_options));
    return Finish(RunSynth(synth_command));
  } catch (const std::exception& error) {  // Out of memory, or a fault of ours.
    return Finish(absl::InternalError(std::string(error.what())));
  }
}

}  // namespace plimsoll
