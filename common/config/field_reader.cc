#include "common/config/field_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/config/quantities.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

// Keys longer than this are shown cut and get no suggestion.
constexpr std::size_t kKeyShown = 40;

std::string Shown(std::string_view text) {
  if (text.size() <= kKeyShown) return std::string(text);
  return fmt::format("{}…", text.substr(0, kKeyShown));
}

std::string Joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::string_view DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > kKeyShown) return {};
  std::string_view best;
  std::size_t best_distance = 3;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best_distance && distance * 2 < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

FieldReader::FieldReader(const ConfigNode& node, std::string path, Problems& problems)
    : line_(node.line), path_(std::move(path)), problems_(&problems) {
  if (node.kind == ConfigNode::Kind::kMap) {
    map_ = &node;
  } else {
    problems_->Add(node.line, path_,
                   fmt::format("is {}, it must be a map of keys and values",
                               node.kind == ConfigNode::Kind::kNull
                                   ? "empty"
                                   : fmt::format("a {}", KindName(node.kind))));
  }
}

bool FieldReader::Require(std::string_view key, std::string_view example) {
  if (Find(key) != nullptr) return true;
  if (map_ != nullptr) {
    problems_->Add(line_, PathOf(key), fmt::format("is missing, write e.g. {}", example));
  }
  return false;
}

std::optional<std::string> FieldReader::Text(std::string_view key) {
  const ConfigNode* node = Scalar(key, "a text");
  if (node == nullptr) return std::nullopt;
  if (node->text.empty()) {
    Problem(key, "is an empty text, write one or leave the key out");
    return std::nullopt;
  }
  return node->text;
}

std::optional<Duration> FieldReader::Time(std::string_view key) {
  return Quantity<Duration>(key, "a duration like \"5m\"", ParseDuration);
}

std::optional<double> FieldReader::Share(std::string_view key) {
  return Quantity<double>(key, "a share like \"50%\"", ParseShare);
}

std::optional<double> FieldReader::TokenRate(std::string_view key) {
  return Quantity<double>(key, "a rate like \"10 tok/s\"", ParseTokenRate);
}

std::optional<Money> FieldReader::Price(std::string_view key) {
  return Quantity<Money>(key, "a price like \"14.40 USD\"", ParseMoney);
}

std::optional<std::uint64_t> FieldReader::Count(std::string_view key, std::uint64_t min,
                                                std::uint64_t max) {
  const auto count = Quantity<std::uint64_t>(key, "a count like \"15\"", ParseCount);
  if (!count.has_value()) return std::nullopt;
  if (*count < min || *count > max) {
    Problem(key, fmt::format("is {}, it must be from {} to {}", *count, min, max));
    return std::nullopt;
  }
  return count;
}

std::optional<double> FieldReader::Number(std::string_view key, double min, double max) {
  const ConfigNode* node = Scalar(key, "a number");
  if (node == nullptr) return std::nullopt;
  double value = 0;
  const char* const last = node->text.data() + node->text.size();
  const auto [end, error] = std::from_chars(node->text.data(), last, value);
  if (error != std::errc{} || end != last || !std::isfinite(value)) {
    Problem(key, fmt::format("is \"{}\", it must be a number", Shown(node->text)));
    return std::nullopt;
  }
  if (value < min || value > max) {
    Problem(key, fmt::format("is {}, it must be from {} to {}", Shown(node->text), min, max));
    return std::nullopt;
  }
  return value;
}

std::optional<double> FieldReader::Fraction(std::string_view key) {
  const ConfigNode* node = Find(key);
  const bool percent = node != nullptr && node->text.find('%') != std::string::npos;
  return percent ? Share(key) : Number(key, 0, 1);
}

std::optional<bool> FieldReader::Flag(std::string_view key) {
  const ConfigNode* node = Scalar(key, "true or false");
  if (node == nullptr) return std::nullopt;
  if (node->text == "true") return true;
  if (node->text == "false") return false;
  Problem(key, fmt::format("is \"{}\", write true or false", Shown(node->text)));
  return std::nullopt;
}

std::optional<std::size_t> FieldReader::Choice(std::string_view key,
                                               std::span<const std::string_view> choices) {
  const ConfigNode* node = Scalar(key, Joined(choices));
  if (node == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (node->text == choices[i]) return i;
  }
  const std::vector<std::string> names(choices.begin(), choices.end());
  const std::string_view meant = DidYouMean(node->text, names);
  std::string message = fmt::format("is \"{}\", it must be {}", Shown(node->text), Joined(choices));
  if (!meant.empty()) message += fmt::format("; did you mean \"{}\"?", meant);
  Problem(key, std::move(message));
  return std::nullopt;
}

std::optional<FieldReader> FieldReader::Map(std::string_view key) {
  const ConfigNode* node = Find(key);
  if (node == nullptr) return std::nullopt;
  FieldReader reader(*node, PathOf(key), *problems_);
  if (reader.map_ == nullptr) return std::nullopt;
  return reader;
}

std::optional<std::vector<std::uint64_t>> FieldReader::Counts(std::string_view key,
                                                              std::uint64_t min,
                                                              std::uint64_t max) {
  const ConfigNode* node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != ConfigNode::Kind::kList || node->items.empty()) {
    Problem(key, "must be a list of counts, write e.g. [10, 15, 20]");
    return std::nullopt;
  }
  std::vector<std::uint64_t> counts;
  bool good = true;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const ConfigNode& item = node->items[i];
    const StatusOr<std::uint64_t> count = ParseCount(item.text);
    std::string wrong;
    if (!count.ok()) {
      wrong = std::string(MessageOf(count.status()));
    } else if (*count < min || *count > max) {
      wrong = fmt::format("is {}, it must be from {} to {}", *count, min, max);
    } else {
      counts.push_back(*count);
      continue;
    }
    problems_->Add(item.line, fmt::format("{}[{}]", PathOf(key), i), std::move(wrong));
    good = false;
  }
  if (!good) return std::nullopt;
  return counts;
}

std::optional<std::vector<std::string>> FieldReader::Texts(std::string_view key) {
  const ConfigNode* node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != ConfigNode::Kind::kList) {
    Problem(key, "must be a list of texts, write e.g. [a, b]");
    return std::nullopt;
  }
  std::vector<std::string> texts;
  bool good = true;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const ConfigNode& item = node->items[i];
    if (item.kind == ConfigNode::Kind::kScalar && !item.text.empty()) {
      texts.push_back(item.text);
      continue;
    }
    problems_->Add(item.line, fmt::format("{}[{}]", PathOf(key), i), "must be a text");
    good = false;
  }
  if (!good) return std::nullopt;
  return texts;
}

std::vector<std::pair<std::string, std::string>> FieldReader::AllTexts() {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const std::string& key : Keys()) {
    if (std::optional<std::string> text = Text(key)) texts.emplace_back(key, std::move(*text));
  }
  return texts;
}

const ConfigNode* FieldReader::Find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return map_ == nullptr ? nullptr : map_->Find(key);
}

void FieldReader::Problem(std::string_view key, std::string message) {
  int line = line_;
  if (map_ != nullptr) {
    for (const ConfigMember& member : map_->members) {
      if (member.key == key) line = member.line;
    }
  }
  problems_->Add(line, PathOf(key), std::move(message));
}

std::vector<std::string> FieldReader::Keys() const {
  std::vector<std::string> keys;
  if (map_ == nullptr) return keys;
  for (const ConfigMember& member : map_->members) keys.push_back(member.key);
  return keys;
}

std::string FieldReader::PathOf(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return fmt::format("{}.{}", path_, key);
}

void FieldReader::Finish() {
  for (const std::string& key : known_) problems_->AddKnown(PathOf(key));
  for (const std::string& key : Keys()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string_view meant = DidYouMean(key, known_);
    std::string message = "is not a known key";
    if (!meant.empty()) {
      message += fmt::format(", did you mean \"{}\"?", meant);
    } else {
      std::vector<std::string_view> names(known_.begin(), known_.end());
      message += fmt::format(", the keys here are {}", Joined(names));
    }
    for (const ConfigMember& member : map_->members) {
      if (member.key == key) problems_->Add(member.line, PathOf(Shown(key)), message);
    }
  }
}

const ConfigNode* FieldReader::Scalar(std::string_view key, std::string_view noun) {
  const ConfigNode* node = Find(key);
  if (node == nullptr) return nullptr;
  if (node->kind == ConfigNode::Kind::kScalar) return node;
  const bool empty = node->kind == ConfigNode::Kind::kNull;
  Problem(key, fmt::format("is {}, it must be {}",
                           empty ? "empty" : fmt::format("a {}", KindName(node->kind)), noun));
  return nullptr;
}

template <typename T, typename Parse>
std::optional<T> FieldReader::Quantity(std::string_view key, std::string_view noun,
                                       const Parse& parse) {
  const ConfigNode* node = Scalar(key, noun);
  if (node == nullptr) return std::nullopt;
  StatusOr<T> value = parse(node->text);
  if (!value.ok()) {
    Problem(key, std::string(MessageOf(value.status())));
    return std::nullopt;
  }
  return *value;
}

}  // namespace plimsoll
