#include "coordinator/cli/endpoint_file.h"

#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/json/json.h"
#include "coordinator/cli/corpus_files.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kFileBytesMax = std::size_t{64} << 10;

std::string PathIn(const std::string& store_folder) {
  return (std::filesystem::path(store_folder) / kEndpointFileName).string();
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// When the process started, in ticks since the machine did: with its id it names one process, also
// after the id has been given to another. Nothing if there is no such process.
std::optional<std::uint64_t> StartOf(std::int64_t pid) {
  const auto stat = ReadWholeFile(fmt::format("/proc/{}/stat", pid), kFileBytesMax);
  if (!stat.ok()) return std::nullopt;
  // The name of the program is in parentheses and may hold anything; field 3 follows the last one.
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat->substr(name_end + 1));
  std::string skipped;
  fields >> skipped;
  if (skipped == "Z" || skipped == "X") return std::nullopt;  // Dead, and not yet reaped.
  for (int field = 4; field < 22; ++field) fields >> skipped;
  std::uint64_t start = 0;
  if (!(fields >> start)) return std::nullopt;
  return start;
}

std::string TextIn(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

template <typename Integer>
std::optional<Integer> NumberIn(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<Integer>();
}

}  // namespace

StatusOr<EndpointFile> EndpointFile::Write(const std::string& store_folder,
                                           const CoordinatorEndpoint& endpoint) {
  const std::int64_t pid = getpid();
  const Json json = {{"run", endpoint.run_id},
                     {"http", endpoint.http},
                     {"grpc", endpoint.grpc},
                     {"host", HostName()},
                     {"pid", pid},
                     {"process_start_ticks", StartOf(pid).value_or(0)}};
  std::string path = PathIn(store_folder);
  RETURN_IF_ERROR(
      WriteFileWhole(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return EndpointFile(std::move(path));
}

EndpointFile::EndpointFile(EndpointFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

EndpointFile::~EndpointFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

std::optional<CoordinatorEndpoint> FindCoordinator(const std::string& store_folder) {
  const auto text = ReadWholeFile(PathIn(store_folder), kFileBytesMax);
  if (!text.ok()) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  CoordinatorEndpoint endpoint{.run_id = TextIn(json, "run"),
                               .http = TextIn(json, "http"),
                               .grpc = TextIn(json, "grpc"),
                               .here = TextIn(json, "host") == HostName()};
  if (!endpoint.here) return endpoint;
  const auto pid = NumberIn<std::int64_t>(json, "pid");
  const auto start = NumberIn<std::uint64_t>(json, "process_start_ticks");
  if (!pid.has_value() || !start.has_value() || StartOf(*pid) != start) return std::nullopt;
  return endpoint;
}

}  // namespace plimsoll
