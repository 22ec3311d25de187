#include "pkg/apiserver/printing/table.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apiserver/printing/columns.h"
#include "pkg/apiserver/printing/json_path.h"

namespace hekla::apiserver::printing {
namespace {

using apis::json::Value;

class BuiltIn final : public Printer {
 public:
  BuiltIn(const std::vector<Column>& columns, internal::CellsFunction cells, bool is_pod)
      : columns_(columns), cells_(cells), is_pod_(is_pod) {}
  const std::vector<Column>& columns() const override { return columns_; }
  Value Cells(const Value& object, absl::Time now) const override { return cells_(object, now); }
  Value Conditions(const Value& object) const override {
    if (!is_pod_) return Value();
    const absl::string_view phase = object.At("status").GetString("phase");
    if (phase != "Succeeded" && phase != "Failed") return Value();
    const char* message =
        phase == "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
    return Value::MakeArray({Value::MakeObject(
        {{"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}})});
  }

 private:
  const std::vector<Column>& columns_;
  internal::CellsFunction cells_;
  bool is_pod_;
};

// Kinds without columns of their own: Name and Created At.
class Plain final : public Printer {
 public:
  Plain()
      : columns_{{"Name", "string", "name", internal::SharedText("name"), 0},
                 {"Created At", "date", "", internal::SharedText("age"), 0}} {}
  const std::vector<Column>& columns() const override { return columns_; }
  Value Cells(const Value& object, absl::Time) const override {
    return Value::MakeArray(
        {internal::NameOf(object), object.At("metadata").GetString("creationTimestamp")});
  }

 private:
  std::vector<Column> columns_;
};

class Custom final : public Printer {
 public:
  explicit Custom(const Value& additional) {
    columns_.push_back({"Name", "string", "name", internal::SharedText("name"), 0});
    if (additional.size() == 0) {
      columns_.push_back({"Age", "date", "", internal::SharedText("age"), 0});
      paths_.push_back(JsonPath::Parse(".metadata.creationTimestamp").value());
      return;
    }
    for (const Value& column : additional.as_array()) {
      const absl::string_view path = column.GetString("jsonPath");
      std::string description(column.GetString("description"));
      if (description.empty()) {
        description =
            absl::StrCat("Custom resource definition column (in JSONPath format): ", path);
      }
      columns_.push_back({std::string(column.GetString("name")),
                          std::string(column.GetString("type")),
                          std::string(column.GetString("format")), std::move(description),
                          static_cast<int>(column.GetInt("priority"))});
      // A path that cannot be read was refused with its definition; show nothing.
      paths_.push_back(JsonPath::Parse(path).value_or(JsonPath()));
    }
  }
  const std::vector<Column>& columns() const override { return columns_; }
  Value Cells(const Value& object, absl::Time now) const override {
    Value cells = Value::MakeArray({internal::NameOf(object)});
    for (size_t i = 0; i < paths_.size(); ++i) {
      const auto found = paths_[i].Find(object);
      cells.Append(found.empty() ? Value() : Cell(columns_[i + 1].type, *found[0], now));
    }
    return cells;
  }

 private:
  static Value Cell(absl::string_view type, const Value& value, absl::Time now) {
    if (value.is_null()) return Value();
    if (type == "string") {
      return value.is_string() ? value : Value(apis::json::Dump(value));
    }
    if (type == "integer" && value.is_number()) {
      return value.is_int() ? value : Value(static_cast<int64_t>(value.as_double()));
    }
    if (type == "number" && value.is_number()) return value;
    if (type == "boolean" && value.is_bool()) return value;
    if (type == "date" && value.is_string()) {
      absl::Time time;
      if (!absl::ParseTime(absl::RFC3339_full, value.as_string(), &time, nullptr)) {
        return Value("<invalid>");
      }
      return Value(AgeOf(value.as_string(), now));
    }
    return Value();
  }

  std::vector<Column> columns_;
  std::vector<JsonPath> paths_;
};

Value Definitions(const std::vector<Column>& columns) {
  Value out = Value::MakeArray();
  for (const Column& column : columns) {
    out.Append(Value::MakeObject({{"name", column.name},
                                  {"type", column.type},
                                  {"format", column.format},
                                  {"description", column.description},
                                  {"priority", column.priority}}));
  }
  return out;
}

}  // namespace

Value Printer::Conditions(const Value&) const { return Value(); }

const Printer& BuiltInPrinter(absl::string_view group, absl::string_view kind) {
  using Printers = absl::flat_hash_map<std::string, std::unique_ptr<Printer>>;
  static const Printers* const printers = [] {
    auto* out = new Printers;
    for (const auto& [name, columns] : internal::AllColumns()) {
      const size_t slash = name.rfind('/');
      const absl::string_view whole = name;
      const internal::CellsFunction cells =
          internal::FindCells(whole.substr(0, slash), whole.substr(slash + 1));
      CHECK(cells != nullptr) << name;
      (*out)[name] = std::make_unique<BuiltIn>(columns, cells, name == "/Pod");
    }
    return out;
  }();
  static const Plain* const plain = new Plain;
  const auto it = printers->find(absl::StrCat(group, "/", kind));
  return it == printers->end() ? static_cast<const Printer&>(*plain) : *it->second;
}

std::unique_ptr<Printer> MakeCustomPrinter(const Value& additional_printer_columns) {
  return std::make_unique<Custom>(additional_printer_columns.is_array() ? additional_printer_columns
                                                                        : Value::MakeArray());
}

bool ParseIncludeObject(absl::string_view text, IncludeObject& out) {
  if (text.empty() || text == "Metadata") {
    out = IncludeObject::kMetadata;
  } else if (text == "None") {
    out = IncludeObject::kNone;
  } else if (text == "Object") {
    out = IncludeObject::kObject;
  } else {
    return false;
  }
  return true;
}

Value PartialObjectMetadata(const Value& object, absl::string_view api_version) {
  return Value::MakeObject({{"kind", "PartialObjectMetadata"},
                            {"apiVersion", api_version},
                            {"metadata", object.At("metadata")}});
}

Value MakeTable(const Printer& printer, std::span<const Value* const> objects, Value metadata,
                const TableOptions& options) {
  Value rows = Value::MakeArray();
  rows.as_array().reserve(objects.size());
  for (const Value* object : objects) {
    Value row = Value::MakeObject({{"cells", printer.Cells(*object, options.now)}});
    Value conditions = printer.Conditions(*object);
    if (!conditions.is_null()) row.Set("conditions", std::move(conditions));
    switch (options.include_object) {
      case IncludeObject::kNone:
        row.Set("object", Value());
        break;
      case IncludeObject::kMetadata:
        row.Set("object", PartialObjectMetadata(*object, options.api_version));
        break;
      case IncludeObject::kObject:
        row.Set("object", *object);
        break;
    }
    rows.as_array().push_back(std::move(row));
  }
  return Value::MakeObject(
      {{"kind", "Table"},
       {"apiVersion", options.api_version},
       {"metadata", std::move(metadata)},
       {"columnDefinitions", options.column_definitions ? Definitions(printer.columns()) : Value()},
       {"rows", std::move(rows)}});
}

std::string AgeOf(absl::string_view timestamp, absl::Time now) {
  absl::Time time;
  if (timestamp.empty() || !absl::ParseTime(absl::RFC3339_full, timestamp, &time, nullptr)) {
    return "<unknown>";
  }
  return HumanDuration(now - time);
}

std::string HumanDuration(absl::Duration age) {
  const int64_t seconds = absl::ToInt64Seconds(age);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return absl::StrCat(seconds, "s");
  const auto two = [](int64_t big, const char* unit, int64_t small, const char* small_unit) {
    return small == 0 ? absl::StrCat(big, unit) : absl::StrCat(big, unit, small, small_unit);
  };
  const int64_t minutes = seconds / 60;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return absl::StrCat(minutes, "m");
  const int64_t hours = minutes / 60;
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return absl::StrCat(hours, "h");
  const int64_t days = hours / 24;
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (days < 730) return absl::StrCat(days, "d");
  if (days < 8 * 365) return two(days / 365, "y", days % 365, "d");
  return absl::StrCat(days / 365, "y");
}

}  // namespace hekla::apiserver::printing
