// FieldReader: typed reads of one map of a document by key. What is wrong becomes a problem with
// line and path, and the read gives nothing; the reader goes on, so that all problems are found at
// once. Every key that was asked for is known; Finish() makes a problem of each other one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/config/document.h"
#include "common/config/problems.h"
#include "common/config/quantities.h"

namespace plimsoll {

class FieldReader {
 public:
  // `node` and `problems` outlive the reader. A node that is not a map is a problem, and every read
  // then gives nothing. An empty `path` is the document itself.
  FieldReader(const ConfigNode& node, std::string path, Problems& problems);

  // A missing key is a problem: "is missing, write e.g. <example>". True if it is there.
  bool Require(std::string_view key, std::string_view example);

  // Each gives nothing if the key is absent, or present but wrong (then with a problem).
  std::optional<std::string> Text(std::string_view key);  // Not empty.
  std::optional<Duration> Time(std::string_view key);
  std::optional<double> Share(std::string_view key);
  std::optional<double> TokenRate(std::string_view key);
  std::optional<std::uint64_t> Count(std::string_view key, std::uint64_t min, std::uint64_t max);
  std::optional<Money> Price(std::string_view key);
  // A plain decimal number, such as 0.05 or 12000.
  std::optional<double> Number(std::string_view key, double min, double max);
  // A share as people write one (5%) or as a plain number from 0 to 1 (0.05).
  std::optional<double> Fraction(std::string_view key);
  std::optional<bool> Flag(std::string_view key);  // true or false.
  // Index into `choices`; another text is a problem that lists them, with a suggestion.
  std::optional<std::size_t> Choice(std::string_view key,
                                    std::span<const std::string_view> choices);
  std::optional<FieldReader> Map(std::string_view key);
  // A list of counts; a single wrong item makes the whole list nothing.
  std::optional<std::vector<std::uint64_t>> Counts(std::string_view key, std::uint64_t min,
                                                   std::uint64_t max);
  std::optional<std::vector<std::string>> Texts(std::string_view key);
  // All entries of the map as texts, in the file's order; marks every key as known.
  std::vector<std::pair<std::string, std::string>> AllTexts();

  // The raw value of a key, or null; marks it as known.
  const ConfigNode* Find(std::string_view key);
  // Adds a problem at `key` (or at the map itself if it is absent).
  void Problem(std::string_view key, std::string message);
  // Keys of the map in the file's order.
  std::vector<std::string> Keys() const;
  std::string PathOf(std::string_view key) const;
  const std::string& path() const { return path_; }

  // Every key that nobody asked for is a problem, with a suggestion if it looks like a known one.
  void Finish();

 private:
  // The value of `key` as a scalar's text; nothing if absent or with a problem.
  const ConfigNode* Scalar(std::string_view key, std::string_view noun);
  template <typename T, typename Parse>
  std::optional<T> Quantity(std::string_view key, std::string_view noun, const Parse& parse);

  const ConfigNode* map_ = nullptr;  // Null if the node is no map.
  int line_ = 0;
  std::string path_;
  Problems* problems_;
  std::vector<std::string> known_;
};

// The candidate that `word` was probably meant to be, or empty: at most two edits away, and less
// than half of the word.
std::string_view DidYouMean(std::string_view word, std::span<const std::string> candidates);

}  // namespace plimsoll
