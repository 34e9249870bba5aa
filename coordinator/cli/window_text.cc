#include "coordinator/cli/window_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::size_t kNotesShown = 5;

std::string NextWords(const WindowFiles::Kept& kept, const TimeZone& zone, WallTime now) {
  if (kept.state.running) return "running now";
  if (kept.state.done) return "done: it had its one run";
  // An opening that is settled is not run again.
  const WindowHours& spec = kept.entry.spec;
  WallTime at = now;
  if (kept.state.settled) {
    const auto open = NextOpening(spec, zone, *kept.state.settled, now);
    if (!open) return "never again";
    at = std::max(now, open->opens);
  }
  const auto next = NextStart(spec, zone, at);
  if (!next) return "never: a run does not fit into it within a year";
  return *next == now ? "next: now" : "next: " + zone.Text(*next);
}

}  // namespace

std::string WindowList(const WindowFiles::Listing& listing, WallTime now, bool served) {
  std::string text;
  for (const WindowFiles::Kept& kept : listing.windows) {
    const auto zone = TimeZone::Load(kept.entry.spec.zone);
    text +=
        fmt::format("{}  {}\n    {}{}\n", kept.entry.id, Words(kept.entry.spec),
                    Printable(kept.entry.scenario_path), kept.entry.follow ? " (followed)" : "");
    text +=
        fmt::format("    {}; {} run, {} missed\n",
                    zone.ok() ? NextWords(kept, *zone, now) : std::string(MessageOf(zone.status())),
                    kept.state.runs, kept.state.missed);
    for (std::size_t i = 0; i < kept.state.notes.size() && i < kNotesShown; ++i) {
      const WindowNote& note = kept.state.notes[i];
      const TimeZone* known = zone.ok() ? &*zone : nullptr;
      text += fmt::format("    {}  {}\n", known != nullptr ? known->Text(note.at) : "",
                          Printable(note.text));
    }
  }
  for (const std::string& line : listing.unusable) text += line + "\n";
  if (text.empty()) return "no windows\n";
  if (!served) text += "nobody runs this queue: start plimsoll serve\n";
  return text;
}

}  // namespace plimsoll
