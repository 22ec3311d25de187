#include "pkg/apiserver/storage/store.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::storage {
namespace {

// The keys of a namespace: from "ns/" up to, not including, "ns0" ('0' follows '/').
std::string FirstKey(const Filter& filter) {
  return filter.ns.empty() ? std::string() : absl::StrCat(filter.ns, "/");
}
bool PastNamespace(const Filter& filter, absl::string_view key) {
  return !filter.ns.empty() && !(absl::StartsWith(key, filter.ns) &&
                                 key.size() > filter.ns.size() && key[filter.ns.size()] == '/');
}

}  // namespace

Store::Store(size_t watch_window, Journal* journal) : window_(watch_window), journal_(journal) {
  if (journal_ == nullptr) return;
  Recovered recovered = journal_->TakeRecovered();
  version_ = recovered.version;
  parked_ = std::move(recovered.tables);
}

TablePtr Store::AddTable(std::string name, bool namespaced, std::vector<SelectableField> fields) {
  auto table = std::make_shared<Table>(std::move(name), namespaced, std::move(fields));
  absl::MutexLock lock(&mutex_);
  table->log_floor_ = version_;
  tables_.push_back(table);
  Recover(*table);
  return table;
}

void Store::Recover(Table& table) {
  const auto found = parked_.find(table.name_);
  if (found == parked_.end()) return;
  RecoveredTable unread;
  for (auto& [key, object] : found->second) {
    const absl::StatusOr<apis::json::Value> value = apis::json::Parse(object.json);
    if (!value.ok()) {
      LOG(ERROR) << "object of the journal cannot be read table=" << table.name_ << " key=" << key
                 << " error=" << value.status().message();
      unread.emplace(key, std::move(object));
      continue;
    }
    const auto stored =
        std::make_shared<const StoredObject>(Encode(*value, table.fields_), object.resource_version,
                                             EventType::kAdded, object.write_time_seconds);
    IndexOwners(table, nullptr, stored.get());
    table.objects_[key] = stored;
    table.last_change_ = version_;
  }
  parked_.erase(found);
  if (!unread.empty()) parked_.emplace(table.name_, std::move(unread));
}

void Store::DropTable(const TablePtr& table) {
  {
    absl::MutexLock lock(&mutex_);
    tables_.erase(std::remove(tables_.begin(), tables_.end(), table), tables_.end());
    if (journal_ != nullptr) {
      const absl::Status kept = journal_->Drop(table->name_, version_);
      LOG_IF(ERROR, !kept.ok()) << "end of a kind not kept table=" << table->name_
                                << " error=" << kept.message();
    }
    for (const auto& watch : *table->watches_) {
      queue_.push_back(Delivery{.kind = Delivery::Kind::kClose, .watch = watch});
    }
    table->watches_ = std::make_shared<const std::vector<std::shared_ptr<Watch>>>();
    for (const auto& [key, object] : table->objects_) IndexOwners(*table, object.get(), nullptr);
    table->objects_.clear();
    table->log_.clear();
    table->log_floor_ = version_;
  }
  Drain();
}

absl::StatusOr<ObjectPtr> Store::Create(Table& table, EncodedObject object, absl::Time now) {
  ObjectPtr stored;
  {
    absl::MutexLock lock(&mutex_);
    auto it = table.objects_.lower_bound(object.key);
    if (it != table.objects_.end() && it->first == object.key) {
      return absl::AlreadyExistsError(object.key);
    }
    stored = std::make_shared<const StoredObject>(std::move(object), version_ + 1,
                                                  EventType::kAdded, absl::ToUnixSeconds(now));
    if (journal_ != nullptr) HEKLA_RETURN_IF_ERROR(journal_->Put(table.name_, *stored));
    ++version_;
    table.objects_.emplace_hint(it, stored->key(), stored);
    IndexOwners(table, nullptr, stored.get());
    Record(table, Event{version_, EventType::kAdded, stored, nullptr});
  }
  HEKLA_RETURN_IF_ERROR(Publish());
  return stored;
}

absl::StatusOr<ObjectPtr> Store::Update(Table& table, EncodedObject object,
                                        int64_t expected_version, absl::Time now) {
  ObjectPtr stored;
  {
    absl::MutexLock lock(&mutex_);
    auto it = table.objects_.find(object.key);
    if (it == table.objects_.end()) return absl::NotFoundError(object.key);
    if (it->second->resource_version() != expected_version) return absl::AbortedError(object.key);
    stored = std::make_shared<const StoredObject>(std::move(object), version_ + 1,
                                                  EventType::kModified, absl::ToUnixSeconds(now));
    if (journal_ != nullptr) HEKLA_RETURN_IF_ERROR(journal_->Put(table.name_, *stored));
    ++version_;
    ObjectPtr before = std::exchange(it->second, stored);
    IndexOwners(table, before.get(), stored.get());
    Record(table, Event{version_, EventType::kModified, stored, std::move(before)});
  }
  HEKLA_RETURN_IF_ERROR(Publish());
  return stored;
}

absl::StatusOr<ObjectPtr> Store::Delete(Table& table, absl::string_view key,
                                        int64_t expected_version) {
  ObjectPtr gone;
  {
    absl::MutexLock lock(&mutex_);
    auto it = table.objects_.find(key);
    if (it == table.objects_.end()) return absl::NotFoundError(key);
    if (it->second->resource_version() != expected_version) return absl::AbortedError(key);
    if (journal_ != nullptr) {
      HEKLA_RETURN_IF_ERROR(journal_->Remove(table.name_, key, version_ + 1));
    }
    ObjectPtr before = std::move(it->second);
    table.objects_.erase(it);
    gone = std::make_shared<const StoredObject>(*before, ++version_, EventType::kDeleted);
    IndexOwners(table, before.get(), nullptr);
    Record(table, Event{version_, EventType::kDeleted, gone, std::move(before)});
  }
  HEKLA_RETURN_IF_ERROR(Publish());
  return gone;
}

void Store::Record(Table& table, Event event) {
  table.last_change_ = event.resource_version;
  if (!table.watches_->empty()) {
    queue_.push_back(
        Delivery{.kind = Delivery::Kind::kEvent, .event = event, .watches = table.watches_});
  }
  table.log_.push_back(std::move(event));
  if (table.log_.size() > window_) {
    table.log_floor_ = table.log_.front().resource_version;
    table.log_.pop_front();
  }
}

void Store::IndexOwners(Table& table, const StoredObject* before, const StoredObject* after) {
  static const std::vector<std::string> kNone;
  const std::vector<std::string>& old_uids = before ? before->owner_uids() : kNone;
  const std::vector<std::string>& new_uids = after ? after->owner_uids() : kNone;
  if (old_uids == new_uids) return;
  for (const std::string& uid : old_uids) {
    auto it = dependents_.find(uid);
    if (it == dependents_.end()) continue;
    std::vector<Dependent>& list = it->second;
    list.erase(std::remove_if(
                   list.begin(), list.end(),
                   [&](const Dependent& d) { return d.table == &table && d.key == before->key(); }),
               list.end());
    if (list.empty()) dependents_.erase(it);
  }
  for (const std::string& uid : new_uids) dependents_[uid].push_back({&table, after->key()});
}

ObjectPtr Store::Get(const Table& table, absl::string_view key) const {
  absl::MutexLock lock(&mutex_);
  auto it = table.objects_.find(key);
  return it == table.objects_.end() ? nullptr : it->second;
}

bool Store::HasObjectsIn(const Table& table, absl::string_view ns) const {
  const std::string first = absl::StrCat(ns, "/");
  absl::MutexLock lock(&mutex_);
  auto it = table.objects_.lower_bound(first);
  return it != table.objects_.end() && absl::StartsWith(it->first, first);
}

int64_t Store::version() const {
  absl::MutexLock lock(&mutex_);
  return version_;
}

int64_t Store::last_change(const Table& table) const {
  absl::MutexLock lock(&mutex_);
  return table.last_change_;
}

std::vector<Store::Dependent> Store::DependentsOf(absl::string_view owner_uid) const {
  absl::MutexLock lock(&mutex_);
  auto it = dependents_.find(owner_uid);
  return it == dependents_.end() ? std::vector<Dependent>() : it->second;
}

absl::StatusOr<ListResult> Store::List(const Table& table, const ListQuery& query) const {
  absl::MutexLock lock(&mutex_);
  return ListAt(table, query);
}

absl::StatusOr<ListResult> Store::ListAt(const Table& table, const ListQuery& query) const {
  ListResult out;
  out.resource_version = query.at_version == 0 ? version_ : query.at_version;
  // What changed since the wanted version, by key: the content it had then.
  absl::btree_map<std::string, ObjectPtr> then;
  if (query.at_version != 0 && query.at_version < version_) {
    if (query.at_version < table.log_floor_) return absl::OutOfRangeError("compacted");
    for (auto it = table.log_.rbegin(); it != table.log_.rend(); ++it) {
      if (it->resource_version <= query.at_version) break;
      then[it->object->key()] = it->previous;
    }
  }
  const std::string first = std::max(FirstKey(query.filter), query.start_after);
  auto live = table.objects_.lower_bound(first);
  auto old = then.lower_bound(first);
  const auto skip_start = [&](const std::string& key) {
    return !query.start_after.empty() && key <= query.start_after;
  };
  while (live != table.objects_.end() || old != then.end()) {
    const bool take_old =
        old != then.end() && (live == table.objects_.end() || old->first <= live->first);
    const std::string& key = take_old ? old->first : live->first;
    const ObjectPtr object = take_old ? old->second : live->second;
    if (PastNamespace(query.filter, key)) break;
    const bool skip = object == nullptr || skip_start(key);
    if (take_old && live != table.objects_.end() && live->first == old->first) ++live;
    take_old ? static_cast<void>(++old) : static_cast<void>(++live);
    if (skip) continue;
    if (query.limit != 0 && out.objects.size() >= query.limit) {
      if (query.filter.selective() && !query.filter.Matches(*object)) continue;
      out.more = true;
      ++out.remaining;
      if (query.filter.selective()) break;
      continue;
    }
    if (query.filter.Matches(*object)) out.objects.push_back(object);
  }
  return out;
}

absl::Status Store::StartWatch(const TablePtr& table, std::shared_ptr<Watch> watch,
                               WatchStart start, int64_t from) {
  {
    absl::MutexLock lock(&mutex_);
    Delivery delivery{.kind = Delivery::Kind::kStart, .watch = watch};
    if (start == WatchStart::kFrom) {
      if (from < table->log_floor_) {
        return absl::OutOfRangeError(
            absl::StrCat("too old resource version: ", from, " (", table->log_floor_ + 1, ")"));
      }
      auto it = std::lower_bound(
          table->log_.begin(), table->log_.end(), from + 1,
          [](const Event& e, int64_t version) { return e.resource_version < version; });
      delivery.backlog.assign(it, table->log_.end());
    } else if (start != WatchStart::kNow) {
      ListQuery query;
      query.filter = watch->filter;
      auto list = ListAt(*table, query);
      if (!list.ok()) return list.status();
      delivery.initial = std::move(list->objects);
    }
    delivery.version = version_;
    delivery.initial_end = start == WatchStart::kStateAndBookmark;
    // What comes later in the queue is newer than both; what waits there already is not for it.
    watch->start_version = start == WatchStart::kFrom ? std::max(from, version_) : version_;
    auto watches = std::make_shared<std::vector<std::shared_ptr<Watch>>>(*table->watches_);
    watches->push_back(watch);
    table->watches_ = std::move(watches);
    queue_.push_back(std::move(delivery));
    if (closed_) queue_.push_back(Delivery{.kind = Delivery::Kind::kClose, .watch = watch});
  }
  Drain();
  return absl::OkStatus();
}

void Store::Run(Delivery& delivery) {
  switch (delivery.kind) {
    case Delivery::Kind::kEvent: {
      FrameCache cache;
      for (const auto& watch : *delivery.watches) Deliver(delivery.event, cache, *watch);
      return;
    }
    case Delivery::Kind::kStart: {
      Watch& watch = *delivery.watch;
      DeliverInitial(delivery.initial, watch);
      const int64_t start = std::exchange(watch.start_version, 0);
      for (const Event& event : delivery.backlog) {
        FrameCache cache;
        Deliver(event, cache, watch);
      }
      watch.start_version = start;
      if (delivery.initial_end) DeliverBookmark(delivery.version, true, watch);
      return;
    }
    case Delivery::Kind::kBookmark:
      DeliverBookmark(delivery.version, false, *delivery.watch);
      return;
    case Delivery::Kind::kClose:
      if (!delivery.watch->closed.exchange(true)) delivery.watch->stream->Close();
      return;
  }
}

absl::Status Store::Publish() {
  const absl::Status kept = journal_ == nullptr ? absl::OkStatus() : journal_->Commit();
  Drain();
  return kept;
}

void Store::Compact() {
  if (journal_ == nullptr || !journal_->WantsCompaction()) return;
  // Most of it is on the disk before the lock is taken.
  absl::Status done = journal_->Sync();
  JournalState state;
  absl::StatusOr<uint64_t> log = absl::UnknownError("");
  if (done.ok()) {
    absl::MutexLock lock(&mutex_);
    log = journal_->Rotate(version_);
    done = log.status();
    state.version = version_;
    state.parked.assign(parked_.begin(), parked_.end());
    for (const TablePtr& table : tables_) {
      auto& [name, objects] = state.tables.emplace_back();
      name = table->name_;
      objects.reserve(table->objects_.size());
      for (const auto& [key, object] : table->objects_) objects.push_back(object);
    }
  }
  if (done.ok()) done = journal_->Compact(*log, state);
  LOG_IF(WARNING, !done.ok()) << "journal not compacted error=" << done.message();
}

void Store::Drain() {
  std::deque<Delivery> batch;
  {
    absl::MutexLock lock(&mutex_);
    if (draining_ || queue_.empty()) return;
    draining_ = true;
    batch.swap(queue_);
  }
  while (true) {
    // Another thread's write may be among them that is not on the disk yet.
    if (journal_ != nullptr) journal_->Commit().IgnoreError();
    for (Delivery& delivery : batch) Run(delivery);
    batch.clear();
    absl::MutexLock lock(&mutex_);
    if (queue_.empty()) {
      draining_ = false;
      return;
    }
    batch.swap(queue_);
  }
}

void Store::Prune(Table& table) {
  const auto is_closed = [](const std::shared_ptr<Watch>& w) { return w->closed.load(); };
  if (std::none_of(table.watches_->begin(), table.watches_->end(), is_closed)) return;
  auto open = std::make_shared<std::vector<std::shared_ptr<Watch>>>();
  for (const auto& watch : *table.watches_) {
    if (!is_closed(watch)) open->push_back(watch);
  }
  table.watches_ = std::move(open);
}

absl::Time Store::Tick(absl::Time now, absl::Duration bookmark_interval) {
  absl::Time next = absl::InfiniteFuture();
  {
    absl::MutexLock lock(&mutex_);
    for (const TablePtr& table : tables_) {
      for (const auto& watch : *table->watches_) {
        if (watch->closed.load()) continue;
        if (watch->deadline <= now) {
          queue_.push_back(Delivery{.kind = Delivery::Kind::kClose, .watch = watch});
          continue;
        }
        if (watch->next_bookmark <= now) {
          queue_.push_back(
              Delivery{.kind = Delivery::Kind::kBookmark, .watch = watch, .version = version_});
          // The last one shortly before the end, so that the client resumes from a fresh version.
          const absl::Time last = watch->deadline - absl::Seconds(2);
          watch->next_bookmark =
              now < last ? std::min(now + bookmark_interval, last) : absl::InfiniteFuture();
        }
        next = std::min({next, watch->deadline, watch->next_bookmark});
      }
    }
  }
  Drain();
  absl::MutexLock lock(&mutex_);
  for (const TablePtr& table : tables_) Prune(*table);
  return next;
}

Store::~Store() {
  for (const TablePtr& table : tables_) table->watches_.reset();
}

void Store::CloseWatches() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    for (const TablePtr& table : tables_) {
      for (const auto& watch : *table->watches_) {
        queue_.push_back(Delivery{.kind = Delivery::Kind::kClose, .watch = watch});
      }
      table->watches_ = std::make_shared<const std::vector<std::shared_ptr<Watch>>>();
    }
  }
  Drain();
}

void Store::ForgetHistory() {
  {
    absl::MutexLock lock(&mutex_);
    for (const TablePtr& table : tables_) {
      for (const auto& watch : *table->watches_) {
        queue_.push_back(Delivery{.kind = Delivery::Kind::kClose, .watch = watch});
      }
      table->watches_ = std::make_shared<const std::vector<std::shared_ptr<Watch>>>();
      table->log_.clear();
      table->log_floor_ = version_;
    }
  }
  Drain();
}

size_t Store::watch_count() const {
  absl::MutexLock lock(&mutex_);
  size_t n = 0;
  for (const TablePtr& table : tables_) {
    n += std::count_if(table->watches_->begin(), table->watches_->end(),
                       [](const auto& w) { return !w->closed.load(); });
  }
  return n;
}

}  // namespace hekla::apiserver::storage
