#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/framework/cause.h"

namespace hekla::framework::explain {

// What is asked about.
enum class Subject : uint8_t { kPod, kPodGroup };

// Nodes that one check refuses with one reason, among those that all checks before let pass: every
// node is counted once.
struct NodeRefusal {
  std::string plugin;  // "" for checks of the search itself
  std::string check;   // "TaintToleration", "Size", "Room"
  std::string reason;  // as in the pod's condition
  int32_t nodes = 0;
  std::vector<std::string> examples;  // the first three by name
};

// The smallest amounts that are missing on nodes where nothing else is wrong.
struct NearestMiss {
  std::vector<std::pair<std::string, std::string>> missing;  // resource → quantity
  int32_t nodes = 0;                                         // that lack exactly this
  std::string label;  // "key=value" that they share and others do not; "" if there is none
  std::vector<std::string> examples;
  std::string text;  // "needs 2 more nvidia.com/gpu on any of 14 nodes in zone b"
};

struct NodeFacts {
  int32_t total = 0;
  int32_t fitting = 0;
  std::vector<NodeRefusal> refusals;  // in the order of the checks
  std::optional<NearestMiss> nearest;
  std::string summary;  // what the pod's condition says; "" before its first try
};

enum class Verdict : uint8_t { kOk, kNo, kNote };

// One question of the chain with its answer.
struct Step {
  std::string name;  // "queue", "enqueue", "gang", …
  Verdict verdict = Verdict::kOk;
  std::string text;
  apis::json::Value details;  // null: the text says everything
};

// Pending pods of a group with one cause.
struct PodLine {
  int32_t count = 0;
  std::string example;  // name of the first
  Cause cause = Cause::kNotTriedYet;
  std::string message;
};

// The whole answer about one pod or PodGroup.
struct Explanation {
  bool pod_group = false;
  std::string name;   // "ns/name"
  std::string group;  // of a pod; "" for a pod without PodGroup
  std::string queue;
  std::string state;  // status of the pod as the scheduler sees it, or phase of the PodGroup
  Cause cause = Cause::kNotTriedYet;
  std::string message;     // one sentence
  std::string blocked_by;  // kWaitsForGang, kRoleFailed: the pod that has no place
  std::vector<Step> chain;
  std::optional<NodeFacts> nodes;
  std::vector<PodLine> pods;  // of a PodGroup
};

// Keys: kind, name, podGroup, queue, state, cause, message, blockedBy, chain, nodes, pods.
apis::json::Value ToJson(const Explanation& explanation);

// For people, from ToJson's form (which may have come over the network): at most about 15 lines,
// the cause first.
std::string RenderText(const apis::json::Value& explanation);

}  // namespace hekla::framework::explain
