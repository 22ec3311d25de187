#include "test/ray/recorded_options.h"

#include "absl/strings/ascii.h"
#include "glog/logging.h"
#include "pkg/yaml/yaml.h"

namespace hekla::ray {

using apis::json::Member;
using apis::json::Value;

namespace {

void ReadItems(const Value& list, std::vector<Value>& out) {
  if (list.is_array()) out = list.as_array();
}

void ReadMap(const Value& map, apis::meta::StringMap& out) {
  if (!map.is_object()) return;
  for (const Member& m : map.as_object()) out.Set(m.key, m.value.as_string());
}

}  // namespace

builders::BuildOptions OptionsOf(const testing::Recording& recording) {
  builders::BuildOptions options;
  const auto is = [&](const char* name, const char* text) {
    return absl::AsciiStrToLower(recording.Env(name)) == text;
  };
  options.inject_init_container = !is("ENABLE_INIT_CONTAINER_INJECTION", "false");
  options.inject_probes = !is("ENABLE_PROBES_INJECTION", "false");
  options.head_cluster_ip_service = is("ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE", "true");
  options.deterministic_head_name = is("ENABLE_DETERMINISTIC_HEAD_POD_NAME", "true");
  options.login_shell = is("ENABLE_LOGIN_SHELL", "true");
  if (!recording.Env("CLUSTER_DOMAIN").empty()) {
    options.cluster_domain = recording.Env("CLUSTER_DOMAIN");
  }
  options.multi_host_indexing = recording.Gate("RayMultiHostIndexing", true);
  options.history_server = recording.Gate("RayClusterHistoryServer", false);
  if (recording.HasFlag("operator-config.yaml")) {
    const auto document =
        yaml::ParseOne(testing::ReadShared("cases/raycluster/operator-config.yaml"));
    CHECK(document.ok()) << document.status();
    const Value& config = document->value;
    ReadItems(config.At("headSidecarContainers"), options.head_sidecars);
    ReadItems(config.At("workerSidecarContainers"), options.worker_sidecars);
    ReadItems(config.At("defaultContainerEnvs"), options.default_envs);
    ReadMap(config.At("defaultPodAnnotations"), options.default_pod_annotations);
    ReadMap(config.At("defaultPodLabels"), options.default_pod_labels);
  }
  return options;
}

std::unique_ptr<batchscheduler::BatchScheduler> SchedulerOf(const testing::Recording& recording) {
  std::string name;
  for (const char* known : {"volcano", "yunikorn", "kai-scheduler", "scheduler-plugins"}) {
    if (recording.HasFlag(std::string("--batch-scheduler=") + known)) name = known;
  }
  return *batchscheduler::MakeBatchScheduler(name);
}

}  // namespace hekla::ray
