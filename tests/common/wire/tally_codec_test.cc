#include "common/wire/tally_codec.h"

#include "gtest/gtest.h"
#include "tests/common/wire/random_values.h"

namespace plimsoll::test {
namespace {

TEST(TallyCodec, KeepsAnyTally) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const StepTally tally = AnyTally(&rng);
    const StatusOr<StepTally> read = DecodeTally(EncodeTally(tally));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, tally);
  }
}

TEST(TallyCodec, RefusesBytesThatAreNoMessage) {
  EXPECT_FALSE(DecodeTally("\xff\xff\xff").ok());
}

}  // namespace
}  // namespace plimsoll::test
