#pragma once

#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"
#include "pkg/apiserver/validation/names.h"

// Rules for metadata that hold for every kind. Source: spec kube-machinery 3.6, 3.7.
namespace hekla::apiserver::validation {

struct MetadataRules {
  bool namespaced = true;
  NameRule name = NameRule::kDnsSubdomain;
  // Built-in kinds want finalizers with a domain; custom ones only warn.
  bool strict_finalizers = true;
};

void ValidateMetadata(const apis::json::Value& metadata, const MetadataRules& rules,
                      FieldErrors& errors);
// What may not change. `metadata` has been given the old values of what clients may leave out.
void ValidateMetadataUpdate(const apis::json::Value& metadata, const apis::json::Value& old,
                            FieldErrors& errors);
// Problems of one set of labels, found at `path`.
void ValidateLabels(const apis::json::Value& labels, absl::string_view path, FieldErrors& errors);

}  // namespace hekla::apiserver::validation
