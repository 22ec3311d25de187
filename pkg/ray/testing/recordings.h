#pragma once

#include <string>
#include <vector>

#include "pkg/apis/json/value.h"

namespace hekla::ray::testing {

// One recorded case: a manifest, steps, and after each step what was stored. The recordings lie
// beside the repository, in ../shared/cases/raycluster (HEKLA_SHARED replaces ../shared).
class Recording {
 public:
  explicit Recording(apis::json::Value raw) : raw_(std::move(raw)) {}

  std::string name() const { return std::string(raw_.GetString("name")); }
  std::string ns() const { return std::string(raw_.GetString("namespace")); }
  const apis::json::Value& raw() const { return raw_; }
  const apis::json::Value& steps() const { return raw_.At("steps"); }
  // The RayCluster as it was stored after a step (counted from 0): null where there was none.
  // Its status has made-up times.
  apis::json::Value ClusterAt(size_t step) const;
  // The objects of one kind (pods, services, ...) after a step, by name; null without any.
  apis::json::Value ObjectsAt(size_t step, const std::string& kind) const;
  // Whether `flag` is among the operator's flags.
  bool HasFlag(const std::string& text) const;
  // Whether a gate was switched: `fallback` where not mentioned.
  bool Gate(const std::string& gate, bool fallback) const;
  // An environment variable of the operator; "" where not set.
  std::string Env(const std::string& name) const;

 private:
  apis::json::Value raw_;
};

// All cases sorted by name. Empty, with a notice on stdout, where the recordings are absent.
std::vector<Recording> LoadRecordings();
// A file beside the recordings, as text; "" where absent.
std::string ReadShared(const std::string& path);

}  // namespace hekla::ray::testing
