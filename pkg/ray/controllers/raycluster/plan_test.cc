#include "pkg/ray/controllers/raycluster/plan.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/raycluster/status.h"

// Worked examples of spec ray-cluster.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;

constexpr char kHead[] =
    R"("headGroupSpec":{"template":{"spec":{"containers":[{"name":"h","image":"ray:1"}]}}})";
constexpr char kTemplate[] = R"("template":{"spec":{"containers":[{"name":"w"}]}})";

Value J(const std::string& text) {
  auto parsed = apis::json::Parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status() << " " << text;
  return parsed.ok() ? *parsed : Value();
}

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    input_.options = &options_;
    input_.now = absl::FromUnixSeconds(1767225600);
    input_.replica_suffix = [] { return std::string("xxxxx"); };
    input_.secret_bytes = [](size_t n) { return std::string(n, 'k'); };
  }

  void Cluster(const std::string& spec, const std::string& metadata = "",
               const std::string& status = "{}") {
    observed_.object = std::make_shared<const Value>(J(absl::StrCat(
        R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"c","namespace":"ns",)",
        R"("uid":"u1","generation":1)", metadata, R"(},"spec":{)", spec, R"(},"status":)", status,
        "}")));
    auto cluster = apis::ray::DecodeRayCluster(*observed_.object);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    observed_.cluster = *cluster;
    observed_.head_services = {std::make_shared<const Value>(
        J(R"({"metadata":{"name":"c-head-svc","namespace":"ns"},"spec":{"clusterIP":"None"}})"))};
  }
  static std::string Group(const std::string& numbers) {
    return absl::StrCat(kHead, R"(,"workerGroupSpecs":[{"groupName":"w",)", numbers, ",", kTemplate,
                        "}]");
  }
  void Pod(const std::string& name, const std::string& phase, const std::string& labels = "",
           bool head = false) {
    observed_.pods.push_back(std::make_shared<const Value>(J(absl::StrCat(
        R"({"metadata":{"name":")", name, R"(","namespace":"ns","creationTimestamp":)",
        R"("2026-01-01T00:00:00Z","labels":{"ray.io/cluster":"c","ray.io/node-type":")",
        head ? "head" : "worker", R"(","ray.io/group":")", head ? "headgroup" : "w", "\"",
        labels.empty() ? "" : ",", labels, R"(}},"spec":{"restartPolicy":"Always","containers":)",
        R"([{"name":"w"}]},"status":{"phase":")", phase, R"("}})"))));
  }
  void Replica(const std::string& name, int index, int host, const std::string& phase) {
    Pod(absl::StrCat(name, "-", host), phase,
        absl::StrCat(R"("ray.io/worker-group-replica-name":")", name,
                     R"(","ray.io/worker-group-replica-index":")", index,
                     R"(","ray.io/replica-host-index":")", host, "\""));
  }
  void Healthy(int from, int to) {
    for (int i = from; i <= to; ++i) {
      Pod(absl::StrCat("w", i), "Running",
          absl::StrCat(R"("ray.io/worker-group-replica-index":")", i, "\""));
    }
  }

  // "delete w2", "create w 1" (group and replica index), "delete all", "fail".
  std::vector<std::string> Do() {
    std::vector<std::string> out;
    for (const Write& write : MakePlan(observed_, input_).writes) {
      switch (write.verb) {
        case Write::Verb::kDelete:
          out.push_back(absl::StrCat("delete ", write.name));
          break;
        case Write::Verb::kDeleteCollection:
          out.push_back("delete all");
          break;
        case Write::Verb::kFail:
          out.push_back("fail");
          break;
        case Write::Verb::kNote:
          out.push_back(absl::StrCat("note ", write.done.reason));
          break;
        case Write::Verb::kCreate:
          out.push_back(
              absl::StrCat("create ", write.resource->kind, " ",
                           controller::LabelOf(write.object, apis::ray::kReplicaIndexLabel)));
          break;
        case Write::Verb::kUpdate:
          out.push_back(absl::StrCat("update ", write.resource->kind));
          break;
        case Write::Verb::kMergePatch:
          out.push_back(absl::StrCat("patch ", write.name));
          break;
        case Write::Verb::kForgetExpectations:
          out.push_back("forget");
          break;
      }
    }
    return out;
  }
  using Steps = std::vector<std::string>;

  ClusterOptions options_;
  PlanInput input_;
  Observed observed_;
};

constexpr char kScaleDown[] = R"("replicas":3,"minReplicas":0,"maxReplicas":10,"numOfHosts":1,)"
                              R"("scaleStrategy":{"workersToDelete":["w2","ghost"]})";

TEST_F(PlanTest, E12ScaleDownDeletesTheNamedAndThenTheCount) {
  Cluster(Group(kScaleDown));
  Pod("head", "Running", "", true);
  Healthy(1, 5);
  EXPECT_EQ(Do(), (Steps{"delete w2", "delete ghost", "delete w1"}));
}

TEST_F(PlanTest, E12WithAutoscalingOnlyTheNamedGo) {
  Cluster(absl::StrCat(Group(kScaleDown), R"(,"enableInTreeAutoscaling":true)"));
  observed_.service_account = observed_.role = observed_.role_binding = observed_.object;
  Pod("head", "Running", "", true);
  Healthy(1, 5);
  EXPECT_EQ(Do(), (Steps{"delete w2", "delete ghost"}));
  options_.random_pod_delete = true;
  EXPECT_EQ(Do(), (Steps{"delete w2", "delete ghost", "delete w1"}));
}

TEST_F(PlanTest, E12AFailedWorkerGoesFirstAndAlone) {
  Cluster(Group(kScaleDown));
  Pod("head", "Running", "", true);
  Healthy(1, 3);
  Pod("w4", "Failed");
  Healthy(5, 5);
  EXPECT_EQ(Do(), (Steps{"delete w4", "fail"}));
}

TEST_F(PlanTest, E13NewWorkersFillTheSmallestIndices) {
  Cluster(Group(R"("replicas":5,"minReplicas":0,"maxReplicas":10,"numOfHosts":1)"));
  Pod("head", "Running", "", true);
  Healthy(0, 0);
  Healthy(2, 3);
  EXPECT_EQ(Do(), (Steps{"create Pod 1", "create Pod 4"}));
}

TEST_F(PlanTest, AGroupThatWaitsIsLeftAlone) {
  Cluster(Group(R"("replicas":5,"minReplicas":0,"maxReplicas":10,"numOfHosts":1)"));
  Pod("head", "Running", "", true);
  input_.waiting = {"w"};
  EXPECT_EQ(Do(), Steps{});
  input_.waiting = {""};
  observed_.pods.clear();
  EXPECT_EQ(Do().size(), 5u) << "workers do not wait for the head";
}

TEST_F(PlanTest, E14AnIncompleteReplicaIsDeletedOnePerPass) {
  Cluster(Group(R"("replicas":3,"minReplicas":0,"maxReplicas":9,"numOfHosts":2)"));
  observed_.headless_services = observed_.head_services;
  Pod("head", "Running", "", true);
  Replica("r1", 0, 0, "Running");
  Replica("r1", 0, 1, "Running");
  Replica("r2", 2, 0, "Running");
  Replica("r2", 2, 1, "Running");
  Replica("r3", 1, 0, "Running");
  EXPECT_EQ(Do(), (Steps{"delete r3-0", "fail"}));
  observed_.pods.pop_back();
  EXPECT_EQ(Do(), (Steps{"create Pod 1", "create Pod 1"}));
}

TEST_F(PlanTest, E14AReplicaWithAFailedHostIsReplacedInOnePass) {
  Cluster(Group(R"("replicas":2,"minReplicas":0,"maxReplicas":9,"numOfHosts":2)"));
  observed_.headless_services = observed_.head_services;
  Pod("head", "Running", "", true);
  Replica("r1", 0, 0, "Running");
  Replica("r1", 0, 1, "Failed");
  Replica("r2", 1, 0, "Running");
  Replica("r2", 1, 1, "Running");
  EXPECT_EQ(Do(), (Steps{"delete r1-0", "delete r1-1", "create Pod 0", "create Pod 0"}));
}

TEST_F(PlanTest, E15SuspensionIsWrittenDownBeforeItIsDone) {
  Cluster(absl::StrCat(kHead, R"(,"suspend":true)"));
  Pod("head", "Running", "", true);
  EXPECT_EQ(Do(), Steps{});
  Cluster(absl::StrCat(kHead, R"(,"suspend":true)"), "",
          R"({"conditions":[{"type":"RayClusterSuspending","status":"True"}]})");
  EXPECT_EQ(Do(), Steps{"delete all"});
  observed_.pods.clear();
  EXPECT_EQ(Do(), Steps{"note DeletedPod"});
}

TEST_F(PlanTest, E20TheTimeOutOfTheRedisCleanup) {
  const auto deleted = [this](int seconds_ago) {
    Cluster(kHead, absl::StrCat(R"(,"deletionTimestamp":")",
                                absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                                                 input_.now - absl::Seconds(seconds_ago),
                                                 absl::UTCTimeZone()),
                                R"(","finalizers":["ray.io/gcs-ft-redis-cleanup-finalizer"],)",
                                R"("annotations":{"ray.io/ft-enabled":"true",)",
                                R"("ray.io/gcs-ft-deletion-timeout":"90"})"));
  };
  deleted(0);
  Pod("head", "Running", "", true);
  EXPECT_EQ(Do(), Steps{"delete all"});
  EXPECT_EQ(MakePlan(observed_, input_).requeue, absl::Seconds(10));
  deleted(40);
  observed_.pods.clear();
  EXPECT_EQ(Do(), Steps{"create Job "});
  EXPECT_EQ(MakePlan(observed_, input_).requeue, absl::Seconds(2));
  observed_.cleanup_jobs = {std::make_shared<const Value>(J(R"({"status":{}})"))};
  deleted(89);
  EXPECT_EQ(Do(), Steps{});
  deleted(90);
  EXPECT_EQ(Do(), (Steps{"update RayCluster", "note ForceDeletedStuckCluster"}));
  observed_.cleanup_jobs = {std::make_shared<const Value>(
      J(R"({"status":{"conditions":[{"type":"FailureTarget","status":"True"}]}})"))};
  deleted(50);
  EXPECT_EQ(Do(), Steps{"update RayCluster"});
}

TEST_F(PlanTest, NothingIsMadeBeforeTheFinalizer) {
  Cluster(kHead, R"(,"annotations":{"ray.io/ft-enabled":"TRUE"})");
  observed_.head_services.clear();
  EXPECT_EQ(Do(), Steps{"update RayCluster"});
  options_.redis_cleanup = false;
  EXPECT_EQ(Do(), (Steps{"create Service ", "create Pod "}));
}

TEST_F(PlanTest, TwoHeadsStopEverything) {
  Cluster(Group(R"("replicas":1,"minReplicas":0,"maxReplicas":9,"numOfHosts":1)"));
  Pod("head-1", "Running", "", true);
  Pod("head-2", "Running", "", true);
  EXPECT_EQ(Do(), Steps{"fail"});
}

TEST_F(PlanTest, AHugeGroupIsMadeInParts) {
  Cluster(
      Group(R"("replicas":2000000000,"minReplicas":0,"maxReplicas":2147483647,"numOfHosts":1)"));
  Pod("head", "Running", "", true);
  EXPECT_EQ(Do().size(), 500u);
}

TEST_F(PlanTest, E16TheFirstContainerThatWaitsExplainsTheHead) {
  Cluster(kHead);
  observed_.pods = {std::make_shared<const Value>(
      J(R"({"metadata":{"name":"head","labels":{"ray.io/node-type":"head"}},"status":{"phase":)"
        R"("Running","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady",)"
        R"("message":"unready: [ray-head]"}],"containerStatuses":[{"name":"ray-head","state":)"
        R"({"waiting":{"reason":"ImagePullBackOff","message":"pull failed"}}}]}})"))};
  const auto status =
      ComputeStatus(observed_, StepError{"FailedCreateWorkerPod", absl::InternalError("quota")},
                    true, input_.now);
  ASSERT_TRUE(status.ok()) << status.status();
  const auto* ready = apis::ray::FindCondition(*status, "HeadPodReady");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->reason, "ImagePullBackOff");
  EXPECT_EQ(ready->message, "unready: [ray-head]; ray-head: pull failed");
  const auto* failure = apis::ray::FindCondition(*status, "ReplicaFailure");
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->reason, "FailedCreateWorkerPod");
  EXPECT_EQ(failure->message, "FailedCreateWorkerPod\nquota");
  EXPECT_EQ(status->conditions.front().type, "ReplicaFailure");
}

TEST_F(PlanTest, AHeadWithoutAMessageIsExplainedByItsContainerAlone) {
  Cluster(kHead);
  observed_.pods = {std::make_shared<const Value>(
      J(R"({"metadata":{"name":"head","labels":{"ray.io/node-type":"head"}},"status":{"phase":)"
        R"("Running","conditions":[{"type":"Ready","status":"False","reason":)"
        R"("ContainersNotReady"}],"containerStatuses":[{"name":"side","state":{"running":{}}},)"
        R"({"name":"ray","state":{"terminated":{"reason":"OOMKilled","message":"m"}}}]}})"))};
  const auto status = ComputeStatus(observed_, std::nullopt, true, input_.now);
  ASSERT_TRUE(status.ok()) << status.status();
  const auto* ready = apis::ray::FindCondition(*status, "HeadPodReady");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->reason, "OOMKilled");
  EXPECT_EQ(ready->message, "ray: m");
}

TEST_F(PlanTest, QuirkRunningWithoutAReadyConditionIsReady) {
  Cluster(kHead);
  Pod("head", "Running", "", true);
  const auto status = ComputeStatus(observed_, std::nullopt, true, input_.now);
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->state, "ready");
  EXPECT_EQ(apis::ray::FindCondition(*status, "HeadPodReady")->reason, "Unknown");
  EXPECT_TRUE(apis::ray::IsConditionTrue(*status, "RayClusterProvisioned"));
}

TEST_F(PlanTest, OnlyProgressIsWhatTurnsNothing) {
  Cluster(Group(R"("replicas":1,"minReplicas":0,"maxReplicas":9,"numOfHosts":1)"));
  const auto status = [this](std::optional<StepError> error = std::nullopt) {
    return *ComputeStatus(observed_, error, true, input_.now);
  };
  const auto nothing = observed_.cluster.status;
  Pod("head", "Pending", "", true);
  const auto first = status();
  EXPECT_TRUE(OnlyProgress(nothing, first));
  Pod("w1", "Running");
  const auto second = status();
  EXPECT_TRUE(OnlyProgress(first, second)) << "a worker runs";
  EXPECT_FALSE(OnlyProgress(
      nothing, status(StepError{"FailedCreateWorkerPod", absl::InternalError("quota")})));
  observed_.pods.clear();
  Pod("head", "Running", "", true);
  Pod("w1", "Running");
  EXPECT_FALSE(OnlyProgress(second, status())) << "it is ready";
  observed_.cluster.spec.suspend = true;
  observed_.pods.pop_back();
  EXPECT_FALSE(OnlyProgress(second, status())) << "a suspension begins";
}

TEST_F(PlanTest, WithoutExactlyOneHeadServiceThereIsNoStatus) {
  Cluster(kHead);
  observed_.head_services.clear();
  EXPECT_FALSE(ComputeStatus(observed_, std::nullopt, true, input_.now).ok());
}

// Notes of the events of writes that fail, in the words users know.
TEST_F(PlanTest, NotesOfFailuresAreUpstreams) {
  const auto failed = [this](const std::string& status) {
    Cluster(absl::StrCat(Group(R"("suspend":true)"), R"(,"upgradeStrategy":{"type":"Recreate"})"),
            "", status);
    return MakePlan(observed_, input_).writes.front().failed.note;
  };
  Pod("head", "Running", "", true);
  Healthy(1, 1);
  EXPECT_EQ(failed(R"({"conditions":[{"type":"RayClusterSuspending","status":"True"}]})"),
            "Failed deleting Pods due to suspension for RayCluster ns/c, ");
  EXPECT_EQ(failed("{}"), "Failed deleting worker Pods for suspended group w in RayCluster ns/c, ");
  Value head = *observed_.pods.front();
  head.Ensure({"metadata", "annotations"}).Set("ray.io/upgrade-strategy-recreate-hash", "another");
  observed_.pods.front() = std::make_shared<const Value>(head);
  EXPECT_EQ(failed("{}"),
            "Failed deleting Pods due to spec change with Recreate upgradeStrategy for RayCluster "
            "ns/c, ");
}

TEST_F(PlanTest, NotesOfReplicasNameStateAndReason) {
  Cluster(Group(R"("replicas":1,"minReplicas":0,"maxReplicas":9,"numOfHosts":2)"));
  observed_.headless_services = observed_.head_services;
  Pod("head", "Running", "", true);
  Replica("r", 0, 0, "Running");
  Replica("r", 0, 1, "Running");
  Value ended = *observed_.pods.back();
  ended["spec"].Set("restartPolicy", "Never");
  ended["status"].Set("containerStatuses", J(R"([{"name":"w","state":{"terminated":)"
                                             R"({"exitCode":2,"reason":"Error"}}}])"));
  observed_.pods.back() = std::make_shared<const Value>(ended);
  const std::string terminated =
      "&ContainerStateTerminated{ExitCode:2,Signal:0,Reason:Error,Message:,StartedAt:0001-01-01 "
      "00:00:00 +0000 UTC,FinishedAt:0001-01-01 00:00:00 +0000 UTC,ContainerID:,}";
  const Plan plan = MakePlan(observed_, input_);
  EXPECT_EQ(plan.writes[0].done.note,
            absl::StrCat("Deleted worker Pod ns/r-0 for group w: The Pod status of the worker Pod "
                         "r-1 is Running, and the Ray container terminated status is ",
                         terminated,
                         ". The container is unable to restart due to its restart policy Never, so "
                         "KubeRay will delete it."));
  EXPECT_EQ(plan.writes[0].failed.note,
            "Failed deleting worker Pod ns/r-0 for group w; Pod status: Running; Pod restart "
            "policy: Always; Ray container terminated status: nil, ");
  EXPECT_EQ(plan.writes[1].failed.note,
            absl::StrCat("Failed deleting worker Pod ns/r-1 for group w; Pod status: Running; Pod "
                         "restart policy: Never; Ray container terminated status: ",
                         terminated, ", "));
}

TEST_F(PlanTest, AServiceAccountOfTheUserMustBeThere) {
  Cluster(R"("enableInTreeAutoscaling":true,"headGroupSpec":{"template":{"spec":)"
          R"({"serviceAccountName":"mine","containers":[{"name":"h"}]}}})");
  const Plan plan = MakePlan(observed_, input_);
  EXPECT_EQ(plan.writes[0].done.note,
            "Failed to reconcile RayCluster ns/c. If users specify ServiceAccountName for the head "
            "Pod, they need to create a ServiceAccount themselves. However, ServiceAccount mine is "
            "not found. Please create one. See the PR description of "
            "https://github.com/ray-project/kuberay/pull/1128 for more details.");
  EXPECT_EQ(Do(), (Steps{"note AutoscalerServiceAccountNotFound", "fail"}));
  Cluster(absl::StrCat(R"("enableInTreeAutoscaling":true,)", kHead));
  std::vector<std::string> notes;
  for (const Write& write : MakePlan(observed_, input_).writes) notes.push_back(write.failed.note);
  EXPECT_EQ(notes,
            (Steps{"Failed creating service account ns/c, ", "Failed creating role ns/c, ",
                   "Failed creating role binding ns/c, ", "Failed to create head Pod ns/, "}));
}

TEST_F(PlanTest, AClaimOfTheUserIsAskedFor) {
  Cluster(absl::StrCat(kHead, R"(,"gcsFaultToleranceOptions":{"backend":"rocksdb","storage":)"
                              R"({"claimName":"mine"}})"));
  const Plan plan = MakePlan(observed_, input_);
  EXPECT_EQ(plan.writes[0].done.note,
            "GcsFaultToleranceOptions.Storage.ClaimName \"mine\" not found in namespace ns; the "
            "head Pod will not start until it exists");
  EXPECT_EQ(Do(), (Steps{"note FailedToCreatePVC", "create Pod "}));
}

TEST_F(PlanTest, AnIngressOrRouteThatFails) {
  Cluster(R"("headGroupSpec":{"enableIngress":true,"template":{"spec":{"containers":)"
          R"([{"name":"h"}]}}})");
  EXPECT_EQ(MakePlan(observed_, input_).writes[0].failed.note,
            "Failed creating ingress ns/c-head-ingress, ");
  options_.routes = true;
  EXPECT_EQ(MakePlan(observed_, input_).writes[0].failed.note,
            "Failed creating route ns/c-head-route, ");
}

TEST_F(PlanTest, TheForcedEndOfACleanupNamesItsAge) {
  Cluster(kHead, R"(,"deletionTimestamp":"2025-12-31T23:55:00Z","finalizers":)"
                 R"(["ray.io/gcs-ft-redis-cleanup-finalizer"],"annotations":)"
                 R"({"ray.io/ft-enabled":"true","ray.io/external-storage-namespace":"store"})");
  EXPECT_EQ(MakePlan(observed_, input_).writes[1].done.note,
            "Force-removed GCS FT finalizer after 5m0s due to Redis cleanup timeout; Redis storage "
            "namespace \"store\" may need manual cleanup");
}

}  // namespace
}  // namespace hekla::ray::controllers::raycluster
