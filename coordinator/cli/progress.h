// Progress of a run on standard error: a block that is drawn anew in place once a second where that
// is a terminal, plain lines where it is not. Effects at the edge; what is said is made in
// progress_lines. Nothing here waits for whoever reads it but Finish(): a terminal that takes
// nothing (Ctrl-S) shows no new block, and lines wait for it up to a bound; beyond that their
// number is said.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/scheduler.h"
#include "coordinator/cli/output_queue.h"
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
  // Stop(), and waits until all is shown: on a terminal for an hour (somebody holds it), else for
  // kPatience. Whether it is. For when nothing else is to be done any more.
  bool Finish();
  static constexpr Duration kPatience = 3s;
  static constexpr Duration kTerminalPatience = 1h;
  // Called with each plain line: to be said with what all lines begin with.
  std::function<void(const std::string& line)> on_line;

 private:
  void Tick();
  void Draw();
  bool Offer(const std::vector<std::string>& lines);
  void SayWhatIsMissing();
  std::string Erased() const;
  ProgressStyle StyleNow() const;

  Scheduler& scheduler_;
  const ProgressOptions options_;
  const Bar bar_;
  std::function<LiveStatus()> look_;
  ProgressLog log_;
  OutputQueue output_;
  std::vector<std::string> drawn_;  // What stands on the terminal once all is written.
  std::size_t not_shown_ = 0;       // Lines that found no room, since the last that did.
  bool running_ = false;
  bool stuck_ = false;  // At the last tick, something said before was not written yet.
  Timer tick_;
};

}  // namespace plimsoll
