#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/apiserver/storage/journal_reader.h"
#include "pkg/apiserver/storage/journal_record.h"
#include "pkg/apiserver/storage/object.h"

namespace hekla::apiserver::storage {

// What a snapshot is made of.
struct JournalState {
  int64_t version = 0;
  std::vector<std::pair<std::string, std::vector<ObjectPtr>>> tables;
  std::vector<std::pair<std::string, RecoveredTable>> parked;  // tables nobody has asked for
};

// Keeps a store's writes in a folder, from which the next process builds the store anew.
//   log-N        records of the writes, in the order of the versions; one file is appended to
//   snapshot-N   the state before log-N; older files are then removed
//   lock         held by the process that uses the folder
// - A write is handed to the operating system before anybody sees it: a process that is killed
//   loses nothing. It is handed to the disk (fdatasync) before it is answered where `sync_interval`
//   is zero, else by Sync: the machine's sudden end loses what was younger.
// - A record that was cut off at the end of the newest log is dropped with a line in the log of the
//   program. Anything else that cannot be read is an error: nothing is skipped silently.
// - After a sudden end of the machine versions go on behind a gap, so that none that a client may
//   have seen is ever given to another content.
// - A write that the file system refuses is taken back from the file and refused. Where even that
//   fails, or the disk does, all later writes are refused.
// Threads: any. Put, Remove, Drop and Rotate under the store's lock, which gives them their order:
//          the one place where a lock is held over a (buffered) write.
class Journal {
 public:
  struct Options {
    std::string folder;                               // made where it is missing
    absl::Duration sync_interval = absl::Seconds(1);  // whoever owns this calls Sync so often
    // The logs are replaced by a snapshot when they have grown to this, and to twice the last
    // snapshot.
    uint64_t min_compact_bytes = 16 << 20;
    std::string boot = {};  // "": as the system says; for tests
  };
  // Errors: kFailedPrecondition (in use by another process), kDataLoss (names file and offset),
  //         kUnavailable (the file system).
  static absl::StatusOr<std::unique_ptr<Journal>> Open(Options options);
  // Marks the end as clean.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // What was in the folder; once.
  Recovered TakeRecovered() { return std::move(recovered_); }
  // Bytes of the newest log's end that were no whole record and have been dropped.
  uint64_t dropped_bytes() const { return dropped_bytes_; }

  // Errors: kDataLoss: it is not in the journal and must not happen.
  absl::Status Put(absl::string_view table, const StoredObject& object);
  absl::Status Remove(absl::string_view table, absl::string_view key, int64_t version);
  absl::Status Drop(absl::string_view table, int64_t version);
  // Before a write is answered: with a sync interval of zero waits until the disk has all that was
  // written until now. Not under the store's lock. Errors: kDataLoss.
  absl::Status Commit();
  // Hands everything to the disk. Not under the store's lock.
  absl::Status Sync();

  bool WantsCompaction() const;
  // Begins the next log and returns its number; its writes come after a state that is taken now.
  absl::StatusOr<uint64_t> Rotate(int64_t version);
  // Replaces all logs before `log` by that state. Not under the store's lock.
  absl::Status Compact(uint64_t log, const JournalState& state);

 private:
  struct File;

  explicit Journal(Options options);

  absl::Status LockFolder();
  absl::Status Recover();
  // Goes on in that log, which has so many bytes.
  absl::Status OpenLog(uint64_t number, uint64_t size, int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Append(const JournalRecord& record);
  absl::Status AppendLine(const std::string& line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Break(absl::string_view what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SyncFolder() const;
  void RemoveBefore(uint64_t log) const;

  const Options options_;
  std::string boot_;
  std::unique_ptr<File> lock_file_;
  Recovered recovered_;
  uint64_t dropped_bytes_ = 0;

  mutable absl::Mutex mutex_;
  absl::CondVar synced_more_;
  std::shared_ptr<File> file_ ABSL_GUARDED_BY(mutex_);
  uint64_t log_ ABSL_GUARDED_BY(mutex_) = 0;        // number of the file
  uint64_t size_ ABSL_GUARDED_BY(mutex_) = 0;       // of the file
  uint64_t log_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all logs since the last snapshot
  uint64_t compact_at_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;  // records, and how many of them the disk has
  uint64_t synced_ ABSL_GUARDED_BY(mutex_) = 0;
  bool syncing_ ABSL_GUARDED_BY(mutex_) = false;
  std::string broken_ ABSL_GUARDED_BY(mutex_);  // why nothing is written any more; "": all is well
};

}  // namespace hekla::apiserver::storage
