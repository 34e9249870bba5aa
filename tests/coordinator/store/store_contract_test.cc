// The contract of Store, on the real one and on the fake.
#include <filesystem>
#include <memory>

#include "coordinator/store/rocks_store.h"
#include "coordinator/store/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/temp_folder.h"
#include "tests/fakes/faulty_store.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StoreContract : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      auto opened = OpenRocksStore(folder_.path() + "/s", StoreAccess::kReadWrite);
      ASSERT_TRUE(opened.ok()) << MessageOf(opened.status());
      store_ = std::move(*opened);
    } else {
      store_ = std::make_unique<MemoryStore>();
    }
  }
  std::vector<std::string> KeysWith(std::string_view prefix) const {
    std::vector<std::string> keys;
    EXPECT_TRUE(store_
                    ->Scan(prefix,
                           [&keys](std::string_view key, std::string_view) {
                             keys.emplace_back(key);
                             return true;
                           })
                    .ok());
    return keys;
  }

  TempFolder folder_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, GetGivesWhatWasCommittedAndAbsentIsNotEmpty) {
  ASSERT_TRUE(store_->Commit({{"a", "1"}, {"b", ""}}, Durability::kLogged).ok());
  EXPECT_EQ(*store_->Get("a"), "1");
  EXPECT_EQ(*store_->Get("b"), "");
  EXPECT_TRUE(absl::IsNotFound(store_->Get("c").status()));
}

TEST_P(StoreContract, LaterPutsWin) {
  ASSERT_TRUE(store_->Commit({{"a", "1"}, {"a", "2"}}, Durability::kSynced).ok());
  EXPECT_EQ(*store_->Get("a"), "2");
  ASSERT_TRUE(store_->Commit({{"a", "3"}}, Durability::kSynced).ok());
  EXPECT_EQ(*store_->Get("a"), "3");
}

TEST_P(StoreContract, ScanVisitsAPrefixInOrderOfUnsignedBytes) {
  const std::string high("p\xff", 2);
  const std::string zero("p\0z", 3);
  ASSERT_TRUE(store_
                  ->Commit({{high, ""}, {"pa", ""}, {zero, ""}, {"p", ""}, {"o", ""}, {"q", ""}},
                           Durability::kLogged)
                  .ok());
  EXPECT_THAT(KeysWith("p"), ElementsAre("p", zero, "pa", high));
  EXPECT_THAT(KeysWith("nothing"), IsEmpty());
}

TEST_P(StoreContract, ScanEndsWhenTheVisitorSaysSo) {
  ASSERT_TRUE(store_->Commit({{"pa", ""}, {"pb", ""}, {"pc", ""}}, Durability::kLogged).ok());
  int visited = 0;
  ASSERT_TRUE(
      store_->Scan("p", [&visited](std::string_view, std::string_view) { return ++visited < 2; })
          .ok());
  EXPECT_EQ(visited, 2);
}

INSTANTIATE_TEST_SUITE_P(Real, StoreContract, testing::Values(true));
INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(false));

TEST(FaultyStore, FailsTheNthCommitWhollyAndThenRecovers) {
  MemoryStore memory;
  FaultyStore store(memory, 2);
  EXPECT_TRUE(store.Commit({{"a", ""}}, Durability::kLogged).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store.Commit({{"b", ""}, {"c", ""}}, Durability::kLogged)));
  EXPECT_TRUE(store.Commit({{"d", ""}}, Durability::kLogged).ok());
  EXPECT_EQ(memory.size(), 2u);
}

TEST(FaultyStore, StaysBrokenWhereAsked) {
  MemoryStore memory;
  FaultyStore store(memory, 1, FaultyStore::Afterwards::kStaysBroken);
  EXPECT_FALSE(store.Commit({{"a", ""}}, Durability::kLogged).ok());
  EXPECT_FALSE(store.Commit({{"b", ""}}, Durability::kLogged).ok());
  EXPECT_EQ(memory.size(), 0u);
}

}  // namespace
}  // namespace plimsoll
