// Runs `plimsoll corpus …` in this process and captures what it prints.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coordinator/cli/corpus_command.h"

namespace plimsoll {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

inline Ran RunCorpus(const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  argv.reserve(words.size());
  for (const std::string& word : words) argv.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.code = CorpusMain(static_cast<int>(argv.size()), argv.data());
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  return ran;
}

inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that is removed with it.
class CorpusFolder {
 public:
  CorpusFolder() {
    std::string name = testing::TempDir() + "plimsoll_corpus_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CorpusFolder() { std::filesystem::remove_all(folder_); }
  CorpusFolder(const CorpusFolder&) = delete;
  CorpusFolder& operator=(const CorpusFolder&) = delete;

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace plimsoll
