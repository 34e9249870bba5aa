// Pages kept: bundles, their bounds, and a store that fails.
#include "coordinator/scrape/page_keeper.h"

#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

KeptPage PageOf(const std::string& body) {
  return {
      .at = WallTime(1s), .took = 1ms, .http = 200, .content_type = "", .error = "", .body = body};
}

const KeptPageTarget kTarget{
    .source = "engines", .name = "a", .url = "http://a/metrics", .kind = "vllm", .mapping = ""};

TEST(PageKeeper, WritesABundleOfSixteenAndTheRestAtTheEnd) {
  ScrapeRig rig;
  rig.keeper.AddTarget(kTarget);
  std::size_t raw = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string page = VllmPage(i, i * 3);
    raw += page.size();
    rig.keeper.Add(0, PageOf(page));
    EXPECT_EQ(rig.bundles.size(), i < 15 ? 0u : 1u);
  }
  rig.keeper.Flush();
  ASSERT_EQ(rig.bundles.size(), 2u);
  EXPECT_EQ(DecodePages(rig.bundles[0].second)->size(), 16u);
  EXPECT_EQ(DecodePages(rig.bundles[1].second)->at(3).body, VllmPage(19, 57));
  EXPECT_EQ(rig.keeper.pages_kept(), 20u);
  EXPECT_LT(rig.keeper.bytes_kept() * 8, raw) << "pages of a target compress together";
}

TEST(PageKeeper, ABundleOfLargePagesIsWrittenEarlier) {
  ScrapeRig rig;
  rig.keeper.AddTarget(kTarget);
  rig.keeper.Add(0, PageOf(std::string(PageKeeper::kBundleBytes / 2, 'a')));
  EXPECT_EQ(rig.bundles.size(), 0u);
  rig.keeper.Add(0, PageOf(std::string(PageKeeper::kBundleBytes / 2, 'b')));
  EXPECT_EQ(rig.bundles.size(), 1u);
  rig.keeper.Add(0, PageOf(std::string(kAnswerBytesMax, 'c')));
  ASSERT_EQ(rig.bundles.size(), 2u);
  EXPECT_TRUE(DecodePages(rig.bundles[1].second).ok()) << "the largest page there can be";
}

TEST(PageKeeper, OfWhatCouldNotBeReadTheBeginningIsKept) {
  ScrapeRig rig;
  rig.keeper.AddTarget(kTarget);
  KeptPage page = PageOf(std::string(100'000, 'x'));
  page.error = "it is HTML";
  rig.keeper.Add(0, page);
  rig.keeper.Flush();
  EXPECT_EQ(DecodePages(rig.bundles.at(0).second)->at(0).body.size(), PageKeeper::kUnreadBytesMax);
}

TEST(PageKeeper, ThinsOutFromHalfOfTheBoundAndEndsAtIt) {
  std::size_t written = 0;
  std::size_t pages = 0;
  PageKeeper keeper({.put_target = [](auto, const auto&) { return absl::OkStatus(); },
                     .put_pages =
                         [&](auto, auto, const std::string& bytes) {
                           written += bytes.size();
                           pages += DecodePages(bytes)->size();
                           return absl::OkStatus();
                         }},
                    3000);
  keeper.AddTarget(kTarget);
  for (int i = 0; i < 1600; ++i) keeper.Add(0, PageOf(VllmPage(i * 7919 % 1000, i)));
  EXPECT_LE(written, 3000u + 1000u);
  EXPECT_EQ(keeper.bytes_kept(), written);
  EXPECT_EQ(keeper.pages_kept(), pages);
  EXPECT_EQ(keeper.pages_kept() + keeper.pages_left_out(), 1600u) << "what is not kept is counted";
  EXPECT_GT(keeper.pages_left_out(), 1000u);
}

TEST(PageKeeper, AStoreThatFailsEndsTheKeepingOnce) {
  int calls = 0;
  PageKeeper keeper({.put_target = [](auto, const auto&) { return absl::OkStatus(); },
                     .put_pages =
                         [&](auto, auto, const std::string&) {
                           ++calls;
                           return absl::ResourceExhaustedError("the disk is full");
                         }});
  keeper.AddTarget(kTarget);
  for (int i = 0; i < 64; ++i) keeper.Add(0, PageOf("a 1\n"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(MessageOf(keeper.status()), "the disk is full");
}

}  // namespace
}  // namespace plimsoll
