#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// A cluster as plain objects, for the reference scheduler: nothing is shared with the product's
// tables, selectors or resource vectors.
namespace hekla::reference {

// cpu (milli-cores), memory (bytes), pods, gpu (thousandths).
using Amounts = std::array<double, 4>;
enum { kCpu, kMemory, kPods, kGpu };
using StringMap = std::map<std::string, std::string>;

struct Expression {
  std::string key;
  enum Op { kIn, kNotIn, kExists, kDoesNotExist } op = kIn;
  std::vector<std::string> values;
};
struct Preference {
  int weight = 1;
  std::vector<Expression> term;
};
struct Taint {
  std::string key, value, effect;
};
struct Toleration {
  std::string key, value, effect;
  bool exists = false;
};
// Pods of the own namespace whose label `key` is `value`, by topology.
struct PodTerm {
  enum Kind { kAffinity, kAntiAffinity, kPreferred, kPreferredAnti } kind = kAffinity;
  std::string key, value, topology;
  int weight = 1;
};
struct Spread {
  std::string topology, key, value;  // value: of the selected label
  int max_skew = 1;
  bool hard = true;
};

enum class Status { kPending, kBound, kRunning, kReleasing, kAllocated, kPipelined, kBinding };

struct Pod {
  std::string name, group, role, node;  // namespace: default
  Status status = Status::kPending;
  Amounts request = {};
  bool names_cpu = false, names_memory = false;  // else the container states none
  int priority = 0, created = 0;
  bool gated = false;
  StringMap labels, selector;
  std::vector<std::vector<Expression>> required;  // ORed terms
  std::vector<Preference> preferred;
  std::vector<Toleration> tolerations;
  int host_port = 0;
  std::vector<PodTerm> terms;
  std::vector<Spread> spread;
  bool BestEffort() const { return request[kCpu] + request[kMemory] + request[kGpu] == 0; }
};

struct Node {
  std::string name;
  Amounts allocatable = {};
  StringMap labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
};

struct Queue {
  std::string name;
  int weight = 1, priority = 0, created = 0;
  bool open = true;
  Amounts guarantee = {};
  std::array<std::optional<double>, 4> capability;
};

struct Group {
  std::string name, queue, phase = "Pending";
  int min_member = 1, priority = 0, created = 0;
  std::map<std::string, int> role_minimums;
  std::optional<Amounts> min_resources;
};

struct Cluster {
  std::vector<Node> nodes;
  std::vector<Queue> queues;
  std::vector<Group> groups;
  std::vector<Pod> pods;
};

struct Decision {
  std::map<std::string, std::string> binds, pipelined;  // pod → node
  std::map<std::string, std::string> phases;            // group → phase
  friend bool operator==(const Decision&, const Decision&) = default;
};

// One cycle of the default configuration (enqueue, allocate, backfill): the slow, obvious reading
// of the spec. Does not change the cluster. `seed` breaks ties between equal scores.
Decision Decide(const Cluster& cluster, uint64_t seed);

}  // namespace hekla::reference
