// Files that are there after a crash, or are not: the effects under intents and hooks' outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

// Beside it, synced, renamed, and the folder synced: `path` is the old file or the whole new one,
// also after the machine is lost. Only its owner may read it. Internal, in words.
Status WriteDurably(const std::string& path, std::string_view bytes);

// Removes it and syncs the folder; nothing if it is not there.
Status RemoveDurably(const std::string& path);

// NotFound; ResourceExhausted if there are more than `bytes_max`.
StatusOr<std::string> ReadFileWhole(const std::string& path, std::size_t bytes_max);

struct FileTail {
  std::string bytes;
  std::uint64_t cut_bytes = 0;  // Before them.
};
// The last `bytes_max` at most; empty if there is no such file.
FileTail ReadTail(const std::string& path, std::size_t bytes_max);

// Appends to it, one write. Best effort: a log that finds no disk is not worth more.
void AppendLine(const std::string& path, std::string_view line);

// Gives the disk back what a file holds before its last `keep` bytes, once it holds more than
// `bytes_max`; sizes and offsets stay. Nothing where the file system cannot.
void BoundFile(const std::string& path, std::uint64_t bytes_max, std::uint64_t keep);

}  // namespace plimsoll
