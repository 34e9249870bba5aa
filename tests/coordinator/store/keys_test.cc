// The exact bytes of every key: they are stored, so a change here is a new schema version.
#include "coordinator/store/keys.h"

#include <limits>

#include "gtest/gtest.h"

namespace plimsoll::keys {
namespace {

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

TEST(Keys, ExactBytes) {
  EXPECT_EQ(Hex(Schema()), "56");
  EXPECT_EQ(Hex(Header("ab-1")), "5261622d3100");
  EXPECT_EQ(Hex(Recipe("ab-1")), "5061622d3100");
  EXPECT_EQ(Hex(Encode(StartKey{0x0102030405060708u, "ab"})), "530102030405060708616200");
  EXPECT_EQ(Hex(Encode(StepKey{"ab", 0x01020304})), "5461620001020304");
  EXPECT_EQ(Hex(Encode(CellKey{"ab", 1, 2, 0xfffffffe, 1})), "436162000000000100000002fffffffe01");
  EXPECT_EQ(Hex(Encode(BatchKey{"ab", 3, 0xa0b0c0d0e0f00102u, 5})),
            "4261620000000003a0b0c0d0e0f001020000000000000005");
  EXPECT_EQ(Hex(Encode(EventKey{"ab", 258, 7})), "45616200000000000000010200000007");
  EXPECT_EQ(Hex(Encode(HookKey{"ab", 3, 258})), "486162000300000102");
}

TEST(Keys, RoundTrip) {
  EXPECT_EQ(DecodeRun(Header("a.b_c-D9")), "a.b_c-D9");
  const StartKey start{std::numeric_limits<std::uint64_t>::max(), "x"};
  EXPECT_EQ(DecodeStart(Encode(start)), start);
  const StepKey step{"x", 9};
  EXPECT_EQ(DecodeStep(Encode(step)), step);
  const CellKey cell{"x", 1, 0, 4096, 1};
  EXPECT_EQ(DecodeCell(Encode(cell)), cell);
  std::string whole = Encode(CellKey{"x", 1, 0, 4096});
  whole.pop_back();  // As earlier versions wrote it, which kept a block whole.
  EXPECT_EQ(DecodeCell(whole), (CellKey{"x", 1, 0, 4096}));
  const BatchKey batch{"x", 1, 2, 3};
  EXPECT_EQ(DecodeBatch(Encode(batch)), batch);
  const EventKey event{"x", 1, 2};
  EXPECT_EQ(DecodeEvent(Encode(event)), event);
  const HookKey hook{"x", 1, 2};
  EXPECT_EQ(DecodeHook(Encode(hook)), hook);
  EXPECT_EQ(DecodeHook(Encode(hook) + "x"), std::nullopt);
}

TEST(Keys, OrderOfBytesIsOrderOfNumbers) {
  EXPECT_LT(Encode(StepKey{"a", 255}), Encode(StepKey{"a", 256}));
  EXPECT_LT(Encode(BatchKey{"a", 1, 9, 9}), Encode(BatchKey{"a", 2, 0, 0}));
  EXPECT_LT(Encode(BatchKey{"a", 1, 1, 255}), Encode(BatchKey{"a", 1, 1, 256}));
  EXPECT_LT(Encode(StartKey{255, "z"}), Encode(StartKey{256, "a"}));
}

TEST(Keys, ARunsPrefixCoversNoOtherRun) {
  EXPECT_TRUE(Encode(StepKey{"ab", 1}).starts_with(StepsOf("ab")));
  EXPECT_FALSE(Encode(StepKey{"abc", 1}).starts_with(StepsOf("ab")));
  EXPECT_TRUE(Header("abc").starts_with(Runs("ab")));
}

TEST(Keys, DecodingRefusesAnythingElse) {
  const std::string good = Encode(BatchKey{"ab", 1, 2, 3});
  for (std::size_t n = 0; n < good.size(); ++n) {
    EXPECT_FALSE(DecodeBatch(good.substr(0, n)).has_value()) << n;
  }
  EXPECT_FALSE(DecodeBatch(good + "x").has_value());
  EXPECT_FALSE(DecodeStep(good).has_value());
  EXPECT_FALSE(DecodeRun("R").has_value());
  EXPECT_FALSE(DecodeRun(std::string("R\0", 2)).has_value());
  EXPECT_FALSE(DecodeRun(std::string("Ra b\0", 5)).has_value());
  EXPECT_FALSE(DecodeStart("S1234567").has_value());
}

TEST(Keys, RunIds) {
  EXPECT_TRUE(IsRunId("20261130-1a2b.3_c"));
  EXPECT_TRUE(IsRunId(std::string(64, 'a')));
  EXPECT_FALSE(IsRunId(std::string(65, 'a')));
  for (const std::string_view bad : {"", "a b", "a/b", "ä", "a\n"})
    EXPECT_FALSE(IsRunId(bad)) << bad;
  EXPECT_FALSE(IsRunId(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace plimsoll::keys
