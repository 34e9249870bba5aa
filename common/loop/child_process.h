// A child process on the loop: local agents, hooks. Our own fork and exec rather than
// Boost.Process, which has no way to set the death signal and the process group between the two;
// the exit is seen through a pidfd, so that no SIGCHLD handler is shared with anybody.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it holds a slash.
  std::vector<std::pair<std::string, std::string>> env;  // Added to ours, or replacing it.
  // Standard output and error are appended to this file; empty: they are ours, or go to on_lines.
  std::string output_file;
  // Gets them by whole lines as they come, on the loop's thread, and what is left of them before
  // `on_exit` or at the object's end. Must not destroy the object. A line over
  // LineSplitter::kLineBytesMax comes in pieces; a child that writes faster than is read waits.
  std::function<void(const std::vector<std::string>& lines)> on_lines;
  std::string directory;  // Where it runs; empty: in ours.
  int keep_fd = -1;       // A descriptor of ours that it, and what it starts, keeps; -1: none.
  // Called once the child exists and before it becomes the program: what must be known of it first
  // is written down here. On an error, or if we die meanwhile, it ends without having run.
  std::function<Status(int pid)> before_exec;
  // The child dies with the thread that started it, so that a killed parent leaves nothing behind.
  // That thread should live as long as the process: start children on the main loop's thread.
  bool die_with_parent = true;
};

struct ChildExit {
  int code = 0;    // Of exit(); 0 when killed by a signal.
  int signal = 0;  // That killed it; 0: it exited by itself.
};

class ChildProcess {
 public:
  // Starts a child in a process group of its own, standard input from /dev/null, no other
  // descriptor of ours open but `keep_fd`. An argv that cannot be executed is an error here, not an
  // exit. `on_exit` runs once on the loop's thread and may destroy the object. `loop` outlives it.
  static StatusOr<std::unique_ptr<ChildProcess>> Start(
      EventLoop& loop, const ChildOptions& options, std::function<void(const ChildExit&)> on_exit);
  // Never leaves it running: SIGKILL to what is left of the group, and reaped. `on_exit` is not
  // called any more.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const;
  bool running() const;  // Until its exit was seen.
  // Sends `signal` to the child's whole group; nothing once it has exited.
  void Kill(int signal);

 private:
  class Impl;
  explicit ChildProcess(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll
