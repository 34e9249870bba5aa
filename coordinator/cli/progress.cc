#include "coordinator/cli/progress.h"

#include <cerrno>
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
    : scheduler_(scheduler), options_(options), bar_(std::move(bar)), look_(std::move(look)) {}

Progress::~Progress() {
  Stop();
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

// One write: a terminal that shows half of it would flicker.
void Progress::Draw() {
  std::string text = Erased();
  drawn_ = ProgressBlock(look_(), bar_, StyleNow());
  for (const std::string& line : drawn_) text += line + "\r\n";
  Write(text);
}

void Progress::Say(const std::vector<std::string>& lines) {
  std::string text = options_.terminal ? Erased() : std::string();
  for (const std::string& line : lines) text += line + (options_.terminal ? "\r\n" : "\n");
  Write(text);
  if (!options_.terminal) return;
  if (running_) Draw();
}

void Progress::Stop() {
  tick_.Cancel();
  if (!std::exchange(running_, false) || !options_.terminal) return;
  Write(Erased());
}

// To the block's first line, and nothing below it. A terminal that became narrower since has
// broken the lines: they are as many rows as they fill now.
std::string Progress::Erased() {
  const std::size_t columns = StyleNow().columns;
  std::size_t rows = 0;
  for (const std::string& line : drawn_) {
    const std::size_t width = ColumnsShown(line);
    rows += width == 0 ? 1 : (width + columns - 1) / columns;
  }
  drawn_.clear();
  return rows == 0 ? "\r\x1b[J" : fmt::format("\r\x1b[{}A\x1b[J", rows);
}

// A terminal that is gone takes nothing, and the run goes on.
void Progress::Write(const std::string& text) const {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = ::write(options_.fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
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
