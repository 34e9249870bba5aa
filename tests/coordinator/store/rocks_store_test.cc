// What can be wrong with the folder: each a clear error that names it, none an abort.
#include "coordinator/store/rocks_store.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/rng.h"
#include "coordinator/store/keys.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RocksStoreTest : public testing::Test {
 protected:
  std::string Path() const { return folder_.path() + "/store"; }
  std::unique_ptr<Store> Open(StoreAccess access = StoreAccess::kReadWrite) const {
    auto store = OpenRocksStore(Path(), access);
    EXPECT_TRUE(store.ok()) << MessageOf(store.status());
    return store.ok() ? std::move(*store) : nullptr;
  }
  Status OpenError(StoreAccess access = StoreAccess::kReadWrite) const {
    const auto store = OpenRocksStore(Path(), access);
    EXPECT_FALSE(store.ok());
    EXPECT_THAT(std::string(MessageOf(store.status())), HasSubstr(Path()));
    return store.status();
  }
  static std::string Message(const Status& status) { return std::string(MessageOf(status)); }
  void WriteFile(const std::string& name, const std::string& text) const {
    fs::create_directories(Path());
    std::ofstream(Path() + "/" + name, std::ios::binary) << text;
  }

  TempFolder folder_;
};

TEST_F(RocksStoreTest, KeepsWhatWasCommittedAcrossOpenings) {
  {
    const auto store = Open();
    ASSERT_TRUE(store->Commit({{"a", "1"}}, Durability::kLogged).ok());
  }
  EXPECT_EQ(*Open()->Get("a"), "1");
}

TEST_F(RocksStoreTest, LoggedCommitsSurviveAKilledProcess) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = OpenRocksStore(Path(), StoreAccess::kReadWrite);
    if (!store.ok() || !(*store)->Commit({{"a", "1"}}, Durability::kLogged).ok()) _exit(1);
    std::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(*Open()->Get("a"), "1");
}

TEST_F(RocksStoreTest, AReaderSeesTheStoreBesideAWriterAndWritesNothing) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Commit({{"a", "1"}}, Durability::kLogged).ok());
  const auto reader = Open(StoreAccess::kReadOnly);
  EXPECT_EQ(*reader->Get("a"), "1");
  EXPECT_THAT(Message(reader->Commit({{"b", ""}}, Durability::kLogged)),
              HasSubstr("open for reading only"));
}

TEST_F(RocksStoreTest, ASecondWriterIsRefused) {
  const auto first = Open();
  const Status error = OpenError();
  EXPECT_TRUE(absl::IsFailedPrecondition(error));
  EXPECT_THAT(Message(error), HasSubstr("another process holds it"));
}

TEST_F(RocksStoreTest, AReaderMakesNoStore) {
  EXPECT_TRUE(absl::IsNotFound(OpenError(StoreAccess::kReadOnly)));
  EXPECT_FALSE(fs::exists(Path()));
  fs::create_directories(Path());
  EXPECT_TRUE(absl::IsNotFound(OpenError(StoreAccess::kReadOnly)));
}

TEST_F(RocksStoreTest, AnotherSchemaNamesBothVersionsAndThePath) {
  ASSERT_TRUE(Open()->Commit({{keys::Schema(), "7"}}, Durability::kSynced).ok());
  for (const StoreAccess access : {StoreAccess::kReadWrite, StoreAccess::kReadOnly}) {
    const Status error = OpenError(access);
    EXPECT_TRUE(absl::IsFailedPrecondition(error));
    EXPECT_THAT(Message(error), HasSubstr("it has schema \"7\", this program reads schema \"1\""));
  }
}

TEST_F(RocksStoreTest, AFileIsNoStore) {
  std::ofstream(Path()) << "text";
  const Status error = OpenError();
  EXPECT_TRUE(absl::IsFailedPrecondition(error));
  EXPECT_THAT(Message(error), HasSubstr("it is a file"));
  const auto below = OpenRocksStore(Path() + "/deeper", StoreAccess::kReadWrite);
  EXPECT_TRUE(absl::IsFailedPrecondition(below.status())) << Message(below.status());
}

TEST_F(RocksStoreTest, AFolderOfOtherThingsIsLeftAlone) {
  WriteFile("letter.txt", "dear");
  EXPECT_THAT(Message(OpenError()), HasSubstr("holds other files and is no store"));
  EXPECT_EQ(std::distance(fs::directory_iterator(Path()), fs::directory_iterator{}), 1);
}

TEST_F(RocksStoreTest, CorruptDatabasesAreDataLoss) {
  { ASSERT_TRUE(Open()->Commit({{"a", "1"}}, Durability::kSynced).ok()); }
  WriteFile("CURRENT", "garbage");
  EXPECT_TRUE(absl::IsDataLoss(OpenError())) << Message(OpenError());
  fs::remove(Path() + "/CURRENT");
  EXPECT_TRUE(absl::IsDataLoss(OpenError())) << Message(OpenError());
}

TEST_F(RocksStoreTest, ADamagedManifestIsDataLoss) {
  { ASSERT_TRUE(Open()->Commit({{"a", "1"}}, Durability::kSynced).ok()); }
  for (const auto& entry : fs::directory_iterator(Path())) {
    if (!entry.path().filename().string().starts_with("MANIFEST-")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(12);
    file << "XXXXXXXX";
  }
  EXPECT_TRUE(absl::IsDataLoss(OpenError())) << Message(OpenError());
}

TEST_F(RocksStoreTest, RandomDamageEndsInAnErrorOrAStoreNeverInAnAbort) {
  const std::string good = folder_.path() + "/good";
  {
    auto store = OpenRocksStore(good, StoreAccess::kReadWrite);
    ASSERT_TRUE(store.ok());
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(
          (*store)
              ->Commit({{"k" + std::to_string(i), std::string(200, 'x')}}, Durability::kLogged)
              .ok());
    }
  }
  {
    ASSERT_TRUE(OpenRocksStore(good, StoreAccess::kReadWrite).ok());
  }  // Turns the log into a table.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    fs::remove_all(Path());
    fs::copy(good, Path());
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(Path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    const fs::path& file = files[rng.Below(files.size())];
    std::string bytes(fs::file_size(file), '\0');
    std::ifstream(file, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    for (int i = 0; i < 8 && !bytes.empty(); ++i) {
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
    }
    if (rng.Chance(0.3)) bytes.resize(rng.Below(bytes.size() + 1));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = OpenRocksStore(Path(), StoreAccess::kReadWrite);
      if (store.ok()) {
        (void)(*store)->Scan("", [](std::string_view, std::string_view) { return true; });
        (void)(*store)->Commit({{"new", ""}}, Durability::kSynced);
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "seed " << seed << ", file " << file;
  }
}

// Fills a file system of 8 MB of its own; exit codes as the test below reads them.
int FillTheDisk(const std::string& path) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  fs::create_directories(path);
  if (mount("tmpfs", path.c_str(), "tmpfs", 0, "size=8m") != 0) return 77;
  const auto store = OpenRocksStore(path, StoreAccess::kReadWrite);
  if (!store.ok()) return 1;
  Status status;
  for (int i = 0; i < 64 && status.ok(); ++i) {
    status = (*store)->Commit({{"k" + std::to_string(i), std::string(1 << 18, 'x')}},
                              Durability::kLogged);
  }
  if (!absl::IsResourceExhausted(status)) return 2;
  if ((*store)->Commit({{"later", ""}}, Durability::kSynced).ok()) return 3;
  return MessageOf(status).find("the disk is full") == std::string_view::npos ? 4 : 0;
}

TEST_F(RocksStoreTest, AFullDiskIsResourceExhausted) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(FillTheDisk(Path()));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "a file system cannot be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RocksStoreTest, AWriteThatTheSystemRefusesIsAnErrorAndNotAnAbort) {
  // A limit on file sizes refuses writes as a full disk does. In a child, since the limit and the
  // ignored signal are the whole process's.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto store = OpenRocksStore(Path(), StoreAccess::kReadWrite);
    if (!store.ok()) _exit(1);
    const rlimit limit{1 << 16, 1 << 16};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    Status status;
    for (int i = 0; i < 8 && status.ok(); ++i) {
      status = (*store)->Commit({{"k" + std::to_string(i), std::string(1 << 15, 'x')}},
                                Durability::kSynced);
    }
    if (status.ok()) _exit(3);
    // Broken once, broken for good: no later verdict may be written as if nothing had happened.
    if ((*store)->Commit({{"later", ""}}, Durability::kSynced).ok()) _exit(4);
    _exit(MessageOf(status).find(Path()) == std::string_view::npos ? 5 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*Open()->Get("k0"), std::string(1 << 15, 'x'));
}

}  // namespace
}  // namespace plimsoll
