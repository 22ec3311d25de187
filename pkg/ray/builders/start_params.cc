#include "pkg/ray/builders/start_params.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/ray/well_known.h"

namespace hekla::ray::builders {

using apis::json::Member;
using apis::json::Value;
using apis::meta::Quantity;
using apis::meta::StringMap;

namespace {

using Amounts = std::map<std::string, double>;

std::optional<Quantity> ParseAmount(const Value& amount) {
  if (amount.is_null()) return std::nullopt;
  auto parsed = Quantity::Parse(amount.is_string() ? amount.as_string() : apis::json::Dump(amount));
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

// As Go's encoding/json writes a float64: shortest digits, no exponent between 1e-6 and 1e21.
std::string FloatText(double v) {
  char buffer[64];
  const double size = std::fabs(v);
  const bool fixed = v == 0 || (size >= 1e-6 && size < 1e21);
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), v,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  // Exponents of one digit lose their zero: 1e-07 -> 1e-7.
  const size_t n = text.size();
  if (!fixed && n > 3 && text[n - 4] == 'e' && text[n - 3] == '-' && text[n - 2] == '0') {
    text.erase(n - 2, 1);
  }
  return text;
}

std::string QuotedAmounts(const Amounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : amounts) {
    parts.push_back(absl::StrCat(apis::json::Quote(name), ":", FloatText(amount)));
  }
  return absl::StrCat("'{", absl::StrJoin(parts, ","), "}'");
}

// The given `resources` parameter; nothing where it is no JSON object of numbers.
std::optional<Amounts> GivenAmounts(const StringMap& params) {
  const std::string* given = params.Find("resources");
  if (given == nullptr) return Amounts();
  absl::string_view text = *given;
  const auto trimmed = [](char c) { return c == '\'' || c == '"' || c == '`' || c == ' '; };
  while (!text.empty() && trimmed(text.front())) text.remove_prefix(1);
  while (!text.empty() && trimmed(text.back())) text.remove_suffix(1);
  const auto parsed = apis::json::Parse(text);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  Amounts out;
  for (const Member& m : parsed->as_object()) {
    if (!m.value.is_number()) return std::nullopt;
    out[m.key] = m.value.as_double();
  }
  return out;
}

// What Ray calls an accelerator that Kubernetes knows under another name; "" for others.
absl::string_view AcceleratorName(absl::string_view resource) {
  if (resource == "aws.amazon.com/neuroncore") return "neuron_cores";
  if (resource == "google.com/tpu") return "TPU";
  return "";
}

void SetIfAbsent(absl::string_view key, absl::string_view value, StringMap& params) {
  if (!params.Has(key)) params.Set(key, value);
}

void ApplyCommonDefaults(StringMap& params) {
  SetIfAbsent("metrics-export-port", absl::StrCat(apis::ray::kMetricsPort), params);
  SetIfAbsent("dashboard-agent-listen-port", absl::StrCat(apis::ray::kDashboardAgentPort), params);
  params.Set("block", "true");
}

void AutofillAccelerators(const Value& limits, StringMap& params) {
  if (limits.size() == 0) return;
  std::optional<Amounts> amounts = GivenAmounts(params);
  if (!amounts) return;  // GPUs are skipped as well
  std::map<std::string, Quantity> sorted;
  for (const Member& m : limits.as_object()) {
    const std::optional<Quantity> amount = ParseAmount(m.value);
    if (amount && !amount->is_zero()) sorted[m.key] = *amount;
  }
  bool accelerator = amounts->count("neuron_cores") > 0 || amounts->count("TPU") > 0;
  for (const auto& [name, amount] : sorted) {
    if (IsGpuResource(name)) SetIfAbsent("num-gpus", absl::StrCat(amount.Value()), params);
    const absl::string_view ray_name = AcceleratorName(name);
    if (ray_name.empty() || accelerator) continue;
    accelerator = true;
    (*amounts)[std::string(ray_name)] = amount.AsDouble();
    params.Set("resources", QuotedAmounts(*amounts));
  }
}

}  // namespace

bool IsGpuResource(absl::string_view name) {
  if (absl::EndsWith(name, "gpu")) return true;
  // nvidia.com/mig-<digits>g.<digits>gb at the end.
  constexpr absl::string_view kMig = "nvidia.com/mig-";
  const size_t at = name.rfind(kMig);
  if (at == absl::string_view::npos) return false;
  absl::string_view rest = name.substr(at + kMig.size());
  const auto digits = [&rest] {
    size_t n = 0;
    while (n < rest.size() && absl::ascii_isdigit(rest[n])) ++n;
    rest.remove_prefix(n);
    return n > 0;
  };
  return digits() && absl::ConsumePrefix(&rest, "g.") && digits() && rest == "gb";
}

void ApplyResourcesAndLabels(const StringMap& resources, const StringMap& labels,
                             StringMap& params) {
  Amounts custom;
  for (const auto& [name, text] : resources) {
    const auto amount = Quantity::Parse(text);
    if (!amount.ok()) continue;
    const std::string lower = absl::AsciiStrToLower(name);
    if (lower == "cpu") {
      params.Set("num-cpus", absl::StrCat(amount->Value()));
    } else if (lower == "memory") {
      params.Set("memory", absl::StrCat(amount->Value()));
    } else if (IsGpuResource(lower)) {
      params.Set("num-gpus", absl::StrCat(amount->Value()));
    } else {
      custom[name] = amount->AsDouble();
    }
  }
  if (!custom.empty()) params.Set("resources", QuotedAmounts(custom));
  if (!labels.empty()) {
    params.Set("labels", absl::StrJoin(labels, ",", [](std::string* out, const auto& entry) {
                 absl::StrAppend(out, entry.first, "=", entry.second);
               }));
  }
}

void ApplyHeadDefaults(StringMap& params) {
  SetIfAbsent("dashboard-host", "0.0.0.0", params);
  ApplyCommonDefaults(params);
}

void ApplyWorkerDefaults(absl::string_view address, StringMap& params) {
  SetIfAbsent("address", address, params);
  ApplyCommonDefaults(params);
}

void AutofillFromContainer(const Value& container, StringMap& params) {
  const Value& limits = container.At("resources").At("limits");
  const Value& requests = container.At("resources").At("requests");
  if (!params.Has("num-cpus")) {
    std::optional<Quantity> cpu = ParseAmount(limits.At("cpu"));
    if (!cpu || cpu->is_zero()) cpu = ParseAmount(requests.At("cpu"));
    if (cpu && !cpu->is_zero()) params.Set("num-cpus", absl::StrCat(cpu->Value()));
  }
  if (!params.Has("memory")) {
    const std::optional<Quantity> memory = ParseAmount(limits.At("memory"));
    if (memory && !memory->is_zero()) params.Set("memory", absl::StrCat(memory->Value()));
  }
  if (limits.is_object()) AutofillAccelerators(limits, params);
}

std::string RayStartCommand(bool head, const StringMap& params) {
  std::string out = head ? "ray start --head " : "ray start ";
  for (const auto& [key, value] : params) {
    const bool always_value =
        key == "log-color" || key == "include-dashboard" || key == "include-log-monitor";
    const std::string lower = absl::AsciiStrToLower(value);
    if (always_value || (lower != "true" && lower != "false")) {
      absl::StrAppend(&out, " --", key, "=", value, " ");
    } else if (lower == "true") {
      absl::StrAppend(&out, " --", key, " ");
    }
  }
  return out;
}

std::string HeadPort(const StringMap& head_params) {
  return std::string(head_params.Get("port", "6379"));
}

int32_t PortParam(const StringMap& params, absl::string_view key, int32_t fallback) {
  int32_t port = 0;
  const std::string* text = params.Find(key);
  return text != nullptr && absl::SimpleAtoi(*text, &port) ? port : fallback;
}

}  // namespace hekla::ray::builders
