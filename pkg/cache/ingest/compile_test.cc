#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "pkg/cache/ingest/annotations.h"
#include "pkg/cache/ingest/object_compiler.h"
#include "pkg/cache/ingest/pod_compiler.h"
#include "pkg/cache/ingest/resources.h"
#include "pkg/cache/ingest/volume_compiler.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::cache {
namespace {

using apis::json::Value;
using model::TaskStatus;

class CompileTest : public ::testing::Test {
 protected:
  static Value Json(absl::string_view text) {
    absl::StatusOr<Value> value = apis::json::Parse(text);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *value : Value();
  }
  // A pod for this scheduler, unless it names another.
  static Value Ours(absl::string_view text) {
    Value pod = Json(text);
    if (!pod.At("spec").Has("schedulerName")) pod.Ensure({"spec"}).Set("schedulerName", "volcano");
    return pod;
  }
  static apis::core::Pod Pod(absl::string_view text) { return *apis::core::DecodePod(Json(text)); }
  std::shared_ptr<const model::TaskSpec> Task(absl::string_view text) {
    return *pods_.Compile(Ours(text));
  }
  int64_t Amount(const model::Resource& r, absl::string_view name) {
    const int dim = dictionary_->resources.Find(name);
    return dim < 0 ? -1 : r[static_cast<model::ResourceDim>(dim)];
  }
  absl::string_view Text(model::Symbol s) { return dictionary_->symbols.Text(s); }
  model::Resource Request(absl::string_view text, RequestFeatures features = {}) {
    return PodRequest(Pod(text), dictionary_->resources, features);
  }

  std::shared_ptr<model::Dictionary> dictionary_ = std::make_shared<model::Dictionary>();
  PodCompiler pods_{dictionary_, {}};
  ObjectCompiler objects_{dictionary_};
  VolumeCompiler volumes_{dictionary_};
};

// Spec scheduler-core E1.
TEST_F(CompileTest, WorkedExampleOfAPodRequest) {
  const model::Resource r = Request(R"({"spec":{
      "containers":[{"resources":{"requests":{"cpu":"500m","memory":"256Mi"}}},
                    {"resources":{"requests":{"cpu":"250m","memory":"512Mi"}}}],
      "initContainers":[
        {"resources":{"requests":{"cpu":"2","memory":"128Mi"}}},
        {"restartPolicy":"Always","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}},
        {"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
      "overhead":{"cpu":"50m","memory":"32Mi"}}})");
  EXPECT_EQ(r[model::kCpu], 2050);
  EXPECT_EQ(r[model::kMemory], 1174405120);
  EXPECT_EQ(r[model::kPods], 1);
}

// Spec scheduler-core E2, in the units of this program: bytes stay bytes.
TEST_F(CompileTest, WorkedExampleOfUnits) {
  apis::meta::ResourceList list;
  const Value object = Json(R"({"r":{"cpu":"1500m","memory":"2Gi","nvidia.com/gpu":"2",
      "ephemeral-storage":"1Gi","hugepages-2Mi":"4Mi","storage":"5Gi","count/pods":"3",
      "pods":"110"}})");
  const apis::meta::Reader reader(object);
  reader.Resources("r", list);
  const model::Resource r = ToResource(list, dictionary_->resources);
  EXPECT_EQ(r[model::kCpu], 1500);
  EXPECT_EQ(r[model::kMemory], 2147483648);
  EXPECT_EQ(r[model::kPods], 110);
  EXPECT_EQ(Amount(r, "nvidia.com/gpu"), 2000);
  EXPECT_EQ(Amount(r, "ephemeral-storage"), 1073741824);
  EXPECT_EQ(Amount(r, "hugepages-2Mi"), 4194304);
  EXPECT_EQ(Amount(r, "storage"), -1);
  EXPECT_EQ(Amount(r, "count/pods"), -1);
}

TEST_F(CompileTest, PodLevelRequestsReplaceTheSum) {
  const absl::string_view pod = R"({"spec":{
      "containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":"1"}}}],
      "resources":{"requests":{"cpu":"3","nvidia.com/gpu":"5"}},"overhead":{"cpu":"1"}}})";
  const model::Resource r = Request(pod);
  EXPECT_EQ(r[model::kCpu], 4000);
  EXPECT_EQ(r[model::kMemory], 1 << 30);
  EXPECT_EQ(Amount(r, "nvidia.com/gpu"), 1000);
  EXPECT_EQ(Request(pod, {.pod_level_resources = false})[model::kCpu], 2000);
}

TEST_F(CompileTest, ResizeInPlaceCountsTheLargerOfSpecAndStatus) {
  const auto pod = [](absl::string_view conditions) {
    return absl::StrCat(R"({"spec":{"containers":[
        {"name":"c","resources":{"requests":{"cpu":"2"}}}]},"status":{"conditions":)",
                        conditions, R"(,"containerStatuses":[{"name":"c",
        "resources":{"requests":{"cpu":"1"}},"allocatedResources":{"cpu":"1500m"}}]}})");
  };
  EXPECT_EQ(Request(pod("[]"))[model::kCpu], 2000);
  EXPECT_EQ(Request(pod(R"([{"type":"PodResizePending","status":"True",
                             "reason":"Infeasible"}])"))[model::kCpu],
            1500);
  EXPECT_EQ(Request(pod(R"([{"type":"PodResizePending","status":"True",
                             "reason":"Deferred"}])"))[model::kCpu],
            2000);
  EXPECT_EQ(Request(pod("[]"), {.in_place_resize = false})[model::kCpu], 2000);
}

TEST_F(CompileTest, NonZeroRequestFillsInPerContainer) {
  const auto [cpu, memory] =
      NonZeroRequest(Pod(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}},
              {"resources":{"requests":{"memory":"1Gi"}}},{}]}})"),
                     dictionary_->resources, {});
  EXPECT_EQ(cpu, 1000 + 100 + 100);
  EXPECT_EQ(memory, (200LL << 20) + (1LL << 30) + (200LL << 20));
}

TEST_F(CompileTest, BestEffortIsAnEmptyRequest) {
  EXPECT_TRUE(Task(R"({"spec":{"containers":[{}]}})")->pod->best_effort);
  EXPECT_FALSE(Task(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1m"}}}]}})")
                   ->pod->best_effort);
}

// Spec scheduler-core 8.1.
TEST_F(CompileTest, StatusByPhaseDeletionAndNode) {
  struct Case {
    const char* phase;
    bool deleting;
    bool node;
    TaskStatus status;
  };
  const Case cases[] = {
      {"Running", true, true, TaskStatus::kReleasing},
      {"Running", false, true, TaskStatus::kRunning},
      {"Pending", true, false, TaskStatus::kReleasing},
      {"Pending", false, false, TaskStatus::kPending},
      {"Pending", false, true, TaskStatus::kBound},
      {"Unknown", true, true, TaskStatus::kUnknown},
      {"Succeeded", true, true, TaskStatus::kSucceeded},
      {"Failed", false, false, TaskStatus::kFailed},
      {"", false, false, TaskStatus::kUnknown},
  };
  for (const Case& c : cases) {
    apis::core::Pod pod;
    pod.status.phase = c.phase;
    if (c.deleting) pod.metadata.deletion_timestamp = absl::UnixEpoch();
    if (c.node) pod.spec.node_name = "n1";
    EXPECT_EQ(StatusOf(pod), c.status) << c.phase << c.deleting << c.node;
  }
}

TEST_F(CompileTest, GroupRolePriorityAndGates) {
  const auto task = Task(R"({"metadata":{"namespace":"n","name":"p","uid":"u","resourceVersion":"7",
      "annotations":{"scheduling.k8s.io/group-name":"pg","volcano.sh/task-priority":"9",
        "volcano.sh/preemptable":"maybe","scheduling.volcano.sh/queue-allocation-gate":"true"},
      "labels":{"volcano.sh/task-spec":"worker"},
      "ownerReferences":[{"kind":"Job","name":"j","uid":"ju","controller":true}]},
      "spec":{"schedulerName":"volcano","priority":3,"priorityClassName":"high",
        "schedulingGates":[{"name":"scheduling.volcano.sh/queue-allocation-gate"}]},
      "status":{"phase":"Pending"}})");
  EXPECT_EQ(task->job, "pg");
  EXPECT_FALSE(task->solo);
  EXPECT_EQ(Text(task->role), "worker");
  EXPECT_EQ(task->priority, 9);
  EXPECT_FALSE(task->preemptable);
  EXPECT_TRUE(task->gated);
  EXPECT_TRUE(task->only_queue_gate);
  EXPECT_TRUE(task->queue_gate_opt_in);
  EXPECT_EQ(task->resource_version, 7);
  EXPECT_EQ(Text(task->controller_name), "j");
  EXPECT_EQ(Text(task->priority_class), "high");
}

TEST_F(CompileTest, OwnPodWithoutGroupIsAGangOfOne) {
  const auto task = Task(R"({"metadata":{"name":"p",
      "annotations":{"scheduling.volcano.sh/queue-name":"q1"}},"spec":{"schedulerName":"volcano"}})");
  EXPECT_TRUE(task->solo);
  EXPECT_EQ(task->queue, "q1");
  EXPECT_EQ(task->priority, 1);
  EXPECT_TRUE(task->preemptable);
  const auto foreign = Task(R"({"spec":{"schedulerName":"other","nodeName":"n1"}})");
  EXPECT_FALSE(foreign->solo);
  EXPECT_FALSE(foreign->ours);
  EXPECT_NE(Task(R"({"spec":{"schedulerName":"other","nodeName":"n1"}})"), nullptr);
  EXPECT_EQ(Task(R"({"spec":{"schedulerName":"other"}})"), nullptr);
}

TEST_F(CompileTest, EqualPodsShareTemplateAndLabels) {
  const auto make = [&](absl::string_view name) {
    return Task(absl::StrCat(R"({"metadata":{"name":")", name,
                             R"(","labels":{"app":"a"}},"spec":{"containers":[{"image":"x",
        "resources":{"requests":{"cpu":"1"}}}],"nodeSelector":{"disk":"ssd"}}})"));
  };
  const auto a = make("a");
  const auto b = make("b");
  EXPECT_EQ(a->pod, b->pod);
  EXPECT_EQ(a->labels, b->labels);
  EXPECT_NE(a->pod, Task(R"({"spec":{"containers":[{"image":"x"}]}})")->pod);
}

TEST_F(CompileTest, TermsKeepTheirMeaning) {
  const auto task = Task(R"({"metadata":{"namespace":"own","labels":{"rev":"7","app":"a"}},
    "spec":{"affinity":{
      "nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
         {"matchExpressions":[{"key":"n","operator":"Gt","values":["5"]}]},
         {"matchExpressions":[{"key":"n","operator":"Gt","values":["five"]}]}]}},
      "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
         {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}}},
         {"topologyKey":"zone","namespaceSelector":{}},
         {"topologyKey":"zone","namespaces":["b","a"]}]}},
      "tolerations":[{"operator":"Exists"},{"key":"k","operator":"Gt","value":"1"}],
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
         "labelSelector":{"matchLabels":{"app":"a"}},"matchLabelKeys":["rev","absent"]}],
      "containers":[{"image":"r.io:5000/x","ports":[{"hostPort":80}]},{"image":"y:1"}],
      "volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"c"}},
                 {"name":"e","ephemeral":{}}]}})");
  const model::PodTemplate& pod = *task->pod;
  ASSERT_EQ(pod.required_affinity.size(), 2u);
  EXPECT_EQ(pod.required_affinity[0].expressions[0].number, 5);
  EXPECT_FALSE(pod.required_affinity[0].invalid);
  EXPECT_TRUE(pod.required_affinity[1].invalid);
  ASSERT_EQ(pod.affinity.size(), 3u);
  ASSERT_EQ(pod.affinity[0].namespaces.size(), 1u);
  EXPECT_EQ(Text(pod.affinity[0].namespaces[0]), "own");
  EXPECT_TRUE(pod.affinity[1].has_namespace_selector);
  EXPECT_TRUE(pod.affinity[1].namespaces.empty());
  EXPECT_TRUE(pod.affinity[1].selector.nothing);
  EXPECT_EQ(pod.affinity[2].namespaces.size(), 2u);
  EXPECT_TRUE(pod.tolerations[0].exists);
  EXPECT_FALSE(pod.tolerations[0].key.valid());
  EXPECT_TRUE(pod.tolerations[1].invalid);
  ASSERT_EQ(pod.spread.size(), 1u);
  EXPECT_EQ(pod.spread[0].selector.requirements.size(), 2u);
  EXPECT_TRUE(model::Matches(pod.spread[0].selector, *task->labels, dictionary_->symbols));
  ASSERT_EQ(pod.images.size(), 2u);
  EXPECT_EQ(Text(pod.images[0]), "r.io:5000/x:latest");
  EXPECT_EQ(Text(pod.images[1]), "y:1");
  ASSERT_EQ(pod.host_ports.size(), 1u);
  EXPECT_EQ(Text(pod.host_ports[0].ip), "0.0.0.0");
  ASSERT_EQ(pod.volumes.size(), 2u);
  EXPECT_EQ(Text(pod.volumes[0].claim), "c");
  EXPECT_TRUE(pod.volumes[1].ephemeral);
}

// The pod before a pod lends it its template only where nothing that counts differs.
TEST_F(CompileTest, APodLikeTheOneBeforeItSharesItsTemplate) {
  const std::string base = R"({"metadata":{"name":"a","namespace":"n","labels":{"l":"1"}},
      "spec":{"containers":[{"name":"c","image":"i:1","ports":[{"hostPort":80}],
        "resources":{"requests":{"cpu":"1"}}}],
        "initContainers":[{"name":"s","image":"s:1","restartPolicy":"Always"}],
        "nodeSelector":{"k":"v"},"tolerations":[{"key":"t","operator":"Exists"}],
        "overhead":{"cpu":"1m"},"resources":{"requests":{"cpu":"2"}}},
      "status":{"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}})";
  const auto with = [&](absl::string_view from, absl::string_view to) {
    const std::string text = absl::StrReplaceAll(base, {{from, to}});
    EXPECT_NE(text, base) << from;
    return text;
  };
  const auto first = Task(base);
  EXPECT_EQ(Task(with(R"("name":"a")", R"("name":"b")"))->pod, first->pod);
  EXPECT_EQ(Task(with(R"("l":"1")", R"("l":"2")"))->pod, first->pod);
  const std::pair<absl::string_view, absl::string_view> kChanges[] = {
      {R"("image":"i:1")", R"("image":"i:2")"},
      {R"("hostPort":80)", R"("hostPort":81)"},
      {R"("hostPort":80)", R"("hostPort":80,"protocol":"UDP")"},
      {R"("hostPort":80)", R"("hostPort":80,"hostIP":"10.0.0.1")"},
      {R"("requests":{"cpu":"1"})", R"("requests":{"memory":"1"})"},
      {R"("image":"s:1")", R"("image":"s:2")"},
      {R"("restartPolicy":"Always")",
       R"("restartPolicy":"Always","resources":{"requests":{"memory":"1"}})"},
      {R"({"k":"v"})", R"({"k":"w"})"},
      {R"("key":"t")", R"("key":"u")"},
      {R"("operator":"Exists")", R"("value":"x")"},
      {R"("operator":"Exists")", R"("operator":"Exists","effect":"NoExecute")"},
      {R"("overhead":{"cpu":"1m"})", R"("overhead":{"cpu":"2m"})"},
      {R"("resources":{"requests":{"cpu":"2"}})", R"("resources":{"requests":{"memory":"3"}})"},
      {R"("requests":{"cpu":"4"})", R"("requests":{"memory":"4"})"},
      {R"("tolerations")", R"("volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"d"}}],
        "tolerations")"},
      {R"("nodeSelector")", R"("affinity":{"nodeAffinity":{}},"resourceClaims":[{"name":"g"}],
        "nodeSelector")"},
  };
  for (const auto& [from, to] : kChanges) {
    const std::string changed = with(from, to);
    PodCompiler fresh{dictionary_, {}};
    const auto alone = *fresh.Compile(Ours(changed));
    Task(base);  // the one before
    const auto after = Task(changed);
    EXPECT_NE(after->pod, first->pod) << to;
    EXPECT_EQ(*after->pod, *alone->pod) << to;
    EXPECT_EQ(Task(base)->pod, first->pod) << to;
  }
}

TEST_F(CompileTest, ATemplateIsLentToOtherPodsInBetween) {
  const auto pod = [](int cpu, absl::string_view more = "") {
    return absl::StrCat(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":)", cpu, "}}}]",
                        more, "}}");
  };
  const auto one = Task(pod(1));
  const auto two = Task(pod(2));
  EXPECT_EQ(Task(pod(1))->pod, one->pod);
  EXPECT_EQ(Task(pod(2, R"(,"nodeName":"n")"))->pod, two->pod);
  EXPECT_EQ(Task(pod(3))->pod->request[model::kCpu], 3000);
}

TEST_F(CompileTest, WrongDemandsAreAnErrorEachTimeAndChangeNothing) {
  const Value wrong = Json(R"({"spec":{"schedulerName":"volcano",
      "containers":[{"resources":{"requests":{"cpu":"x"}}}]}})");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pods_.Compile(wrong).status().message(),
              "spec.containers[0].resources.requests.cpu: invalid quantity \"x\"");
  }
}

TEST_F(CompileTest, ResourceClaimsAreReportedAsNotSupported) {
  EXPECT_EQ(Task(R"({"spec":{"resourceClaims":[{"name":"g"}]}})")->host_error,
            "resource claims are not supported yet");
  EXPECT_EQ(Task(R"({"spec":{"nodeName":"n","resourceClaims":[{"name":"g"}]}})")->host_error, "");
}

// Spec scheduler-core E5: oversubscription counts regardless of its label.
TEST_F(CompileTest, NodeWithOversubscription) {
  const auto node = objects_.Node(*apis::core::DecodeNode(Json(R"({"metadata":{"name":"n1",
      "labels":{"volcano.sh/revocable-zone":"z1"},
      "annotations":{"volcano.sh/oversubscription-cpu":"2000","volcano.sh/oversubscription-memory":"x",
        "volcano.sh/offline-job-evicting":"true","other":"1"}},
      "spec":{"unschedulable":true,"taints":[{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"?"}]},
      "status":{"allocatable":{"cpu":"8","pods":"110"},"capacity":{"cpu":"8"},
        "images":[{"names":["i:1","i@sha256:0"],"sizeBytes":5}]}})")));
  EXPECT_EQ(node->allocatable[model::kCpu], 10000);
  EXPECT_EQ(node->capacity[model::kCpu], 10000);
  EXPECT_EQ(node->allocatable[model::kMemory], 0);
  EXPECT_EQ(node->allocatable[model::kPods], 110);
  EXPECT_EQ(node->taints.size(), 1u);
  EXPECT_EQ(node->images.size(), 2u);
  EXPECT_TRUE(node->unschedulable);
  EXPECT_TRUE(node->offline_job_evicting);
  EXPECT_EQ(node->revocable_zone, "z1");
  EXPECT_EQ(node->annotations.size(), 3u);
}

TEST_F(CompileTest, PodGroup) {
  const auto job = objects_.Job(*apis::scheduling::DecodePodGroup(Json(R"({
      "metadata":{"namespace":"n","name":"pg","uid":"u","resourceVersion":"12",
        "annotations":{"sla-waiting-time":"1h30m","volcano.sh/jdb-min-available":"2",
          "volcano.sh/jdb-max-unavailable":"1","volcano.sh/preemptable":"true"}},
      "spec":{"minMember":3,"minTaskMember":{"w":2,"ps":1},"queue":"q",
        "minResources":{"cpu":"3","count/pods":"1"},"networkTopology":{"highestTierAllowed":2},
        "subGroupPolicy":[{"name":"rack","matchLabelKeys":["rack"]}]},
      "status":{"phase":"Inqueue","running":1,"conditions":[{"type":"Scheduled","status":"True"}]}})")));
  EXPECT_EQ(job->min_member, 3);
  ASSERT_EQ(job->min_task_member.size(), 2u);
  ASSERT_TRUE(job->min_resources.has_value());
  EXPECT_EQ(job->min_resources->Or(model::kCpu, -1), 3000);
  EXPECT_FALSE(job->min_resources->Has(model::kMemory));
  EXPECT_EQ(job->sla_waiting_time, absl::Minutes(90));
  EXPECT_EQ(job->budget_min_available, "2");
  EXPECT_EQ(job->budget_max_unavailable, "");
  EXPECT_TRUE(job->preemptable);
  EXPECT_EQ(job->revocable_zone, "*");
  EXPECT_EQ(job->topology->highest_tier_allowed, 2);
  EXPECT_EQ(job->topology->mode, model::NetworkTopology::Mode::kHard);
  EXPECT_EQ(job->sub_groups.at(0).sub_group_size, 1);
  EXPECT_FALSE(job->sub_groups.at(0).has_selector);
  EXPECT_EQ(job->phase, model::PodGroupPhase::kInqueue);
  EXPECT_EQ(job->resource_version, 12);
}

TEST_F(CompileTest, Queue) {
  const Value object = Json(R"({"metadata":{"name":"q","annotations":{
        "volcano.sh/hierarchy":"root/a","volcano.sh/hierarchy-weights":"1/2"}},
      "spec":{"weight":4,"reclaimable":false,"capability":{"cpu":"10"},"parent":"root",
        "guarantee":{"resource":{"memory":"1Gi"}},"affinity":{"nodeGroupAffinity":{}}},
      "status":{"state":"Closing","allocated":{"cpu":"500m"}}})");
  const auto queue =
      objects_.Queue(*apis::scheduling::DecodeQueue(object), object.At("spec").At("affinity"));
  EXPECT_EQ(queue->weight, 4);
  EXPECT_EQ(queue->capability.Or(model::kCpu, 0), 10000);
  EXPECT_FALSE(queue->capability.Has(model::kMemory));
  EXPECT_EQ(queue->guarantee.Or(model::kMemory, 0), 1 << 30);
  EXPECT_TRUE(queue->deserved.empty());
  EXPECT_EQ(queue->state, model::QueueState::kClosing);
  EXPECT_EQ(queue->hierarchy_weights, "1/2");
  EXPECT_EQ(queue->group_affinity.size(), 1u);
  using Amounts = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(queue->status_allocated, (Amounts{{"cpu", "500m"}}));
}

TEST_F(CompileTest, OwnersWithoutSelectorSelectNothing) {
  EXPECT_TRUE(objects_.Owner(apis::core::Service())->selector.nothing);
  EXPECT_TRUE(objects_.Owner(apis::apps::ReplicaSet())->selector.nothing);
  apis::core::Service service;
  service.selector.Set("a", "1");
  EXPECT_FALSE(objects_.Owner(service)->selector.nothing);
}

TEST_F(CompileTest, NodeFilterIsAnOrOfPairs) {
  EXPECT_TRUE(NodeFilter({}).Accepts({}));
  EXPECT_TRUE(NodeFilter({"broken", "k:"}).Accepts({}));
  const NodeFilter filter({" a : 1 ", "b:2:3"});
  EXPECT_TRUE(filter.Accepts({{"a", "1"}}));
  EXPECT_TRUE(filter.Accepts({{"b", "2:3"}}));
  EXPECT_FALSE(filter.Accepts({{"a", "2"}}));
}

TEST_F(CompileTest, Volumes) {
  const auto claim = volumes_.Claim(*apis::core::DecodePersistentVolumeClaim(Json(R"({
      "metadata":{"namespace":"n","name":"c","annotations":{"pv.kubernetes.io/bind-completed":"yes",
        "volume.kubernetes.io/selected-node":"n1"},
        "ownerReferences":[{"kind":"Pod","name":"p","uid":"pu","controller":true}]},
      "spec":{"accessModes":["b","a"],"storageClassName":"fast","volumeName":"pv",
        "resources":{"requests":{"storage":"1Gi"}}}})")));
  EXPECT_TRUE(claim->bind_completed);
  EXPECT_EQ(claim->selected_node, "n1");
  EXPECT_EQ(claim->storage_class, "fast");
  EXPECT_EQ(claim->access_modes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(claim->owner_pod_uid, "pu");
  EXPECT_EQ(claim->request_bytes, 1 << 30);
  const auto sc = volumes_.StorageClass(
      *apis::storage::DecodeStorageClass(Json(R"({"metadata":{"name":"s"},"provisioner":"p"})")));
  EXPECT_FALSE(sc->has_binding_mode);
  EXPECT_FALSE(sc->wait_for_first_consumer);
}

TEST(AnnotationsTest, BooleansAndDurations) {
  EXPECT_EQ(ParseBoolText("T"), true);
  EXPECT_EQ(ParseBoolText("yes"), std::nullopt);
  apis::meta::ObjectMeta meta;
  EXPECT_TRUE(ReadPreemptable(meta, true));
  meta.labels.Set("volcano.sh/preemptable", "true");
  EXPECT_TRUE(ReadPreemptable(meta, false));
  EXPECT_EQ(ReadRevocableZone(meta), "");
  meta.annotations.Set("volcano.sh/revocable-zone", "zone-a");
  EXPECT_EQ(ReadRevocableZone(meta), "");
  meta.annotations.Set("sla-waiting-time", "-5m");
  EXPECT_EQ(ReadSlaWaitingTime(meta), std::nullopt);
  meta.annotations.Set("volcano.sh/sla-waiting-time", "inf");
  EXPECT_EQ(ReadSlaWaitingTime(meta), std::nullopt);
  EXPECT_EQ(ParseResourceVersion("abc"), 0);
}

}  // namespace
}  // namespace hekla::cache
