// How a command finds the coordinator that is running on a store: a small file in the store's
// folder, written whole when its API listens, and removed when it ends. One that a killed
// coordinator left behind is recognised by its process, and ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/status.h"

namespace plimsoll {

inline constexpr char kEndpointFileName[] = "coordinator.json";

struct CoordinatorEndpoint {
  std::string run_id;
  std::string http;  // "HOST:PORT"; empty: not listened on.
  std::string grpc;
  // False: it runs on another machine that shares the folder. Whether it still does cannot be told
  // from here, nor can its loopback addresses be reached.
  bool here = true;
};

class EndpointFile {
 public:
  // Replaces what is there: the store's lock sees to it that only one coordinator writes it.
  static StatusOr<EndpointFile> Write(const std::string& store_folder,
                                      const CoordinatorEndpoint& endpoint);
  EndpointFile(EndpointFile&& other) noexcept;
  EndpointFile& operator=(EndpointFile&&) = delete;
  // Removes the file.
  ~EndpointFile();

 private:
  explicit EndpointFile(std::string path) : path_(std::move(path)) {}
  std::string path_;  // Empty: moved from.
};

// Nothing if there is no file, it cannot be read, or its process is gone.
std::optional<CoordinatorEndpoint> FindCoordinator(const std::string& store_folder);

}  // namespace plimsoll
