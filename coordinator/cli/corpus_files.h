// Files of the corpus commands: recordings, plain or compressed, and outputs that appear whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

// The recordings that `paths` name: files as they are, folders as the *.json and *.jsonl files,
// also
// *.zst, directly in them, by name. NotFound for a path that does not exist or a folder without
// any.
StatusOr<std::vector<std::string>> ListTraces(const std::vector<std::string>& paths);

// The file's bytes. ResourceExhausted if there are more than `bytes_max`.
StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t bytes_max);

// ReadWholeFile(), decompressed if it begins as zstd files do or the name ends in ".zst";
// `bytes_max` bounds what comes out.
StatusOr<std::string> ReadTrace(const std::string& path, std::size_t bytes_max);

// The last folder and the name: "traces/trace_0004.json.zst".
std::string ShortPath(const std::string& path);

// Writes to a temporary name beside `path`, syncs and renames: `path` is the old file or the whole
// new one. InvalidArgument if nothing can be created there, Internal if writing fails.
Status WriteFileWhole(const std::string& path, std::string_view bytes);

// Whether WriteFileWhole() could begin now, with the same errors; leaves nothing behind, and what
// is at `path` alone.
Status CheckWritable(const std::string& path);

}  // namespace plimsoll
