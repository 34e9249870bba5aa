#include "coordinator/signals/series_text.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace plimsoll {
namespace {

enum : unsigned char { kLetter = 1, kDigit = 2, kColon = 4 };

constexpr std::array<unsigned char, 256> MakeClasses() {
  std::array<unsigned char, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  classes['_'] = kLetter;
  classes[':'] = kColon;
  return classes;
}
constexpr std::array<unsigned char, 256> kClasses = MakeClasses();

constexpr unsigned char ClassOf(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t bytes = Utf8CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

// A cursor over one line's series.
class Scanner {
 public:
  Scanner(std::string_view text, PageSyntax syntax, std::size_t labels_max,
          std::vector<SeriesPart>* labels)
      : text_(text), blanks_(syntax == PageSyntax::kText), most_(labels_max), labels_(labels) {
    if (labels_ != nullptr) labels_->clear();
  }

  SeriesScan Run() {
    scan_.name = Plain(kLetter | kColon);
    std::size_t brace = at_;
    if (blanks_) {
      while (brace < text_.size() && IsBlank(text_[brace])) ++brace;
    }
    if (brace < text_.size() && text_[brace] == '{') {
      at_ = brace + 1;
      scan_.wrong = Braces();
    }
    scan_.size = at_;
    return scan_;
  }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t'; }
  char Now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipBlanks() {
    while (blanks_ && IsBlank(Now())) ++at_;
  }

  // A name without quotes that begins with one of `first`; empty if there is none.
  std::string_view Plain(unsigned first) {
    const std::size_t begin = at_;
    if (at_ >= text_.size() || (ClassOf(text_[at_]) & first) == 0) return {};
    while (at_ < text_.size() && (ClassOf(text_[at_]) & (first | kDigit)) != 0) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Behind an opening quote, up to and with the closing one.
  const char* Quoted(std::string_view& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ >= text_.size()) {
      at_ = text_.size();
      return "has a quote that is not closed";
    }
    out = text_.substr(begin, at_ - begin);
    ++at_;
    return IsUtf8(out) ? nullptr : "has bytes that are no UTF-8";
  }

  const char* Braces() {
    for (;;) {
      SkipBlanks();
      if (Now() == '}') {
        ++at_;
        return nullptr;
      }
      if (const char* wrong = Element()) return wrong;
      SkipBlanks();
      if (Now() == ',') {
        ++at_;
      } else if (Now() != '}') {
        return "has something else than \",\" or \"}\" behind a label";
      }
    }
  }

  // A label, or the quoted name of the metric.
  const char* Element() {
    SeriesPart part;
    const bool quoted = Now() == '"';
    if (quoted) {
      ++at_;
      if (const char* wrong = Quoted(part.name)) return wrong;
    } else {
      part.name = Plain(kLetter);
    }
    if (part.name.empty()) return "has a label without a name";
    SkipBlanks();
    if (quoted && (Now() == ',' || Now() == '}')) {
      if (!scan_.name.empty() || count_ > 0) return "has two names";
      scan_.name = part.name;
      return nullptr;
    }
    if (Now() != '=') return "has a label without \"=\"";
    ++at_;
    SkipBlanks();
    if (Now() != '"') return "has a label whose value is not in quotes";
    ++at_;
    if (const char* wrong = Quoted(part.value)) return wrong;
    if (part.name == "__name__") return "has a label __name__, which is no label's";
    if (++count_ > most_) return "has too many labels";
    if (labels_ != nullptr) labels_->push_back(part);
    return nullptr;
  }

  std::string_view text_;
  bool blanks_;
  std::size_t most_;
  std::vector<SeriesPart>* labels_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  SeriesScan scan_;
};

}  // namespace

SeriesScan ScanSeries(std::string_view text, PageSyntax syntax, std::size_t labels_max,
                      std::vector<SeriesPart>* labels) {
  return Scanner(text, syntax, labels_max, labels).Run();
}

std::string Unescaped(std::string_view quoted) {
  std::string text;
  text.reserve(quoted.size());
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '\\' && i + 1 < quoted.size()) {
      const char next = quoted[i + 1];
      if (next == '\\' || next == '"' || next == 'n') {
        text += next == 'n' ? '\n' : next;
        ++i;
        continue;
      }
    }
    text += quoted[i];
  }
  return text;
}

bool IsPlainMetricName(std::string_view name) {
  if (name.empty() || (ClassOf(name[0]) & (kLetter | kColon)) == 0) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return ClassOf(c) != 0; });
}

}  // namespace plimsoll
