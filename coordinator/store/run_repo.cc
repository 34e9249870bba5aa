#include "coordinator/store/run_repo.h"

#include <algorithm>

#include "coordinator/store/cell_codec.h"
#include "coordinator/store/hook_codec.h"
#include "coordinator/store/recipe_codec.h"
#include "coordinator/store/run_codec.h"
#include "coordinator/store/zstd_bytes.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

Status CheckRunId(std::string_view id) {
  if (keys::IsRunId(id)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a run's id is 1 to {} of letters, digits, dots, dashes and underscores; "
                  "`plimsoll runs list` shows them",
                  keys::kRunIdBytesMax));
}

Status OddKey(std::string_view what) {
  return absl::DataLossError(fmt::format("the store holds a malformed key of a {}", what));
}

}  // namespace

const char* Name(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kFinished:
      return "finished";
    case RunState::kStopped:
      return "stopped";
    case RunState::kFailed:
      return "failed";
    case RunState::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

Status RunRepo::PutRun(const RunInfo& run) {
  RETURN_IF_ERROR(CheckRunId(run.id));
  if (run.started < WallTime{}) {
    return absl::InvalidArgumentError(fmt::format("run {} starts before 1970", run.id));
  }
  const StatusOr<RunInfo> before = GetRun(run.id);
  if (before.ok() && before->started != run.started) {
    return absl::FailedPreconditionError(
        fmt::format("the store has another run of the id {} already", run.id));
  }
  if (!before.ok() && !absl::IsNotFound(before.status())) return before.status();
  const auto started = static_cast<std::uint64_t>(run.started.time_since_epoch().count());
  return store_.Commit(
      {{keys::Header(run.id), EncodeRun(run)}, {keys::Encode(keys::StartKey{started, run.id}), ""}},
      Durability::kSynced);
}

StatusOr<RunInfo> RunRepo::GetRun(std::string_view id) const {
  RETURN_IF_ERROR(CheckRunId(id));
  StatusOr<std::string> bytes = store_.Get(keys::Header(id));
  if (absl::IsNotFound(bytes.status())) {
    return absl::NotFoundError(fmt::format("the store has no run {}", id));
  }
  RETURN_IF_ERROR(bytes.status());
  return DecodeRun(*bytes);
}

StatusOr<RunInfo> RunRepo::FindRun(std::string_view id_start) const {
  RETURN_IF_ERROR(CheckRunId(id_start));
  std::vector<std::string> matches;
  Status bad;
  RETURN_IF_ERROR(store_.Scan(keys::Runs(id_start), [&](std::string_view key, std::string_view) {
    std::optional<std::string> run = keys::DecodeRun(key);
    if (!run.has_value()) {
      bad = OddKey("run");
      return false;
    }
    if (*run == id_start) {
      matches = {*run};
      return false;
    }
    matches.push_back(std::move(*run));
    return matches.size() < 4;
  }));
  RETURN_IF_ERROR(bad);
  if (matches.empty()) {
    return absl::NotFoundError(fmt::format("the store has no run {}", id_start));
  }
  if (matches.size() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("several runs begin with {}: {}", id_start, fmt::join(matches, ", ")));
  }
  return GetRun(matches.front());
}

StatusOr<std::vector<RunInfo>> RunRepo::ListRuns(std::size_t limit) const {
  std::vector<std::string> ids;
  Status bad;
  RETURN_IF_ERROR(store_.Scan(keys::Starts(), [&](std::string_view key, std::string_view) {
    std::optional<keys::StartKey> start = keys::DecodeStart(key);
    if (!start.has_value()) {
      bad = OddKey("run's start");
      return false;
    }
    ids.push_back(std::move(start->run));
    return true;
  }));
  RETURN_IF_ERROR(bad);
  std::reverse(ids.begin(), ids.end());
  if (ids.size() > limit) ids.resize(limit);
  std::vector<RunInfo> runs;
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(RunInfo run, GetRun(id));
    runs.push_back(std::move(run));
  }
  return runs;
}

Status RunRepo::PutRecipe(std::string_view run, const KeptRecipe& recipe) {
  RETURN_IF_ERROR(CheckRunId(run));
  std::size_t bytes = recipe.note.size();
  for (const RecipeFile& file : recipe.files) bytes += file.path.size() + file.bytes.size();
  if (recipe.files.size() > kRecipeFilesMax || bytes > kRecipeBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("a recipe of {} files with {} bytes is too large to keep, at most {} with {}",
                    recipe.files.size(), bytes, kRecipeFilesMax, kRecipeBytesMax));
  }
  return store_.Commit({{keys::Recipe(run), EncodeRecipe(recipe)}}, Durability::kSynced);
}

StatusOr<KeptRecipe> RunRepo::GetRecipe(std::string_view run) const {
  RETURN_IF_ERROR(CheckRunId(run));
  StatusOr<std::string> bytes = store_.Get(keys::Recipe(run));
  if (absl::IsNotFound(bytes.status())) {
    return absl::NotFoundError(fmt::format("no recipe is kept with the run {}", run));
  }
  RETURN_IF_ERROR(bytes.status());
  return DecodeRecipe(*bytes);
}

Status RunRepo::PutHook(std::string_view run, const HookOutcome& outcome) {
  RETURN_IF_ERROR(CheckRunId(run));
  if (outcome.attempt == 0) return absl::InvalidArgumentError("a hook's attempts count from 1");
  const keys::HookKey key{std::string(run),
                          static_cast<std::uint8_t>(static_cast<int>(outcome.phase) + 1),
                          outcome.attempt};
  return store_.Commit({{keys::Encode(key), EncodeHook(outcome)}}, Durability::kSynced);
}

StatusOr<std::vector<HookOutcome>> RunRepo::Hooks(std::string_view run) const {
  RETURN_IF_ERROR(CheckRunId(run));
  std::vector<HookOutcome> hooks;
  Status bad;
  RETURN_IF_ERROR(
      store_.Scan(keys::HooksOf(run), [&](std::string_view key, std::string_view value) {
        const auto decoded = keys::DecodeHook(key);
        StatusOr<HookOutcome> outcome = DecodeHook(value);
        if (!outcome.ok()) {
          bad = outcome.status();
        } else if (!decoded || decoded->attempt != outcome->attempt ||
                   decoded->phase != static_cast<int>(outcome->phase) + 1) {
          bad = OddKey("hook");
        } else {
          hooks.push_back(*std::move(outcome));
        }
        return bad.ok();
      }));
  RETURN_IF_ERROR(bad);
  std::stable_sort(hooks.begin(), hooks.end(), [](const HookOutcome& a, const HookOutcome& b) {
    return a.started < b.started;
  });
  return hooks;
}

Status RunRepo::PutStep(std::string_view run, const StepRow& row) {
  return PutStep(run, row, {});
}

Status RunRepo::PutStep(std::string_view run, const StepRow& row, const std::vector<Cell>& cells) {
  RETURN_IF_ERROR(CheckRunId(run));
  const std::string id(run);
  const std::uint32_t step = row.summary.plan.step;
  std::vector<Put> puts = {{keys::Encode(keys::StepKey{id, step}), EncodeStep(row)}};
  for (const Cell& cell : cells) {
    if (cell.empty()) continue;
    const CellCounts& at = cell.counts;
    puts.push_back(
        {keys::Encode(keys::CellKey{id, step, at.block, at.lane, at.half}), EncodeCell(cell)});
  }
  return store_.Commit(puts, Durability::kSynced);
}

StatusOr<std::vector<Cell>> RunRepo::Cells(std::string_view run, std::uint32_t step) const {
  RETURN_IF_ERROR(CheckRunId(run));
  std::vector<Cell> cells;
  Status bad;
  RETURN_IF_ERROR(
      store_.Scan(keys::CellsOf(run), [&](std::string_view key, std::string_view value) {
        const auto decoded = keys::DecodeCell(key);
        if (!decoded.has_value()) {
          bad = OddKey("cell");
        } else if (decoded->step == step) {
          StatusOr<Cell> cell = DecodeCell(value);
          if (!cell.ok()) {
            bad = cell.status();
          } else if (cell->counts.block != decoded->block || cell->counts.lane != decoded->lane ||
                     cell->counts.half != decoded->half) {
            bad = OddKey("cell");
          } else {
            cells.push_back(*std::move(cell));
          }
        }
        return bad.ok();
      }));
  RETURN_IF_ERROR(bad);
  return cells;
}

StatusOr<std::vector<StepRow>> RunRepo::Steps(std::string_view run) const {
  RETURN_IF_ERROR(CheckRunId(run));
  std::vector<StepRow> rows;
  Status bad;
  RETURN_IF_ERROR(
      store_.Scan(keys::StepsOf(run), [&](std::string_view key, std::string_view value) {
        StatusOr<StepRow> row = DecodeStep(value);
        if (!row.ok()) {
          bad = row.status();
        } else if (!keys::DecodeStep(key).has_value()) {
          bad = OddKey("step");
        } else {
          rows.push_back(std::move(*row));
        }
        return bad.ok();
      }));
  RETURN_IF_ERROR(bad);
  return rows;
}

StatusOr<bool> RunRepo::PutBatch(const keys::BatchKey& key, std::string_view bytes) {
  RETURN_IF_ERROR(CheckRunId(key.run));
  if (bytes.size() > kBatchBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("a batch of {} bytes is too large, at most {}", bytes.size(), kBatchBytesMax));
  }
  const std::string encoded = keys::Encode(key);
  const StatusOr<std::string> before = store_.Get(encoded);
  if (before.ok()) return false;
  if (!absl::IsNotFound(before.status())) return before.status();
  ASSIGN_OR_RETURN(std::string compressed, Compress(bytes));
  RETURN_IF_ERROR(store_.Commit({{encoded, std::move(compressed)}}, Durability::kLogged));
  return true;
}

Status RunRepo::ScanBatches(
    std::string_view run,
    const std::function<Status(const keys::BatchKey& key, std::string_view bytes)>& visit) const {
  RETURN_IF_ERROR(CheckRunId(run));
  Status bad;
  RETURN_IF_ERROR(
      store_.Scan(keys::BatchesOf(run), [&](std::string_view key, std::string_view value) {
        const std::optional<keys::BatchKey> decoded = keys::DecodeBatch(key);
        const StatusOr<std::string> bytes = Decompress(value, kBatchBytesMax);
        if (!decoded.has_value()) {
          bad = OddKey("batch");
        } else if (!bytes.ok()) {
          bad = bytes.status();
        } else {
          bad = visit(*decoded, *bytes);
        }
        return bad.ok();
      }));
  return bad;
}

Status RunRepo::PutEvent(std::string_view run, const RunLogLine& event) {
  RETURN_IF_ERROR(CheckRunId(run));
  if (event.at < WallTime{}) return absl::InvalidArgumentError("an event lies before 1970");
  keys::EventKey key{std::string(run),
                     static_cast<std::uint64_t>(event.at.time_since_epoch().count()), 0};
  std::string same_instant = keys::Encode(key);
  same_instant.resize(same_instant.size() - sizeof(key.ordinal));
  RETURN_IF_ERROR(store_.Scan(same_instant, [&](std::string_view, std::string_view) {
    ++key.ordinal;
    return true;
  }));
  return store_.Commit({{keys::Encode(key), event.text}}, Durability::kLogged);
}

StatusOr<std::vector<RunLogLine>> RunRepo::Events(std::string_view run) const {
  RETURN_IF_ERROR(CheckRunId(run));
  std::vector<RunLogLine> events;
  Status bad;
  RETURN_IF_ERROR(
      store_.Scan(keys::EventsOf(run), [&](std::string_view key, std::string_view value) {
        const std::optional<keys::EventKey> decoded = keys::DecodeEvent(key);
        if (!decoded.has_value()) {
          bad = OddKey("event");
          return false;
        }
        const Duration at(static_cast<std::int64_t>(decoded->wall_ns));
        events.push_back({WallTime(at), std::string(value)});
        return true;
      }));
  RETURN_IF_ERROR(bad);
  return events;
}

}  // namespace plimsoll
