#include "common/sse/sse_parser.h"

#include <algorithm>
#include <cstring>

namespace plimsoll {
namespace {

// Beyond it a buffer is given back with the stream that grew it.
constexpr std::size_t kBytesKept = std::size_t{1} << 20;
constexpr std::string_view kBom = "\xEF\xBB\xBF";

// Finds line ends in one read. The next LF is remembered: without it a read full of CRs would be
// searched for an LF once a line.
class LineEnds {
 public:
  explicit LineEnds(std::string_view read) : end_(read.data() + read.size()) {}

  // Position in `rest`, a tail of the read, of the first LF or CR, or npos.
  std::size_t First(std::string_view rest) {
    const char* begin = rest.data();
    if (lf_ == nullptr || lf_ < begin) {
      lf_ = static_cast<const char*>(std::memchr(begin, '\n', rest.size()));
      if (lf_ == nullptr) lf_ = end_;
    }
    const auto until = static_cast<std::size_t>(lf_ - begin);
    if (const void* cr = std::memchr(begin, '\r', until)) {
      return static_cast<std::size_t>(static_cast<const char*>(cr) - begin);
    }
    return lf_ == end_ ? std::string_view::npos : until;
  }

 private:
  const char* end_;
  const char* lf_ = nullptr;  // The last LF found; end_: there is none.
};

}  // namespace

bool SseParser::Feed(std::string_view bytes, Sink& sink) {
  LineEnds ends(bytes);
  while (!bytes.empty() && !overflow_) {
    if (skip_lf_) {
      skip_lf_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = ends.First(bytes);
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() + HeldBytes() > max_) {
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
  for (std::string* held : {&line_, &data_, &type_}) {
    held->clear();
    if (held->capacity() > kBytesKept) held->shrink_to_fit();
  }
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
