#pragma once

#include <vector>

#include "pkg/ports/decision_sink.h"

namespace hekla::harness {

// Keeps every decision in the order in which it was made.
class RecordingSink final : public ports::DecisionSink {
 public:
  void Bind(std::vector<ports::BindRequest> batch) override {
    for (auto& request : batch) binds.push_back(std::move(request));
  }
  void Evict(std::vector<ports::EvictRequest> batch) override {
    for (auto& request : batch) evictions.push_back(std::move(request));
  }
  void WritePodGroup(ports::PodGroupStatus status) override {
    pod_groups.push_back(std::move(status));
  }
  void WriteQueue(ports::QueueStatus status) override { queues.push_back(std::move(status)); }
  void WritePodCondition(ports::PodConditionWrite write) override {
    events.push_back({ports::EventWrite::Object::kPod, write.namespace_name, write.name, write.uid,
                      /*warning=*/true, "FailedScheduling", write.message});
    pod_conditions.push_back(std::move(write));
  }
  void Emit(ports::EventWrite event) override { events.push_back(std::move(event)); }
  void RemoveGate(ports::GateRemoval removal) override { gates.push_back(std::move(removal)); }

  // Everything recorded so far.
  size_t writes() const {
    return binds.size() + evictions.size() + pod_groups.size() + queues.size() +
           pod_conditions.size() + events.size() + gates.size();
  }

  std::vector<ports::BindRequest> binds;
  std::vector<ports::EvictRequest> evictions;
  std::vector<ports::PodGroupStatus> pod_groups;
  std::vector<ports::QueueStatus> queues;
  std::vector<ports::PodConditionWrite> pod_conditions;
  std::vector<ports::EventWrite> events;
  std::vector<ports::GateRemoval> gates;
};

}  // namespace hekla::harness
