#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "test/reference/model.h"

namespace hekla::reference {

// How many pods with each kind of constraint were bound, and how much happened to clusters: tells
// whether the generator still reaches everything it is there for.
class Coverage {
 public:
  Coverage();
  void Add(const Cluster& cluster, const Decision& decision);
  // Empty: everything was reached.
  std::string Missing() const;
  std::string Text() const;  // one line

 private:
  void AddPod(const Cluster& cluster, const Pod& pod);
  void AddGroup(const Cluster& cluster, const Pod& pod);
  std::map<std::string, int64_t> counts_;
};

}  // namespace hekla::reference
