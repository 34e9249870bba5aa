// Processes that are not our children, and what a child waits for before it is one.
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/loop/child_process.h"
#include "common/loop/detached_process.h"
#include "common/loop/process_watch.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

struct ProcessTest : testing::Test {
  EventLoop loop;
  Timer stuck = loop.After(60s, [this] { loop.Stop(); });
  std::string path = testing::TempDir() + "process_" + std::to_string(::getpid());
  void TearDown() override { ::unlink(path.c_str()); }
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
};

TEST_F(ProcessTest, TheEndOfAStrangerIsHeardOf) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  bool gone = false;
  auto watch = ProcessWatch::Start(loop, pid, [&] {
    gone = true;
    loop.Stop();
  });
  ASSERT_TRUE(watch.ok()) << watch.status();
  const Timer kill = loop.After(10ms, [&] { ::kill(pid, SIGKILL); });
  loop.Run();
  EXPECT_TRUE(gone);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(absl::IsNotFound(ProcessWatch::Start(loop, pid, [] {}).status()));
  EXPECT_TRUE(absl::IsNotFound(ProcessWatch::Start(loop, 0, [] {}).status()));
}

TEST_F(ProcessTest, AWatchThatIsDestroyedIsSilent) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  auto watch = ProcessWatch::Start(loop, pid, [] { FAIL(); });
  ASSERT_TRUE(watch.ok());
  ::waitpid(pid, nullptr, 0);
  watch->reset();
  const Timer end = loop.After(20ms, [&] { loop.Stop(); });
  loop.Run();
}

TEST_F(ProcessTest, AChildIsThereBeforeItRunsAndRunsOnlyIfItMay) {
  ChildOptions options{.argv = {"sh", "-c", "echo ran"}, .output_file = path};
  options.before_exec = [&](int pid) {
    EXPECT_EQ(::kill(pid, 0), 0);
    return absl::InternalError("the disk is full");
  };
  const auto refused = ChildProcess::Start(loop, options, [](const ChildExit&) { FAIL(); });
  EXPECT_THAT(std::string(MessageOf(refused.status())), HasSubstr("the disk is full"));
  EXPECT_EQ(Text(), "");
  options.before_exec = [&](int) { return absl::OkStatus(); };
  auto child = ChildProcess::Start(loop, options, [&](const ChildExit&) { loop.Stop(); });
  ASSERT_TRUE(child.ok());
  loop.Run();
  EXPECT_EQ(Text(), "ran\n");
}

// Its parent is gone before it may run: it never does.
TEST_F(ProcessTest, AChildWhoseParentDiesInBetweenNeverRuns) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    EventLoop own;
    ChildOptions options{
        .argv = {"sh", "-c", "echo ran"}, .output_file = path, .die_with_parent = false};
    options.before_exec = [](int pid) {
      const std::string text = std::to_string(pid) + "\n";
      (void)!::write(STDOUT_FILENO, text.data(), 0);
      ::kill(::getpid(), SIGKILL);
      return absl::OkStatus();
    };
    (void)ChildProcess::Start(own, options, [](const ChildExit&) {});
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(parent, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  // The file is open in the child as long as it waits: once nobody has it, nobody can write it.
  Timer next;
  const auto open_somewhere = [&] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code error;
      if (std::filesystem::equivalent(entry.path() / "fd/1", path, error)) return true;
    }
    return false;
  };
  std::function<void()> look = [&] {
    if (!open_somewhere()) return loop.Stop();
    next = loop.After(5ms, look);
  };
  look();
  loop.Run();
  EXPECT_EQ(Text(), "");
}

TEST_F(ProcessTest, AChildRunsInItsFolder) {
  ChildOptions options{.argv = {"pwd"}, .output_file = path, .directory = "/usr"};
  auto child = ChildProcess::Start(loop, options, [&](const ChildExit&) { loop.Stop(); });
  ASSERT_TRUE(child.ok());
  loop.Run();
  EXPECT_EQ(Text(), "/usr\n");
  options.directory = "/no/such/folder";
  const auto none = ChildProcess::Start(loop, options, [](const ChildExit&) {});
  EXPECT_THAT(std::string(MessageOf(none.status())), HasSubstr("/no/such/folder"));
}

TEST(DetachedProcess, SaysItsLineAndLivesInASessionOfItsOwn) {
  // Fields 4 and 6 are its parent and its session.
  const auto line = StartDetached(
      {"sh", "-c", "echo $$ $(cut -d ' ' -f 4,6 /proc/$$/stat); echo more; exec sleep 1000"}, 60s);
  ASSERT_TRUE(line.ok()) << line.status();
  std::istringstream words(*line);
  int pid = 0;
  int session = 0;
  int parent = 0;
  words >> pid >> parent >> session;
  ASSERT_GT(pid, 0) << *line;
  EXPECT_NE(session, ::getsid(0));
  EXPECT_NE(parent, ::getpid());
  EXPECT_EQ(::kill(pid, SIGKILL), 0);
}

TEST(DetachedProcess, WhatDoesNotBeginIsSaid) {
  EXPECT_TRUE(absl::IsNotFound(StartDetached({"/no/such/program"}, 60s).status()));
  EXPECT_TRUE(absl::IsUnavailable(StartDetached({"true"}, 60s).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(StartDetached({}, 60s).status()));
}

}  // namespace
}  // namespace plimsoll
