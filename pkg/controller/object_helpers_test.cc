#include "pkg/controller/object_helpers.h"

#include "gtest/gtest.h"
#include "pkg/controller/handler.h"
#include "pkg/controller/predicate.h"
#include "pkg/controller/queue.h"

namespace hekla::controller {
namespace {

using apis::json::Value;

const kube::Resource kRayClusters{"ray.io", "v1", "rayclusters", "RayCluster"};

Value Object(absl::string_view text) { return *apis::json::Parse(text); }
ObjectPtr Shared(absl::string_view text) { return std::make_shared<const Value>(Object(text)); }

Value Owner(const std::string& name = "c1", const std::string& ns = "lab") {
  Value owner = Object(R"({"metadata":{"uid":"u-1"}})");
  owner["metadata"].Set("name", name);
  if (!ns.empty()) owner["metadata"].Set("namespace", ns);
  return owner;
}

TEST(FinalizerTest, TellsWhetherTheListChanged) {
  Value object = Object(R"({"metadata":{"name":"a"}})");
  EXPECT_FALSE(HasFinalizer(object, "f"));
  EXPECT_TRUE(AddFinalizer(object, "f"));
  EXPECT_FALSE(AddFinalizer(object, "f"));
  EXPECT_TRUE(AddFinalizer(object, "g"));
  EXPECT_TRUE(RemoveFinalizer(object, "f"));
  EXPECT_FALSE(RemoveFinalizer(object, "f"));
  EXPECT_EQ(apis::json::Dump(object), R"({"metadata":{"name":"a","finalizers":["g"]}})");
  EXPECT_TRUE(RemoveFinalizer(object, "g"));
  EXPECT_FALSE(object.At("metadata").Has("finalizers"));
}

TEST(ControllerReferenceTest, SetsAllFields) {
  Value pod = Object(R"({"metadata":{"name":"p","namespace":"lab"}})");
  ASSERT_TRUE(SetControllerReference(Owner(), kRayClusters, pod).ok());
  EXPECT_EQ(apis::json::Dump(pod.At("metadata").At("ownerReferences")),
            R"([{"apiVersion":"ray.io/v1","kind":"RayCluster","name":"c1","uid":"u-1",)"
            R"("controller":true,"blockOwnerDeletion":true}])");
  EXPECT_TRUE(IsControlledBy(pod, Owner()));
  ASSERT_TRUE(SetControllerReference(Owner(), kRayClusters, pod).ok()) << "again changes nothing";
  EXPECT_EQ(pod.At("metadata").At("ownerReferences").size(), 1u);
}

TEST(ControllerReferenceTest, RefusesASecondController) {
  Value pod = Object(R"({"metadata":{"name":"p","namespace":"lab"}})");
  ASSERT_TRUE(SetControllerReference(Owner("other"), kRayClusters, pod).ok());
  const absl::Status status = SetControllerReference(Owner(), kRayClusters, pod);
  EXPECT_EQ(status.message(),
            "Object lab/p is already owned by another RayCluster controller other");
}

TEST(ControllerReferenceTest, NamespacesMustFit) {
  Value global = Object(R"({"metadata":{"name":"p"}})");
  EXPECT_FALSE(SetControllerReference(Owner(), kRayClusters, global).ok());
  Value elsewhere = Object(R"({"metadata":{"name":"p","namespace":"x"}})");
  EXPECT_FALSE(SetControllerReference(Owner(), kRayClusters, elsewhere).ok());
  EXPECT_TRUE(SetControllerReference(Owner("c1", ""), kRayClusters, elsewhere).ok());
}

TEST(OwnerReferenceTest, ReplacesTheEntryOfEqualGroupKindAndName) {
  Value pod = Object(
      R"({"metadata":{"name":"p","namespace":"lab","ownerReferences":[
          {"apiVersion":"ray.io/v1alpha1","kind":"RayCluster","name":"c1","uid":"old"},
          {"apiVersion":"v1","kind":"Node","name":"n","uid":"n"}]}})");
  ASSERT_TRUE(SetOwnerReference(Owner(), kRayClusters, pod).ok());
  const Value& owners = pod.At("metadata").At("ownerReferences");
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners.as_array()[0].GetString("uid"), "u-1");
  EXPECT_EQ(ControllerOf(pod), nullptr);
}

TEST(FieldsTest, ReadWhatIsThere) {
  const Value object = Object(
      R"({"metadata":{"name":"a","namespace":"lab","generation":3,"resourceVersion":"9",
          "creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:06Z",
          "labels":{"k":"v"},"annotations":{"x":"y"}}})");
  EXPECT_EQ(RequestOf(object).Key(), "lab/a");
  EXPECT_EQ(GenerationOf(object), 3);
  EXPECT_EQ(ResourceVersion(object), "9");
  EXPECT_TRUE(IsTerminating(object));
  EXPECT_EQ(LabelOf(object, "k"), "v");
  EXPECT_EQ(AnnotationOf(object, "x"), "y");
  EXPECT_EQ(CreationTimeOf(object), absl::FromUnixSeconds(1767323045));
  EXPECT_EQ(GroupOf("ray.io/v1"), "ray.io");
  EXPECT_EQ(GroupOf("v1"), "");
}

Event Update(absl::string_view before, absl::string_view now) {
  return {.type = Event::Type::kUpdate, .object = Shared(now), .before = Shared(before)};
}

TEST(PredicateTest, UpdateFilters) {
  const char* plain = R"({"metadata":{"resourceVersion":"1","generation":1,"labels":{"a":"b"}}})";
  const char* status = R"({"metadata":{"resourceVersion":"2","generation":1,"labels":{"a":"b"}}})";
  const char* spec = R"({"metadata":{"resourceVersion":"3","generation":2,"labels":{"a":"b"}}})";
  const char* label = R"({"metadata":{"resourceVersion":"4","generation":1,"labels":{"a":"c"}}})";
  const char* note = R"({"metadata":{"resourceVersion":"5","generation":1,"labels":{"a":"b"},
                         "annotations":{"n":"1"}}})";
  EXPECT_FALSE(GenerationChanged()(Update(plain, status)));
  EXPECT_TRUE(GenerationChanged()(Update(plain, spec)));
  EXPECT_TRUE(LabelChanged()(Update(plain, label)));
  EXPECT_FALSE(LabelChanged()(Update(plain, spec)));
  EXPECT_TRUE(AnnotationChanged()(Update(plain, note)));
  EXPECT_FALSE(AnnotationChanged()(Update(plain, R"({"metadata":{"annotations":{}}})")))
      << "an empty map is like none";
  EXPECT_TRUE(ResourceVersionChanged()(Update(plain, status)));
  EXPECT_FALSE(ResourceVersionChanged()(Update(plain, plain)));
  for (Event::Type type : {Event::Type::kCreate, Event::Type::kDelete, Event::Type::kGeneric}) {
    EXPECT_TRUE(GenerationChanged()({.type = type, .object = Shared(plain)}));
  }
}

TEST(PredicateTest, CombinationsAndLabels) {
  const Event status =
      Update(R"({"metadata":{"generation":1}})", R"({"metadata":{"generation":1}})");
  const Predicate no = GenerationChanged();
  const Predicate yes = Not(GenerationChanged());
  EXPECT_TRUE(And({})(status));
  EXPECT_FALSE(Or({})(status));
  EXPECT_FALSE(And({yes, no})(status));
  EXPECT_TRUE(Or({no, yes})(status));
  const Predicate head = LabelsMatch(*apis::meta::ParseLabelSelector("type in (head,worker)"));
  EXPECT_TRUE(head({.object = Shared(R"({"metadata":{"labels":{"type":"head"}}})")}));
  EXPECT_FALSE(head({.object = Shared(R"({"metadata":{"labels":{"type":"x"}}})")}));
  EXPECT_FALSE(head({.object = Shared(R"({"metadata":{}})")}));
}

constexpr char kOwned[] = R"({"metadata":{"name":"p","namespace":"lab","ownerReferences":[
    {"apiVersion":"ray.io/v1alpha1","kind":"RayCluster","name":"c1","controller":true},
    {"apiVersion":"ray.io/v1","kind":"RayCluster","name":"c2"},
    {"apiVersion":"other/v1","kind":"RayCluster","name":"c3","controller":true}]}})";

std::vector<Request> Keys(const EventHandler& handler, const Event& event) {
  std::vector<Request> out;
  handler(event, out);
  return out;
}

TEST(HandlerTest, OwnerMatchesGroupAndKindWhateverTheVersion) {
  const EventHandler owner = EnqueueOwner({.group = "ray.io", .kind = "RayCluster"});
  EXPECT_EQ(Keys(owner, {.object = Shared(kOwned)}),
            (std::vector<Request>{{.ns = "lab", .name = "c1"}}));
  const EventHandler any = EnqueueOwner(
      {.group = "ray.io", .kind = "RayCluster", .namespaced = false, .controller_only = false});
  EXPECT_EQ(Keys(any, {.object = Shared(kOwned)}),
            (std::vector<Request>{{.ns = "", .name = "c1"}, {.ns = "", .name = "c2"}}));
}

TEST(HandlerTest, OldAndNewOwnersAreTold) {
  const EventHandler owner = EnqueueOwner({.group = "ray.io", .kind = "RayCluster"});
  EXPECT_EQ(Keys(owner, Update(kOwned, R"({"metadata":{"name":"p","namespace":"lab"}})")),
            (std::vector<Request>{{.ns = "lab", .name = "c1"}}));
  const EventHandler mapped =
      EnqueueMapped([](const Value& object) { return std::vector<Request>{RequestOf(object)}; });
  EXPECT_EQ(Keys(mapped, Update(kOwned, kOwned)).size(), 2u) << "the source makes them one";
}

TEST(HandlerTest, BacklogAndResyncsHaveLowPriority) {
  EXPECT_EQ(PriorityOf({.type = Event::Type::kCreate, .object = Shared(kOwned), .initial = true}),
            -100);
  EXPECT_EQ(PriorityOf({.type = Event::Type::kCreate, .object = Shared(kOwned)}), 0);
  EXPECT_EQ(PriorityOf(Update(kOwned, kOwned)), -100);
  EXPECT_EQ(PriorityOf(Update(kOwned, R"({"metadata":{"resourceVersion":"2"}})")), 0);
  EXPECT_EQ(PriorityOf({.type = Event::Type::kDelete, .object = Shared(kOwned)}), 0);
}

}  // namespace
}  // namespace hekla::controller
