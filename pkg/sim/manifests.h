#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::sim {

// One object read from a manifest, with the words that lead a person to it.
struct Manifest {
  apis::json::Value object;
  std::string origin;  // "cluster.yaml: document 3", "cluster.yaml: document 1: items[4]"
};

// Reads manifests: YAML or JSON files with any number of documents, `List` objects, folders (their
// *.yaml, *.yml and *.json files, in order of name, folders below included), "-" for standard
// input. Every object must have apiVersion, kind and metadata.name, each a string. Errors:
// kInvalidArgument naming file, document index (from 1) and field path; kNotFound for a path
//          that does not exist. Nothing is returned when one object is bad.
absl::StatusOr<std::vector<Manifest>> ReadManifests(const std::vector<std::string>& paths);

// As above for text already in memory; `file` is what messages call it.
absl::StatusOr<std::vector<Manifest>> ParseManifests(absl::string_view text,
                                                     absl::string_view file);

// Sorts into the order in which objects must exist: CustomResourceDefinition, Namespace,
// PriorityClass, Queue, storage, Node, PodGroup, everything else, Pod. Objects of one rank keep
// their order.
void SortForLoading(std::vector<Manifest>& manifests);

}  // namespace hekla::sim
