// Messages that wait for their stream, which takes one at a time. Bounded by number and by bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace plimsoll::rpc {

// Not thread-safe: its stream guards it.
template <typename Message>
class WriteQueue {
 public:
  WriteQueue(std::size_t messages_max, std::size_t bytes_max)
      : messages_max_(messages_max), bytes_max_(bytes_max) {}

  // False if it would exceed a bound; the message is dropped then.
  bool Push(Message message) {
    const std::size_t bytes = message.ByteSizeLong();
    if (messages_.size() >= messages_max_ || bytes_ + bytes > bytes_max_) return false;
    bytes_ += bytes;
    messages_.emplace_back(std::move(message), bytes);
    return true;
  }
  bool empty() const { return messages_.empty(); }
  // Valid until PopFront(); the queue is not empty.
  const Message* front() const { return &messages_.front().first; }
  void PopFront() {
    bytes_ -= messages_.front().second;
    messages_.pop_front();
  }

 private:
  const std::size_t messages_max_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::deque<std::pair<Message, std::size_t>> messages_;
};

}  // namespace plimsoll::rpc
