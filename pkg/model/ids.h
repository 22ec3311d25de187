#pragma once

#include "pkg/util/id.h"

// Typed ids of the dense tables. An id is an index: dense, reused after its row is freed, and never
// a reason for a decision. Order for decisions is "cluster order": creation time, then name.
namespace hekla::model {

using NodeId = util::Id<struct NodeTag>;
using TaskId = util::Id<struct TaskTag>;
using JobId = util::Id<struct JobTag>;
using SubJobId = util::Id<struct SubJobTag>;
using QueueId = util::Id<struct QueueTag>;
using NamespaceId = util::Id<struct NamespaceTag>;
using HyperNodeId = util::Id<struct HyperNodeTag>;
// Tasks of one class are interchangeable for every class-scoped filter and score.
using TaskClassId = util::Id<struct TaskClassTag>;
// An interned string; see SymbolTable.
using Symbol = util::Id<struct SymbolTag>;

}  // namespace hekla::model
