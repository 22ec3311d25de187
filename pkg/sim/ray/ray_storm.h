#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/sim/ray/ray_world.h"
#include "pkg/util/random.h"

namespace hekla::sim {

// What users, kubelets and machines do to RayClusters and their pods, drawn from the seed.
class RayStorm {
 public:
  // `extras`: clusters that scale by themselves, with TLS, NetworkPolicies and gang labels are
  // drawn from it; null: plain clusters only.
  RayStorm(RayWorld& world, util::Random& random, util::Random* extras,
           std::vector<std::string>& trail)
      : world_(world), random_(random), extras_(extras), trail_(trail) {}

  // One thing.
  void Act();
  // Everything that waits for somebody comes to its end: pods run, jobs complete, nodes let go.
  void Heal();

  static constexpr char kNamespace[] = "fuzz";

 private:
  void CreateCluster();
  void AddExtras(apis::json::Value& metadata, apis::json::Value& spec);
  void Scale();
  void Suspend();
  void SuspendGroup();
  void ChangeImage();
  void NameWorkers();
  void DropGroup();
  void DeleteCluster();
  void RunPods();
  void FailPod();
  void DeletePod();
  void LoseNode();
  void DeleteService();
  void FinishJobs();

  std::vector<apis::json::Value> Clusters() const;
  std::vector<apis::json::Value> Pods() const;
  // nullptr where there is none.
  const apis::json::Value* Pick(const std::vector<apis::json::Value>& from);
  // Changes a cluster as a user with kubectl would: reads, changes, writes.
  void Change(const std::function<void(apis::json::Value& spec)>& change, const char* what);
  bool SetPodStatus(const apis::json::Value& pod, const char* phase);
  apis::json::Value NewGroup(int number);
  void Note(std::string text) { trail_.push_back(std::move(text)); }

  RayWorld& world_;
  util::Random& random_;
  util::Random* const extras_;
  std::vector<std::string>& trail_;
  int made_ = 0;
};

}  // namespace hekla::sim
