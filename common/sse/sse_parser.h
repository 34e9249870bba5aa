// Incremental parser of an event stream, to the letter of the WHATWG rules: lines end in LF, CR or
// CRLF, mixed at will; a BOM, comments, unknown fields and any split of the bytes are fine. Where
// an event lies whole in one read, its data is a view into that read.
//
// One deliberate difference: Finish() dispatches a last event that no blank line ended, since
// servers end their streams so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plimsoll {

struct SseEvent {
  std::string_view type;  // Empty: "message".
  std::string_view data;  // Lines joined by LF. May be empty when there was a data field.
};

class SseParser {
 public:
  // One event's type and data with the line being read, a comment too: what the parser may have to
  // hold. There is no other cap on a line.
  static constexpr std::size_t kEventBytesMax = std::size_t{16} << 20;

  class Sink {
   public:
    virtual ~Sink() = default;
    // The views die on return. Must not call into the parser or destroy it.
    virtual void OnEvent(const SseEvent& event) = 0;
  };

  explicit SseParser(std::size_t event_bytes_max = kEventBytesMax) : max_(event_bytes_max) {}

  // Parses the next bytes of the stream. False once an event outgrew the bound; from then on
  // everything is dropped until Reset().
  bool Feed(std::string_view bytes, Sink& sink);
  // The stream ended: what is pending is dispatched.
  bool Finish(Sink& sink);
  // Ready for another stream; buffers of a usual size are kept.
  void Reset();

 private:
  void TakeLine(std::string_view line, Sink& sink);
  void TakeField(std::string_view name, std::string_view value);
  void TakeData(std::string_view value);
  void Dispatch(Sink& sink);
  std::size_t HeldBytes() const {  // Of the open event.
    return type_.size() + (data_in_read_ ? data_view_.size() : data_.size());
  }

  std::size_t max_;
  std::string line_;            // Beginning of a line whose end has not come.
  std::string data_;            // Data of the open event, unless it still lies in the read.
  std::string_view data_view_;  // Into the read, when data_in_read_.
  std::string type_;
  bool has_data_ = false;
  bool data_in_read_ = false;
  bool line_copied_ = false;  // The current line lies in line_, not in the read.
  bool skip_lf_ = false;      // The last byte was a CR: an LF now belongs to it.
  bool at_start_ = true;      // No line was taken yet: a BOM may come.
  bool overflow_ = false;
};

}  // namespace plimsoll
