// The whole table: so many rows at a time, those that the machine was too busy for once more alone,
// results in the table's order.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/loop/event_loop.h"
#include "coordinator/rehearse/judge_row.h"
#include "coordinator/rehearse/row.h"
#include "coordinator/rehearse/row_run.h"
#include "coordinator/rehearse/table.h"

namespace plimsoll::rehearse {

struct RehearsalOptions {
  std::vector<Row> rows;
  std::size_t jobs = 2;  // Rows at a time.
  std::string folder;    // Exists; each row has a folder of its own in it.
  bool keep = false;     // Rows' folders stay when they are done.
};

class Rehearsal {
 public:
  // `on_row` hears of each row that has its last result, `on_end` of the end, both on the loop's
  // thread. `loop` and `programs` outlive it; destroyed, it ends what still runs.
  Rehearsal(EventLoop& loop, const Programs& programs, RehearsalOptions options,
            std::function<void(const RowResult&)> on_row, std::function<void()> on_end);

  void Start();
  // Of the rows that are done, in the table's order.
  std::vector<RowResult> results() const;

 private:
  void StartMore();
  void StartRow(std::size_t index);
  void OnDone(std::size_t index, const RowFacts& facts);

  EventLoop& loop_;
  const Programs& programs_;
  const RehearsalOptions options_;
  const std::function<void(const RowResult&)> on_row_;
  const std::function<void()> on_end_;
  std::vector<std::size_t> waiting_;
  std::vector<std::size_t> again_;  // Alone, at the end.
  bool repeating_ = false;
  std::map<std::size_t, std::unique_ptr<RowRun>> running_;
  std::map<std::size_t, RowResult> results_;
};

}  // namespace plimsoll::rehearse
