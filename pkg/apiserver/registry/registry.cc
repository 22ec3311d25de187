#include "pkg/apiserver/registry/registry.h"

#include <openssl/sha.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "glog/logging.h"

namespace hekla::apiserver {
namespace {

std::string PathKey(absl::string_view group, absl::string_view version, absl::string_view plural) {
  return absl::StrCat(group, "/", version, "/", plural);
}

// GA 3, beta 2, alpha 1, other names 0; with their numbers.
struct VersionRank {
  int level = 0;
  int major = 0;
  int minor = 0;
};

VersionRank RankOf(absl::string_view version) {
  VersionRank rank;
  absl::string_view rest = version;
  if (!absl::ConsumePrefix(&rest, "v")) return rank;
  const size_t end = rest.find_first_not_of("0123456789");
  if (!absl::SimpleAtoi(rest.substr(0, end), &rank.major)) return rank;
  if (end == absl::string_view::npos) {
    rank.level = 3;
    return rank;
  }
  rest.remove_prefix(end);
  const int level = absl::ConsumePrefix(&rest, "beta") ? 2 : absl::ConsumePrefix(&rest, "alpha");
  if (level != 0 && absl::SimpleAtoi(rest, &rank.minor)) rank.level = level;
  return rank;
}

}  // namespace

bool VersionLess(absl::string_view a, absl::string_view b) {
  const VersionRank x = RankOf(a);
  const VersionRank y = RankOf(b);
  if (x.level != y.level) return x.level > y.level;
  if (x.level == 0) return a < b;
  if (x.major != y.major) return x.major > y.major;
  return x.minor > y.minor;
}

const Subresource* Resource::FindSubresource(absl::string_view name) const {
  for (const Subresource& s : subresources) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

std::string StorageVersionHash(absl::string_view group, absl::string_view version,
                               absl::string_view kind) {
  const std::string text = absl::StrCat(group, "/", version, "/", kind);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::Base64Escape(absl::string_view(reinterpret_cast<const char*>(digest), 8));
}

Registry::Registry(storage::Store& store) {
  std::vector<std::shared_ptr<Resource>> builtin = BuiltinResources();
  for (const std::shared_ptr<Resource>& r : builtin) {
    if (r->view == View::kEventsV1) {
      const ResourcePtr owner = Find("", "v1", r->plural);
      CHECK(owner != nullptr);
      r->table = owner->table;
    } else {
      r->table = store.AddTable(r->group_resource().ToString(), r->namespaced,
                                SelectableFieldsOf(r->group, r->plural));
    }
    Add(r);
  }
}

ResourcePtr Registry::Find(absl::string_view group, absl::string_view version,
                           absl::string_view plural) const {
  absl::MutexLock lock(&mutex_);
  auto it = by_path_.find(PathKey(group, version, plural));
  return it == by_path_.end() ? nullptr : it->second;
}

ResourcePtr Registry::FindKind(absl::string_view api_version, absl::string_view kind) const {
  absl::MutexLock lock(&mutex_);
  auto it = by_kind_.find(absl::StrCat(api_version, "/", kind));
  return it == by_kind_.end() ? nullptr : it->second;
}

ResourcePtr Registry::FindGroupKind(absl::string_view group, absl::string_view kind) const {
  absl::MutexLock lock(&mutex_);
  for (const ResourcePtr& r : all_) {
    if (r->group == group && r->kind == kind) return r;
  }
  return nullptr;
}

bool Registry::HasGroup(absl::string_view group) const {
  absl::MutexLock lock(&mutex_);
  return std::any_of(all_.begin(), all_.end(), [&](const auto& r) { return r->group == group; });
}

bool Registry::HasGroupVersion(absl::string_view group, absl::string_view version) const {
  absl::MutexLock lock(&mutex_);
  return std::any_of(all_.begin(), all_.end(),
                     [&](const auto& r) { return r->group == group && r->version == version; });
}

bool Registry::HasBuiltinGroup(absl::string_view group) const {
  absl::MutexLock lock(&mutex_);
  return std::any_of(all_.begin(), all_.end(),
                     [&](const auto& r) { return r->group == group && !r->is_custom(); });
}

bool Registry::IsCustomGroupVersion(absl::string_view group, absl::string_view version) const {
  absl::MutexLock lock(&mutex_);
  return std::all_of(all_.begin(), all_.end(), [&](const auto& r) {
    return r->group != group || r->version != version || r->is_custom();
  });
}

std::vector<std::string> Registry::Groups() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> out;
  for (const ResourcePtr& r : all_) {
    if (std::find(out.begin(), out.end(), r->group) == out.end()) out.push_back(r->group);
  }
  return out;
}

std::vector<std::string> Registry::Versions(absl::string_view group) const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> out;
  for (const ResourcePtr& r : all_) {
    if (r->group == group && std::find(out.begin(), out.end(), r->version) == out.end()) {
      out.push_back(r->version);
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return VersionLess(a, b); });
  return out;
}

std::vector<ResourcePtr> Registry::Resources(absl::string_view group,
                                             absl::string_view version) const {
  absl::MutexLock lock(&mutex_);
  std::vector<ResourcePtr> out;
  for (const ResourcePtr& r : all_) {
    if (r->group == group && r->version == version) out.push_back(r);
  }
  return out;
}

std::vector<ResourcePtr> Registry::OnePerTable() const {
  absl::MutexLock lock(&mutex_);
  std::vector<ResourcePtr> out;
  for (const ResourcePtr& r : all_) {
    if (std::none_of(out.begin(), out.end(), [&](const auto& o) { return o->table == r->table; })) {
      out.push_back(r);
    }
  }
  return out;
}

uint64_t Registry::generation() const {
  absl::MutexLock lock(&mutex_);
  return generation_;
}

void Registry::Add(std::shared_ptr<Resource> resource) {
  CHECK(resource->table != nullptr && resource->strategy != nullptr) << resource->plural;
  absl::MutexLock lock(&mutex_);
  all_.push_back(std::move(resource));
  Rebuild();
}

void Registry::Remove(absl::string_view group, absl::string_view plural) {
  absl::MutexLock lock(&mutex_);
  all_.erase(std::remove_if(all_.begin(), all_.end(),
                            [&](const ResourcePtr& r) {
                              return r->is_custom() && r->group == group && r->plural == plural;
                            }),
             all_.end());
  Rebuild();
}

void Registry::Rebuild() {
  by_path_.clear();
  by_kind_.clear();
  for (const ResourcePtr& r : all_) {
    by_path_[PathKey(r->group, r->version, r->plural)] = r;
    by_kind_[absl::StrCat(r->api_version(), "/", r->kind)] = r;
  }
  ++generation_;
}

}  // namespace hekla::apiserver
