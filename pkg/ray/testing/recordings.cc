#include "pkg/ray/testing/recordings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "glog/logging.h"
#include "pkg/util/testing/shared_folder.h"

namespace hekla::ray::testing {
namespace {

namespace fs = std::filesystem;
using apis::json::Member;
using apis::json::Value;

std::string ReadFile(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Times are not recorded; decoders want one.
Value WithTimes(const Value& value) {
  std::string text = apis::json::Dump(value);
  absl::StrReplaceAll({{"<time>", "2026-08-01T00:00:00Z"}}, &text);
  return *apis::json::Parse(text);
}

}  // namespace

Value Recording::ClusterAt(size_t step) const {
  const Value& stored = steps().as_array()[step].At("raycluster");
  if (!stored.is_object()) return Value();
  Value cluster = raw_.At("manifest");
  Value& metadata = cluster["metadata"];
  metadata.Set("namespace", ns());
  metadata.Set("uid", "<cluster-uid>");
  for (const char* key : {"labels", "annotations", "finalizers", "generation"}) {
    metadata.Remove(key);
    if (stored.Has(key)) metadata.Set(key, stored.At(key));
  }
  const Value* spec = stored.Find("spec");
  if (spec != nullptr && spec->Has("sameAsStep")) {
    const size_t earlier = static_cast<size_t>(spec->GetInt("sameAsStep")) - 1;
    spec = steps().as_array()[earlier].FindPath({"raycluster", "spec"});
  }
  if (spec != nullptr) cluster.Set("spec", *spec);
  cluster.Remove("status");
  const Value& status = steps().as_array()[step].At("status");
  if (status.is_object()) cluster.Set("status", WithTimes(status));
  return cluster;
}

Value Recording::ObjectsAt(size_t step, const std::string& kind) const {
  const Value* objects = steps().as_array()[step].FindPath({"objects", kind});
  if (objects == nullptr || !objects->is_object()) return Value();
  Value out = Value::MakeObject();
  for (const Member& m : objects->as_object()) {
    if (const Value* same = m.value.Find("sameAsStep")) {
      const size_t earlier = static_cast<size_t>(same->as_int()) - 1;
      out.Set(m.key, *steps().as_array()[earlier].FindPath({"objects", kind, m.key}));
    } else {
      out.Set(m.key, m.value);
    }
  }
  return out;
}

bool Recording::HasFlag(const std::string& text) const {
  const Value& flags = raw_.At("operatorFlags");
  return flags.is_array() &&
         std::any_of(flags.as_array().begin(), flags.as_array().end(),
                     [&](const Value& flag) { return absl::StrContains(flag.as_string(), text); });
}

bool Recording::Gate(const std::string& gate, bool fallback) const {
  if (HasFlag(absl::StrCat(gate, "=true"))) return true;
  if (HasFlag(absl::StrCat(gate, "=false"))) return false;
  return fallback;
}

std::string Recording::Env(const std::string& name) const {
  return std::string(raw_.At("operatorEnv").GetString(name));
}

std::vector<Recording> LoadRecordings() {
  const fs::path folder = util::testing::SharedFolder() / "cases" / "raycluster";
  std::vector<Recording> out;
  if (!fs::is_directory(folder)) {
    std::cout << "no recordings at " << folder << ": nothing is compared\n";
    return out;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    auto value = apis::json::Parse(ReadFile(file));
    CHECK(value.ok()) << file << " " << value.status();
    out.emplace_back(*std::move(value));
  }
  return out;
}

std::string ReadShared(const std::string& path) {
  return ReadFile(util::testing::SharedFolder() / path);
}

}  // namespace hekla::ray::testing
