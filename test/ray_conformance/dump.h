#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/server.h"
#include "test/ray_conformance/names.h"

namespace hekla::ray_conformance {

// A kind as recordings name it.
struct Kind {
  absl::string_view key;  // "pods"
  absl::string_view api_version;
  absl::string_view kind;
  absl::string_view plural;
};
// The kinds of children.
const std::vector<Kind>& Kinds();
// nullptr where recordings know no such kind.
const Kind* FindKind(absl::string_view key);
// "/apis/batch/v1/namespaces/NS/jobs".
std::string CollectionPath(const Kind& kind, absl::string_view ns);

// What is there after a step, in the form of the recordings.
struct Dump {
  apis::json::Value objects;
  std::vector<std::string> created;  // in the order of resourceVersions
  std::vector<std::string> deleted;
  apis::json::Value raycluster;
  apis::json::Value status;
  apis::json::Value events;
};

// Takes dumps of one namespace, one after each step.
class Dumper {
 public:
  Dumper(apiserver::ApiServer& server, std::string ns, std::string cluster, Names& names)
      : server_(server), ns_(std::move(ns)), cluster_(std::move(cluster)), names_(names) {}
  Dump Take();

 private:
  void DumpKind(const Kind& kind, Dump& out, std::map<std::string, int64_t>& present);
  void DumpCluster(Dump& out);
  void DumpEvents(Dump& out);

  apiserver::ApiServer& server_;
  const std::string ns_;
  const std::string cluster_;
  Names& names_;
  std::map<std::string, std::string> uids_;     // "kind/name" -> uid, of the dump before
  std::map<std::string, int64_t> event_count_;  // by name, of the dump before
};

}  // namespace hekla::ray_conformance
