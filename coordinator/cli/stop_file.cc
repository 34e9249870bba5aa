#include "coordinator/cli/stop_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "coordinator/cli/corpus_files.h"

namespace plimsoll {
namespace {

constexpr std::size_t kRequestBytesMax = 4096;
constexpr char kAbort[] = "abort\n";
constexpr char kDrain[] = "drain\n";

}  // namespace

std::string StopFilePath(const std::string& store, const std::string& run_id) {
  return (std::filesystem::path(store) / "stop" / run_id).string();
}

Status AskToStop(const std::string& store, const std::string& run_id, StopKind kind) {
  const std::string path = StopFilePath(store, run_id);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) {
    return absl::InvalidArgumentError(
        fmt::format("{} cannot be made: {}", std::filesystem::path(path).parent_path().string(),
                    error.message()));
  }
  return WriteFileWhole(path, kind == StopKind::kAbort ? kAbort : kDrain);
}

std::optional<StopKind> TakeStopRequest(const std::string& store, const std::string& run_id) {
  const std::string path = StopFilePath(store, run_id);
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  const auto text = ReadWholeFile(path, kRequestBytesMax);
  ::unlink(path.c_str());
  return text.ok() && *text == kAbort ? StopKind::kAbort : StopKind::kDrain;
}

bool StopRequestWaits(const std::string& store, const std::string& run_id) {
  return ::access(StopFilePath(store, run_id).c_str(), F_OK) == 0;
}

void WithdrawStopRequest(const std::string& store, const std::string& run_id) {
  ::unlink(StopFilePath(store, run_id).c_str());
}

}  // namespace plimsoll
