#include "pkg/sim/manifests.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pkg/util/testing/status_matchers.h"

namespace hekla::sim {
namespace {

using util::testing::StatusIs;

TEST(ManifestsTest, ReadsDocumentsAndLists) {
  auto m = ParseManifests(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\n"
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n",
      "f.yaml");
  HEKLA_ASSERT_OK(m);
  ASSERT_EQ(m->size(), 2u);
  EXPECT_EQ((*m)[0].origin, "f.yaml: document 1");
  EXPECT_EQ((*m)[1].origin, "f.yaml: document 3: items[0]");
}

TEST(ManifestsTest, ErrorsNameFileDocumentAndField) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseManifests("a: 1\n---\nkind: Pod\n", "f.yaml"),
              StatusIs(code, "f.yaml: document 1: apiVersion: required"));
  EXPECT_THAT(ParseManifests("{apiVersion: v1, kind: Pod, metadata: {name: 7}}", "f.yaml"),
              StatusIs(code, "f.yaml: document 1: metadata.name: must be a string, not 7"));
  EXPECT_THAT(ParseManifests("{apiVersion: v1, kind: List, items: [{kind: Pod}]}", "f.yaml"),
              StatusIs(code, "f.yaml: document 1: items[0]: apiVersion: required"));
  EXPECT_THAT(ParseManifests("{apiVersion: v1, kind: Pod}", "f.yaml"),
              StatusIs(code, "f.yaml: document 1: metadata: required"));
  EXPECT_THAT(ParseManifests("a: [", "f.yaml"), StatusIs(code, "f.yaml: "));
}

TEST(ManifestsTest, FoldersAreReadInOrderOfName) {
  const auto dir = std::filesystem::path(testing::TempDir()) / "manifests_folder";
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "b.yaml") << "{apiVersion: v1, kind: Pod, metadata: {name: b}}";
  std::ofstream(dir / "a.json") << R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})";
  std::ofstream(dir / "notes.txt") << "not read";
  auto m = ReadManifests({dir.string()});
  HEKLA_ASSERT_OK(m);
  ASSERT_EQ(m->size(), 2u);
  EXPECT_EQ((*m)[0].object.At("metadata").GetString("name"), "a");
  EXPECT_THAT(ReadManifests({(dir / "none.yaml").string()}),
              StatusIs(absl::StatusCode::kNotFound, "no such file"));
}

TEST(ManifestsTest, LoadingOrderPutsQueuesBeforePodGroupsBeforePods) {
  auto m = ParseManifests(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n---\n"
      "{apiVersion: v1, kind: PodGroup, metadata: {name: g}}\n---\n"
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Queue, metadata: {name: q}}\n---\n"
      "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n",
      "f");
  HEKLA_ASSERT_OK(m);
  SortForLoading(*m);
  std::string kinds;
  for (const Manifest& x : *m) kinds += std::string(x.object.GetString("kind")) + " ";
  EXPECT_EQ(kinds, "Namespace Queue Node PodGroup ConfigMap Pod ");
}

}  // namespace
}  // namespace hekla::sim
