// Accepts each batch of one agent incarnation once and in order: repeats are recognised, gaps wait
// for the batch to be sent again. Pure.
#pragma once

#include <cstdint>

namespace plimsoll {

class BatchGate {
 public:
  enum class Decision { kAccept, kRepeat, kGap };

  Decision Offer(std::uint64_t sequence) const {
    if (sequence <= accepted_) return Decision::kRepeat;
    return sequence == accepted_ + 1 ? Decision::kAccept : Decision::kGap;
  }
  void Accept() { ++accepted_; }
  // Every batch up to and including it was accepted.
  std::uint64_t accepted() const { return accepted_; }

 private:
  std::uint64_t accepted_ = 0;
};

}  // namespace plimsoll
