#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::kubelet {

inline constexpr absl::string_view kRunSecondsAnnotation = "hekla.dev/run-seconds";
inline constexpr absl::string_view kExitCodeAnnotation = "hekla.dev/exit-code";

enum class Stage : uint8_t { kPending, kRunning, kEnded };

// What is needed to write a pod's status.
struct PodPlan {
  struct Container {
    std::string name, image;
  };
  std::vector<Container> containers, init_containers;
  std::vector<std::string> readiness_gates;
  bool host_network = false;
  std::string pod_ip;
};

// The part of a pod that decides what happens to it next.
struct PodFacts {
  std::string ns, name, uid, node;
  Stage stage = Stage::kPending;
  bool deleted = false;  // has a deletionTimestamp
  bool job = false;      // owned by a Job
  int64_t grace_seconds = 0;
  double run_seconds = -1;       // < 0: for ever
  double deadline_seconds = -1;  // activeDeadlineSeconds
  int exit_code = 0;
  absl::Time started = absl::InfinitePast();  // from its status

  static PodFacts Of(const apis::json::Value& pod);
  // Whether something that decides about the pod differs.
  bool SameAs(const PodFacts& other) const;
};

std::unique_ptr<PodPlan> PlanOf(const apis::json::Value& pod);

// Strategic merge patches of pods/status.
apis::json::Value StartPatch(const PodPlan& plan, absl::string_view host_ip, absl::Time now);
enum class End : uint8_t { kSucceeded, kFailed, kDeadline };
apis::json::Value EndPatch(const PodPlan& plan, End end, int exit_code, absl::Time started,
                           absl::Time now);

}  // namespace hekla::apiserver::kubelet
