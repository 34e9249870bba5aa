// Runs a fuzz target over the files of a folder: how the suite replays the inputs that fuzzing
// found without libFuzzer. Usage: TARGET FOLDER.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// All regular files below `folder`, in a fixed order.
std::vector<std::filesystem::path> ListFiles(const char* folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error)) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 64;
  }
  std::size_t count = 0;
  for (const std::filesystem::path& path : ListFiles(argv[1])) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) {
      std::fprintf(stderr, "%s: cannot read it\n", path.c_str());
      return 1;
    }
    // The name first: if the target dies, it is the last line.
    std::printf("%s (%zu bytes)\n", path.c_str(), bytes.size());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  std::printf("%zu inputs replayed\n", count);
  return count > 0 ? 0 : 1;
}
