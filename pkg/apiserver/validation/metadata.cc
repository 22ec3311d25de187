#include "pkg/apiserver/validation/metadata.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hekla::apiserver::validation {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr size_t kMaxAnnotationBytes = 256 << 10;

// Finalizers without a domain that Kubernetes itself defines.
constexpr absl::string_view kStandardFinalizers[] = {"kubernetes", "orphan", "foregroundDeletion"};

void InvalidEach(absl::string_view path, const Value& value,
                 const std::vector<std::string>& problems, FieldErrors& errors) {
  for (const std::string& p : problems) errors.Invalid(path, value, p);
}

void ValidateAnnotations(const Value& annotations, FieldErrors& errors) {
  if (!annotations.is_object()) return;
  size_t bytes = 0;
  for (const Member& m : annotations.as_object()) {
    InvalidEach("metadata.annotations", Value(m.key),
                QualifiedNameProblems(absl::AsciiStrToLower(m.key)), errors);
    bytes += m.key.size() + (m.value.is_string() ? m.value.as_string().size() : 0);
  }
  if (bytes > kMaxAnnotationBytes) {
    errors.TooLong("metadata.annotations", static_cast<int>(kMaxAnnotationBytes));
  }
}

void ValidateOwners(const Value& owners, FieldErrors& errors) {
  constexpr char kPath[] = "metadata.ownerReferences";
  if (!owners.is_array()) return;
  std::string controller;
  for (const Value& owner : owners.as_array()) {
    const absl::string_view api_version = owner.GetString("apiVersion");
    if (api_version.empty() || std::count(api_version.begin(), api_version.end(), '/') > 1) {
      errors.Invalid(Child(kPath, "apiVersion"), Value(api_version), "version must not be empty");
    }
    for (const char* name : {"kind", "name", "uid"}) {
      if (owner.GetString(name).empty()) {
        errors.Invalid(Child(kPath, name), Value(""), "must not be empty");
      }
    }
    if (owner.GetString("kind") == "Event" &&
        (api_version == "v1" || api_version == "events.k8s.io/v1")) {
      errors.Invalid(kPath, owner,
                     absl::StrCat(api_version == "v1" ? "/" : "", api_version,
                                  ", Kind=Event is disallowed from being an owner"));
    }
    if (!owner.GetBool("controller")) continue;
    const std::string name = absl::StrCat(owner.GetString("kind"), "/", owner.GetString("name"));
    if (!controller.empty()) {
      errors.Invalid(kPath, owners,
                     absl::StrCat("Only one reference can have Controller set to true. Found "
                                  "\"true\" in references for ",
                                  controller, " and ", name));
    }
    controller = name;
  }
}

void ValidateFinalizers(const Value& finalizers, bool strict, FieldErrors& errors) {
  if (!finalizers.is_array()) return;
  bool orphan = false;
  bool foreground = false;
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const Value& value = finalizers.as_array()[i];
    const std::string& name = value.as_string();
    orphan |= name == "orphan";
    foreground |= name == "foregroundDeletion";
    InvalidEach("metadata.finalizers", value, QualifiedNameProblems(name), errors);
    if (strict && !absl::StrContains(name, '/') &&
        std::find(std::begin(kStandardFinalizers), std::end(kStandardFinalizers), name) ==
            std::end(kStandardFinalizers)) {
      errors.Invalid(Index("metadata.finalizers", i), value,
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  if (orphan && foreground) {
    errors.Invalid("metadata.finalizers", finalizers,
                   "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

}  // namespace

void ValidateLabels(const Value& labels, absl::string_view path, FieldErrors& errors) {
  if (!labels.is_object()) return;
  for (const Member& m : labels.as_object()) {
    InvalidEach(path, Value(m.key), QualifiedNameProblems(m.key), errors);
    if (m.value.is_string()) {
      InvalidEach(path, m.value, LabelValueProblems(m.value.as_string()), errors);
    }
  }
}

void ValidateMetadata(const Value& metadata, const MetadataRules& rules, FieldErrors& errors) {
  std::string generate(metadata.GetString("generateName"));
  if (!generate.empty()) {
    // A trailing dash becomes valid once the suffix is there.
    std::string masked = generate;
    if (masked.size() > 1 && masked.back() == '-') masked.back() = 'a';
    InvalidEach("metadata.generateName", Value(generate), NameProblems(rules.name, masked), errors);
  }
  const absl::string_view name = metadata.GetString("name");
  if (name.empty()) {
    errors.Required("metadata.name", "name or generateName is required");
  } else {
    InvalidEach("metadata.name", Value(name), NameProblems(rules.name, name), errors);
  }
  const absl::string_view ns = metadata.GetString("namespace");
  if (rules.namespaced) {
    if (ns.empty()) {
      errors.Required("metadata.namespace");
    } else {
      InvalidEach("metadata.namespace", Value(ns), DnsLabelProblems(ns), errors);
    }
  } else if (!ns.empty()) {
    errors.Forbidden("metadata.namespace", "not allowed on this type");
  }
  ValidateLabels(metadata.At("labels"), "metadata.labels", errors);
  ValidateAnnotations(metadata.At("annotations"), errors);
  ValidateOwners(metadata.At("ownerReferences"), errors);
  ValidateFinalizers(metadata.At("finalizers"), rules.strict_finalizers, errors);
}

void ValidateMetadataUpdate(const Value& metadata, const Value& old, FieldErrors& errors) {
  const Value& finalizers = metadata.At("finalizers");
  if (old.Has("deletionTimestamp") && finalizers.is_array()) {
    std::vector<std::string> added;
    const Value& before = old.At("finalizers");
    for (const Value& f : finalizers.as_array()) {
      const bool known =
          before.is_array() && std::find(before.as_array().begin(), before.as_array().end(), f) !=
                                   before.as_array().end();
      if (!known) added.push_back(apis::json::Dump(f));
    }
    if (!added.empty()) {
      errors.Forbidden("metadata.finalizers",
                       absl::StrCat("no new finalizers can be added if the object is being "
                                    "deleted, found new finalizers []string{",
                                    absl::StrJoin(added, ", "), "}"));
    }
  }
  for (const char* name : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                           "deletionGracePeriodSeconds"}) {
    if (metadata.At(name) != old.At(name)) {
      errors.Invalid(Child("metadata", name), metadata.At(name), "field is immutable");
    }
  }
}

}  // namespace hekla::apiserver::validation
