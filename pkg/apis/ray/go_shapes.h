#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Order, kind and presence of the members of the typed structs behind a RayCluster's spec, for
// go_form. Only what a RayCluster reaches.
namespace hekla::apis::ray {

struct GoStruct;

struct GoField {
  enum class Kind : uint8_t {
    kScalar,         // left out when empty, 0 or false
    kPointer,        // any value; left out when absent
    kText,           // always there, "" when absent
    kNumber,         // always there, 0 when absent
    kQuantity,       // written in canonical form
    kMap,            // of strings, keys sorted
    kResources,      // map of quantities, keys sorted
    kScalars,        // list
    kStruct,         // always there
    kStructPointer,  // left out when absent
    kStructs,        // list
  };
  std::string name;
  Kind kind = Kind::kScalar;
  bool always = false;  // there even when empty
  std::string type_name;
  const GoStruct* type = nullptr;
};

struct GoStruct {
  std::vector<GoField> fields;
};

// Immutable after construction. Threads: safe.
class GoShapes {
 public:
  static const GoShapes& Get();
  // nullptr where there is none of that name.
  const GoStruct* Find(absl::string_view name) const;

 private:
  GoShapes();
  std::map<std::string, GoStruct> structs_;
};

}  // namespace hekla::apis::ray
