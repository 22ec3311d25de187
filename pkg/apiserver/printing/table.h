#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

// Server-side printing: `meta.k8s.io/v1 Table`.
// Source: spec kube-machinery 3.5.
namespace hekla::apiserver::printing {

struct Column {
  std::string name;
  std::string type;  // string, integer, number, boolean, date
  std::string format;
  std::string description;
  int priority = 0;
};

// Cells and row conditions of one kind.
class Printer {
 public:
  virtual ~Printer() = default;
  virtual const std::vector<Column>& columns() const = 0;
  // One value per column.
  virtual apis::json::Value Cells(const apis::json::Value& object, absl::Time now) const = 0;
  // A list of row conditions (pods that ended), or null.
  virtual apis::json::Value Conditions(const apis::json::Value& object) const;
};

// The printer of a built-in kind; kinds without columns of their own get Name and Created At, as
// in a real server. Never fails; the printer lives for ever.
const Printer& BuiltInPrinter(absl::string_view group, absl::string_view kind);

// The printer of a custom resource: Name, then the version's additionalPrinterColumns (a list, null
// or absent: one Age column).
std::unique_ptr<Printer> MakeCustomPrinter(const apis::json::Value& additional_printer_columns);

enum class IncludeObject : uint8_t { kMetadata, kNone, kObject };
// From the query parameter `includeObject` ("" = Metadata). Returns false for other values.
bool ParseIncludeObject(absl::string_view text, IncludeObject& out);

struct TableOptions {
  absl::Time now;
  IncludeObject include_object = IncludeObject::kMetadata;
  bool column_definitions = true;              // false for the later events of a watch
  std::string api_version = "meta.k8s.io/v1";  // or meta.k8s.io/v1beta1
};

// `metadata` is the ListMeta of the answer (resourceVersion, continue, remainingItemCount). Full
// objects in rows keep apiVersion and kind as given.
apis::json::Value MakeTable(const Printer& printer,
                            std::span<const apis::json::Value* const> objects,
                            apis::json::Value metadata, const TableOptions& options);

// PartialObjectMetadata of an object, as rows and metadata-only clients get it.
apis::json::Value PartialObjectMetadata(const apis::json::Value& object,
                                        absl::string_view api_version = "meta.k8s.io/v1");

// "5d3h": the age texts of kubectl. `<unknown>` for an empty or unreadable timestamp.
std::string AgeOf(absl::string_view timestamp, absl::Time now);
std::string HumanDuration(absl::Duration age);

}  // namespace hekla::apiserver::printing
