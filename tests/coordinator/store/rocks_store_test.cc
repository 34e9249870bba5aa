// What can be wrong with the folder: each a clear error that names it, none an abort.
#include "coordinator/store/rocks_store.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
