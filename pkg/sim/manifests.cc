#include "pkg/sim/manifests.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"

namespace hekla::sim {
namespace {

namespace fs = std::filesystem;
using apis::json::Value;

absl::Status RequireString(absl::string_view path, const Value* value, absl::string_view origin) {
  if (value == nullptr || value->is_null()) {
    return absl::InvalidArgumentError(absl::StrCat(origin, ": ", path, ": required"));
  }
  if (!value->is_string()) {
    return absl::InvalidArgumentError(
        absl::StrCat(origin, ": ", path, ": must be a string, not ", apis::json::Dump(*value)));
  }
  if (value->as_string().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(origin, ": ", path, ": must not be empty"));
  }
  return absl::OkStatus();
}

absl::Status AddObject(Value object, std::string origin, std::vector<Manifest>& out) {
  if (!object.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(origin, ": must be an object with apiVersion and kind"));
  }
  HEKLA_RETURN_IF_ERROR(RequireString("apiVersion", object.Find("apiVersion"), origin));
  HEKLA_RETURN_IF_ERROR(RequireString("kind", object.Find("kind"), origin));
  if (const Value* items = object.Find("items");
      items != nullptr && absl::EndsWith(object.GetString("kind"), "List")) {
    if (!items->is_array()) {
      return absl::InvalidArgumentError(absl::StrCat(origin, ": items: must be a list"));
    }
    for (size_t i = 0; i < items->size(); ++i) {
      HEKLA_RETURN_IF_ERROR(
          AddObject(items->as_array()[i], absl::StrCat(origin, ": items[", i, "]"), out));
    }
    return absl::OkStatus();
  }
  const Value* metadata = object.Find("metadata");
  if (metadata == nullptr || !metadata->is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(origin, ": metadata: required"));
  }
  HEKLA_RETURN_IF_ERROR(RequireString("metadata.name", metadata->Find("name"), origin));
  if (const Value* ns = metadata->Find("namespace"); ns != nullptr && !ns->is_null()) {
    HEKLA_RETURN_IF_ERROR(RequireString("metadata.namespace", ns, origin));
  }
  out.push_back(Manifest{std::move(object), std::move(origin)});
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::Status CollectFiles(const std::string& path, std::vector<std::string>& files) {
  std::error_code error;
  if (path != "-" && fs::is_directory(path, error)) {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
      const std::string ext = entry.path().extension().string();
      if (entry.is_regular_file() && (ext == ".yaml" || ext == ".yml" || ext == ".json")) {
        found.push_back(entry.path().string());
      }
    }
    if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
    return absl::OkStatus();
  }
  if (path != "-" && !fs::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file or folder"));
  }
  files.push_back(path);
  return absl::OkStatus();
}

int LoadingRank(const Value& object) {
  static constexpr absl::string_view kOrder[] = {"CustomResourceDefinition",
                                                 "Namespace",
                                                 "PriorityClass",
                                                 "Queue",
                                                 "StorageClass",
                                                 "CSIDriver",
                                                 "PersistentVolume",
                                                 "PersistentVolumeClaim",
                                                 "Node",
                                                 "CSINode",
                                                 "PodGroup"};
  const absl::string_view kind = object.GetString("kind");
  for (size_t i = 0; i < std::size(kOrder); ++i) {
    if (kind == kOrder[i]) return static_cast<int>(i);
  }
  return kind == "Pod" ? 100 : 50;
}

}  // namespace

absl::StatusOr<std::vector<Manifest>> ParseManifests(absl::string_view text,
                                                     absl::string_view file) {
  std::vector<Manifest> out;
  auto documents = yaml::ParseAll(text);
  if (!documents.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", documents.status().message()));
  }
  for (size_t i = 0; i < documents->size(); ++i) {
    Value& value = (*documents)[i].value;
    if (value.is_null()) continue;
    HEKLA_RETURN_IF_ERROR(
        AddObject(std::move(value), absl::StrCat(file, ": document ", i + 1), out));
  }
  return out;
}

absl::StatusOr<std::vector<Manifest>> ReadManifests(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) HEKLA_RETURN_IF_ERROR(CollectFiles(path, files));
  std::vector<Manifest> out;
  for (const std::string& file : files) {
    HEKLA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    HEKLA_ASSIGN_OR_RETURN(std::vector<Manifest> some, ParseManifests(text, file));
    out.insert(out.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return out;
}

void SortForLoading(std::vector<Manifest>& manifests) {
  std::stable_sort(manifests.begin(), manifests.end(), [](const Manifest& a, const Manifest& b) {
    return LoadingRank(a.object) < LoadingRank(b.object);
  });
}

}  // namespace hekla::sim
