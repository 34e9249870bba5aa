#include "coordinator/hooks/file_lock.h"

#include <optional>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/loop/child_process.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {
namespace {

struct LockTest : testing::Test {
  TempFolder folder;
  std::string path = folder.path() + "/lock";
  bool Held() {
    const auto held = FileLock::Held(path);
    EXPECT_TRUE(held.ok()) << held.status();
    return held.value_or(true);
  }
};

TEST_F(LockTest, OneHoldsItAndLookingTakesNothing) {
  EXPECT_FALSE(Held());
  auto first = FileLock::Take(path);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(Held());
  EXPECT_TRUE(absl::IsUnavailable(FileLock::Take(path).status()));
  EXPECT_GE(first->fd(), 100);
  first->Close();
  EXPECT_FALSE(Held());
  EXPECT_TRUE(FileLock::Take(path).ok());
}

TEST_F(LockTest, ALockOnARemovedFileIsNotTakenForTheNewOne) {
  auto old = FileLock::Take(path);
  ASSERT_TRUE(old.ok());
  ::unlink(path.c_str());
  EXPECT_FALSE(Held());
  auto fresh = FileLock::Take(path);
  ASSERT_TRUE(fresh.ok());
  EXPECT_TRUE(Held());
}

// Whoever inherits it holds it on, whatever becomes of who took it.
TEST_F(LockTest, AChildHoldsItOnAndItsEndLetsGo) {
  EventLoop loop;
  auto lock = FileLock::Take(path);
  ASSERT_TRUE(lock.ok());
  std::optional<ChildExit> exit;
  auto child =
      ChildProcess::Start(loop, {.argv = {"sh", "-c", "sleep 1000 & wait"}, .keep_fd = lock->fd()},
                          [&](const ChildExit& e) {
                            exit = e;
                            loop.Stop();
                          });
  ASSERT_TRUE(child.ok()) << child.status();
  lock->Close();
  EXPECT_TRUE(Held());
  (*child)->Kill(SIGKILL);
  const Timer stuck = loop.After(60s, [&] { loop.Stop(); });
  loop.Run();
  ASSERT_TRUE(exit.has_value());
  // The shell's own child was in its group; the kernel takes a moment to bury it.
  Timer next;
  std::function<void()> look = [&] {
    if (!Held()) return loop.Stop();
    next = loop.After(5ms, look);
  };
  look();
  loop.Run();
  EXPECT_FALSE(Held());
}

TEST_F(LockTest, AChildWithoutItDoesNotHoldIt) {
  EventLoop loop;
  auto lock = FileLock::Take(path);
  ASSERT_TRUE(lock.ok());
  auto child = ChildProcess::Start(loop, {.argv = {"sleep", "1000"}}, [](const ChildExit&) {});
  ASSERT_TRUE(child.ok());
  lock->Close();
  EXPECT_FALSE(Held());
}

TEST_F(LockTest, AFolderThatIsNotThereIsAnError) {
  path = folder.path() + "/no/lock";
  EXPECT_FALSE(FileLock::Take(path).ok());
}

}  // namespace
}  // namespace plimsoll
