// Batches of one incarnation: once each, in order, whatever order they come in.
#include "coordinator/ingest/batch_gate.h"

#include <vector>

#include "common/base/rng.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using Decision = BatchGate::Decision;

TEST(BatchGate, KnowsTheNextTheRepeatedAndTheGap) {
  BatchGate gate;
  EXPECT_EQ(gate.Offer(0), Decision::kRepeat) << "sequences begin at 1";
  EXPECT_EQ(gate.Offer(2), Decision::kGap);
  EXPECT_EQ(gate.Offer(1), Decision::kAccept);
  EXPECT_EQ(gate.accepted(), 0u) << "an offer alone accepts nothing: the store may fail";
  gate.Accept();
  EXPECT_EQ(gate.Offer(1), Decision::kRepeat);
  EXPECT_EQ(gate.Offer(2), Decision::kAccept);
  EXPECT_EQ(gate.Offer(~std::uint64_t{0}), Decision::kGap);
}

TEST(BatchGate, ASenderThatRepeatsFromItsLastAckGetsEveryBatchInOnce) {
  Rng rng(11);
  BatchGate gate;
  std::vector<std::uint64_t> stored;
  while (gate.accepted() < 500) {
    // Sends a window from the last ack on; some are lost.
    for (std::uint64_t s = gate.accepted() + 1; s <= gate.accepted() + 8 && s <= 500; ++s) {
      if (rng.Chance(0.2)) continue;
      if (gate.Offer(s) != Decision::kAccept) continue;
      stored.push_back(s);
      gate.Accept();
    }
  }
  ASSERT_EQ(stored.size(), 500u);
  for (std::size_t i = 0; i < stored.size(); ++i) EXPECT_EQ(stored[i], i + 1);
}

}  // namespace
}  // namespace plimsoll
