#include "pkg/controller/cache.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/controller/object_helpers.h"

namespace hekla::controller {

using apis::json::Value;

namespace {

using ValueInformer = kube::Informer<Value>;

std::string LabelIndex(absl::string_view label) { return absl::StrCat("label:", label); }
std::string IndexValue(absl::string_view ns, absl::string_view value) {
  return absl::StrCat(ns, "/", value);
}

bool LabelsMatch(const Value& object, const ListFilter& filter) {
  const Value& labels = object.At("metadata").At("labels");
  for (const auto& [key, value] : filter.labels) {
    const Value* const found = labels.Find(key);
    if (found == nullptr || !found->is_string() || found->as_string() != value) return false;
  }
  for (const apis::meta::Requirement& requirement : filter.requirements) {
    const Value* const found = labels.Find(requirement.key);
    const std::string* const text =
        found != nullptr && found->is_string() ? &found->as_string() : nullptr;
    if (!requirement.Matches(text)) return false;
  }
  return true;
}

bool Matches(const Value& object, const ListFilter& filter) {
  if (!filter.ns.empty() && NamespaceOf(object) != filter.ns) return false;
  if (!filter.controller_uid.empty()) {
    const Value* const controller = ControllerOf(object);
    if (controller == nullptr || controller->GetString("uid") != filter.controller_uid) {
      return false;
    }
  }
  return LabelsMatch(object, filter);
}

// Timestamps of the API are of one form and compare as texts.
void Sort(std::vector<ObjectPtr>& objects) {
  std::sort(objects.begin(), objects.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
    const Value& left = a->At("metadata");
    const Value& right = b->At("metadata");
    const auto fields = [](const Value& metadata) {
      return std::make_tuple(metadata.GetString("creationTimestamp"),
                             metadata.GetString("namespace"), metadata.GetString("name"));
    };
    return fields(left) < fields(right);
  });
}

// 0 where it is no number.
uint64_t VersionNumber(const Value& object) {
  uint64_t number = 0;
  return absl::SimpleAtoi(ResourceVersion(object), &number) ? number : 0;
}

// What this process wrote and its informer has not yet shown.
class OwnWrites {
 public:
  void Put(const std::string& key, ObjectPtr object) {
    absl::MutexLock lock(&mutex_);
    ObjectPtr& slot = objects_[key];
    if (slot == nullptr || VersionNumber(*slot) < VersionNumber(*object)) slot = std::move(object);
  }
  // The newer of `stored` and what was written to the same object.
  ObjectPtr Newer(const std::string& key, ObjectPtr stored) const {
    absl::MutexLock lock(&mutex_);
    const auto it = objects_.find(key);
    return it != objects_.end() && IsOlder(stored, *it->second) ? it->second : stored;
  }
  // Forgets what `stored` (null: gone) has caught up with.
  void Settle(const std::string& key, const ObjectPtr& stored) {
    absl::MutexLock lock(&mutex_);
    const auto it = objects_.find(key);
    if (it != objects_.end() && !IsOlder(stored, *it->second)) objects_.erase(it);
  }

 private:
  static bool IsOlder(const ObjectPtr& stored, const Value& written) {
    return stored != nullptr && UidOf(*stored) == UidOf(written) &&
           VersionNumber(*stored) < VersionNumber(written);
  }

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, ObjectPtr> objects_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

// One kind: an informer per namespace.
class Cache::KindCache {
 public:
  KindCache(const Deps& deps, const Options& options, Kind kind, uint64_t seed)
      : kind_(std::move(kind)) {
    for (const std::string& ns : options.namespaces) {
      if (!kind_.resource.namespaced && !informers_.empty()) break;
      ValueInformer::Options informer;
      informer.reflector.resource = kind_.resource;
      informer.reflector.ns = kind_.resource.namespaced ? ns : "";
      informer.reflector.label_selector = kind_.label_selector;
      informer.reflector.min_watch_time = options.min_watch_time;
      informer.reflector.seed = seed + informers_.size();
      informer.transform = [this](Value& object) { Trim(object); };
      informer.on_error = [this](const absl::Status& status) { NoteError(status); };
      informers_.push_back(std::make_unique<ValueInformer>(
          deps.client, deps.io, [](Value value) -> absl::StatusOr<Value> { return value; },
          std::move(informer)));
      AddIndexes(informers_.back()->store());
    }
    if (options.read_own_writes) SettleOwnWrites();
  }

  void AddHandler(kube::Handler<Value> handler) {
    auto missing = std::make_shared<size_t>(informers_.size());
    if (handler.on_synced) {
      handler.on_synced = [missing, inner = std::move(handler.on_synced)] {
        if (--*missing == 0) inner();
      };
    }
    for (const auto& informer : informers_) informer->AddHandler(handler);
  }
  void Start() {
    for (const auto& informer : informers_) informer->Start();
  }
  void Stop() {
    for (const auto& informer : informers_) informer->Stop();
  }
  bool HasSynced() const {
    return std::all_of(informers_.begin(), informers_.end(),
                       [](const auto& informer) { return informer->HasSynced(); });
  }
  std::string Describe() const {
    absl::MutexLock lock(&mutex_);
    return absl::StrCat(kind_.resource.qualified_name(), error_.ok() ? "" : ": ",
                        error_.ok() ? "" : error_.message());
  }

  ObjectPtr Get(absl::string_view ns, absl::string_view name) const {
    const std::string key =
        ns.empty() || !kind_.resource.namespaced ? std::string(name) : absl::StrCat(ns, "/", name);
    for (const auto& informer : informers_) {
      if (ObjectPtr object = informer->store().Get(key)) {
        return own_writes_.Newer(key, std::move(object));
      }
    }
    return nullptr;
  }
  void NoteWritten(Value object) {
    if (VersionNumber(object) == 0) return;
    Trim(object);
    const std::string key = RequestOf(object).Key();
    own_writes_.Put(key, std::make_shared<const Value>(std::move(object)));
    // The news may have been faster than the answer.
    ObjectPtr stored;
    for (const auto& informer : informers_) {
      if (stored == nullptr) stored = informer->store().Get(key);
    }
    own_writes_.Settle(key, stored);
  }
  std::vector<ObjectPtr> List(const ListFilter& filter) const {
    std::vector<ObjectPtr> out;
    for (const auto& informer : informers_) {
      for (ObjectPtr& object : Candidates(informer->store(), filter)) {
        if (Matches(*object, filter)) out.push_back(std::move(object));
      }
    }
    Sort(out);
    return out;
  }
  size_t size() const {
    size_t sum = 0;
    for (const auto& informer : informers_) sum += informer->store().size();
    return sum;
  }

 private:
  void Trim(Value& object) const {
    if (Value* const metadata = object.Find("metadata")) metadata->Remove("managedFields");
    if (kind_.transform) kind_.transform(object);
    // A copy has no spare room; what is stored stays for long.
    object = Value(std::as_const(object));
  }
  void SettleOwnWrites() {
    kube::Handler<Value> handler;
    handler.on_update = [this](const ObjectPtr&, const ObjectPtr& now) {
      own_writes_.Settle(RequestOf(*now).Key(), now);
    };
    handler.on_delete = [this](const ObjectPtr& object, bool) {
      own_writes_.Settle(RequestOf(*object).Key(), nullptr);
    };
    AddHandler(std::move(handler));
  }
  void AddIndexes(kube::Store<Value>& store) {
    const auto add = [&store](const std::string& name, kube::Store<Value>::IndexFunction function) {
      const absl::Status added = store.AddIndex(name, std::move(function));
      CHECK(added.ok()) << added;
    };
    for (const std::string& label : kind_.index_labels) {
      add(LabelIndex(label), [label](const Value& object) {
        const absl::string_view value = LabelOf(object, label);
        if (value.empty()) return std::vector<std::string>();
        return std::vector<std::string>{IndexValue(NamespaceOf(object), value)};
      });
    }
  }
  // A superset of what matches, by the best index there is.
  std::vector<ObjectPtr> Candidates(const kube::Store<Value>& store,
                                    const ListFilter& filter) const {
    if (!filter.ns.empty()) {
      for (const auto& [key, value] : filter.labels) {
        const auto& indexed = kind_.index_labels;
        if (value.empty() || std::find(indexed.begin(), indexed.end(), key) == indexed.end()) {
          continue;
        }
        return store.ByIndex(LabelIndex(key), IndexValue(filter.ns, value));
      }
    }
    return store.List();
  }
  void NoteError(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    if (error_.code() != status.code()) {
      LOG(WARNING) << "cannot watch kind=" << kind_.resource.qualified_name()
                   << " error=" << status.message();
    }
    error_ = status;
  }

  const Kind kind_;
  OwnWrites own_writes_;
  std::vector<std::unique_ptr<ValueInformer>> informers_;
  mutable absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

Cache::Cache(Deps deps, Options options) : deps_(deps), options_(std::move(options)) {}
Cache::~Cache() = default;

void Cache::AddKind(Kind kind) {
  std::unique_ptr<KindCache>& slot = kinds_[kind.resource.qualified_name()];
  if (slot != nullptr) return;
  const uint64_t seed = options_.seed + 1000 * kinds_.size();
  slot = std::make_unique<KindCache>(deps_, options_, std::move(kind), seed);
}

bool Cache::Has(const kube::Resource& resource) const { return Find(resource) != nullptr; }

Cache::KindCache* Cache::Find(const kube::Resource& resource) const {
  const auto it = kinds_.find(resource.qualified_name());
  return it == kinds_.end() ? nullptr : it->second.get();
}

void Cache::AddHandler(const kube::Resource& resource, kube::Handler<Value> handler) {
  KindCache* const kind = Find(resource);
  CHECK(kind != nullptr) << "no cache of " << resource.qualified_name();
  kind->AddHandler(std::move(handler));
}

void Cache::WhenSynced(std::function<void()> synced) {
  if (kinds_.empty()) return synced();
  auto missing = std::make_shared<size_t>(kinds_.size());
  for (const auto& [name, kind] : kinds_) {
    kube::Handler<Value> handler;
    handler.on_synced = [missing, synced] {
      if (--*missing == 0) synced();
    };
    kind->AddHandler(std::move(handler));
  }
}

void Cache::Start() {
  for (const auto& [name, kind] : kinds_) kind->Start();
}
void Cache::Stop() {
  for (const auto& [name, kind] : kinds_) kind->Stop();
}

bool Cache::HasSynced() const {
  return std::all_of(kinds_.begin(), kinds_.end(),
                     [](const auto& kind) { return kind.second->HasSynced(); });
}

std::vector<std::string> Cache::Missing() const {
  std::vector<std::string> out;
  for (const auto& [name, kind] : kinds_) {
    if (!kind->HasSynced()) out.push_back(kind->Describe());
  }
  return out;
}

absl::StatusOr<ObjectPtr> Cache::Get(const kube::Resource& resource, absl::string_view ns,
                                     absl::string_view name) const {
  const KindCache* const kind = Find(resource);
  if (kind == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no cache of ", resource.qualified_name(), " is kept"));
  }
  ObjectPtr object = kind->Get(ns, name);
  if (object != nullptr) return object;
  return absl::NotFoundError(absl::StrCat(resource.qualified_name(), " \"", name, "\" not found"));
}

absl::StatusOr<std::vector<ObjectPtr>> Cache::List(const kube::Resource& resource,
                                                   const ListFilter& filter) const {
  const KindCache* const kind = Find(resource);
  if (kind == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no cache of ", resource.qualified_name(), " is kept"));
  }
  return kind->List(filter);
}

void Cache::NoteWritten(const kube::Resource& resource, const Value& object) {
  KindCache* const kind = options_.read_own_writes ? Find(resource) : nullptr;
  if (kind != nullptr) kind->NoteWritten(object);
}

size_t Cache::Size(const kube::Resource& resource) const {
  const KindCache* const kind = Find(resource);
  return kind == nullptr ? 0 : kind->size();
}

}  // namespace hekla::controller
