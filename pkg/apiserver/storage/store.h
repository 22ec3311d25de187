#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/apiserver/storage/journal.h"
#include "pkg/apiserver/storage/object.h"
#include "pkg/apiserver/storage/watch.h"

namespace hekla::apiserver::storage {

// Replaced, not changed, so that a delivery can hold on to it.
using WatchList = std::shared_ptr<const std::vector<std::shared_ptr<Watch>>>;

// The objects of one kind. Made by Store::AddTable; its contents belong to the store.
class Table {
 public:
  Table(std::string name, bool namespaced, std::vector<SelectableField> fields)
      : name_(std::move(name)), namespaced_(namespaced), fields_(std::move(fields)) {}
  const std::string& name() const { return name_; }
  bool namespaced() const { return namespaced_; }
  const std::vector<SelectableField>& fields() const { return fields_; }

 private:
  friend class Store;
  const std::string name_;
  const bool namespaced_;
  const std::vector<SelectableField> fields_;
  absl::btree_map<std::string, ObjectPtr> objects_;
  std::deque<Event> log_;
  int64_t last_change_ = 0;
  int64_t log_floor_ = 0;  // every change after this version is in log_
  WatchList watches_ = std::make_shared<const std::vector<std::shared_ptr<Watch>>>();
};
using TablePtr = std::shared_ptr<Table>;

struct ListQuery {
  Filter filter;
  std::string start_after;  // key; "" = from the beginning
  size_t limit = 0;         // 0 = all
  int64_t at_version = 0;   // 0 = newest; else the state at that version
};
struct ListResult {
  std::vector<ObjectPtr> objects;
  int64_t resource_version = 0;
  bool more = false;
  int64_t remaining = 0;  // objects of the namespace after the page, whatever the selectors say
};

// Keeps all objects under one counter of versions, the recent changes of every table, and hands
// changes to watchers in order.
// Order:   objects by key; events by version. A change is delivered to all watches of its table
//          before the next one is.
// Threads: any. Writes are short: texts are made before the lock is taken. Streams are written to
//          outside the lock by one thread at a time (whichever finds nobody at it).
// Errors:  kAlreadyExists, kNotFound, kAborted (another version is stored), kOutOfRange (history
//          does not reach back so far), kDataLoss (the journal does not take the write).
class Store {
 public:
  // With a journal, which must outlive the store, tables start with the objects that it has; the
  // history of changes starts anew.
  explicit Store(size_t watch_window, Journal* journal = nullptr);
  // Lets go of the watches, whose transformations may hold tables; their streams stay open.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // A recovered object that cannot be read stays in the journal and is reported.
  TablePtr AddTable(std::string name, bool namespaced, std::vector<SelectableField> fields);
  // Ends the table's watches. Its objects are gone without events.
  void DropTable(const TablePtr& table);

  absl::StatusOr<ObjectPtr> Create(Table& table, EncodedObject object, absl::Time now);
  absl::StatusOr<ObjectPtr> Update(Table& table, EncodedObject object, int64_t expected_version,
                                   absl::Time now);
  // Returns the last content with the version of the deletion.
  absl::StatusOr<ObjectPtr> Delete(Table& table, absl::string_view key, int64_t expected_version);

  ObjectPtr Get(const Table& table, absl::string_view key) const;
  absl::StatusOr<ListResult> List(const Table& table, const ListQuery& query) const;
  bool HasObjectsIn(const Table& table, absl::string_view ns) const;
  int64_t version() const;
  // Version of the table's last change; 0 where there was none.
  int64_t last_change(const Table& table) const;

  struct Dependent {
    Table* table;
    std::string key;
  };
  // Objects whose ownerReferences name that UID.
  std::vector<Dependent> DependentsOf(absl::string_view owner_uid) const;

  enum class WatchStart : uint8_t { kState, kStateAndBookmark, kFrom, kNow };
  // Starts a watch: with the present state, or with the changes after `from`. Errors: kOutOfRange.
  absl::Status StartWatch(const TablePtr& table, std::shared_ptr<Watch> watch, WatchStart start,
                          int64_t from);
  // Sends bookmarks, ends overdue watches; returns when the next of them is due.
  absl::Time Tick(absl::Time now, absl::Duration bookmark_interval);
  void CloseWatches();
  void ForgetHistory();
  size_t watch_count() const;
  // Replaces the journal's logs by a snapshot where they have grown enough. One caller at a time.
  void Compact();

 private:
  // Something to be written to streams, in the order of the versions.
  struct Delivery {
    enum class Kind : uint8_t { kEvent, kStart, kBookmark, kClose };
    Kind kind = Kind::kEvent;
    Event event = {};                        // kEvent
    WatchList watches = nullptr;             // kEvent
    std::shared_ptr<Watch> watch = nullptr;  // the others
    std::vector<ObjectPtr> initial = {};
    std::vector<Event> backlog = {};
    int64_t version = 0;
    bool initial_end = false;
  };

  // Fills a new table with what the journal had of it.
  void Recover(Table& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Record(Table& table, Event event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void IndexOwners(Table& table, const StoredObject* before, const StoredObject* after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Prune(Table& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<ListResult> ListAt(const Table& table, const ListQuery& query) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the journal has what was written, then tells the watches.
  absl::Status Publish() ABSL_LOCKS_EXCLUDED(mutex_);
  // Writes what is queued, unless another thread is at it already.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  static void Run(Delivery& delivery);

  const size_t window_;
  Journal* const journal_;  // may be null
  mutable absl::Mutex mutex_;
  int64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<TablePtr> tables_ ABSL_GUARDED_BY(mutex_);
  // Recovered objects whose table nobody has added (again) yet.
  absl::btree_map<std::string, RecoveredTable> parked_ ABSL_GUARDED_BY(mutex_);
  std::deque<Delivery> queue_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<std::string, std::vector<Dependent>> dependents_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::apiserver::storage
