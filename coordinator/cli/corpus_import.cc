#include "coordinator/cli/corpus_import.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/corpus/copies.h"
#include "common/corpus/recording.h"
#include "common/corpus/stats.h"
#include "common/corpus/trace_v8.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"

namespace plimsoll {
namespace {

constexpr std::size_t kForms = static_cast<std::size_t>(TraceForm::kShareGpt) + 1;

std::string Counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// What was read of one form.
struct FormTotals {
  std::uint64_t files = 0;
  std::uint64_t lines = 0;
  std::uint64_t sessions = 0;
  std::uint64_t calls = 0;
  std::vector<ImportNote> notes;

  std::string Report(TraceForm form) const {
    std::string report = fmt::format("{}: {}, ", NameOf(form), Counted(files, "file"));
    if (lines > 0) report += Counted(lines, "line") + ", ";
    report += fmt::format("{}, {}\n", Counted(sessions, "session"), Counted(calls, "call"));
    for (const ImportNote& note : notes) {
      report += fmt::format("  {}: {} {}\n", NameOf(form), note.count, note.what);
    }
    return report;
  }
};

// What reads a file says where it is wrong, not what to do about it.
Status WithNextStep(const Status& status) {
  const std::string_view words = MessageOf(status);
  if (words.find("; ") != std::string_view::npos) return status;
  return Status(status.code(),
                fmt::format("{}; mend it there, or import without this file", words));
}

class Importer {
 public:
  Status AddFile(const std::string& path) {
    const StatusOr<std::string> bytes = ReadTrace(path, kTraceBytesMax);
    if (!bytes.ok()) return Annotate(bytes.status(), path);
    StatusOr<Recording> read = ReadRecording(path, *bytes);
    if (!read.ok()) return WithNextStep(read.status());
    Recording recording = *std::move(read);
    FormTotals& totals = forms_[static_cast<std::size_t>(recording.form)];
    ++totals.files;
    totals.lines += recording.lines;
    for (const ImportNote& note : recording.notes) AddNote(note.count, note.what, &totals.notes);
    const std::string digest = Sha256Hex(*bytes);
    const bool alone = recording.sessions.size() == 1;
    for (ParsedTrace& parsed : recording.sessions) {
      ++totals.sessions;
      totals.calls += parsed.session.calls.size();
      Session& session = parsed.session;
      session.file = alone ? ShortPath(path) : fmt::format("{}#{}", ShortPath(path), session.id);
      session.sha256_json = digest;
      if (alone) session.json_bytes = bytes->size();
      AddSession(std::move(parsed));
    }
    return absl::OkStatus();
  }

  // Removes copies, and says which.
  std::string DropTheCopies() {
    const std::vector<Copy> copies = FindCopies(corpus_, keys_);
    std::string report;
    std::array<std::uint64_t, 2> sessions{};  // Near, exact.
    std::array<std::uint64_t, 2> calls{};
    for (const Copy& copy : copies) {
      const Session& session = corpus_.sessions[copy.session];
      ++sessions[copy.exact ? 1 : 0];
      calls[copy.exact ? 1 : 0] += session.calls.size();
      report +=
          fmt::format("dropped {}: {} of {} ({} of {} calls equal)\n", session.file,
                      copy.exact ? "a copy" : "a near copy", corpus_.sessions[copy.original].file,
                      copy.shared, session.calls.size());
    }
    DropCopies(copies, &corpus_);
    return report + fmt::format("copies: {} exact ({}) and {} near ({}) dropped\n", sessions[1],
                                Counted(calls[1], "call"), sessions[0], Counted(calls[0], "call"));
  }

  std::string ReportForms() const {
    std::string report;
    for (std::size_t form = 0; form < kForms; ++form) {
      if (forms_[form].files > 0) report += forms_[form].Report(static_cast<TraceForm>(form));
    }
    return report;
  }

  // Why no session is left, out of what was read.
  std::string NothingLeft() const {
    std::string why;
    for (const FormTotals& totals : forms_) {
      for (const ImportNote& note : totals.notes) {
        why += fmt::format("{}{} {}", why.empty() ? ": " : ", ", note.count, note.what);
      }
    }
    return fmt::format("no session left to import{}; name recordings that hold at least one call",
                       why);
  }

  std::string Source() const {
    std::string source;
    for (std::size_t form = 0; form < kForms; ++form) {
      if (forms_[form].sessions == 0) continue;
      source +=
          fmt::format("{}{}", source.empty() ? "" : ", ", NameOf(static_cast<TraceForm>(form)));
    }
    return fmt::format("{} recorded in the form {}", Counted(corpus_.sessions.size(), "session"),
                       source);
  }

  // The commonest model gets number 0, which costs the file nothing.
  void SortModels();

  Corpus& corpus() { return corpus_; }

 private:
  // Adds a parsed session, its models renumbered to the corpus's.
  void AddSession(ParsedTrace parsed) {
    std::vector<std::uint16_t> renumbered;
    for (std::string& model : parsed.models) {
      const auto at = std::find(corpus_.models.begin(), corpus_.models.end(), model);
      renumbered.push_back(static_cast<std::uint16_t>(at - corpus_.models.begin()));
      if (at == corpus_.models.end()) corpus_.models.push_back(std::move(model));
    }
    for (Call& call : parsed.session.calls) call.model = renumbered[call.model];
    corpus_.sessions.push_back(std::move(parsed.session));
    keys_.push_back(std::move(parsed.keys));
  }

  Corpus corpus_;
  std::vector<CallKeys> keys_;  // One a session.
  std::array<FormTotals, kForms> forms_;
};

void Importer::SortModels() {
  Corpus* corpus = &corpus_;
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

}  // namespace

StatusOr<Imported> ImportRecordings(const ImportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ListTraces(options.paths));
  Importer importer;
  for (const std::string& file : files) RETURN_IF_ERROR(importer.AddFile(file));
  Corpus& corpus = importer.corpus();
  if (corpus.sessions.empty()) {
    return absl::InvalidArgumentError(importer.NothingLeft());
  }
  std::string report = importer.ReportForms();
  if (!options.keep_copies) report += importer.DropTheCopies();
  importer.SortModels();
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
  corpus.source = importer.Source();
  corpus.license = options.license;
  report += fmt::format("tiers by median prompt: light up to {} tokens, heavy from {}\n",
                        bounds.light_max, bounds.heavy_min);
  return Imported{.corpus = std::move(corpus), .report = std::move(report)};
}

}  // namespace plimsoll
