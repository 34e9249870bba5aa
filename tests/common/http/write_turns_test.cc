// Turns of sending: a few at a time, the oldest first, and none after the end.
#include "common/http/write_turns.h"

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

TEST(WriteTurns, TheOldestGoFirstWhateverTheOrderOfTheirReadiness) {
  SimScheduler scheduler;
  WriteTurns turns(scheduler);
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < 3; ++i) places.push_back(turns.NewPlace());
  std::vector<std::uint64_t> served;
  for (const std::size_t i : {2, 0, 1}) {
    turns.Queue(places[i], [&served, place = places[i]] { served.push_back(place); });
  }
  EXPECT_TRUE(served.empty()) << "never from inside Queue()";
  scheduler.RunUntilIdle();
  EXPECT_EQ(served, places);
}

TEST(WriteTurns, OthersHaveTheirTurnBetweenAFewSends) {
  SimScheduler scheduler;
  WriteTurns turns(scheduler);
  std::size_t served = 0;
  for (std::size_t i = 0; i < 3 * WriteTurns::kPerTurn; ++i) {
    turns.Queue(turns.NewPlace(), [&] { ++served; });
  }
  std::size_t served_when_heard = 0;
  scheduler.Post([&] { served_when_heard = served; });  // What arrived meanwhile.
  scheduler.RunUntilIdle();
  EXPECT_EQ(served_when_heard, WriteTurns::kPerTurn);
  EXPECT_EQ(served, 3 * WriteTurns::kPerTurn);
}

TEST(WriteTurns, AServedOneMayQueueAgainAndKeepsItsPlace) {
  SimScheduler scheduler;
  WriteTurns turns(scheduler);
  std::vector<char> served;
  const std::uint64_t first = turns.NewPlace();
  int left = 6;
  std::function<void()> again = [&] {
    served.push_back('a');
    if (--left > 0) turns.Queue(first, again);
  };
  turns.Queue(first, again);
  turns.Queue(turns.NewPlace(), [&] { served.push_back('b'); });
  scheduler.RunUntilIdle();
  EXPECT_EQ(std::string(served.begin(), served.end()), "aaaaaab");
}

TEST(WriteTurns, NothingIsServedAfterItsEnd) {
  SimScheduler scheduler;
  bool served = false;
  {
    WriteTurns turns(scheduler);
    turns.Queue(turns.NewPlace(), [&] { served = true; });
  }
  scheduler.RunUntilIdle();
  EXPECT_FALSE(served);
}

}  // namespace
}  // namespace plimsoll
