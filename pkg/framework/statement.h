#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/model/ids.h"
#include "pkg/model/task_status.h"

// HOT PATH
namespace hekla::framework {

class Session;

enum class OpKind : uint8_t { kAllocate, kPipeline, kEvict };

// One change of one task, as integer facts; enough to reverse it.
struct UndoRecord {
  OpKind op;
  model::TaskStatus old_status;
  bool old_evicted_flag;
  uint8_t eviction_reason;  // index of the session's reason names
  model::TaskId task;
  model::NodeId old_node;
  model::NodeId new_node;
};
static_assert(std::is_trivially_copyable_v<UndoRecord>);

// A list of decisions applied to the session at once, to be committed or discarded later. Several
// may be open at a time and end in any order. A statement that is destroyed without either is an
// error of the caller unless Keep was called (pipelined jobs keep their reservations until the
// session closes). Cost:    each call O(dimensions); Discard O(records). Source:  spec
// scheduler-core section 6, E15.
class Statement {
 public:
  explicit Statement(Session& session) : session_(&session) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  void Allocate(model::TaskId task, model::NodeId node);
  // `evictions`: the room comes from evictions of this statement; the node becomes nominated.
  void Pipeline(model::TaskId task, model::NodeId node, bool evictions);
  void Evict(model::TaskId task, absl::string_view reason);
  // Takes back the newest operation on this task.
  void Undo(model::TaskId task);

  // Sends allocations and evictions out and marks the tasks Binding / Releasing. Pipelined tasks
  // stay.
  void Commit();
  // Reverses everything, newest first, after remembering each task's last transaction.
  void Discard();
  // Leaves everything applied until the session closes, which undoes it.
  void Keep();
  // Appends the other's operations and empties it.
  void Merge(Statement& other);

  using Checkpoint = size_t;
  Checkpoint checkpoint() const { return log_.size(); }
  void RollbackTo(Checkpoint checkpoint);

  bool empty() const { return log_.empty(); }
  bool has_evictions() const;
  // For dry runs: what was done, to be applied again later on any statement (same ids).
  const std::vector<UndoRecord>& operations() const { return log_; }
  void Replay(const std::vector<UndoRecord>& operations);

 private:
  void Do(OpKind op, model::TaskId task, model::NodeId node, uint8_t reason, bool evictions);
  void Reverse(const UndoRecord& record);
  Session* session_;
  std::vector<UndoRecord> log_;
};

}  // namespace hekla::framework
