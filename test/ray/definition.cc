#include "test/ray/definition.h"

#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "pkg/apiserver/crd/structural.h"
#include "pkg/apiserver/status/field_errors.h"
#include "pkg/yaml/yaml.h"

namespace hekla::ray {
namespace {

using apis::json::Value;
using apiserver::crd::Structural;

// The schemas by version.
std::map<std::string, Structural> ReadSchemas() {
  std::ifstream in("config/crd/ray.io_rayclusters.yaml");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto document = yaml::ParseOne(text);
  CHECK(document.ok()) << document.status();
  std::map<std::string, Structural> out;
  for (const Value& version : document->value.At("spec").At("versions").as_array()) {
    out.emplace(version.GetString("name"),
                Structural::Compile(version.At("schema").At("openAPIV3Schema")));
  }
  return out;
}

}  // namespace

std::string StoreAsRayCluster(Value& cluster) {
  static const auto& schemas = *new std::map<std::string, Structural>(ReadSchemas());
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(cluster.GetString("apiVersion"), '/');
  const auto schema = schemas.find(std::string(parts.second));
  if (schema == schemas.end()) return absl::StrCat("no version ", parts.second);
  std::vector<std::string> dropped;
  schema->second.Prune(cluster, &dropped);
  if (!dropped.empty()) return absl::StrCat("unknown: ", absl::StrJoin(dropped, ", "));
  schema->second.Default(cluster);
  apiserver::FieldErrors errors;
  schema->second.Validate(cluster, nullptr, errors);
  return errors.empty() ? "" : errors.Text();
}

}  // namespace hekla::ray
