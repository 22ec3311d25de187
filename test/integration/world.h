#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/server.h"
#include "pkg/util/testing/temp_folder.h"
#include "test/integration/process.h"

namespace hekla::test {

// Stands before the API server: counts requests and lets a test answer some of them itself.
// Threads: any.
class FaultPoint final : public http::Handler {
 public:
  // Returns the answer in place of the server's; nullopt passes the request on.
  using Rule = std::function<std::optional<http::Response>(const http::Request&)>;

  void set_target(http::Handler* target) { target_ = target; }
  void SetRule(Rule rule);
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;
  // Requests with this method whose target contains `part`.
  int Count(absl::string_view method, absl::string_view part) const;

 private:
  http::Handler* target_ = nullptr;
  mutable absl::Mutex mutex_;
  Rule rule_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::string>> seen_ ABSL_GUARDED_BY(mutex_);
};

struct PodSpec {
  std::string name;
  std::string group = {};  // PodGroup; "": none
  std::string cpu = "1";
  std::string memory = "1Gi";
  std::string priority_class = {};
};

// An API server with hollow nodes behind HTTP on this machine, and the scheduler's program running
// against it with the shipped role: the server enforces it, and what the scheduler was refused is a
// failure in the end.
class World {
 public:
  World();
  ~World();

  void AddNodes(int count, const std::string& cpu, const std::string& prefix = "n");
  void AddQueue(const std::string& name, int weight);
  void AddPriorityClass(const std::string& name, int value);
  void AddPodGroup(const std::string& name, int min_member, const std::string& queue = "default",
                   const std::string& priority_class = "");
  void AddPod(const PodSpec& pod);
  // Pods "<group>-0" and so on.
  void AddPods(const std::string& group, int count, const std::string& cpu = "1");
  void AddGang(const std::string& name, int members, const std::string& cpu = "1");

  // `program`: hekla-scheduler. Restarts it when it runs.
  void StartScheduler(const std::string& program, const std::vector<std::string>& flags = {});
  Process& scheduler() { return *scheduler_; }
  // Hands the running one over; the next start is then a second one.
  Process ReleaseScheduler();

  // True as soon as the condition holds; polls.
  bool Until(const std::function<bool()>& condition, absl::Duration timeout = absl::Seconds(20));
  // Node of every bound pod of namespace "default".
  std::map<std::string, std::string> Bound();
  // Bound pods whose name starts with `prefix`.
  int BoundOf(absl::string_view prefix);
  std::string PhaseOf(const std::string& pod_group);
  // Message of a PodGroup's condition of that type; "" where there is none.
  std::string ConditionOf(const std::string& pod_group, absl::string_view type);
  // Messages of events about an object with that reason.
  std::vector<std::string> EventsOf(absl::string_view name, absl::string_view reason);

  cmd::heklactl::HostedCluster& cluster() { return *cluster_; }
  apiserver::ApiServer& server() { return cluster_->server(); }
  FaultPoint& faults() { return faults_; }

 private:
  void Create(const apis::json::Value& object);

  const util::testing::TempFolder folder_;
  std::string kubeconfig_;
  FaultPoint faults_;
  std::unique_ptr<cmd::heklactl::HostedCluster> cluster_;
  std::optional<Process> scheduler_;
  int starts_ = 0;
};

}  // namespace hekla::test
