#include "coordinator/signals/page_lines.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/text.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kShownBytes = 120;
constexpr std::string_view kBom = "\xef\xbb\xbf";

constexpr std::array<std::pair<std::string_view, FamilyType>, 9> kTypes = {{
    {"counter", FamilyType::kCounter},
    {"gauge", FamilyType::kGauge},
    {"histogram", FamilyType::kHistogram},
    {"summary", FamilyType::kSummary},
    {"info", FamilyType::kInfo},
    {"stateset", FamilyType::kStateSet},
    {"gaugehistogram", FamilyType::kGaugeHistogram},
    {"untyped", FamilyType::kUnknown},
    {"unknown", FamilyType::kUnknown},
}};

// What a sample's name may have behind its family's.
constexpr std::array<std::string_view, 8> kSuffixes = {"_total", "_created", "_bucket", "_count",
                                                       "_sum",   "_info",    "_gcount", "_gsum"};

constexpr bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view TakeWord(std::string_view& text) {
  while (!text.empty() && IsBlank(text[0])) text.remove_prefix(1);
  std::size_t size = 0;
  while (size < text.size() && !IsBlank(text[size])) ++size;
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

// A family's name, which may be in quotes.
std::string TakeName(std::string_view& text) {
  while (!text.empty() && IsBlank(text[0])) text.remove_prefix(1);
  if (!text.starts_with('"')) return std::string(TakeWord(text));
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  end = std::min(end, text.size());
  std::string name = Unescaped(text.substr(1, end - 1));
  text.remove_prefix(std::min(end + 1, text.size()));
  return name;
}

bool BelongsTo(std::string_view sample, std::string_view family) {
  if (!sample.starts_with(family)) return false;
  const std::string_view suffix = sample.substr(family.size());
  return suffix.empty() || std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

}  // namespace

PageLines::PageLines(std::string_view body, PageSyntax syntax, const PageLimits& limits)
    : body_(body), syntax_(syntax), limits_(limits) {}

Status PageLines::Wrong(std::string_view what) const {
  return absl::InvalidArgumentError(fmt::format("line {}: {}", line_, what));
}

Status PageLines::Read() {
  std::size_t at = body_.starts_with(kBom) ? kBom.size() : 0;
  while (at < body_.size()) {
    ++line_;
    const std::size_t end = body_.find('\n', at);
    const bool cut = end == std::string_view::npos;
    std::string_view line = body_.substr(at, cut ? end : end - at);
    if (line.size() > limits_.line_bytes_max) {
      return absl::ResourceExhaustedError(
          fmt::format("line {}: is too long, at most {} bytes", line_, limits_.line_bytes_max));
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (ended_) return Wrong("stands behind # EOF");
    if (cut && !(syntax_ == PageSyntax::kOpenMetrics && line == "# EOF")) {
      return Wrong("has no end: the page is cut");
    }
    const std::size_t samples = tails_.size();
    RETURN_IF_ERROR(Line(line));
    at = cut ? body_.size() : end + 1;
    if (tails_.size() > samples) behind_sample_ = at;
  }
  if (syntax_ == PageSyntax::kOpenMetrics && !ended_) {
    return Wrong("is the last one, and not # EOF: the page is cut");
  }
  return absl::OkStatus();
}

std::shared_ptr<const PageLayout> PageLines::TakeLayout() {
  return builder_.Finish(body_.substr(behind_sample_));
}

Status PageLines::Line(std::string_view line) {
  if (syntax_ == PageSyntax::kText) {
    while (!line.empty() && IsBlank(line[0])) line.remove_prefix(1);
  }
  if (line.empty()) {
    if (syntax_ == PageSyntax::kText) return absl::OkStatus();
    return Wrong("is empty, which OpenMetrics does not allow");
  }
  return line[0] == '#' ? Comment(line) : Sample(line);
}

Status PageLines::Sample(std::string_view line) {
  const SeriesScan scan = ScanSeries(line, syntax_, limits_.labels_max, &labels_);
  if (scan.wrong != nullptr) return Wrong(scan.wrong);
  if (scan.name.empty()) {
    return Wrong(fmt::format("begins with no name: {}", Printable(line, kShownBytes)));
  }
  std::size_t value = scan.size;
  const bool text = syntax_ == PageSyntax::kText;
  while (value < line.size() && (text ? IsBlank(line[value]) : line[value] == ' ')) ++value;
  // In OpenMetrics exactly one space; 0.0.4 needs none behind the brace.
  const bool apart =
      text ? value > scan.size || line[scan.size - 1] == '}' : value == scan.size + 1;
  if (!apart) {
    return Wrong(fmt::format("has no {} behind the series: {}", text ? "blank" : "single space",
                             Printable(line, kShownBytes)));
  }
  SampleTail tail;
  if (const char* wrong = ParseSampleTail(line.substr(value), syntax_, tail)) {
    const std::string_view what(wrong);
    return Wrong(fmt::format("{}{}: {}", what.starts_with("is ") ? "the value " : "", what,
                             Printable(line, kShownBytes)));
  }
  if (builder_.size() >= limits_.series_max) {
    return absl::ResourceExhaustedError(
        fmt::format("line {}: the page has more than {} series", line_, limits_.series_max));
  }
  if (syntax_ == PageSyntax::kOpenMetrics) RETURN_IF_ERROR(CheckFamilyOf(scan.name));
  const auto value_at = static_cast<std::size_t>(line.data() + value - body_.data());
  const Status added = builder_.Add(scan.name, labels_,
                                    body_.substr(behind_sample_, value_at - behind_sample_), line_);
  if (!added.ok()) return Wrong(MessageOf(added));
  tails_.push_back(tail);
  return absl::OkStatus();
}

Status PageLines::Comment(std::string_view line) {
  if (syntax_ == PageSyntax::kOpenMetrics && line == "# EOF") {
    ended_ = true;
    return absl::OkStatus();
  }
  line.remove_prefix(1);
  if (line.empty() || !IsBlank(line[0])) return absl::OkStatus();  // A comment.
  std::string_view rest = line;
  const std::string_view word = TakeWord(rest);
  if (word == "TYPE" || word == "HELP" || word == "UNIT") return Descriptor(word, rest);
  return absl::OkStatus();
}

Status PageLines::Descriptor(std::string_view word, std::string_view rest) {
  const std::string family = TakeName(rest);
  if (family.empty()) return Wrong(fmt::format("has {} without a name", word));
  if (syntax_ == PageSyntax::kOpenMetrics) RETURN_IF_ERROR(EnterFamily(family));
  if (word != "TYPE") return absl::OkStatus();
  const std::string type = LowerAscii(TakeWord(rest));
  for (const auto& [name, value] : kTypes) {
    if (name == type) {
      builder_.SetType(family, value);
      return absl::OkStatus();
    }
  }
  return Wrong(fmt::format("has the unknown type \"{}\"", Printable(type, kShownBytes)));
}

Status PageLines::EnterFamily(std::string_view family) {
  if (family == family_) return absl::OkStatus();
  if (!families_.emplace(family).second) {
    return Wrong(fmt::format("comes back to the family {}: families may not interleave",
                             Printable(family, kShownBytes)));
  }
  family_ = family;
  last_name_.clear();
  return absl::OkStatus();
}

Status PageLines::CheckFamilyOf(std::string_view sample) {
  if (sample == last_name_) return absl::OkStatus();
  last_name_ = sample;
  if (!family_.empty() && BelongsTo(sample, family_)) return absl::OkStatus();
  family_.clear();
  const auto seen = [this](std::string_view name) {
    return families_.find(name) != families_.end();
  };
  bool back = seen(sample);
  for (const std::string_view suffix : kSuffixes) {
    if (sample.ends_with(suffix)) {
      back = back || seen(sample.substr(0, sample.size() - suffix.size()));
    }
  }
  if (!back) return absl::OkStatus();
  return Wrong(fmt::format("comes back to the family of {}: families may not interleave",
                           Printable(sample, kShownBytes)));
}

}  // namespace plimsoll
