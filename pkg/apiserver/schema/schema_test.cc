#include "pkg/apiserver/schema/schema.h"

#include <set>
#include <tuple>

#include "gtest/gtest.h"

namespace hekla::apiserver::schema {
namespace {

TEST(SchemaTest, KnowsTheKindsTheServerServes) {
  EXPECT_GT(AllKinds().size(), 50u);
  for (const KindEntry& entry : AllKinds()) {
    ASSERT_NE(entry.message, nullptr) << entry.kind;
    EXPECT_TRUE(entry.message->is_kind) << entry.kind;
    EXPECT_EQ(FindKind(entry.group, entry.version, entry.kind), entry.message);
  }
  EXPECT_EQ(FindKind("", "v1", "Nothing"), nullptr);
  EXPECT_EQ(FindKind("batch.volcano.sh", "v1alpha1", "Job"), nullptr);
  EXPECT_NE(FindKind("batch", "v1", "Job"), nullptr);
  const Message* list = FindKind("", "v1", "PodList");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->Find("items")->message, FindKind("", "v1", "Pod"));
  EXPECT_NE(FindKind("policy", "v1", "DeleteOptions"), nullptr);
}

TEST(SchemaTest, KnowsAutoscalersAndClasses) {
  for (const auto& [group, version, kind] :
       {std::tuple("autoscaling", "v2", "HorizontalPodAutoscaler"),
        std::tuple("node.k8s.io", "v1", "RuntimeClass"),
        std::tuple("storage.k8s.io", "v1", "VolumeAttributesClass")}) {
    EXPECT_NE(FindKind(group, version, kind), nullptr) << kind;
  }
}

TEST(SchemaTest, FieldNamesAndNumbersAreUniqueInEveryMessage) {
  std::set<const Message*> seen;
  std::vector<const Message*> todo;
  for (const KindEntry& entry : AllKinds()) todo.push_back(entry.message);
  while (!todo.empty()) {
    const Message* message = todo.back();
    todo.pop_back();
    if (!seen.insert(message).second) continue;
    std::set<std::string> names;
    std::set<int> numbers;
    for (const Field& field : message->fields) {
      EXPECT_TRUE(names.insert(field.name).second) << message->name << "." << field.name;
      if (field.number != 0) {
        EXPECT_TRUE(numbers.insert(field.number).second) << message->name << "." << field.name;
      }
      EXPECT_EQ(message->Find(field.name), &field);
      EXPECT_EQ(field.type == Type::kMessage, field.message != nullptr);
      if (field.message != nullptr) todo.push_back(field.message);
    }
  }
  EXPECT_GT(seen.size(), 400u);
}

TEST(SchemaTest, MergeKeysAreThoseOfTheSpec) {
  const struct {
    const char* message;
    const char* field;
    const char* key;
  } cases[] = {{"PodSpec", "containers", "name"},
               {"PodSpec", "initContainers", "name"},
               {"PodSpec", "ephemeralContainers", "name"},
               {"PodSpec", "volumes", "name"},
               {"PodSpec", "imagePullSecrets", "name"},
               {"PodSpec", "schedulingGates", "name"},
               {"PodSpec", "resourceClaims", "name"},
               {"PodSpec", "topologySpreadConstraints", "topologyKey"},
               {"PodSpec", "hostAliases", "ip"},
               {"Container", "env", "name"},
               {"Container", "ports", "containerPort"},
               {"Container", "volumeMounts", "mountPath"},
               {"Container", "volumeDevices", "devicePath"},
               {"ServiceSpec", "ports", "port"},
               {"PodStatus", "podIPs", "ip"},
               {"PodStatus", "hostIPs", "ip"},
               {"PodStatus", "conditions", "type"},
               {"NodeStatus", "conditions", "type"},
               {"NodeStatus", "addresses", "type"},
               {"NamespaceStatus", "conditions", "type"},
               {"PersistentVolumeClaimStatus", "conditions", "type"},
               {"batch.JobStatus", "conditions", "type"},
               {"ObjectMeta", "ownerReferences", "uid"},
               {"ObjectMeta", "finalizers", ""}};
  for (const auto& c : cases) {
    const Message* message = FindMessage(c.message);
    ASSERT_NE(message, nullptr) << c.message;
    const Field* field = message->Find(c.field);
    ASSERT_NE(field, nullptr) << c.field;
    EXPECT_TRUE(field->merge) << c.field;
    EXPECT_EQ(field->merge_key, c.key) << c.message << "." << c.field;
  }
  EXPECT_TRUE(FindMessage("PodSpec")->Find("volumes")->retain_keys);
  for (const char* atomic : {"tolerations"}) {
    EXPECT_FALSE(FindMessage("PodSpec")->Find(atomic)->merge) << atomic;
  }
  EXPECT_FALSE(FindMessage("NodeSpec")->Find("taints")->merge);
  EXPECT_FALSE(FindMessage("PodStatus")->Find("containerStatuses")->merge);
}

TEST(SchemaTest, ListsOfApplyHaveTheirKeys) {
  const Field* ports = FindMessage("Container")->Find("ports");
  EXPECT_EQ(ports->list_kind, ListKind::kMap);
  EXPECT_EQ(ports->list_keys, (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_EQ(ports->message->Find("protocol")->key_default, "TCP");
  EXPECT_EQ(FindMessage("ObjectMeta")->Find("finalizers")->list_kind, ListKind::kSet);
  EXPECT_EQ(FindMessage("PodSpec")->Find("tolerations")->list_kind, ListKind::kAtomic);
  EXPECT_TRUE(FindMessage("PodSpec")->Find("nodeSelector")->atomic);
  EXPECT_TRUE(FindMessage("LabelSelector")->atomic);
}

TEST(SchemaTest, InlinedMessagesStandInTheSurroundingObject) {
  const Message* volume = FindMessage("Volume");
  ASSERT_NE(volume->Find("emptyDir"), nullptr);
  EXPECT_EQ(volume->Find("emptyDir")->number, 0);
  ASSERT_NE(volume->FindNumber(2), nullptr);
  EXPECT_TRUE(volume->FindNumber(2)->inlined);
  EXPECT_NE(volume->FindNumber(2)->message->Find("emptyDir")->number, 0);
}

}  // namespace
}  // namespace hekla::apiserver::schema
