// The shipped CustomResourceDefinitions: in themselves, and compared with the recorded facts of the
// kinds we serve (field names, types, constraints, columns, sub-resources).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/apis/json/value.h"
#include "pkg/util/testing/shared_folder.h"
#include "pkg/yaml/yaml.h"

namespace hekla {
namespace {

namespace fs = std::filesystem;
using apis::json::Dump;
using apis::json::Member;
using apis::json::Value;

constexpr char kShipped[] = "config/crd";

std::vector<fs::path> Files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Value Read(const fs::path& file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  auto document = yaml::ParseOne(text);
  EXPECT_TRUE(document.ok()) << file << " " << document.status();
  return document.ok() ? document->value : Value();
}

// Drops the texts for people; a property that is called `description` stays.
void DropDescriptions(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.as_array()) DropDescriptions(item);
  }
  if (!value.is_object()) return;
  if (const Value* text = value.Find("description"); text != nullptr && text->is_string()) {
    value.Remove("description");
  }
  for (Member& member : value.as_object()) DropDescriptions(member.value);
}

// The paths at which two values differ.
void Compare(const Value& want, const Value& got, const std::string& path,
             std::vector<std::string>& differences) {
  if (want.is_object() && got.is_object()) {
    for (const Member& member : want.as_object()) {
      const Value* other = got.Find(member.key);
      if (other == nullptr) {
        differences.push_back(absl::StrCat(path, ".", member.key, " is missing"));
      } else {
        Compare(member.value, *other, absl::StrCat(path, ".", member.key), differences);
      }
    }
    // Pod templates and services are left open in the facts; ours may say more about them.
    const bool open = want.GetBool("x-kubernetes-preserve-unknown-fields");
    for (const Member& member : got.as_object()) {
      if (!want.Has(member.key) && !(open && member.key == "properties")) {
        differences.push_back(absl::StrCat(path, ".", member.key, " is extra"));
      }
    }
    return;
  }
  if (want.is_array() && got.is_array() && want.size() == got.size()) {
    for (size_t i = 0; i < want.size(); ++i) {
      Compare(want.as_array()[i], got.as_array()[i], absl::StrCat(path, "[", i, "]"), differences);
    }
    return;
  }
  if (!(want == got)) {
    differences.push_back(absl::StrCat(path, ": ", Dump(got), " instead of ", Dump(want)));
  }
}

TEST(CrdTest, DefinitionsAreComplete) {
  const auto files = Files(kShipped);
  EXPECT_EQ(files.size(), 15u);
  for (const fs::path& file : files) {
    const Value crd = Read(file);
    EXPECT_EQ(crd.GetString("apiVersion"), "apiextensions.k8s.io/v1") << file;
    EXPECT_EQ(crd.GetString("kind"), "CustomResourceDefinition") << file;
    const Value& spec = crd.At("spec");
    const Value& names = spec.At("names");
    EXPECT_EQ(crd.At("metadata").GetString("name"),
              absl::StrCat(names.GetString("plural"), ".", spec.GetString("group")));
    EXPECT_EQ(file.filename().string(),
              absl::StrCat(spec.GetString("group"), "_", names.GetString("plural"), ".yaml"));
    EXPECT_EQ(names.GetString("singular"), absl::AsciiStrToLower(names.GetString("kind")));
    int stored = 0;
    for (const Value& version : spec.At("versions").as_array()) {
      stored += version.GetBool("storage");
      const Value& schema = version.At("schema").At("openAPIV3Schema");
      EXPECT_EQ(schema.GetString("type"), "object") << file;
      EXPECT_FALSE(schema.GetString("description").empty()) << file;
    }
    EXPECT_EQ(stored, 1) << file;
  }
}

// Every schema node says its type, and defaults and enumerations are of that type.
void CheckSchema(const Value& schema, const std::string& path) {
  const absl::string_view type = schema.GetString("type");
  const bool open = schema.GetBool("x-kubernetes-preserve-unknown-fields") ||
                    schema.GetBool("x-kubernetes-int-or-string");
  EXPECT_TRUE(open || !type.empty()) << path;
  const auto fits = [&](const Value& value) {
    return type == "string"    ? value.is_string()
           : type == "boolean" ? value.is_bool()
           : type == "integer" ? value.is_int()
           : type == "array"   ? value.is_array()
                               : true;
  };
  if (const Value* value = schema.Find("default"); value != nullptr) {
    EXPECT_TRUE(fits(*value)) << path;
  }
  if (const Value* values = schema.Find("enum"); values != nullptr) {
    for (const Value& value : values->as_array()) EXPECT_TRUE(fits(value)) << path;
  }
  if (const Value* properties = schema.Find("properties"); properties != nullptr) {
    for (const Member& member : properties->as_object()) {
      CheckSchema(member.value, absl::StrCat(path, ".", member.key));
    }
  }
  for (const char* below : {"items", "additionalProperties"}) {
    const Value* inner = schema.Find(below);
    if (inner != nullptr && inner->is_object()) CheckSchema(*inner, absl::StrCat(path, "[]"));
  }
  if (schema.GetString("x-kubernetes-list-type") == "map") {
    EXPECT_GT(schema.At("x-kubernetes-list-map-keys").size(), 0u) << path;
  }
}

TEST(CrdTest, SchemasAreStructural) {
  for (const fs::path& file : Files(kShipped)) {
    const Value crd = Read(file);
    for (const Value& version : crd.At("spec").At("versions").as_array()) {
      CheckSchema(version.At("schema").At("openAPIV3Schema"), file.stem().string());
    }
  }
}

TEST(CrdTest, DefinitionsEqualTheRecordedFacts) {
  const fs::path facts = util::testing::SharedFolder() / "crds";
  if (!fs::exists(facts)) {
    std::cout << "recorded CRD facts are not present\n";
    return;
  }
  const auto files = Files(facts);
  EXPECT_EQ(files.size(), Files(kShipped).size());
  for (const fs::path& file : files) {
    ASSERT_TRUE(fs::exists(kShipped / file.filename())) << file.filename();
    Value want = Read(file);
    Value got = Read(kShipped / file.filename());
    DropDescriptions(want);
    DropDescriptions(got);
    std::vector<std::string> differences;
    Compare(want, got, file.stem().string(), differences);
    EXPECT_TRUE(differences.empty())
        << differences.size()
        << " differences, the first: " << (differences.empty() ? "" : differences[0]);
  }
}

}  // namespace
}  // namespace hekla
