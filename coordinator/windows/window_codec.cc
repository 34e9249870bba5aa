#include <algorithm>
#include <limits>
#include <utility>

#include "coordinator/windows/window_entry.h"
#include "plimsoll/v1/windows.pb.h"

namespace plimsoll {
namespace {

constexpr std::size_t kIdBytesMax = 64;
constexpr std::size_t kFileBytesMax = std::size_t{256} << 10;
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kNoteBytesMax = 4096;
constexpr std::size_t kDigestDigits = 64;

Status Damaged() {
  return absl::DataLossError("is damaged: it is no entry of a queue of windows");
}

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return bytes.size() <= kFileBytesMax &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool IsDigest(std::string_view text) {
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Between 1970 and 2200: sums with lengths stay in range.
bool IsInstant(std::int64_t wall_ns) {
  constexpr std::int64_t kLatest = 7'258'118'400'000'000'000;
  return wall_ns >= 0 && wall_ns <= kLatest;
}

std::int64_t Ns(WallTime at) {
  return at.time_since_epoch().count();
}

}  // namespace

bool IsWindowId(std::string_view id) {
  return !id.empty() && id.size() <= kIdBytesMax && id.front() != '.' &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

void AddNote(WindowState& state, WallTime at, std::string text) {
  if (text.size() > kNoteBytesMax) text.resize(kNoteBytesMax);
  state.notes.insert(state.notes.begin(), {at, std::move(text)});
  if (state.notes.size() > kWindowNotesMax) state.notes.resize(kWindowNotesMax);
}

std::string EncodeWindow(const WindowEntry& entry) {
  v1::StoredWindow out;
  out.set_scenario_path(entry.scenario_path);
  out.set_scenario_name(entry.scenario_name);
  out.set_scenario_digest(entry.scenario_digest);
  out.set_follow(entry.follow);
  out.set_opens_minute(static_cast<std::uint32_t>(entry.spec.opens));
  out.set_closes_minute(static_cast<std::uint32_t>(entry.spec.closes));
  out.set_zone(entry.spec.zone);
  out.set_days(entry.spec.days);
  out.set_length_ns(entry.spec.length.count());
  out.set_reserve_ns(entry.spec.reserve.count());
  out.set_once(entry.spec.once);
  out.set_added_wall_ns(Ns(entry.added));
  return out.SerializeAsString();
}

StatusOr<WindowEntry> DecodeWindow(std::string id, std::string_view bytes) {
  v1::StoredWindow in;
  constexpr std::uint32_t kMinuteMax = 24 * 60;
  if (!IsWindowId(id) || !Parse(bytes, &in) || in.opens_minute() > kMinuteMax ||
      in.closes_minute() > kMinuteMax || in.days() > kEveryDay || !IsInstant(in.added_wall_ns()) ||
      !IsDigest(in.scenario_digest()) || in.scenario_path().size() > kPathBytesMax ||
      !in.scenario_path().starts_with('/') || in.scenario_name().size() > kPathBytesMax ||
      in.zone().empty()) {
    return Damaged();
  }
  WindowEntry entry{.id = std::move(id),
                    .scenario_path = in.scenario_path(),
                    .scenario_name = in.scenario_name(),
                    .scenario_digest = in.scenario_digest(),
                    .follow = in.follow(),
                    .spec = {.opens = static_cast<int>(in.opens_minute()),
                             .closes = static_cast<int>(in.closes_minute()),
                             .zone = in.zone(),
                             .days = static_cast<std::uint8_t>(in.days()),
                             .length = Duration(in.length_ns()),
                             .reserve = Duration(in.reserve_ns()),
                             .once = in.once()},
                    .added = WallTime(Duration(in.added_wall_ns()))};
  if (!CheckWindow(entry.spec).ok()) return Damaged();
  return entry;
}

std::string EncodeWindowState(const WindowState& state) {
  v1::StoredWindowState out;
  if (state.settled) out.set_settled_wall_ns(Ns(*state.settled));
  out.set_done(state.done);
  out.set_runs(state.runs);
  out.set_missed(state.missed);
  for (const WindowNote& note : state.notes) {
    v1::StoredWindowNote& stored = *out.add_notes();
    stored.set_wall_ns(Ns(note.at));
    stored.set_text(note.text);
  }
  out.set_running(state.running);
  return out.SerializeAsString();
}

StatusOr<WindowState> DecodeWindowState(std::string_view bytes) {
  v1::StoredWindowState in;
  if (!Parse(bytes, &in) || in.notes_size() > static_cast<int>(kWindowNotesMax)) return Damaged();
  WindowState state{.done = in.done(),
                    .runs = in.runs(),
                    .missed = in.missed(),
                    .notes = {},
                    .running = in.running()};
  if (in.has_settled_wall_ns()) {
    if (!IsInstant(in.settled_wall_ns())) return Damaged();
    state.settled = WallTime(Duration(in.settled_wall_ns()));
  }
  for (const v1::StoredWindowNote& note : in.notes()) {
    if (!IsInstant(note.wall_ns()) || note.text().size() > kNoteBytesMax) return Damaged();
    state.notes.push_back({WallTime(Duration(note.wall_ns())), note.text()});
  }
  return state;
}

}  // namespace plimsoll
