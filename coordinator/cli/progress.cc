#include "coordinator/cli/progress.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "coordinator/report/text_layout.h"

namespace plimsoll {

ProgressOptions ProgressFor(int fd, ColourChoice choice) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  ProgressOptions options{.fd = fd};
  options.terminal =
      ::isatty(fd) == 1 && term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0;
  const bool wanted = no_color == nullptr || *no_color == '\0';
  options.colour = choice == ColourChoice::kAlways ||
                   (choice == ColourChoice::kAuto && options.terminal && wanted);
  return options;
}

Progress::Progress(Scheduler& scheduler, const ProgressOptions& options, Bar bar,
                   std::function<LiveStatus()> look)
    : scheduler_(scheduler),
      options_(options),
      bar_(std::move(bar)),
      look_(std::move(look)),
      output_(options.fd) {}

Progress::~Progress() {
  Finish();
}

void Progress::Start() {
  running_ = true;
  Tick();
}

void Progress::Tick() {
  if (options_.terminal) {
    Draw();
  } else if (const auto line = log_.Next(look_(), bar_); line.has_value() && on_line) {
    on_line(*line);
  }
  tick_ = scheduler_.After(1s, [this] { Tick(); });
}

// One that does not take what was said before needs no block: by the time it shows it, it is old.
void Progress::Draw() {
  stuck_ = !output_.idle();
  if (stuck_) return;
  SayWhatIsMissing();
  Offer({});
}

void Progress::Say(const std::vector<std::string>& lines) {
  SayWhatIsMissing();
  if (not_shown_ > 0 || !Offer(lines)) not_shown_ += lines.size();
}

// What stands on the terminal once all that was offered is written is known from here, so a block
// is taken away only together with lines that were taken.
// One write: a terminal that shows half of it would flicker.
bool Progress::Offer(const std::vector<std::string>& lines) {
  std::string text = options_.terminal ? Erased() : std::string();
  std::vector<std::string> block;
  if (options_.terminal && running_ && !stuck_) block = ProgressBlock(look_(), bar_, StyleNow());
  for (const std::string& line : lines) text += line + (options_.terminal ? "\r\n" : "\n");
  for (const std::string& line : block) text += line + "\r\n";
  if (!output_.Offer(text)) return false;
  drawn_ = std::move(block);
  return true;
}

void Progress::SayWhatIsMissing() {
  if (not_shown_ == 0 || !output_.idle()) return;
  const std::size_t count = std::exchange(not_shown_, 0);
  if (!Offer({fmt::format("(here {} {} not shown: nothing was taken for too long)", count,
                          count == 1 ? "line is" : "lines are")})) {
    not_shown_ = count;
  }
}

void Progress::Stop() {
  tick_.Cancel();
  if (!std::exchange(running_, false) || !options_.terminal) return;
  if (output_.Offer(Erased())) drawn_.clear();
}

bool Progress::Finish() {
  Stop();
  SayWhatIsMissing();
  const bool shown = output_.Drain(options_.terminal ? kTerminalPatience : kPatience);
  SayWhatIsMissing();
  return shown && output_.Drain(kPatience);
}

// To the block's first line, and nothing below it. A terminal that became narrower since has
// broken the lines: they are as many rows as they fill now.
std::string Progress::Erased() const {
  const std::size_t columns = StyleNow().columns;
  std::size_t rows = 0;
  for (const std::string& line : drawn_) {
    const std::size_t width = ColumnsShown(line);
    rows += width == 0 ? 1 : (width + columns - 1) / columns;
  }
  return rows == 0 ? "\r\x1b[J" : fmt::format("\r\x1b[{}A\x1b[J", rows);
}

ProgressStyle Progress::StyleNow() const {
  ProgressStyle style{.colour = options_.colour};
  struct winsize size {};
  if (::ioctl(options_.fd, TIOCGWINSZ, &size) != 0) return style;
  if (size.ws_col > 0) style.columns = size.ws_col;
  if (size.ws_row > 0) style.rows = size.ws_row;
  return style;
}

}  // namespace plimsoll
