#pragma once

#include "absl/types/span.h"
#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::framework {

// Puts tasks into the order of the plugins; among equals those whose names end in an index
// ("a-b-7") follow the index, in the places that age gives them among the others. Of two tasks the
// one comes first that Session::TaskBefore puts first. That comparison alone is no order: by index
// 7 comes before 9, while a task without index may be younger than 9 and older than 7. Source: spec
// scheduler-core 7.1, E12.
void SortTasks(Session& session, absl::Span<model::TaskId> tasks);

}  // namespace hekla::framework
