#include <gtest/gtest.h>

#include "pkg/apis/core/node.h"
#include "pkg/apis/core/objects.h"
#include "pkg/apis/core/pod.h"
#include "pkg/apis/core/volume.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::core {
namespace {

using json::Value;
using util::testing::StatusIs;

Value Json(absl::string_view text) {
  absl::StatusOr<Value> value = json::Parse(text);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? *value : Value();
}

TEST(PodCodecTest, ReadsWhatSchedulingNeeds) {
  absl::StatusOr<Pod> pod = DecodePod(Json(R"({
    "metadata":{"name":"p","namespace":"n","uid":"u","labels":{"a":"1"}},
    "spec":{
      "nodeName":"n1","schedulerName":"volcano","priority":7,"priorityClassName":"high",
      "containers":[{"name":"c","image":"img:1",
        "resources":{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":1}},
        "ports":[{"containerPort":80},{"containerPort":81,"hostPort":8081,"hostIP":"10.0.0.1"}]}],
      "initContainers":[{"name":"i","restartPolicy":"Always"}],
      "overhead":{"cpu":"50m"},"resources":{"requests":{"cpu":"2"}},
      "nodeSelector":{"disk":"ssd"},
      "tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule","tolerationSeconds":30}],
      "schedulingGates":[{"name":"g1"}],
      "topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone",
        "whenUnsatisfiable":"ScheduleAnyway","nodeTaintsPolicy":"Honor",
        "labelSelector":{"matchLabels":{"a":"1"}},"matchLabelKeys":["rev"]}],
      "volumes":[{"name":"v1","persistentVolumeClaim":{"claimName":"c1"}},
        {"name":"v2","ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"fast"}}}},
        {"name":"v3","configMap":{"name":"x"}},{"name":"v4","gcePersistentDisk":{"pdName":"d"}},
        {"name":"v5"}],
      "resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"t"}],
      "affinity":{
        "nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution":[
            {"weight":5,"preference":{"matchFields":[
              {"key":"metadata.name","operator":"In","values":["n2"]}]}}]},
        "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"host","labelSelector":{},"namespaceSelector":{}}],
          "preferredDuringSchedulingIgnoredDuringExecution":[
          {"weight":3,"podAffinityTerm":{"topologyKey":"zone","namespaces":["b"]}}]}}},
    "status":{"phase":"Pending","nominatedNodeName":"n9",
      "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}],
      "containerStatuses":[{"name":"c","allocatedResources":{"cpu":"1"},
        "resources":{"requests":{"cpu":"750m"}}},{"name":"d"}],
      "resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"p-gpu-x"}]}})"));
  HEKLA_ASSERT_OK(pod);
  const PodSpec& spec = pod->spec;
  EXPECT_EQ(pod->metadata.Key(), "n/p");
  EXPECT_EQ(spec.priority, 7);
  ASSERT_EQ(spec.containers.size(), 1u);
  EXPECT_EQ(spec.containers[0].requests.Get("cpu").MilliValue(), 500);
  EXPECT_EQ(spec.containers[0].limits.Get("cpu").MilliValue(), 1000);
  ASSERT_EQ(spec.containers[0].host_ports.size(), 1u);
  EXPECT_EQ(spec.containers[0].host_ports[0].port, 8081);
  EXPECT_EQ(spec.containers[0].host_ports[0].protocol, "TCP");
  EXPECT_TRUE(spec.init_containers[0].restart_always);
  EXPECT_EQ(spec.pod_requests.Get("cpu").Value(), 2);
  EXPECT_EQ(spec.tolerations[0].toleration_seconds, 30);
  EXPECT_FALSE(spec.topology_spread[0].hard);
  EXPECT_TRUE(spec.topology_spread[0].honor_node_taints);
  EXPECT_TRUE(spec.topology_spread[0].honor_node_affinity);
  EXPECT_EQ(spec.topology_spread[0].match_label_keys, std::vector<std::string>{"rev"});
  ASSERT_EQ(spec.volumes.size(), 3u);
  EXPECT_EQ(spec.volumes[0].claim_name, "c1");
  EXPECT_EQ(spec.volumes[1].source, Volume::Source::kEphemeral);
  EXPECT_EQ(spec.volumes[1].storage_class, "fast");
  EXPECT_EQ(spec.volumes[2].inline_kind, "gcePersistentDisk");
  EXPECT_EQ(spec.resource_claims[0].template_name, "t");
  ASSERT_TRUE(spec.affinity && spec.affinity->node && spec.affinity->node->required);
  EXPECT_TRUE(spec.affinity->node->required->Matches({{"disk", "ssd"}}, "n1"));
  EXPECT_TRUE(spec.affinity->node->preferred[0].preference.Matches({}, "n2"));
  EXPECT_FALSE(spec.affinity->node->preferred[0].preference.Matches({}, "n1"));
  ASSERT_EQ(spec.affinity->pod_anti.required.size(), 1u);
  EXPECT_TRUE(spec.affinity->pod_anti.required[0].namespace_selector.has_value());
  EXPECT_EQ(spec.affinity->pod_anti.preferred[0].term.namespaces, std::vector<std::string>{"b"});
  EXPECT_FALSE(spec.affinity->pod_anti.preferred[0].term.label_selector.has_value());
  ASSERT_NE(pod->status.FindCondition("PodScheduled"), nullptr);
  ASSERT_EQ(pod->status.container_statuses.size(), 1u);
  EXPECT_TRUE(pod->status.container_statuses[0].has_resources);
  EXPECT_EQ(pod->status.resource_claim_statuses[0].resource_claim_name, "p-gpu-x");
}

TEST(PodCodecTest, ErrorsNameTheField) {
  const auto error = [](absl::string_view text) {
    return std::string(DecodePod(Json(text)).status().message());
  };
  EXPECT_EQ(error(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"x"}}}]}})"),
            "spec.containers[0].resources.requests.cpu: invalid quantity \"x\"");
  EXPECT_EQ(error(R"({"spec":{"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"a","operator":"Same"}]}]}}}}})"),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms[0].matchExpressions[0].operator: unknown operator \"Same\"");
  EXPECT_EQ(error(R"({"status":{"conditions":{}}})"),
            "status.conditions: expected list, got object");
}

TEST(TolerationTest, MatchesByKeyValueAndEffect) {
  const Taint taint{"k", "v", TaintEffect::kNoSchedule};
  using Operator = Toleration::Operator;
  Toleration t;
  t.op = Operator::kExists;
  EXPECT_TRUE(t.Tolerates(taint));
  t.key = "other";
  EXPECT_FALSE(t.Tolerates(taint));
  t.key = "k";
  t.op = Operator::kEqual;
  EXPECT_FALSE(t.Tolerates(taint));
  t.value = "v";
  EXPECT_TRUE(t.Tolerates(taint));
  t.effect = TaintEffect::kNoExecute;
  EXPECT_FALSE(t.Tolerates(taint));
  t.effect = TaintEffect::kNone;
  t.unknown_effect = true;
  EXPECT_FALSE(t.Tolerates(taint));
  t.unknown_effect = false;
  t.op = Operator::kGt;
  EXPECT_FALSE(t.Tolerates(taint));
}

TEST(NodeSelectorTest, NoTermMatchesNothing) {
  EXPECT_FALSE(NodeSelector().Matches({{"a", "b"}}, "n"));
  NodeSelector empty_term;
  empty_term.terms.emplace_back();
  EXPECT_FALSE(empty_term.Matches({{"a", "b"}}, "n"));
}

TEST(PodConditionTest, ChangesOnlyWhatDiffersAndKeepsTheRest) {
  Value pod = Json(R"({"kind":"Pod","metadata":{"name":"p","x":1},"status":{"phase":"Pending",
      "hostIP":"h","conditions":[{"type":"Ready","status":"False","more":2}]}})");
  const Value before = pod;
  const absl::Time now = absl::FromUnixSeconds(1767366245);
  const PodConditionUpdate update{"PodScheduled", "False", "Unschedulable", "no room"};
  EXPECT_TRUE(SetPodCondition(pod, update, now));
  EXPECT_EQ(pod.At("metadata"), before.At("metadata"));
  EXPECT_EQ(pod.FindPath({"status", "conditions"})->as_array()[0],
            before.FindPath({"status", "conditions"})->as_array()[0]);
  const Value added = pod.FindPath({"status", "conditions"})->as_array()[1];
  EXPECT_EQ(added.GetString("lastTransitionTime"), "2026-01-02T15:04:05Z");
  // The same again changes nothing; another text keeps the time of the last transition.
  const Value unchanged = pod;
  EXPECT_FALSE(SetPodCondition(pod, update, now + absl::Hours(1)));
  EXPECT_EQ(pod, unchanged);
  EXPECT_TRUE(SetPodCondition(pod, {"PodScheduled", "False", "Unschedulable", "still none"},
                              now + absl::Hours(1)));
  const Value& changed = pod.FindPath({"status", "conditions"})->as_array()[1];
  EXPECT_EQ(changed.GetString("lastTransitionTime"), "2026-01-02T15:04:05Z");
  EXPECT_TRUE(SetPodCondition(pod, {"Ready", "True", "", ""}, now + absl::Hours(1)));
  EXPECT_EQ(pod.FindPath({"status", "conditions"})->as_array()[0].GetInt("more"), 2);
  EXPECT_EQ(pod.FindPath({"status", "conditions"})->as_array()[0].GetString("lastTransitionTime"),
            "2026-01-02T16:04:05Z");
}

TEST(NodeCodecTest, ReadsTaintsAmountsAndImages) {
  absl::StatusOr<Node> node = DecodeNode(Json(R"({"metadata":{"name":"n1"},
      "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}]},
      "status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"7500m","pods":"110"},
        "images":[{"names":["a:1","a@sha256:0"],"sizeBytes":12345}],
        "conditions":[{"type":"Ready","status":"True"}]}})"));
  HEKLA_ASSERT_OK(node);
  EXPECT_TRUE(node->spec.unschedulable);
  EXPECT_EQ(node->spec.taints[0].effect, TaintEffect::kNoExecute);
  EXPECT_EQ(node->status.allocatable.Get("cpu").MilliValue(), 7500);
  EXPECT_EQ(node->status.images[0].names.size(), 2u);
  EXPECT_EQ(node->status.images[0].size_bytes, 12345);
  EXPECT_THAT(DecodeNode(Json(R"({"status":{"allocatable":{"cpu":true}}})")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "status.allocatable.cpu: expected quantity, got boolean"));
}

TEST(VolumeCodecTest, ClaimsAndVolumes) {
  absl::StatusOr<PersistentVolume> pv = DecodePersistentVolume(Json(R"({"metadata":{"name":"pv1"},
      "spec":{"capacity":{"storage":"10Gi"},"accessModes":["ReadWriteOnce"],
        "csi":{"driver":"d","volumeHandle":"h"},"claimRef":{"namespace":"n","name":"c","uid":"u"},
        "nodeAffinity":{"required":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]}}},
      "status":{"phase":"Bound"}})"));
  HEKLA_ASSERT_OK(pv);
  EXPECT_EQ(pv->capacity.Value(), 10737418240);
  EXPECT_EQ(pv->csi_driver, "d");
  EXPECT_EQ(pv->source_kind, "");
  EXPECT_TRUE(pv->claim_ref.set());
  EXPECT_TRUE(pv->node_affinity->Matches({{"zone", "a"}}, ""));
  EXPECT_EQ(DecodePersistentVolume(Json(R"({"spec":{"local":{"path":"/x"}}})"))->source_kind,
            "local");

  absl::StatusOr<PersistentVolumeClaim> pvc =
      DecodePersistentVolumeClaim(Json(R"({"metadata":{"name":"c"},
      "spec":{"storageClassName":"","resources":{"requests":{"storage":"1Gi"}},
        "volumeName":"pv1","selector":{"matchLabels":{"a":"b"}}},"status":{"phase":"Bound"}})"));
  HEKLA_ASSERT_OK(pvc);
  ASSERT_TRUE(pvc->storage_class_name.has_value());
  EXPECT_EQ(*pvc->storage_class_name, "");
  EXPECT_EQ(pvc->request.Value(), 1073741824);
  EXPECT_EQ(pvc->volume_mode, "Filesystem");
  absl::StatusOr<PersistentVolumeClaim> beta = DecodePersistentVolumeClaim(Json(
      R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},"spec":{}})"));
  HEKLA_ASSERT_OK(beta);
  EXPECT_FALSE(beta->storage_class_name.has_value());
  EXPECT_EQ(beta->ClassName(), "old");
}

TEST(ObjectsCodecTest, SelectorsOfOwners) {
  EXPECT_EQ(DecodeService(Json(R"({"spec":{"selector":{"a":"1"}}})"))->selector.Get("a"), "1");
  EXPECT_EQ(DecodeReplicationController(Json(R"({"spec":{"selector":{"a":"1"},"replicas":3}})"))
                ->replicas,
            3);
  EXPECT_EQ(DecodeConfigMap(Json(R"({"data":{"k":"v"}})"))->data.Get("k"), "v");
  EXPECT_EQ(DecodeNamespace(Json(R"({"status":{"phase":"Terminating"}})"))->phase, "Terminating");
  absl::StatusOr<ResourceQuota> quota = DecodeResourceQuota(
      Json(R"({"spec":{"hard":{"pods":"4"}},"status":{"hard":{"pods":"3"},"used":{"pods":2}}})"));
  HEKLA_ASSERT_OK(quota);
  EXPECT_EQ(quota->status_used.Get("pods").Value(), 2);
  EXPECT_EQ(quota->status_hard.Get("pods").Value(), 3);
}

TEST(EventCodecTest, DecodeThenEncodeKeepsUnknownMembers) {
  const Value object = Json(R"({"apiVersion":"v1","kind":"Event",
      "metadata":{"name":"p.1","namespace":"n","managedFields":[]},
      "involvedObject":{"kind":"Pod","namespace":"n","name":"p","uid":"u","apiVersion":"v1"},
      "type":"Warning","reason":"FailedScheduling","message":"m","count":3,
      "source":{"component":"volcano"},"firstTimestamp":"2026-01-02T15:04:05Z",
      "lastTimestamp":"2026-01-02T15:04:06Z","eventTime":null,
      "reportingComponent":"volcano","reportingInstance":""})");
  absl::StatusOr<Event> event = DecodeEvent(object);
  HEKLA_ASSERT_OK(event);
  EXPECT_EQ(event->count, 3);
  EXPECT_EQ(EncodeEvent(*event, object), object);
}

}  // namespace
}  // namespace hekla::apis::core
