// The queue of windows as people read it.
#include "coordinator/cli/window_text.h"

#include "gmock/gmock.h"
#include "tests/coordinator/windows/instants.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Utc;
using testing::Window;

WindowFiles::Kept Kept() {
  return {.entry = {.id = "w",
                    .scenario_path = "/srv/a.yaml",
                    .scenario_name = "a",
                    .scenario_digest = std::string(64, 'a'),
                    .follow = true,
                    .spec = Window("22:00-06:00 Europe/Berlin", 2h),
                    .added = Utc(2026, 12, 1, 12)},
          .state = {}};
}

std::string List(const WindowFiles::Kept& kept, WallTime now) {
  return WindowList({.windows = {kept}, .unusable = {}}, now, true);
}

TEST(WindowList, SaysWhenEachIsNext) {
  WindowFiles::Kept kept = Kept();
  EXPECT_EQ(List(kept, Utc(2026, 12, 1, 13)),
            "w  22:00-06:00 Europe/Berlin, 2h (12m of it for the rollback), daily\n"
            "    /srv/a.yaml (followed)\n"
            "    next: Tue 2026-12-01 22:00 CET; 0 run, 0 missed\n");
  EXPECT_THAT(List(kept, Utc(2026, 12, 1, 22)), HasSubstr("next: now;"));
  EXPECT_THAT(List(kept, Utc(2026, 12, 2, 4)), HasSubstr("next: Wed 2026-12-02 22:00 CET;"))
      << "it does not fit into the hour that is left";
}

TEST(WindowList, DoesNotPromiseAnOpeningThatWasSettled) {
  WindowFiles::Kept kept = Kept();
  kept.state = {.settled = Utc(2026, 12, 1, 21), .runs = 1};
  EXPECT_THAT(List(kept, Utc(2026, 12, 1, 22)),
              HasSubstr("next: Wed 2026-12-02 22:00 CET; 1 run, 0 missed"));
  kept.state.running = true;
  EXPECT_THAT(List(kept, Utc(2026, 12, 1, 22)), HasSubstr("running now;"));
  kept.state.running = false;
  kept.state.done = true;
  EXPECT_THAT(List(kept, Utc(2026, 12, 1, 22)), HasSubstr("done: it had its one run;"));
}

TEST(WindowList, ShowsTheLatestNotesAndWhatIsDamaged) {
  WindowFiles::Kept kept = Kept();
  for (int i = 0; i < 9; ++i) {
    AddNote(kept.state, Utc(2026, 12, 1, 21), "missed: \x1b[31m" + std::to_string(i));
  }
  const std::string text = WindowList({.windows = {kept}, .unusable = {"x.window: is damaged"}},
                                      Utc(2026, 12, 1, 23), false);
  EXPECT_THAT(text, HasSubstr("    Tue 2026-12-01 22:00 CET  missed: \\x1b[31m8\n"));
  EXPECT_THAT(text, Not(HasSubstr("\\x1b[31m3")));
  EXPECT_THAT(text, HasSubstr("x.window: is damaged\n"));
  EXPECT_THAT(text, HasSubstr("nobody runs this queue"));
  EXPECT_EQ(WindowList({}, WallTime{}, false), "no windows\n");
}

}  // namespace
}  // namespace plimsoll
