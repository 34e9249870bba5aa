// An entry of the queue of windows, as values: what was asked for, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/windows/window.h"

namespace plimsoll {

inline constexpr std::size_t kWindowNotesMax = 16;
inline constexpr std::size_t kWindowsMax = 256;  // In one queue.

struct WindowEntry {
  std::string id;               // 1 to 64 bytes of [A-Za-z0-9._-].
  std::string scenario_path;    // Absolute.
  std::string scenario_name;    // When it was added.
  std::string scenario_digest;  // SHA-256 of its text then, hex.
  bool follow = false;          // Run it also if it has changed since.
  WindowHours spec;
  WallTime added{};
  friend bool operator==(const WindowEntry&, const WindowEntry&) = default;
};

struct WindowNote {
  WallTime at{};
  std::string text;  // One line for people.
  friend bool operator==(const WindowNote&, const WindowNote&) = default;
};

struct WindowState {
  std::optional<WallTime> settled;  // Openings that opened at or before were run or missed.
  bool done = false;                // It had its one run.
  std::uint64_t runs = 0;
  std::uint64_t missed = 0;
  std::vector<WindowNote> notes;  // The latest first, at most kWindowNotesMax.
  bool running = false;           // A run was begun, and nobody has seen its end.
  friend bool operator==(const WindowState&, const WindowState&) = default;
};

// Adds a note, and lets the oldest beyond kWindowNotesMax go.
void AddNote(WindowState& state, WallTime at, std::string text);

// Bytes of the files, and back: every field checked, DataLoss in words. `id` is not in the bytes.
std::string EncodeWindow(const WindowEntry& entry);
StatusOr<WindowEntry> DecodeWindow(std::string id, std::string_view bytes);
std::string EncodeWindowState(const WindowState& state);
StatusOr<WindowState> DecodeWindowState(std::string_view bytes);

// Whether a text can be the id of an entry: it is part of files' names.
bool IsWindowId(std::string_view id);

}  // namespace plimsoll
