#include "common/loop/child_process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChildTest : public testing::Test {
 protected:
  ChildOptions Shell(const std::string& script) {
    ChildOptions options;
    options.argv = {"sh", "-c", script};
    options.output_file = output_;
    return options;
  }
  // Runs the child to its exit.
  ChildExit Finish(const ChildOptions& options) {
    std::optional<ChildExit> exit;
    auto child = ChildProcess::Start(loop_, options, [&](const ChildExit& e) {
      exit = e;
      loop_.Stop();
    });
    EXPECT_TRUE(child.ok()) << child.status();
    const Timer stuck = loop_.After(30s, [&] { loop_.Stop(); });
    loop_.Run();
    EXPECT_TRUE(exit.has_value());
    return exit.value_or(ChildExit{-1, -1});
  }
  std::string Output() const {
    std::stringstream text;
    text << std::ifstream(output_).rdbuf();
    return text.str();
  }
  // Runs the loop until the file holds something.
  void AwaitOutput() {
    std::function<void()> look = [&] {
      if (!Output().empty()) return loop_.Stop();
      timer_ = loop_.After(2ms, look);
    };
    look();
    loop_.Run();
  }
  void TearDown() override { ::unlink(output_.c_str()); }

  EventLoop loop_;
  Timer timer_;
  std::string output_ = testing::TempDir() + "child_" + std::to_string(::getpid()) + ".out";
};

bool Gone(pid_t pid) {
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

// Both have exited before the loop looks, so both wake it in the same turn. Whichever is heard of
// first ends the other and starts one in its place: the wake-up that was meant for the old one is
// nothing to the new one.
TEST_F(ChildTest, OneThatTakesTheOldOnesPlaceDoesNotInheritItsEnd) {
  for (int round = 0; round < 20; ++round) {
    std::unique_ptr<ChildProcess> children[2];
    std::unique_ptr<ChildProcess> successor;
    std::optional<ChildExit> exit;
    for (int i = 0; i < 2; ++i) {
      auto child = ChildProcess::Start(loop_, Shell("exit 1"), [&, i](const ChildExit&) {
        children[1 - i].reset();
        auto next =
            ChildProcess::Start(loop_, Shell("sleep 0.05; exit 7"), [&](const ChildExit& e) {
              exit = e;
              loop_.Stop();
            });
        ASSERT_TRUE(next.ok()) << next.status();
        successor = *std::move(next);
      });
      ASSERT_TRUE(child.ok()) << child.status();
      children[i] = *std::move(child);
    }
    for (const auto& child : children) {
      siginfo_t info{};
      ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child->pid()), &info, WEXITED | WNOWAIT), 0);
    }
    const Timer stuck = loop_.After(30s, [&] { loop_.Stop(); });
    loop_.Run();
    ASSERT_TRUE(exit.has_value());
    ASSERT_EQ(exit->signal, 0) << "round " << round;
    ASSERT_EQ(exit->code, 7);
  }
}

TEST_F(ChildTest, ReportsTheExitCodeAndKeepsTheOutput) {
  ChildOptions options = Shell("echo out $PROBE; echo err >&2; exit 7");
  options.env = {{"PROBE", "a b"}};
  const ChildExit exit = Finish(options);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_EQ(Output(), "out a b\nerr\n");
}

TEST_F(ChildTest, ReportsTheSignal) {
  EXPECT_EQ(Finish(Shell("kill -TERM $$; sleep 30")).signal, SIGTERM);
}

TEST_F(ChildTest, LeadsAGroupOfItsOwnWithNoStrayDescriptors) {
  Finish(Shell("ps -o pgid= -p $$ | tr -d ' '; echo $$; ls /proc/$$/fd | tr '\\n' ' '"));
  std::istringstream lines(Output());
  std::string group, pid, descriptors;
  std::getline(lines, group);
  std::getline(lines, pid);
  std::getline(lines, descriptors);
  EXPECT_EQ(group, pid);
  EXPECT_EQ(descriptors.substr(0, 6), "0 1 2 ");
  EXPECT_LE(descriptors.size(), 10u) << descriptors;  // At most the shell's own one.
}

// Everything that a child says, by lines, and how it ended.
class ChildLines : public ChildTest {
 protected:
  ChildExit Listen(const std::string& script) {
    ChildOptions options = Shell(script);
    options.output_file.clear();
    options.on_lines = [&](const std::vector<std::string>& lines) {
      at_once_ = std::max(at_once_, lines.size());
      lines_.insert(lines_.end(), lines.begin(), lines.end());
    };
    return Finish(options);
  }
  std::vector<std::string> lines_;
  std::size_t at_once_ = 0;
};

TEST_F(ChildLines, ComeWholeInOrderAndAllBeforeTheExit) {
  EXPECT_EQ(Listen("printf 'one\ntw'; echo o >&2; echo three; printf rest; exit 3").code, 3);
  EXPECT_THAT(lines_, ElementsAre("one", "two", "three", "rest"));
}

TEST_F(ChildLines, WhatACrashLeavesIsNotLost) {
  EXPECT_EQ(Listen("i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done;"
                   "printf 'last words'; kill -SEGV $$; sleep 30")
                .signal,
            SIGSEGV);
  ASSERT_EQ(lines_.size(), 501u);
  EXPECT_EQ(lines_[499], "499");
  EXPECT_EQ(lines_[500], "last words");
}

TEST_F(ChildLines, AFloodIsReadInSmallPieces) {
  EXPECT_EQ(Listen("yes plimsoll | head -c 9000000; echo end").code, 0);
  EXPECT_EQ(lines_.size(), 1'000'001u);
  EXPECT_EQ(lines_.back(), "end");
  EXPECT_LE(at_once_, 500u);
}

TEST_F(ChildLines, OfAChildThatIsEndedAreSaidWithItsEnd) {
  std::vector<std::string> lines;
  ChildOptions options = Shell("touch " + output_ + "; echo x >" + output_ +
                               "; printf 'unfinished'; echo y >>" + output_ + "; sleep 60");
  options.output_file.clear();
  options.on_lines = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  auto child = ChildProcess::Start(loop_, options, [](const ChildExit&) {});
  ASSERT_TRUE(child.ok());
  while (Output() != "x\ny\n") AwaitOutput();
  child->reset();
  EXPECT_THAT(lines, ElementsAre("unfinished"));
}

TEST_F(ChildTest, KillReachesTheWholeGroup) {
  auto child = ChildProcess::Start(loop_, Shell("sleep 60 & echo $!; wait"),
                                   [&](const ChildExit&) { loop_.Stop(); });
  ASSERT_TRUE(child.ok());
  AwaitOutput();
  const pid_t grandchild = std::atoi(Output().c_str());
  ASSERT_GT(grandchild, 0);
  EXPECT_FALSE(Gone(grandchild));
  (*child)->Kill(SIGTERM);
  loop_.Run();
  EXPECT_FALSE((*child)->running());
  for (int i = 0; i < 2000 && !Gone(grandchild); ++i) ::usleep(1000);  // Reaped by init.
  EXPECT_TRUE(Gone(grandchild));
}

TEST_F(ChildTest, DestructionLeavesNothingRunning) {
  auto child = ChildProcess::Start(loop_, Shell("trap '' TERM INT; echo ready; sleep 60"),
                                   [&](const ChildExit&) { ADD_FAILURE() << "called"; });
  ASSERT_TRUE(child.ok());
  AwaitOutput();
  const pid_t pid = (*child)->pid();
  child->reset();
  EXPECT_TRUE(Gone(pid));
  timer_ = loop_.After(5ms, [&] { loop_.Stop(); });
  loop_.Run();
}

TEST_F(ChildTest, TheCallbackMayDestroyIt) {
  std::unique_ptr<ChildProcess> child;
  auto started = ChildProcess::Start(loop_, Shell("exit 0"), [&](const ChildExit&) {
    child.reset();
    loop_.Stop();
  });
  ASSERT_TRUE(started.ok());
  child = *std::move(started);
  loop_.Run();
  EXPECT_EQ(child, nullptr);
}

TEST_F(ChildTest, ErrorsAreWords) {
  ChildOptions options;
  options.argv = {"/nonexistent/program"};
  auto child = ChildProcess::Start(loop_, options, [](const ChildExit&) {});
  EXPECT_THAT(std::string(MessageOf(child.status())), HasSubstr("/nonexistent/program"));
  options.argv = {};
  EXPECT_FALSE(ChildProcess::Start(loop_, options, [](const ChildExit&) {}).ok());
  options = Shell("true");
  options.output_file = "/nonexistent/file";
  EXPECT_FALSE(ChildProcess::Start(loop_, options, [](const ChildExit&) {}).ok());
}

}  // namespace
}  // namespace plimsoll
