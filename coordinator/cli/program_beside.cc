#include "coordinator/cli/program_beside.h"

#include <filesystem>
#include <system_error>

namespace plimsoll {

std::string ProgramBeside(const char* name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(name) : (self.parent_path() / name).string();
}

}  // namespace plimsoll
