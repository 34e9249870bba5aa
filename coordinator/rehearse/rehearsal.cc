#include "coordinator/rehearse/rehearsal.h"

#include <filesystem>
#include <utility>

namespace plimsoll::rehearse {

Rehearsal::Rehearsal(EventLoop& loop, const Programs& programs, RehearsalOptions options,
                     std::function<void(const RowResult&)> on_row, std::function<void()> on_end)
    : loop_(loop),
      programs_(programs),
      options_(std::move(options)),
      on_row_(std::move(on_row)),
      on_end_(std::move(on_end)) {
  for (std::size_t i = options_.rows.size(); i > 0; --i) waiting_.push_back(i - 1);
}

void Rehearsal::Start() {
  StartMore();
}

std::vector<RowResult> Rehearsal::results() const {
  std::vector<RowResult> rows;
  for (const auto& [index, result] : results_) rows.push_back(result);
  return rows;
}

void Rehearsal::StartMore() {
  while (!waiting_.empty() && running_.size() < (repeating_ ? 1 : options_.jobs)) {
    const std::size_t index = waiting_.back();
    waiting_.pop_back();
    StartRow(index);
  }
  if (!running_.empty()) return;
  if (again_.empty() || repeating_) return on_end_();
  repeating_ = true;
  waiting_.assign(again_.rbegin(), again_.rend());
  StartMore();
}

void Rehearsal::StartRow(std::size_t index) {
  const Row& row = options_.rows[index];
  const std::string folder = options_.folder + "/" + row.name + (repeating_ ? ".again" : "");
  std::error_code error;  // What cannot be written there says so by its row.
  std::filesystem::create_directories(folder, error);
  auto run =
      std::make_unique<RowRun>(loop_, programs_, row, folder,
                               [this, index](const RowFacts& facts) { OnDone(index, facts); });
  run->Start();
  running_[index] = std::move(run);
}

void Rehearsal::OnDone(std::size_t index, const RowFacts& facts) {
  const Row& row = options_.rows[index];
  RowResult result = JudgeRow(row, facts);
  result.repeated = repeating_;
  running_.erase(index);
  std::error_code error;
  const std::string folder = options_.folder + "/" + row.name + (repeating_ ? ".again" : "");
  if (!options_.keep) std::filesystem::remove_all(folder, error);
  if (result.state == RowState::kBusy && !repeating_) {
    again_.push_back(index);
  } else {
    on_row_(result);
    results_[index] = std::move(result);
  }
  StartMore();
}

}  // namespace plimsoll::rehearse
