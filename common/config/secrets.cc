#include "common/config/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::string_view kMark = "[left out]";
// Shorter values are placeholders and numbers as a rule.
constexpr std::size_t kValueBytesMin = 6;
constexpr std::size_t kKeyBytesMin = 16;

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}
bool IsSpace(char c) {
  return c == ' ' || c == '\t';
}
bool IsQuote(char c) {
  return c == '"' || c == '\'';
}

// "--API-Key" as "api_key".
std::string PlainName(std::string_view word) {
  std::string name = LowerAscii(word);
  std::replace(name.begin(), name.end(), '-', '_');
  name.erase(0, std::min(name.find_first_not_of("_."), name.size()));
  return name;
}

bool NamesASecret(std::string_view word) {
  static constexpr std::array<std::string_view, 11> kEndings = {
      "password",   "passwd",      "secret", "api_key",     "apikey",   "access_key",
      "secret_key", "private_key", "_token", "accesstoken", "authtoken"};
  const std::string name = PlainName(word);
  return name == "token" ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Not a number, a switch, a variable, a path or a placeholder.
bool IsLiteral(std::string_view value) {
  if (value.size() < kValueBytesMin || value.starts_with(kMark)) return false;
  constexpr std::string_view kReferences = "$<{/.*%[";
  if (kReferences.find(value.front()) != std::string_view::npos) return false;
  const auto all = [&](auto is) { return std::all_of(value.begin(), value.end(), is); };
  if (all([](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '_'; })) return false;
  return !all([](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });  // A variable's name.
}

class LineScan {
 public:
  // `named`: the line before says that what is called "value" here is a secret.
  LineScan(std::string line, bool named) : line_(std::move(line)), named_(named) {}

  // How many were left out.
  int Run() {
    Passwords();
    Keys();
    Named();
    return found_;
  }
  const std::string& line() const { return line_; }
  // The line says "name: X" with X a secret's, and no value yet.
  bool names_next() const { return names_next_; }

 private:
  void LeaveOut(std::size_t from, std::size_t size) {
    line_.replace(from, size, kMark);
    ++found_;
  }

  // Where the next word begins, from `at` on; the line's end: there is none.
  std::size_t WordFrom(std::size_t at) const {
    while (at < line_.size() && !IsWord(line_[at])) ++at;
    return at;
  }
  // The word that begins at `at`.
  std::string_view WordAt(std::size_t at) const {
    std::size_t end = at;
    while (end < line_.size() && IsWord(line_[end])) ++end;
    return std::string_view(line_).substr(at, end - at);
  }

  // https://user:PASSWORD@host
  void Passwords() {
    for (std::size_t at = 0; (at = line_.find("://", at)) != std::string::npos; at += 3) {
      const std::size_t from = at + 3;
      const std::size_t end = std::min(line_.find_first_of("/ \t\"'", from), line_.size());
      const std::size_t host = line_.rfind('@', end);
      const std::size_t colon = line_.find(':', from);
      if (host == std::string::npos || host < from || host >= end || colon >= host) continue;
      const std::string_view password = std::string_view(line_).substr(colon + 1, host - colon - 1);
      if (password.empty() || password.front() == '$' || password == kMark) continue;
      LeaveOut(colon + 1, password.size());
    }
  }

  // Keys that are known by how they begin.
  void Keys() {
    static constexpr std::array<std::string_view, 13> kBeginnings = {
        "sk-",   "hf_",   "ghp_", "gho_", "ghs_", "github_pat_", "glpat-",
        "xoxb-", "xoxp-", "AKIA", "AIza", "eyJ",  "nvapi-"};
    for (std::size_t at = WordFrom(0); at < line_.size(); at = WordFrom(at)) {
      const std::string_view word = WordAt(at);
      const bool known = std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](auto beginning) {
        return word.starts_with(beginning) && word.size() >= beginning.size() + kKeyBytesMin;
      });
      const bool has_digit = word.find_first_of("0123456789") != std::string_view::npos;
      if (known && has_digit) {
        LeaveOut(at, word.size());
        at += kMark.size();
      } else {
        at += word.size();
      }
    }
  }

  // api_key: VALUE, "token" = "VALUE", --api-key VALUE, Authorization: Bearer VALUE.
  void Named() {
    for (std::size_t at = WordFrom(0); at < line_.size(); at = WordFrom(at)) {
      const std::string_view word = WordAt(at);
      const std::size_t end = at + word.size();
      const std::string name = PlainName(word);
      const bool secret = NamesASecret(word) || (named_ && name == "value");
      const bool flag = word.starts_with("--") || name == "bearer";
      if (name == "name") named_ = names_next_ = NamesASecret(ValueAt(AfterName(end, false)));
      if (name == "value") names_next_ = false;
      at = secret || name == "bearer" ? TakeValue(AfterName(end, flag), end) : end;
    }
  }

  // Where the value begins behind a name that ends at `at`; npos: there is none.
  std::size_t AfterName(std::size_t at, bool by_space) const {
    const std::size_t start = at;
    while (at < line_.size() && (IsSpace(line_[at]) || IsQuote(line_[at]))) ++at;
    const bool separated = at < line_.size() &&
                           (line_[at] == ':' || line_[at] == '=' || (by_space && line_[at] == ','));
    if (separated) {
      ++at;
    } else if (!by_space || at == start) {
      return std::string::npos;
    }
    while (at < line_.size() && (IsSpace(line_[at]) || IsQuote(line_[at]))) ++at;
    return at;
  }

  std::string_view ValueAt(std::size_t at) const {
    if (at >= line_.size()) return {};
    const bool quoted = at > 0 && IsQuote(line_[at - 1]);
    const std::size_t end =
        quoted ? line_.find(line_[at - 1], at) : line_.find_first_of(" \t,;#\"'})]", at);
    return std::string_view(line_).substr(at, std::min(end, line_.size()) - at);
  }

  // Leaves a literal out; where to go on.
  std::size_t TakeValue(std::size_t at, std::size_t otherwise) {
    const std::string_view value = ValueAt(at);
    if (!IsLiteral(value)) return otherwise;
    LeaveOut(at, value.size());
    return at + kMark.size();
  }

  std::string line_;
  bool named_;
  bool names_next_ = false;
  int found_ = 0;
};

bool Holds(std::string_view line, std::string_view what) {
  return line.find(what) != std::string_view::npos;
}

}  // namespace

WithoutSecrets LeaveOutSecrets(std::string_view text) {
  WithoutSecrets result;
  bool in_key = false;  // Of a PEM block.
  bool named = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::string_view rest = text.substr(end, 1);
    text.remove_prefix(end + rest.size());
    if (in_key) {
      in_key = !Holds(line, "-----END");
      continue;
    }
    if (const std::size_t at = line.find("-----BEGIN");
        at != std::string_view::npos && Holds(line.substr(at), "PRIVATE KEY")) {
      result.text.append(line.substr(0, at)).append(kMark).append(rest);
      result.lines.push_back(number);
      in_key = !Holds(line, "-----END");
      continue;
    }
    LineScan scan(std::string(line), named);
    for (int found = scan.Run(); found > 0; --found) result.lines.push_back(number);
    result.text.append(scan.line()).append(rest);
    named = scan.names_next();
  }
  return result;
}

}  // namespace plimsoll
