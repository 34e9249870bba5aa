// A store that is written while it is looked at.
#include "coordinator/api/store_view.h"

#include "coordinator/store/rocks_store.h"
#include "gtest/gtest.h"
#include "tests/coordinator/api/sample_runs.h"
#include "tests/coordinator/store/temp_folder.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

class StoreViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = OpenRocksStore(folder_.path() + "/s", StoreAccess::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void PutRun(const std::string& id, int started_s) {
    ASSERT_TRUE(RunRepo(*store_).PutRun(testing::ARun(id, started_s)).ok());
  }
  std::size_t RunsSeen(Freshness freshness = Freshness::kRecent) {
    const auto repo = view_.Repo(freshness);
    EXPECT_TRUE(repo.ok()) << repo.status();
    return repo.ok() ? (*repo)->ListRuns(100)->size() : 0;
  }

  TempFolder folder_;
  SimScheduler clock_;
  std::unique_ptr<Store> store_;
  StoreView view_{folder_.path() + "/s", clock_};
};

TEST_F(StoreViewTest, AChangeShowsAfterASecond) {
  PutRun("a", 1);
  EXPECT_EQ(RunsSeen(), 1u);
  PutRun("b", 2);
  clock_.Advance(900ms);
  EXPECT_EQ(RunsSeen(), 1u);  // The view of a moment ago.
  clock_.Advance(100ms);
  EXPECT_EQ(RunsSeen(), 2u);
  PutRun("c", 3);
  EXPECT_EQ(RunsSeen(Freshness::kNow), 3u);
}

TEST_F(StoreViewTest, SeveralViewsAndTheWriterGetAlong) {
  PutRun("a", 1);
  StoreView other(folder_.path() + "/s", clock_);
  EXPECT_EQ(RunsSeen(), 1u);
  EXPECT_EQ((*other.Repo(Freshness::kRecent))->ListRuns(9)->size(), 1u);
  PutRun("b", 2);
  clock_.Advance(1s);
  EXPECT_EQ(RunsSeen(), 2u);
  store_ = nullptr;  // The coordinator ends; the next one begins.
  SetUp();
  PutRun("c", 3);
  clock_.Advance(1s);
  EXPECT_EQ(RunsSeen(), 3u);
  EXPECT_EQ((*other.Repo(Freshness::kRecent))->ListRuns(9)->size(), 3u);
}

TEST_F(StoreViewTest, AStoreThatIsNotThereIsSaidEachTime) {
  StoreView none(folder_.path() + "/none", clock_);
  EXPECT_TRUE(absl::IsNotFound(none.Repo(Freshness::kRecent).status()));
  EXPECT_TRUE(absl::IsNotFound(none.Repo(Freshness::kNow).status()));
}

}  // namespace
}  // namespace plimsoll
