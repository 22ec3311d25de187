#include "pkg/kube/informer.h"

#include "absl/strings/str_cat.h"

namespace hekla::kube {

std::string KeyOf(const apis::json::Value& object) {
  const apis::json::Value& metadata = object.At("metadata");
  const absl::string_view ns = metadata.GetString("namespace");
  const absl::string_view name = metadata.GetString("name");
  return ns.empty() ? std::string(name) : absl::StrCat(ns, "/", name);
}

}  // namespace hekla::kube
