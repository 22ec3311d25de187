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
  enum Op { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess } op = kIn;
  std::vector<std::string> values;
};
struct Term {
  std::vector<Expression> labels, fields;  // fields: metadata.name
};
struct Preference {
  int weight = 1;
  Term term;
};
struct Taint {
  std::string key, value, effect;
};
struct Toleration {
  std::string key, value, effect;
  bool exists = false;
};
// Pods whose label `key` is `value`, by topology. Of the own namespace, unless it names some or
// selects them by labels ({}: all).
struct PodTerm {
  enum Kind { kAffinity, kAntiAffinity, kPreferred, kPreferredAnti } kind = kAffinity;
  std::string key, value, topology;
  int weight = 1;
  std::vector<std::string> namespaces = {};
  std::optional<StringMap> namespace_labels = {};
};
struct Spread {
  std::string topology, key, value;  // value: of the selected label
  int max_skew = 1;
  bool hard = true;
  int min_domains = 1;
  std::vector<std::string> label_keys = {};  // with the pod's values
  bool honors_affinity = true, honors_taints = false;
};
struct HostPort {
  int port = 0;  // 0: none
  std::string ip;
  bool udp = false;
};

enum class Status { kPending, kBound, kRunning, kReleasing, kAllocated, kPipelined, kBinding };

struct Pod {
  std::string space = "default", name, group, role, node;
  int incarnation = 0;   // of pods of this name
  bool foreign = false;  // another scheduler's
  Status status = Status::kPending;
  Amounts request = {};
  bool names_cpu = false, names_memory = false;  // else the container states none
  int priority = 0, created = 0;
  bool gated = false;
  StringMap labels, selector;
  std::vector<Term> required;  // ORed terms
  std::vector<Preference> preferred;
  std::vector<Toleration> tolerations;
  HostPort host_port;
  std::vector<std::string> claims;
  std::vector<PodTerm> terms;
  std::vector<Spread> spread;
  std::string Uid() const {
    return space + "-" + name + (incarnation > 0 ? "." + std::to_string(incarnation) : "");
  }
  bool BestEffort() const { return request[kCpu] + request[kMemory] + request[kGpu] == 0; }
};

struct Node {
  std::string name;
  Amounts allocatable = {};
  StringMap labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
  std::optional<int> volume_limit;  // of the one CSI driver
};

struct Queue {
  std::string name;
  int weight = 1, priority = 0, created = 0;
  bool open = true;
  Amounts guarantee = {};
  std::array<std::optional<double>, 4> capability;
};

struct Group {
  std::string space = "default", name, queue, phase = "Pending";
  int incarnation = 0;
  int min_member = 1, priority = 0, created = 0;
  std::map<std::string, int> role_minimums;
  std::optional<Amounts> min_resources;
};

struct Namespace {
  std::string name;
  StringMap labels;
};
// Selects the pods of its namespace whose label app has this value.
struct Service {
  std::string space, name, app;
};
// One with a volume is bound to it. Others wait for their first consumer; their class provisions in
// these zones (none: anywhere). A volume with `zones` can be reached from nodes there.
struct Claim {
  std::string space, name;
  bool bound = true;
  std::vector<std::string> zones;
  std::string zone_label;  // of the volume
};

struct Cluster {
  std::vector<Namespace> namespaces;
  std::vector<Service> services;
  std::vector<Claim> claims;
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
