// Plays one row: starts its gateway, its run and its agents as processes, strikes, and gathers what
// they left behind.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/loop/child_process.h"
#include "common/loop/event_loop.h"
#include "coordinator/rehearse/judge_row.h"
#include "coordinator/rehearse/record_relay.h"
#include "coordinator/rehearse/row.h"
#include "coordinator/rehearse/table.h"

namespace plimsoll::rehearse {

class RowRun {
 public:
  // `folder` exists and is empty. `done` is called once, from a turn of the loop's own, and may
  // destroy the object. `loop` and `programs` outlive it.
  RowRun(EventLoop& loop, const Programs& programs, Row row, std::string folder,
         std::function<void(RowFacts)> done);
  // Ends every process that it started.
  ~RowRun();

  void Start();
  const Row& row() const { return row_; }

 private:
  using Lines = std::vector<std::string>;

  void Begin();
  void AskWhetherKnown();
  void StartGateway();
  void OnGatewayLines(const Lines& lines);
  void OnGatewayUp(const std::string& url);
  void StartCoordinator();
  std::vector<std::string> CoordinatorArgv() const;
  void OnCoordinatorLines(const Lines& lines);
  void OnCoordinatorExit(const ChildExit& exit);
  void Dial(const std::string& line);
  void StartAgent(const std::string& address);
  void DoStrike();
  void Throttle(bool stopped);
  void SignalAgent(int number);
  void NoteAgents();
  void AwaitEnd();
  void ListRuns();
  void ReadReport();
  void Finish();
  void Fail(const std::string& trouble);
  Status WriteFile(const std::string& name, const std::string& text, bool program = false);
  // Runs `task` in a turn of its own: children must not be destroyed from their own callbacks.
  void Later(std::function<void()> task, Duration wait = Duration{0});
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  // Starts a child whose lines go to `on_lines`; a child that cannot be started fails the row.
  std::unique_ptr<ChildProcess> Child(std::vector<std::string> argv,
                                      std::function<void(const Lines&)> on_lines,
                                      std::function<void(const ChildExit&)> on_exit);

  EventLoop& loop_;
  const Programs& programs_;
  const Row row_;
  const std::string folder_;
  std::function<void(RowFacts)> done_;
  RowFacts facts_;
  MonoTime begun_{};
  MonoTime gone_by_{};
  std::string url_;
  bool struck_ = false;
  bool throttling_ = false;
  bool ended_ = false;
  std::vector<int> agents_;  // Process ids of local ones, ever seen.
  int victim_ = 0;
  std::unique_ptr<ChildProcess> gateway_;
  std::unique_ptr<ChildProcess> coordinator_;
  std::unique_ptr<ChildProcess> helper_;  // `check` before, `runs list` after.
  std::unique_ptr<ChildProcess> agent_;   // That dials in.
  std::unique_ptr<RecordRelay> relay_;
  std::string dialled_;  // Where the coordinator listens for agents.
  Timer deadline_;
  Timer strike_;
  std::vector<Timer> turns_;
};

}  // namespace plimsoll::rehearse
