#include "pkg/ray/builders/storage.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::meta::Quantity;
using apis::ray::GcsStorageOptions;
using apis::ray::RayCluster;

namespace {

constexpr absl::string_view kDefaultSize = "1Gi";
constexpr absl::string_view kDefaultAccessMode = "ReadWriteOnce";

GcsStorageOptions StorageOf(const RayCluster& cluster) {
  const auto& options = cluster.spec.gcs_fault_tolerance;
  return options && options->storage ? *options->storage : GcsStorageOptions();
}

// In canonical form; the text as it is where it does not parse.
std::string SizeOf(const GcsStorageOptions& storage) {
  const std::string text = storage.size.value_or(std::string(kDefaultSize));
  const auto parsed = Quantity::Parse(text);
  return parsed.ok() ? parsed->ToString() : text;
}

std::vector<std::string> ModesOf(const GcsStorageOptions& storage) {
  if (!storage.access_modes.empty()) return storage.access_modes;
  return {std::string(kDefaultAccessMode)};
}

std::vector<std::string> Sorted(const Value& list) {
  std::vector<std::string> out;
  if (list.is_array()) {
    for (const Value& item : list.as_array()) {
      if (item.is_string()) out.push_back(item.as_string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool SameAmount(absl::string_view a, absl::string_view b) {
  const auto left = Quantity::Parse(a);
  const auto right = Quantity::Parse(b);
  return left.ok() && right.ok() ? *left == *right : a == b;
}

}  // namespace

bool NeedsAuthSecret(const RayCluster& cluster) {
  const auto& auth = cluster.spec.auth_options;
  return auth && auth->mode != "disabled" && !auth->enable_k8s_token_auth &&
         auth->secret_name.empty();
}

Value BuildAuthSecret(const RayCluster& cluster, std::span<const unsigned char> random) {
  Value secret = NewObject("v1", "Secret", CheckName(cluster.name()), cluster.ns());
  SetLabels(AllPodsSelector(cluster.name()), secret);
  SetController(cluster, secret);
  const absl::string_view bytes(reinterpret_cast<const char*>(random.data()), random.size());
  secret.Set("stringData",
             Value::MakeObject({{apis::ray::kAuthTokenKey, absl::Base64Escape(bytes)}}));
  secret.Set("type", "Opaque");
  return secret;
}

bool NeedsGcsClaim(const RayCluster& cluster) {
  return apis::ray::EmbeddedGcsStorage(cluster) && StorageOf(cluster).claim_name.empty();
}

bool OwnsGcsClaim(const RayCluster& cluster) {
  return StorageOf(cluster).deletion_policy != "Retain";
}

Value BuildGcsClaim(const RayCluster& cluster) {
  const GcsStorageOptions storage = StorageOf(cluster);
  Value claim = NewObject("v1", "PersistentVolumeClaim", absl::StrCat(cluster.name(), "-gcs-pvc"),
                          cluster.ns());
  SetLabels(AllPodsSelector(cluster.name()), claim);
  if (OwnsGcsClaim(cluster)) SetController(cluster, claim);
  Value& spec = claim.Ensure({"spec"});
  spec.Set("accessModes", apis::meta::EncodeStrings(ModesOf(storage)));
  spec.Set("resources",
           Value::MakeObject({{"requests", Value::MakeObject({{"storage", SizeOf(storage)}})}}));
  if (storage.storage_class_name) spec.Set("storageClassName", *storage.storage_class_name);
  return claim;
}

std::optional<std::string> GcsClaimDrift(const RayCluster& cluster, const Value& live) {
  const GcsStorageOptions storage = StorageOf(cluster);
  const Value& spec = live.At("spec");
  std::vector<std::string> drift;
  const absl::string_view size = spec.At("resources").At("requests").GetString("storage");
  if (!SameAmount(SizeOf(storage), size)) {
    drift.push_back(absl::StrCat("requested size ", SizeOf(storage), " != current ", size));
  }
  const absl::string_view live_class = spec.GetString("storageClassName");
  if (storage.storage_class_name && *storage.storage_class_name != live_class) {
    drift.push_back(absl::StrCat("requested storageClassName ", *storage.storage_class_name,
                                 " != current ", live_class));
  }
  std::vector<std::string> wanted = ModesOf(storage);
  std::sort(wanted.begin(), wanted.end());
  const std::vector<std::string> modes = Sorted(spec.At("accessModes"));
  if (wanted != modes) {
    drift.push_back(absl::StrCat("requested accessModes [", absl::StrJoin(wanted, " "),
                                 "] != current [", absl::StrJoin(modes, " "), "]"));
  }
  if (drift.empty()) return std::nullopt;
  return absl::StrJoin(drift, ", ");
}

}  // namespace hekla::ray::builders
