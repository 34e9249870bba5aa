// Progress of a run on standard error: a block that is drawn anew in place once a second where that
// is a terminal, plain lines where it is not. Effects at the edge; what is said is made in
// progress_lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/scheduler.h"
#include "coordinator/cli/progress_lines.h"

namespace plimsoll {

enum class ColourChoice : std::uint8_t { kAuto, kAlways, kNever };

struct ProgressOptions {
  int fd = 2;
  bool terminal = false;  // It can move its cursor.
  bool colour = false;
};

// Of `fd` and the environment: a terminal whose TERM is not "dumb"; in colour unless NO_COLOR is
// set to something. kAlways and kNever decide the colour themselves.
ProgressOptions ProgressFor(int fd, ColourChoice choice);

class Progress {
 public:
  // `look` gives the status of now; asked once a second between Start() and Stop().
  Progress(Scheduler& scheduler, const ProgressOptions& options, Bar bar,
           std::function<LiveStatus()> look);
  ~Progress();

  void Start();
  // A line that stays, above the block.
  void Say(const std::string& line) { Say(std::vector<std::string>{line}); }
  void Say(const std::vector<std::string>& lines);
  // Takes the block away: what is printed afterwards begins where it was.
  void Stop();
  // Called with each plain line: to be said with what all lines begin with.
  std::function<void(const std::string& line)> on_line;

 private:
  void Tick();
  void Draw();
  std::string Erased();
  void Write(const std::string& text) const;
  ProgressStyle StyleNow() const;

  Scheduler& scheduler_;
  const ProgressOptions options_;
  const Bar bar_;
  std::function<LiveStatus()> look_;
  ProgressLog log_;
  std::vector<std::string> drawn_;  // What stands on the terminal, uncoloured.
  bool running_ = false;
  Timer tick_;
};

}  // namespace plimsoll
