#pragma once

#include <functional>
#include <vector>

#include "pkg/apis/meta/selector.h"
#include "pkg/controller/event.h"

// Filters between a watch and the queue.
// Source: spec kube-machinery 2.5.
namespace hekla::controller {

// Whether the news matters.
using Predicate = std::function<bool(const Event&)>;

// These look at updates only and let everything else pass.
Predicate ResourceVersionChanged();
// metadata.generation differs: drops changes of the status alone where the kind has a status
// subresource.
Predicate GenerationChanged();
Predicate LabelChanged();
Predicate AnnotationChanged();

// The (new) object's labels match, for every type of event.
Predicate LabelsMatch(std::vector<apis::meta::Requirement> requirements);

// Of no predicates: And passes, Or does not.
Predicate And(std::vector<Predicate> all);
Predicate Or(std::vector<Predicate> any);
Predicate Not(Predicate inner);

}  // namespace hekla::controller
