// The queue of windows, durable: files under STORE/windows, each synced, written aside and renamed.
//
//   ID.window  what was asked for: written by `window add`, removed by `window cancel`
//   ID.state   what became of it: written by the server that runs the queue, and by nobody else
//   ID-N.log   what its run number N printed
//   lock       held by that server
//
// Files and not keys of the store, since RocksDB has one writer, which is whoever runs: add, list
// and cancel must work while a run holds the store. No file has two writers, so nothing else needs
// a lock; an entry that is cancelled is gone for the server at its next look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/windows/window_entry.h"

namespace plimsoll {

class WindowFiles {
 public:
  // Of a store's folder, which is there. Touches nothing yet.
  explicit WindowFiles(const std::string& store_folder);

  struct Kept {
    WindowEntry entry;
    WindowState state;
  };
  struct Listing {
    std::vector<Kept> windows;          // By id.
    std::vector<std::string> unusable;  // A line for each file that is damaged or cannot be read.
  };
  // NotFound is no error: an empty list.
  Listing List() const;
  // AlreadyExists: another has the id; ResourceExhausted: kWindowsMax are there, or the disk is
  // full.
  Status Add(const WindowEntry& entry);
  // Removes the entry and what became of it; the logs of its runs stay. NotFound.
  Status Cancel(const std::string& id);
  // By the holder of the lock only.
  Status PutState(const std::string& id, const WindowState& state);
  std::string LogPath(const std::string& id, std::uint64_t run) const;

  // Of the queue; released with the process, or at destruction.
  class Lock {
   public:
    Lock(Lock&& other) noexcept;
    Lock& operator=(Lock&&) = delete;
    ~Lock();

   private:
    friend class WindowFiles;
    explicit Lock(int fd) : fd_(fd) {}
    int fd_ = -1;
  };
  // Nothing: another process has it, or there is no queue yet.
  std::optional<Lock> TryLock() const;
  // Whether another process runs the queue.
  bool Locked() const;

 private:
  std::string PathOf(const std::string& id, const char* ending) const;

  std::string folder_;
};

// Whether a process has the store open to write: by RocksDB's own lock, which is not touched.
bool StoreIsHeld(const std::string& store_folder);

}  // namespace plimsoll
