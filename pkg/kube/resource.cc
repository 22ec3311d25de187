#include "pkg/kube/resource.h"

#include "absl/strings/str_cat.h"

namespace hekla::kube {

std::string Resource::api_version() const {
  return group.empty() ? version : absl::StrCat(group, "/", version);
}

std::string Resource::qualified_name() const {
  return group.empty() ? plural : absl::StrCat(plural, ".", group);
}

std::string Resource::CollectionPath(absl::string_view ns) const {
  std::string path =
      group.empty() ? absl::StrCat("/api/", version) : absl::StrCat("/apis/", group, "/", version);
  if (namespaced && !ns.empty()) absl::StrAppend(&path, "/namespaces/", ns);
  return absl::StrCat(path, "/", plural);
}

std::string Resource::ObjectPath(absl::string_view ns, absl::string_view name,
                                 absl::string_view subresource) const {
  std::string path = absl::StrCat(CollectionPath(ns), "/", name);
  if (!subresource.empty()) absl::StrAppend(&path, "/", subresource);
  return path;
}

absl::Status CheckPathSegment(absl::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError("name may not be empty");
  if (name == "." || name == "..") {
    return absl::InvalidArgumentError(absl::StrCat("name may not be '", name, "'"));
  }
  for (const char bad : {'/', '%'}) {
    if (name.find(bad) != name.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("name \"", name, "\" may not contain '", std::string(1, bad), "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace hekla::kube
