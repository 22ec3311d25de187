#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/printing/table.h"

namespace hekla::apiserver::printing::internal {

// The column tables as text:
//
//   text <id> <a description that several columns share>
//   kind <group or -> <Kind>
//   <name>|<type>|<format>|<priority>|<description or $id>
//
// A line that begins with two blanks continues the one before it (`  &`: without a blank). `\n` is
// a line break, `\s` one more blank, `\\` a backslash.
extern const char kCoreColumns[];
extern const char kGroupColumns[];

// The columns of all kinds of the tables, by "group/Kind".
const absl::flat_hash_map<std::string, std::vector<Column>>& AllColumns();
// The description of a shared text: "name", "age".
const std::string& SharedText(absl::string_view id);

// The cells of one object: one value per column, in their order.
using CellsFunction = apis::json::Value (*)(const apis::json::Value& object, absl::Time now);
// nullptr for kinds without cells of their own.
CellsFunction FindCells(absl::string_view group, absl::string_view kind);
CellsFunction FindWorkloadCells(absl::string_view group, absl::string_view kind);
CellsFunction FindClusterCells(absl::string_view group, absl::string_view kind);
apis::json::Value PodCells(const apis::json::Value& pod, absl::Time now);

// Shared by the cell functions.
std::string NameOf(const apis::json::Value& object);
std::string Age(const apis::json::Value& object, absl::Time now);
// `text`, or `fallback` where it is empty.
std::string Or(absl::string_view text, absl::string_view fallback);
// The strings of a list, joined.
std::string Join(const apis::json::Value& list, absl::string_view separator = ",");
// "a=1,b=2" in the order of the keys, `<none>` where empty.
std::string Labels(const apis::json::Value& labels);
// A label selector as kubectl prints it: "a=1,b in (x,y),!c"; `<none>` where empty.
std::string Selector(const apis::json::Value& selector);
// Names and images of the containers of a pod spec.
std::string ContainerNames(const apis::json::Value& pod_spec);
std::string ContainerImages(const apis::json::Value& pod_spec);

}  // namespace hekla::apiserver::printing::internal
