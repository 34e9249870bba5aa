// Problems: everything that is wrong with a file a person wrote, collected so that all of it is
// printed at once, each as "file:line: path: what is wrong, what would be right".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

struct Problem {
  int line = 0;         // From 1; 0: the file as a whole.
  std::string path;     // "sweep.sessions[2]"; empty: the document as a whole.
  std::string message;  // "is missing, write e.g. \"5m\"".
};

class Problems {
 public:
  // `file` is printed in front of every problem; it is never opened.
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void Add(int line, std::string path, std::string message);

  bool empty() const { return problems_.empty(); }
  std::size_t size() const { return problems_.size(); }
  const std::string& file() const { return file_; }
  // True if `path`, something below it, or something above it has a problem: a rule over several
  // fields is not worth reporting while one of them could not be read.
  bool Touches(std::string_view path) const;

  // What the readers know beside what is wrong: the paths of all keys that were asked for, in the
  // maps that the file has. So a page of documentation can be held to the readers.
  void AddKnown(std::string path) { known_.push_back(std::move(path)); }
  const std::vector<std::string>& known() const { return known_; }

  // One line a problem, ordered by line of the file, then by the order of discovery.
  std::vector<std::string> Lines() const;
  // OK without problems; else InvalidArgument whose message is Lines() joined by newlines.
  Status ToStatus() const;

 private:
  std::string file_;
  std::vector<Problem> problems_;
  std::vector<std::string> known_;
};

}  // namespace plimsoll
