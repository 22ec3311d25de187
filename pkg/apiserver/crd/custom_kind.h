#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/crd/structural.h"
#include "pkg/apiserver/printing/table.h"
#include "pkg/apiserver/status/field_errors.h"
#include "pkg/apiserver/storage/object.h"

namespace hekla::apiserver::crd {

struct ScalePaths {
  std::vector<std::string> spec_replicas;  // member names
  std::vector<std::string> status_replicas;
  std::vector<std::string> label_selector;  // empty: none
};

// One served version of a custom kind, compiled from its CustomResourceDefinition.
// Threads: immutable.
class CustomKind {
 public:
  // `version` is one item of spec.versions of a CRD that has passed ValidateDefinition.
  static std::shared_ptr<const CustomKind> Compile(const apis::json::Value& version);

  const Structural& schema() const { return schema_; }
  // The version's openAPIV3Schema as written.
  const apis::json::Value& openapi() const { return openapi_; }
  const printing::Printer& printer() const { return *printer_; }
  bool has_status() const { return has_status_; }
  const std::optional<ScalePaths>& scale() const { return scale_; }
  const std::vector<storage::SelectableField>& selectable_fields() const { return selectable_; }
  // Text of the deprecation warning; "" where the version is not deprecated.
  const std::string& deprecation_warning() const { return deprecation_; }

 private:
  apis::json::Value openapi_;
  Structural schema_;
  std::unique_ptr<printing::Printer> printer_;
  bool has_status_ = false;
  std::optional<ScalePaths> scale_;
  std::vector<storage::SelectableField> selectable_;
  std::string deprecation_;
};

// Fills in what a CustomResourceDefinition leaves out (singular, listKind, conversion).
void SetDefinitionDefaults(apis::json::Value& crd);
// What is wrong with a definition.
void ValidateDefinition(const apis::json::Value& crd, FieldErrors& errors);

}  // namespace hekla::apiserver::crd
