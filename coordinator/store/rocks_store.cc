#include "coordinator/store/rocks_store.h"

#include <cstdarg>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "coordinator/store/keys.h"
#include "fmt/format.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"

namespace plimsoll {
namespace {

Status NoStore(std::string_view folder) {
  return absl::NotFoundError(fmt::format(
      "store {}: there is no store yet; `plimsoll run` makes one, or name another with --store",
      folder));
}

namespace fs = std::filesystem;

rocksdb::Slice ToSlice(std::string_view text) {
  return {text.data(), text.size()};
}
std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// " (pid 123)" of the other process that holds the store's lock; empty if that cannot be known.
std::string HolderOf(const std::string& folder, const std::string& detail) {
  // Closing the file would give up a lock of this process itself.
  if (detail.find("current process") != std::string::npos) return {};
  const int fd = ::open((fs::path(folder) / "LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return {};
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
  ::close(fd);
  return held ? fmt::format(" (pid {})", lock.l_pid) : std::string();
}

// The library's status in our words, with the folder.
Status FromRocks(const rocksdb::Status& status, const std::string& folder, std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string detail = status.ToString();
  if (status.IsNoSpace() || detail.find("No space left") != std::string::npos) {
    return absl::ResourceExhaustedError(
        fmt::format("store {}: {}: the disk is full, free some space", folder, doing));
  }
  if (status.IsCorruption()) {
    return absl::DataLossError(fmt::format(
        "store {}: {}: the database is corrupt, move the folder away: {}", folder, doing, detail));
  }
  if (status.IsIOError() && detail.find("lock") != std::string::npos) {
    return absl::FailedPreconditionError(fmt::format(
        "store {}: another process{} holds it; wait for it to end, or use another folder", folder,
        HolderOf(folder, detail)));
  }
  if (status.IsIOError() && detail.find("Permission denied") != std::string::npos) {
    return absl::PermissionDeniedError(
        fmt::format("store {}: {}: permission denied: {}", folder, doing, detail));
  }
  return absl::UnavailableError(fmt::format("store {}: {}: {}", folder, doing, detail));
}

// The library's own log file goes nowhere: when the disk is full, Debian's build ends the process
// in an assertion as it logs just that.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options MakeOptions(StoreAccess access) {
  rocksdb::Options options;
  options.create_if_missing = access == StoreAccess::kReadWrite;
  options.paranoid_checks = true;
  // A run's values are small and its batches compressed already.
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = std::size_t{16} << 20;
  options.max_background_jobs = 2;
  options.max_open_files = 256;
  options.info_log = std::make_shared<NoLog>();  // Shared with the database's threads.
  return options;
}

class RocksStore : public Store {
 public:
  RocksStore(std::unique_ptr<rocksdb::DB> db, std::string folder, StoreAccess access)
      : db_(std::move(db)), folder_(std::move(folder)), access_(access) {}

  Status Commit(const std::vector<Put>& puts, Durability durability) override {
    if (access_ == StoreAccess::kReadOnly) {
      return absl::FailedPreconditionError(
          fmt::format("store {}: it is open for reading only", folder_));
    }
    RETURN_IF_ERROR(Broken());
    rocksdb::WriteBatch batch;
    for (const Put& put : puts) {
      const rocksdb::Status added = batch.Put(ToSlice(put.key), ToSlice(put.value));
      if (!added.ok()) return FromRocks(added, folder_, "writing");
    }
    rocksdb::WriteOptions options;
    options.sync = durability == Durability::kSynced;
    // The library tries to recover by itself in the background. A store that has lost a commit must
    // not take a later one as if nothing had happened: the first error stands until it is reopened.
    const Status written = FromRocks(db_->Write(options, &batch), folder_, "writing");
    if (written.ok()) return Broken();
    const std::lock_guard lock(mutex_);
    if (broken_.ok()) broken_ = written;
    return broken_;
  }

  StatusOr<std::string> Get(std::string_view key) const override {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), ToSlice(key), &value);
    if (status.IsNotFound()) return absl::NotFoundError("no such key");
    RETURN_IF_ERROR(FromRocks(status, folder_, "reading"));
    return value;
  }

  Status Scan(std::string_view prefix, const Visitor& visit) const override {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    for (it->Seek(ToSlice(prefix)); it->Valid(); it->Next()) {
      const std::string_view key = ToView(it->key());
      if (!key.starts_with(prefix) || !visit(key, ToView(it->value()))) break;
    }
    return FromRocks(it->status(), folder_, "reading");
  }

  // Checks the schema; writes it into a store that is new.
  Status CheckSchema() {
    const StatusOr<std::string> found = Get(keys::Schema());
    const std::string ours = fmt::format("{}", keys::kSchemaVersion);
    if (found.ok()) {
      if (*found == ours) return absl::OkStatus();
      return absl::FailedPreconditionError(
          fmt::format("store {}: it has schema \"{}\", this program reads schema \"{}\"; use the "
                      "program that wrote it, or another folder",
                      folder_, found->substr(0, 20), ours));
    }
    if (!absl::IsNotFound(found.status())) return found.status();
    bool empty = true;
    RETURN_IF_ERROR(
        Scan("", [&empty](std::string_view, std::string_view) { return empty = false; }));
    if (!empty) {
      return absl::FailedPreconditionError(
          fmt::format("store {}: it is a database of another program", folder_));
    }
    if (access_ == StoreAccess::kReadOnly) {
      return NoStore(folder_);
    }
    return Commit({{keys::Schema(), ours}}, Durability::kSynced);
  }

 private:
  Status Broken() const {
    const std::lock_guard lock(mutex_);
    return broken_;
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::string folder_;
  StoreAccess access_;
  mutable std::mutex mutex_;  // The library has its own; this guards what follows.
  Status broken_;             // Of the first write that failed.
};

// What stands at the path, before the library looks at it.
Status CheckFolder(const std::string& folder, StoreAccess access) {
  std::error_code error;
  const fs::file_status there = fs::status(folder, error);
  if (!fs::exists(there)) {
    if (error && error != std::errc::no_such_file_or_directory) {
      return absl::FailedPreconditionError(fmt::format("store {}: {}", folder, error.message()));
    }
    if (access == StoreAccess::kReadOnly) {
      return NoStore(folder);
    }
    fs::create_directories(folder, error);
    if (!error) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("store {}: the folder cannot be made: {}", folder, error.message()));
  }
  if (!fs::is_directory(there)) {
    return absl::FailedPreconditionError(
        fmt::format("store {}: it is a file, name a folder", folder));
  }
  if (fs::exists(fs::path(folder) / "CURRENT", error)) return absl::OkStatus();
  // A database loses CURRENT only by damage; its other files are known by their names.
  bool empty = true;
  bool database = false;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == "LOCK" || name == "LOG" || name.starts_with("LOG.old")) continue;
    empty = false;
    database = database || name.starts_with("MANIFEST-") || name.ends_with(".sst");
  }
  if (error) {
    return absl::PermissionDeniedError(
        fmt::format("store {}: the folder cannot be read: {}", folder, error.message()));
  }
  if (database) {
    return absl::DataLossError(fmt::format(
        "store {}: the database is corrupt (CURRENT is missing), move the folder away", folder));
  }
  if (!empty) {
    return absl::FailedPreconditionError(
        fmt::format("store {}: the folder holds other files and is no store, name an empty or a "
                    "new folder",
                    folder));
  }
  if (access == StoreAccess::kReadOnly) {
    return NoStore(folder);
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<Store>> OpenRocksStore(const std::string& folder, StoreAccess access) {
  RETURN_IF_ERROR(CheckFolder(folder, access));
  rocksdb::DB* raw = nullptr;
  const rocksdb::Options options = MakeOptions(access);
  const rocksdb::Status opened = access == StoreAccess::kReadOnly
                                     ? rocksdb::DB::OpenForReadOnly(options, folder, &raw)
                                     : rocksdb::DB::Open(options, folder, &raw);
  RETURN_IF_ERROR(FromRocks(opened, folder, "opening"));
  auto store = std::make_unique<RocksStore>(std::unique_ptr<rocksdb::DB>(raw), folder, access);
  RETURN_IF_ERROR(store->CheckSchema());
  return store;
}

}  // namespace plimsoll
