#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apiserver/registry/resource.h"

namespace hekla::apiserver {

// All served resources. Built-in ones are there from the start, custom ones come and go.
// Threads: any.
class Registry {
 public:
  // Registers the built-in kinds with tables in `store`.
  explicit Registry(storage::Store& store);

  // nullptr where nothing of that name is served.
  ResourcePtr Find(absl::string_view group, absl::string_view version,
                   absl::string_view plural) const;
  ResourcePtr FindKind(absl::string_view api_version, absl::string_view kind) const;
  // Any served version of a kind of that group; for owner references.
  ResourcePtr FindGroupKind(absl::string_view group, absl::string_view kind) const;
  bool HasGroup(absl::string_view group) const;
  bool HasGroupVersion(absl::string_view group, absl::string_view version) const;
  bool HasBuiltinGroup(absl::string_view group) const;
  // Whether the group version holds only custom resources (its unknown paths answer differently).
  bool IsCustomGroupVersion(absl::string_view group, absl::string_view version) const;

  // Served groups in order of registration, "" first; versions of each, preferred one first.
  std::vector<std::string> Groups() const;
  std::vector<std::string> Versions(absl::string_view group) const;
  std::vector<ResourcePtr> Resources(absl::string_view group, absl::string_view version) const;
  // One resource per table, in order of registration.
  std::vector<ResourcePtr> OnePerTable() const;
  // Changes with every registration; for caches of discovery and OpenAPI documents.
  uint64_t generation() const;

  void Add(std::shared_ptr<Resource> resource);
  // Removes all versions of a custom resource.
  void Remove(absl::string_view group, absl::string_view plural);

 private:
  mutable absl::Mutex mutex_;
  std::vector<ResourcePtr> all_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, ResourcePtr> by_path_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, ResourcePtr> by_kind_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;

  void Rebuild() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
};

// The built-in resources, without tables. Resources that share storage carry the same plural and
// follow the one that owns it.
std::vector<std::shared_ptr<Resource>> BuiltinResources();
// The fields that selectors may name besides metadata.name and metadata.namespace.
std::vector<storage::SelectableField> SelectableFieldsOf(absl::string_view group,
                                                         absl::string_view plural);

// "v2" before "v1" before "v1beta1" before "v1alpha1" before others.
bool VersionLess(absl::string_view a, absl::string_view b);

}  // namespace hekla::apiserver
