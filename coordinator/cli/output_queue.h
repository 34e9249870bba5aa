// OutputQueue: text to a descriptor that may take none for as long as it likes (a terminal after
// Ctrl-S, a full pipe), without its writer ever waiting. The descriptor stays as it is: its flags
// are shared with whoever else has it open, so a thread of its own writes and does the waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "common/base/time.h"

namespace plimsoll {

class OutputQueue {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{256} << 10;

  // Keeps at most `bytes_max` that were not written yet. `fd` is never closed.
  explicit OutputQueue(int fd, std::size_t bytes_max = kBytesMax);
  // Does not wait: what was not taken may be written yet while the process lives. See Drain().
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Takes all of `text`, to be written after what was offered before, or nothing of it (false) if
  // it does not fit. A descriptor that is gone takes everything, and nothing comes of it.
  bool Offer(std::string_view text);
  // Everything offered was written.
  bool idle() const;
  // Waits until idle, at most for `patience`; whether it is.
  bool Drain(Duration patience);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // With the thread, which may outlive this while it waits.
};

}  // namespace plimsoll
