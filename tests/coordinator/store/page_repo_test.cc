// Pages of metrics in the store: the round trip, their order, and damaged values.
#include "coordinator/store/page_repo.h"

#include "coordinator/store/zstd_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

const KeptPageTarget kTarget{.source = "engines",
                             .name = "engine-0:8000",
                             .url = "http://engine-0:8000/metrics",
                             .kind = "mine",
                             .mapping = "kind: mine\n"};

KeptPage PageOf(std::string body) {
  return {.at = WallTime(1'800'000'000s),
          .took = 40ms,
          .http = 200,
          .content_type = "text/plain",
          .error = "",
          .body = std::move(body)};
}

TEST(PageRepo, GivesBackWhatWasPut) {
  MemoryStore store;
  PageRepo repo(store);
  ASSERT_TRUE(repo.PutTarget({.run = "r", .target = 1}, kTarget).ok());
  ASSERT_TRUE(repo.PutTarget({.run = "r2", .target = 0}, kTarget).ok());
  const auto targets = repo.Targets("r");
  ASSERT_TRUE(targets.ok()) << targets.status();
  ASSERT_EQ(targets->size(), 1u) << "those of another run are not ours";
  EXPECT_EQ(targets->front().first, 1u);
  EXPECT_EQ(targets->front().second, kTarget);

  KeptPage failed = PageOf(std::string("\xff\0binary", 8));
  failed.http = 0;
  failed.error = "connection refused";
  const std::vector<std::vector<KeptPage>> bundles = {{PageOf("a 1\n"), failed}, {PageOf("a 2\n")}};
  // The later one first, and one of another target before both.
  for (const std::uint64_t bundle : {std::uint64_t{300}, std::uint64_t{7}}) {
    auto bytes = EncodePages(bundles[bundle == 7 ? 0 : 1]);
    ASSERT_TRUE(bytes.ok());
    ASSERT_TRUE(repo.PutPages({.run = "r", .target = 1, .bundle = bundle}, *bytes).ok());
  }
  std::vector<std::uint64_t> order;
  std::vector<std::vector<KeptPage>> read;
  ASSERT_TRUE(repo.ScanPages("r",
                             [&](const keys::PagesKey& key, const std::vector<KeptPage>& p) {
                               order.push_back(key.bundle);
                               read.push_back(p);
                               return absl::OkStatus();
                             })
                  .ok());
  EXPECT_THAT(order, ElementsAre(7, 300));
  EXPECT_EQ(read, bundles);
}

TEST(PageRepo, DamagedValuesAreDataLossThatNamesThem) {
  MemoryStore store;
  PageRepo repo(store);
  const auto scan = [&](std::string bytes) {
    EXPECT_TRUE(repo.PutPages({.run = "r", .target = 0, .bundle = 3}, std::move(bytes)).ok());
    return repo.ScanPages("r", [](const auto&, const auto&) { return absl::OkStatus(); });
  };
  std::string good = *EncodePages({PageOf("a 1\n")});
  EXPECT_TRUE(scan(good).ok());
  for (const std::string& bad : {std::string(), std::string("x"), good.substr(0, good.size() / 2),
                                 *Compress("\xff\xff\xff")}) {
    const Status status = scan(bad);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(MessageOf(status)), ::testing::HasSubstr("pages 3 of target 0"));
  }
  KeptPage odd = PageOf("a 1\n");
  odd.http = 1000;
  EXPECT_TRUE(absl::IsDataLoss(scan(*EncodePages({odd}))));
  odd = PageOf("a 1\n");
  odd.took = -1ns;
  EXPECT_TRUE(absl::IsDataLoss(scan(*EncodePages({odd}))));
}

TEST(PageRepo, DamagedTargetsAreDataLoss) {
  for (const char* source : {"", "elsewhere"}) {
    MemoryStore store;
    PageRepo repo(store);
    KeptPageTarget target = kTarget;
    target.source = source;
    ASSERT_TRUE(repo.PutTarget({.run = "r", .target = 0}, target).ok());
    EXPECT_TRUE(absl::IsDataLoss(repo.Targets("r").status())) << source;
  }
  KeptPageTarget nameless = kTarget;
  nameless.name.clear();
  EXPECT_TRUE(absl::IsDataLoss(DecodePageTarget(EncodePageTarget(nameless)).status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodePageTarget("\xff\xff").status()));
}

TEST(PageKeys, TakeOnlyTheExactForm) {
  const keys::PagesKey key{.run = "r", .target = 7, .bundle = 1ull << 40};
  const std::string bytes = keys::Encode(key);
  EXPECT_EQ(keys::DecodePages(bytes), key);
  EXPECT_TRUE(bytes.starts_with(keys::PagesOf("r")));
  EXPECT_FALSE(keys::DecodePages(bytes + "x").has_value());
  EXPECT_FALSE(keys::DecodePages(bytes.substr(0, bytes.size() - 1)).has_value());
  const keys::PageTargetKey target{.run = "r", .target = 9};
  EXPECT_EQ(keys::DecodePageTarget(keys::Encode(target)), target);
  EXPECT_FALSE(keys::DecodePageTarget(bytes).has_value());
  EXPECT_FALSE(keys::DecodePages(keys::Encode(target)).has_value());
}

}  // namespace
}  // namespace plimsoll
