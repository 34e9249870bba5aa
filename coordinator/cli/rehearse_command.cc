#include "coordinator/cli/rehearse_command.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/version.h"
#include "common/config/field_reader.h"
#include "common/loop/child_process.h"
#include "common/loop/event_loop.h"
#include "common/loop/signals.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/program_beside.h"
#include "coordinator/rehearse/rehearsal.h"
#include "coordinator/rehearse/rows.h"
#include "coordinator/rehearse/rows_file.h"
#include "coordinator/rehearse/small_disk.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {
namespace {

using rehearse::Programs;
using rehearse::Row;
using rehearse::RowResult;
using rehearse::RowState;

constexpr std::size_t kRowsBytesMax = std::size_t{1} << 20;

int Code(ExitCode code) {
  return static_cast<int>(code);
}

int Fail(ExitCode code, std::string_view words) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(words).c_str());
  return Code(code);
}

struct Flags {
  std::vector<std::string> names;
  std::string rows_file;
  std::string json;
  std::size_t jobs = 2;
  bool list = false;
  bool keep = false;
};

// The table, or the rows of it that were named.
StatusOr<std::vector<Row>> RowsOf(const Flags& flags) {
  std::vector<Row> all = rehearse::BuiltinRows();
  if (!flags.rows_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(flags.rows_file, kRowsBytesMax));
    Problems problems(flags.rows_file);
    all = rehearse::ReadRows(text, problems);
    RETURN_IF_ERROR(problems.ToStatus());
  }
  if (flags.names.empty()) return all;
  std::vector<std::string> known;
  for (const Row& row : all) known.push_back(row.name);
  for (const std::string& name : flags.names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string_view meant = DidYouMean(name, known);
    return absl::InvalidArgumentError(
        fmt::format("no row is called '{}'{}; --list says which there are", name,
                    meant.empty() ? "" : fmt::format(", did you mean '{}'?", meant)));
  }
  std::erase_if(all, [&](const Row& row) {
    return std::find(flags.names.begin(), flags.names.end(), row.name) == flags.names.end();
  });
  return all;
}

// The programs beside this one, with what each calls itself.
StatusOr<Programs> FindPrograms(EventLoop& loop) {
  Programs programs{.plimsoll = ProgramBeside("plimsoll"),
                    .agent = ProgramBeside("plimsoll-agent"),
                    .gateway = ProgramBeside("plimsoll-gateway")};
  for (const std::string& program : {programs.plimsoll, programs.agent, programs.gateway}) {
    std::string said;
    ASSIGN_OR_RETURN(const auto child,
                     ChildProcess::Start(loop,
                                         {.argv = {program, "--version"},
                                          .on_lines =
                                              [&said](const std::vector<std::string>& lines) {
                                                said += fmt::format("{}", fmt::join(lines, " "));
                                              }},
                                         [&loop](const ChildExit&) { loop.Stop(); }));
    loop.Run();
    if (said.empty()) return absl::UnavailableError(program + " does not say its version");
    programs.versions.push_back(said);
  }
  return programs;
}

// A folder of its own, removed at the end unless it is to be kept.
class Folder {
 public:
  static StatusOr<std::unique_ptr<Folder>> Make(bool keep) {
    const char* where = std::getenv("TMPDIR");
    std::string path = fmt::format("{}/plimsoll-rehearse-XXXXXX",
                                   where == nullptr || *where == 0 ? "/tmp" : where);
    if (::mkdtemp(path.data()) == nullptr) {
      return absl::UnavailableError(fmt::format("{}: {}", path, std::strerror(errno)));
    }
    return std::unique_ptr<Folder>(new Folder(std::move(path), keep));
  }
  ~Folder() {
    std::error_code error;
    if (!keep_) std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  Folder(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}

  const std::string path_;
  const bool keep_;
};

void SayRow(std::size_t done, std::size_t of, const RowResult& row) {
  std::fprintf(stderr, "%s",
               fmt::format("{:>3}/{}  {:<8}{:<26}{}{}{:.1f} s{}\n", done, of, Name(row.state),
                           row.name, row.got, row.got.empty() ? "" : ", ", ToSeconds(row.took),
                           row.repeated ? ", repeated alone" : "")
                   .c_str());
  if (row.state == RowState::kAsExpected) return;
  std::fprintf(stderr, "         %s\n", row.why.c_str());
}

int Play(EventLoop& loop, const Flags& flags, std::vector<Row> rows, const Programs& programs) {
  const auto folder = Folder::Make(flags.keep);
  if (!folder.ok()) return Fail(ExitCode::kCouldNotRun, MessageOf(folder.status()));
  const std::size_t of = rows.size();
  std::fprintf(stderr, "%s",
               fmt::format("rehearsing {} faults, {} at a time, with {} in {}{}\n", of, flags.jobs,
                           fmt::join(programs.versions, ", "),
                           std::filesystem::path(programs.plimsoll).parent_path().string(),
                           flags.keep ? "; kept in " + (*folder)->path() : "")
                   .c_str());
  const MonoTime begun = loop.Now();
  bool stopped = false;
  std::vector<RowResult> results;
  {
    std::size_t done = 0;
    rehearse::Rehearsal rehearsal(
        loop, programs,
        {.rows = std::move(rows),
         .jobs = flags.jobs,
         .folder = (*folder)->path(),
         .keep = flags.keep},
        [&](const RowResult& row) { SayRow(++done, of, row); }, [&] { loop.Stop(); });
    const Signals signals(loop, [&](int, int) {
      stopped = true;
      loop.Stop();
    });
    rehearsal.Start();
    loop.Run();
    results = rehearsal.results();
  }  // Whatever still runs is ended here.
  const Duration took = loop.Now() - begun;
  std::fputs(rehearse::TableText(results, took).c_str(), stdout);
  if (stopped) std::fprintf(stdout, "Stopped by a signal: the other rows were not run.\n");
  std::fflush(stdout);
  if (flags.keep) std::fprintf(stderr, "kept: %s\n", (*folder)->path().c_str());
  if (!flags.json.empty()) {
    const Status written =
        WriteFileWhole(flags.json, rehearse::ResultsJson(results, programs, took));
    if (!written.ok()) return Fail(ExitCode::kInternal, MessageOf(written));
  }
  return stopped ? Code(ExitCode::kStopped) : rehearse::ExitCodeOf(results);
}

}  // namespace

int RehearseMain(int argc, const char* const* argv) {
  CLI::App app(
      "Runs each fault in seconds on this machine, with real processes and sockets on loopback, "
      "and\n"
      "compares the verdict with the one that the fault must give.",
      "rehearse");
  Flags flags;
  app.add_option("ROW", flags.names, "Rows to run (all)");
  app.add_flag("--list", flags.list, "Say which rows there are, and run none");
  app.add_option("--rows", flags.rows_file, "Rows of your own from this YAML file, instead");
  app.add_option("--json", flags.json, "Write the results as JSON to this file, too");
  app.add_option("--jobs", flags.jobs, "Rows at a time (2)")->check(CLI::Range(1, 64));
  app.add_flag("--keep", flags.keep, "Keep the rows' folders, and say where");
  app.footer(
      "Exit codes: 0 every fault that was run gave its verdict, 1 one did not, 4 could not be "
      "started,\n5 stopped by a signal, 64 usage.");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  auto rows = RowsOf(flags);
  if (!rows.ok()) return Fail(ExitCode::kUsage, MessageOf(rows.status()));
  if (flags.list) {
    std::fputs(rehearse::RowList(*rows).c_str(), stdout);
    return 0;
  }
  if (!flags.json.empty()) {
    if (const Status status = CheckWritable(flags.json); !status.ok()) {
      return Fail(ExitCode::kUsage, MessageOf(status));
    }
  }
  EventLoop loop;
  const auto programs = FindPrograms(loop);
  if (!programs.ok()) return Fail(ExitCode::kCouldNotRun, MessageOf(programs.status()));
  return Play(loop, flags, *std::move(rows), *programs);
}

int RehearseDiskMain(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv, argv + argc);
  const int megabytes = words.size() < 3 ? 0 : std::atoi(words[1].c_str());
  if (megabytes < 1) {
    return Fail(ExitCode::kUsage, "rehearse-disk takes a folder, megabytes and a program");
  }
  return rehearse::RunOnSmallDisk(words[0], megabytes, {words.begin() + 2, words.end()});
}

}  // namespace plimsoll
