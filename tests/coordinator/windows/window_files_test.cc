// The queue's files: round trips, bytes that are none of ours, two processes.
#include "coordinator/windows/window_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "common/base/rng.h"
#include "gmock/gmock.h"
#include "tests/coordinator/windows/instants.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Utc;
using testing::Window;

class WindowQueue : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "plimsoll-windows-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static WindowEntry Entry(const std::string& id) {
    WindowEntry entry{.id = id,
                      .scenario_path = "/srv/recipe-7.yaml",
                      .scenario_name = "recipe-7",
                      .scenario_digest = std::string(64, '7'),
                      .follow = true,
                      .spec = Window("22:00-06:00 Europe/Berlin", 2h, "weekdays"),
                      .added = Utc(2026, 12, 1, 12)};
    entry.spec.once = true;
    return entry;
  }
  static WindowState State() {
    WindowState state{.settled = Utc(2026, 12, 1, 21),
                      .done = true,
                      .runs = 3,
                      .missed = 2,
                      .notes = {},
                      .running = true};
    AddNote(state, Utc(2026, 12, 1, 21), "missed: somebody held the store");
    AddNote(state, Utc(2026, 12, 2, 21), "ran");
    return state;
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(folder_ + "/windows");
    std::ofstream(folder_ + "/windows/" + name, std::ios::binary) << bytes;
  }

  std::string folder_;
};

TEST_F(WindowQueue, KeepsWhatWasAddedAndWhatBecameOfIt) {
  WindowFiles files(folder_);
  EXPECT_THAT(files.List().windows, IsEmpty()) << "no folder yet";
  ASSERT_TRUE(files.Add(Entry("b")).ok());
  ASSERT_TRUE(files.Add(Entry("a")).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(files.Add(Entry("a"))));
  ASSERT_TRUE(files.PutState("b", State()).ok());
  const auto kept = WindowFiles(folder_).List();
  EXPECT_THAT(kept.unusable, IsEmpty());
  ASSERT_THAT(kept.windows, SizeIs(2));
  EXPECT_EQ(kept.windows[0].entry, Entry("a"));
  EXPECT_EQ(kept.windows[0].state, WindowState{});
  EXPECT_EQ(kept.windows[1].entry, Entry("b"));
  EXPECT_EQ(kept.windows[1].state, State());
}

TEST_F(WindowQueue, ForgetsWhatWasCancelled) {
  WindowFiles files(folder_);
  ASSERT_TRUE(files.Add(Entry("a")).ok());
  ASSERT_TRUE(files.PutState("a", State()).ok());
  ASSERT_TRUE(files.Cancel("a").ok());
  EXPECT_TRUE(absl::IsNotFound(files.Cancel("a")));
  EXPECT_TRUE(absl::IsNotFound(files.Cancel("../a")));
  ASSERT_TRUE(files.PutState("a", State()).ok()) << "the server's last word on it";
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/windows"));
  ASSERT_TRUE(files.Add(Entry("a")).ok());
  EXPECT_EQ(files.List().windows[0].state, WindowState{}) << "a new one";
}

TEST_F(WindowQueue, RefusesIdsThatAreNoNames) {
  WindowFiles files(folder_);
  for (const std::string& id : {std::string(), std::string(".hidden"), std::string("a/b"),
                                std::string("a b"), std::string(65, 'a')}) {
    EXPECT_FALSE(files.Add(Entry(id)).ok()) << id;
  }
}

TEST_F(WindowQueue, SaysWhichFileIsDamagedAndGoesOn) {
  WindowFiles files(folder_);
  ASSERT_TRUE(files.Add(Entry("good")).ok());
  ASSERT_TRUE(files.Add(Entry("odd")).ok());
  Write("odd.state", "\xff\xff\xff");
  Write("bad.window", "no such thing");
  Write("empty.window", "");
  Write("huge.window", std::string(1 << 20, 'x'));
  Write("bad.window.Xa3", "left by a crash");
  const auto kept = files.List();
  ASSERT_THAT(kept.windows, SizeIs(1));
  EXPECT_EQ(kept.windows[0].entry.id, "good");
  EXPECT_THAT(kept.unusable, ElementsAre(HasSubstr("bad.window"), HasSubstr("empty.window"),
                                         HasSubstr("huge.window"), HasSubstr("odd.window")));
}

// Every change of one byte is refused or gives an entry whose every field is in its bounds.
TEST_F(WindowQueue, TakesHostileBytesForDamagedOrForWhatIsInBounds) {
  const std::string window = EncodeWindow(Entry("a"));
  const std::string state = EncodeWindowState(State());
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = i % 2 == 0 ? window : state;
    for (std::uint64_t n = 1 + rng.Below(3); n > 0; --n) {
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Next());
    }
    if (rng.Chance(0.2)) bytes.resize(rng.Below(bytes.size()));
    const auto entry = DecodeWindow("a", bytes);
    if (entry.ok()) {
      EXPECT_TRUE(CheckWindow(entry->spec).ok());
      EXPECT_GE(entry->added, WallTime{});
      EXPECT_TRUE(entry->scenario_path.starts_with('/'));
    }
    const auto decoded = DecodeWindowState(bytes);
    if (decoded.ok()) {
      EXPECT_LE(decoded->notes.size(), kWindowNotesMax);
      EXPECT_GE(decoded->settled.value_or(WallTime{}), WallTime{});
    }
  }
}

TEST_F(WindowQueue, KeepsTheLatestNotes) {
  WindowState state;
  for (int i = 0; i < 40; ++i) AddNote(state, WallTime(Duration(i)), std::to_string(i));
  ASSERT_THAT(state.notes, SizeIs(kWindowNotesMax));
  EXPECT_EQ(state.notes.front().text, "39");
  AddNote(state, WallTime{}, std::string(100'000, 'x'));
  EXPECT_TRUE(DecodeWindowState(EncodeWindowState(state)).ok());
}

TEST_F(WindowQueue, IsRunByOneProcess) {
  WindowFiles files(folder_);
  EXPECT_FALSE(files.TryLock().has_value()) << "there is no queue";
  ASSERT_TRUE(files.Add(Entry("a")).ok());
  EXPECT_FALSE(files.Locked());
  {
    const auto lock = files.TryLock();
    ASSERT_TRUE(lock.has_value());
    EXPECT_TRUE(files.Locked());
    EXPECT_FALSE(WindowFiles(folder_).TryLock().has_value());
  }
  EXPECT_FALSE(files.Locked());
  EXPECT_TRUE(files.TryLock().has_value());
}

TEST_F(WindowQueue, SeesNobodyAtAStoreThatIsNotThere) {
  EXPECT_FALSE(StoreIsHeld(folder_));
  EXPECT_FALSE(StoreIsHeld(folder_ + "/nowhere"));
}

}  // namespace
}  // namespace plimsoll
