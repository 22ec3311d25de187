#include "glog/logging.h"
#include "pkg/apis/core/node.h"
#include "pkg/apis/core/pod.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/scheduling/pod_group.h"
#include "pkg/apis/scheduling/queue.h"
#include "test/fuzz/fuzz_target.h"

namespace json = hekla::apis::json;
namespace core = hekla::apis::core;
namespace scheduling = hekla::apis::scheduling;

// Objects as an API server could serve them are decoded or refused with a field path; a PodGroup
// written back decodes to the same spec and loses no unknown member.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto value = json::Parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.ok()) return 0;
  if (auto pod = core::DecodePod(*value); !pod.ok()) CHECK(!pod.status().message().empty());
  core::DecodeNode(*value).IgnoreError();
  scheduling::DecodeQueue(*value).IgnoreError();
  auto group = scheduling::DecodePodGroup(*value);
  if (!group.ok()) return 0;
  const json::Value written = scheduling::EncodePodGroup(*group, *value);
  auto again = scheduling::DecodePodGroup(written);
  CHECK(again.ok()) << json::Dump(written) << ": " << again.status();
  CHECK_EQ(again->spec.min_member, group->spec.min_member);
  CHECK(again->spec.min_resources == group->spec.min_resources);
  if (value->is_object()) {
    for (const auto& member : value->as_object()) CHECK(written.Has(member.key)) << member.key;
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u","labels":{"a":"b"},"creationTimestamp":"2026-01-01T00:00:01Z"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","memory":"2Gi"}},"ports":[{"hostPort":80}]}],"tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"z","operator":"In","values":["a"]}]}]}},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"a":"b"}},"topologyKey":"h"}]}},"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False"}]}})",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g","x":1},"spec":{"minMember":3,"minTaskMember":{"ps":1},"queue":"q","minResources":{"cpu":"3"},"subGroupPolicy":[{"name":"s","matchLabelKeys":["k"]}],"unknown":{"a":[1]}},"status":{"phase":"Pending","conditions":[{"type":"Unschedulable","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"}]}})",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":2,"capability":{"cpu":"4"},"guarantee":{"resource":{"memory":"1Gi"}},"reclaimable":true},"status":{"state":"Open"}})",
      R"({"kind":"Node","metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4","pods":"110"},"images":[{"names":["a:b"],"sizeBytes":5}]}})"};
}
std::vector<std::string> FuzzWords() {
  return {"null", "{}",    "[]",      "\"\"",       "-1",         "1e99",
          "true", "\"x\"", "\"1Gi\"", ",\"spec\":", "99999999999"};
}
