#include "coordinator/cli/corpus_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/status.h"
#include "common/cli/command_line.h"
#include "common/corpus/synth.h"
#include "common/corpus/validate.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/corpus_import.h"
#include "coordinator/cli/corpus_show.h"

namespace plimsoll {
namespace {

constexpr int kExitFine = 0;
constexpr int kExitUsage = 64;
constexpr int kExitInternal = 70;
constexpr std::uint32_t kSynthSessionsMax = 10'000;
constexpr std::uint32_t kScaleMax = 1'000;

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

Status RunImport(const ImportOptions& options) {
  StatusOr<Imported> imported = ImportRecordings(options);
  if (!imported.ok()) return imported.status();
  RETURN_IF_ERROR(WriteCorpus(imported->corpus, options.out));
  Print(imported->report);
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
  CLI::App* import = app->add_subcommand("import", "Make a corpus of recordings of any known form");
  import
      ->add_option("PATH", options->paths,
                   "Files, or folders of them (*.json, *.jsonl, also compressed: *.zst)")
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
  synth->add_option("--seed", options->seed, "Same seed, same corpus")
      ->check(NotWhole)
      ->capture_default_str();
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
