#include "common/sse/sse_parser.h"

#include <algorithm>
#include <cstring>

namespace plimsoll {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

// Position of the first LF or CR, or npos.
std::size_t LineEnd(std::string_view text) {
  if (text.empty()) return std::string_view::npos;
  const void* lf = std::memchr(text.data(), '\n', text.size());
  const std::size_t until =
      lf == nullptr ? text.size()
                    : static_cast<std::size_t>(static_cast<const char*>(lf) - text.data());
  const void* cr = until == 0 ? nullptr : std::memchr(text.data(), '\r', until);
  if (cr != nullptr) return static_cast<std::size_t>(static_cast<const char*>(cr) - text.data());
  return lf == nullptr ? std::string_view::npos : until;
}

}  // namespace

bool SseParser::Feed(std::string_view bytes, Sink& sink) {
  while (!bytes.empty() && !overflow_) {
    if (skip_lf_) {
      skip_lf_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = LineEnd(bytes);
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() + DataBytes() > max_) {
      overflow_ = true;
      break;
    }
    if (end == std::string_view::npos) {
      line_.append(part);
      break;
    }
    skip_lf_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    line_copied_ = !line_.empty();
    if (line_copied_) {
      line_.append(part);
      TakeLine(line_, sink);
      line_.clear();
    } else {
      TakeLine(part, sink);
    }
  }
  if (data_in_read_) {  // The read dies now.
    data_.assign(data_view_);
    data_in_read_ = false;
  }
  return !overflow_;
}

bool SseParser::Finish(Sink& sink) {
  if (overflow_) return false;
  if (!line_.empty()) {
    line_copied_ = true;
    TakeLine(line_, sink);
    line_.clear();
  }
  Dispatch(sink);
  return true;
}

void SseParser::Reset() {
  line_.clear();
  data_.clear();
  type_.clear();
  has_data_ = data_in_read_ = line_copied_ = skip_lf_ = overflow_ = false;
  at_start_ = true;
}

void SseParser::TakeLine(std::string_view line, Sink& sink) {
  if (at_start_) {
    at_start_ = false;
    if (line.starts_with(kBom)) line.remove_prefix(kBom.size());
  }
  if (line.empty()) return Dispatch(sink);
  const std::size_t colon = line.find(':');
  if (colon == 0) return;  // A comment: servers keep connections alive with them.
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  TakeField(line.substr(0, colon), value);
}

void SseParser::TakeField(std::string_view name, std::string_view value) {
  if (name == "data") {
    TakeData(value);
  } else if (name == "event") {
    type_.assign(value);
  }
  // "id" and "retry" steer reconnection, which a call never does; others are to be ignored.
}

void SseParser::TakeData(std::string_view value) {
  if (!has_data_) {
    has_data_ = true;
    data_in_read_ = !line_copied_;
    if (data_in_read_) {
      data_view_ = value;
    } else {
      data_.assign(value);
    }
    return;
  }
  if (data_in_read_) {
    data_.assign(data_view_);
    data_in_read_ = false;
  }
  data_.push_back('\n');
  data_.append(value);
}

void SseParser::Dispatch(Sink& sink) {
  if (has_data_) sink.OnEvent(SseEvent{type_, data_in_read_ ? data_view_ : data_});
  has_data_ = data_in_read_ = false;
  data_.clear();
  type_.clear();
}

}  // namespace plimsoll
