#include "pkg/sim/openb_trace.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "pkg/util/status_macros.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

// Rows of a CSV file without quoting (the trace has none), addressed by column name.
class Table {
 public:
  static absl::StatusOr<Table> Parse(absl::string_view text, absl::string_view file,
                                     const std::vector<absl::string_view>& needed) {
    Table table;
    table.file_ = std::string(file);
    size_t number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      absl::ConsumeSuffix(&line, "\r");
      if (line.empty()) continue;
      std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
      if (table.columns_.empty()) {
        for (size_t i = 0; i < fields.size(); ++i) table.columns_[std::string(fields[i])] = i;
        for (absl::string_view name : needed) {
          if (!table.columns_.contains(std::string(name))) {
            return absl::InvalidArgumentError(
                absl::StrCat(file, ": row ", number, ": column ", name, ": missing"));
          }
        }
        continue;
      }
      table.rows_.push_back({number, std::move(fields)});
    }
    if (table.columns_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ": row 1: no header line"));
    }
    return table;
  }

  size_t size() const { return rows_.size(); }

  absl::StatusOr<absl::string_view> Text(size_t row, absl::string_view column) const {
    const size_t i = columns_.at(std::string(column));
    if (i >= rows_[row].fields.size()) return Error(row, column, "missing");
    return rows_[row].fields[i];
  }
  absl::StatusOr<std::string> Name(size_t row, absl::string_view column) const {
    HEKLA_ASSIGN_OR_RETURN(absl::string_view text, Text(row, column));
    if (text.empty()) return Error(row, column, "must not be empty");
    return std::string(text);
  }
  absl::StatusOr<int64_t> Number(size_t row, absl::string_view column) const {
    HEKLA_ASSIGN_OR_RETURN(absl::string_view text, Text(row, column));
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value) || value < 0) {
      return Error(row, column, absl::StrCat("\"", text, "\" is no whole number of zero or more"));
    }
    return value;
  }

 private:
  struct Row {
    size_t number;
    std::vector<absl::string_view> fields;
  };

  absl::Status Error(size_t row, absl::string_view column, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": row ", rows_[row].number, ": column ", column, ": ", what));
  }

  std::string file_;
  absl::flat_hash_map<std::string, size_t> columns_;
  std::vector<Row> rows_;
};

absl::StatusOr<TracePod> ReadPod(const Table& table, size_t row, bool forever) {
  TracePod pod;
  HEKLA_ASSIGN_OR_RETURN(pod.name, table.Name(row, "name"));
  HEKLA_ASSIGN_OR_RETURN(pod.cpu_milli, table.Number(row, "cpu_milli"));
  HEKLA_ASSIGN_OR_RETURN(pod.memory_mib, table.Number(row, "memory_mib"));
  HEKLA_ASSIGN_OR_RETURN(pod.num_gpu, table.Number(row, "num_gpu"));
  HEKLA_ASSIGN_OR_RETURN(pod.gpu_milli, table.Number(row, "gpu_milli"));
  HEKLA_ASSIGN_OR_RETURN(pod.creation_second, table.Number(row, "creation_time"));
  HEKLA_ASSIGN_OR_RETURN(absl::string_view models, table.Text(row, "gpu_spec"));
  pod.models = absl::StrSplit(models, '|', absl::SkipEmpty());
  HEKLA_ASSIGN_OR_RETURN(absl::string_view deleted, table.Text(row, "deletion_time"));
  HEKLA_ASSIGN_OR_RETURN(absl::string_view scheduled, table.Text(row, "scheduled_time"));
  if (!deleted.empty() && !scheduled.empty()) {
    HEKLA_ASSIGN_OR_RETURN(const int64_t end, table.Number(row, "deletion_time"));
    HEKLA_ASSIGN_OR_RETURN(const int64_t start, table.Number(row, "scheduled_time"));
    if (!forever) pod.run_seconds = std::max<int64_t>(0, end - start);
  }
  return pod;
}

}  // namespace

absl::StatusOr<std::vector<TraceNode>> ParseOpenbNodes(absl::string_view text,
                                                       absl::string_view file) {
  HEKLA_ASSIGN_OR_RETURN(
      const Table table,
      Table::Parse(text, file, {"sn", "cpu_milli", "memory_mib", "gpu", "model"}));
  std::vector<TraceNode> nodes;
  for (size_t row = 0; row < table.size(); ++row) {
    TraceNode node;
    HEKLA_ASSIGN_OR_RETURN(node.name, table.Name(row, "sn"));
    HEKLA_ASSIGN_OR_RETURN(node.cpu_milli, table.Number(row, "cpu_milli"));
    HEKLA_ASSIGN_OR_RETURN(node.memory_mib, table.Number(row, "memory_mib"));
    HEKLA_ASSIGN_OR_RETURN(node.gpus, table.Number(row, "gpu"));
    HEKLA_ASSIGN_OR_RETURN(absl::string_view model, table.Text(row, "model"));
    node.model = std::string(model);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

absl::StatusOr<std::vector<TracePod>> ParseOpenbPods(absl::string_view text, absl::string_view file,
                                                     bool forever) {
  HEKLA_ASSIGN_OR_RETURN(
      const Table table,
      Table::Parse(text, file,
                   {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec",
                    "creation_time", "deletion_time", "scheduled_time"}));
  std::vector<TracePod> pods;
  for (size_t row = 0; row < table.size(); ++row) {
    HEKLA_ASSIGN_OR_RETURN(TracePod pod, ReadPod(table, row, forever));
    pods.push_back(std::move(pod));
  }
  std::stable_sort(pods.begin(), pods.end(), [](const TracePod& a, const TracePod& b) {
    return a.creation_second < b.creation_second;
  });
  return pods;
}

void CompressArrivals(std::vector<TracePod>& pods, int scale) {
  for (TracePod& pod : pods) pod.creation_second /= scale;
}

Value ToObject(const TraceNode& node, absl::Time created) {
  Value amounts = Value::MakeObject({{"cpu", absl::StrCat(node.cpu_milli, "m")},
                                     {"memory", absl::StrCat(node.memory_mib, "Mi")},
                                     {"pods", "110"}});
  if (node.gpus > 0) amounts.Set(kOpenbGpuResource, absl::StrCat(node.gpus * 1000));
  Value object = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}});
  Value& metadata = object["metadata"];
  metadata.Set("name", node.name);
  metadata.Set("creationTimestamp",
               absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", created, absl::UTCTimeZone()));
  metadata["labels"].Set("kubernetes.io/hostname", node.name);
  if (!node.model.empty()) metadata["labels"].Set(kOpenbModelLabel, node.model);
  object["spec"] = Value::MakeObject();
  object["status"].Set("capacity", amounts);
  object["status"].Set("allocatable", std::move(amounts));
  object["status"]["conditions"].Append(Value::MakeObject({{"type", "Ready"}, {"status", "True"}}));
  return object;
}

Value ToObject(const TracePod& pod, absl::Time created) {
  Value object = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
  Value& metadata = object["metadata"];
  metadata.Set("name", pod.name);
  metadata.Set("namespace", "default");
  metadata.Set("creationTimestamp",
               absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", created, absl::UTCTimeZone()));
  if (pod.run_seconds >= 0) {
    metadata["annotations"].Set("hekla.dev/run-seconds", absl::StrCat(pod.run_seconds));
  }
  Value& spec = object["spec"];
  spec.Set("schedulerName", "volcano");
  spec.Set("restartPolicy", "Never");
  if (!pod.models.empty()) {
    Value values = Value::MakeArray();
    for (const std::string& model : pod.models) values.Append(model);
    Value term = Value::MakeObject();
    term["matchExpressions"].Append(Value::MakeObject(
        {{"key", kOpenbModelLabel}, {"operator", "In"}, {"values", std::move(values)}}));
    spec.Ensure({"affinity", "nodeAffinity",
                 "requiredDuringSchedulingIgnoredDuringExecution"})["nodeSelectorTerms"]
        .Append(std::move(term));
  }
  Value requests = Value::MakeObject(
      {{"cpu", absl::StrCat(pod.cpu_milli, "m")}, {"memory", absl::StrCat(pod.memory_mib, "Mi")}});
  const int64_t gpu_milli = pod.num_gpu * pod.gpu_milli;
  Value resources = Value::MakeObject();
  if (gpu_milli > 0) {
    requests.Set(kOpenbGpuResource, absl::StrCat(gpu_milli));
    resources["limits"].Set(kOpenbGpuResource, absl::StrCat(gpu_milli));
  }
  resources.Set("requests", std::move(requests));
  spec["containers"].Append(Value::MakeObject(
      {{"name", "main"}, {"image", "openb/workload:1"}, {"resources", std::move(resources)}}));
  return object;
}

}  // namespace hekla::sim
