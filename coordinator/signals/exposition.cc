#include "coordinator/signals/exposition.h"

#include <cstring>
#include <utility>

#include "coordinator/signals/page_lines.h"
#include "coordinator/signals/sample_tail.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

void TakeTimestamp(Page& page, std::size_t series, std::int64_t timestamp_ms) {
  if (timestamp_ms == kNoTimestamp) return;
  if (page.timestamps_ms.empty()) page.timestamps_ms.assign(page.layout->size(), kNoTimestamp);
  page.timestamps_ms[series] = timestamp_ms;
}

// What is surely not a page of metrics, whatever the answer's head said.
Status CheckFirstBytes(std::string_view body) {
  if (body.starts_with("\x1f\x8b")) {
    return absl::InvalidArgumentError("the page is compressed, which nobody asked for");
  }
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return absl::InvalidArgumentError("the page is empty");
  if (body[first] == '<') return absl::InvalidArgumentError("the page is HTML, not metrics");
  if (body[first] == '[') return absl::InvalidArgumentError("the page is JSON, not metrics");
  return absl::OkStatus();
}

}  // namespace

PageParser::PageParser(PageLimits limits) : limits_(limits) {}

StatusOr<Page> PageParser::Parse(std::string_view body, PageSyntax syntax) {
  if (body.size() > limits_.bytes_max) {
    return absl::ResourceExhaustedError(
        fmt::format("the page is too large: {} bytes, at most {}", body.size(), limits_.bytes_max));
  }
  Page page;
  if (last_ != nullptr && syntax_ == syntax && ReadKnown(body, page)) return page;
  RETURN_IF_ERROR(CheckFirstBytes(body));
  ASSIGN_OR_RETURN(page, ReadNew(body, syntax));
  last_ = page.layout;
  syntax_ = syntax;
  ++layouts_;
  return page;
}

bool PageParser::ReadKnown(std::string_view body, Page& page) const {
  const PageLayout& layout = *last_;
  page.layout = last_;
  page.values.resize(layout.size());
  const char* at = body.data();
  const char* const end = at + body.size();
  for (std::size_t i = 0; i < layout.chunks_.size(); ++i) {
    const PageLayout::Chunk& chunk = layout.chunks_[i];
    if (static_cast<std::size_t>(end - at) < chunk.size ||
        std::memcmp(at, layout.skeleton_.data() + chunk.begin, chunk.size) != 0) {
      return false;
    }
    at += chunk.size;
    const auto left = static_cast<std::size_t>(end - at);
    const char* const line_end = static_cast<const char*>(std::memchr(at, '\n', left));
    if (line_end == nullptr) return false;
    std::string_view text(at, static_cast<std::size_t>(line_end - at));
    if (text.ends_with('\r')) text.remove_suffix(1);
    SampleTail tail;
    if (text.size() > limits_.line_bytes_max) return false;
    if (ParseSampleTail(text, syntax_, tail) != nullptr) return false;
    page.values[i] = tail.value;
    TakeTimestamp(page, i, tail.timestamp_ms);
    at = line_end + 1;
  }
  return std::string_view(at, static_cast<std::size_t>(end - at)) ==
         std::string_view(layout.skeleton_).substr(layout.tail_begin_);
}

StatusOr<Page> PageParser::ReadNew(std::string_view body, PageSyntax syntax) const {
  PageLines lines(body, syntax, limits_);
  RETURN_IF_ERROR(lines.Read());
  Page page;
  page.layout = lines.TakeLayout();
  page.values.reserve(lines.tails().size());
  for (std::size_t i = 0; i < lines.tails().size(); ++i) {
    page.values.push_back(lines.tails()[i].value);
    TakeTimestamp(page, i, lines.tails()[i].timestamp_ms);
  }
  if (page.values.empty()) return absl::InvalidArgumentError("the page has no series");
  return page;
}

}  // namespace plimsoll
