#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/request.h"
#include "pkg/apiserver/schema/decode.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/views/events.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr size_t kMaxManager = 128;

GroupKind OptionsKind(absl::string_view kind) { return {"meta.k8s.io", std::string(kind)}; }

// All values of a query key.
std::vector<std::string> All(const Call& call, absl::string_view key) {
  std::vector<std::string> out;
  for (const auto& [k, v] : call.target.query) {
    if (k == key) out.push_back(v);
  }
  return out;
}

bool CheckDryRun(const std::vector<std::string>& values, FieldErrors& errors) {
  if (std::any_of(values.begin(), values.end(), [](const auto& v) { return v != "All"; })) {
    Value given = Value::MakeArray();
    for (const std::string& value : values) given.Append(value);
    errors.NotSupported("dryRun", given, {"All"});
  }
  return !values.empty();
}

// As Go quotes a text.
std::string GoEscape(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&out, "\\x%02x", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string AgentName(absl::string_view agent) {
  absl::string_view name = agent.substr(0, agent.find('/'));
  if (name.empty()) name = "unknown";
  return std::string(name.substr(0, kMaxManager));
}

// Kinds of the core group with fields of their own and custom kinds word it in one way, jobs in
// another, all others in a third.
absl::Status UnknownField(const Resource& resource, absl::string_view field) {
  if (resource.group == "batch" && resource.plural == "jobs") {
    return BadRequest(
        absl::StrCat("field label ", apis::json::Quote(field), " not supported for Job"));
  }
  if (resource.is_custom() || resource.view == View::kEventsV1 ||
      (resource.group.empty() && !resource.table->fields().empty())) {
    return BadRequest(absl::StrCat("field label not supported: ", field));
  }
  return BadRequest(absl::StrCat(apis::json::Quote(field),
                                 " is not a known field selector: only \"metadata.name\", "
                                 "\"metadata.namespace\""));
}

bool HasNamespaceField(const Resource& resource) {
  if (resource.namespaced) return true;
  return !resource.is_custom() && resource.plural != "nodes" && resource.plural != "namespaces";
}

absl::Status CheckSelectors(const Call& call, ListParams& out) {
  absl::StatusOr<LabelSelector> labels = LabelSelector::Parse(call.Query("labelSelector"));
  if (!labels.ok()) return BadRequest(labels.status().message());
  out.filter.labels = *std::move(labels);
  absl::StatusOr<FieldSelector> fields = FieldSelector::Parse(call.Query("fieldSelector"));
  if (!fields.ok()) return BadRequest(fields.status().message());
  const std::vector<storage::SelectableField>& known = call.resource->table->fields();
  for (FieldSelector::Requirement r : fields->requirements()) {
    if (r.field == "metadata.name" ||
        (r.field == "metadata.namespace" && HasNamespaceField(*call.resource))) {
      if (r.field == "metadata.name" && r.equal && out.filter.name.empty() && !r.value.empty()) {
        out.filter.name = r.value;
      } else {
        out.filter.meta.push_back(r);
      }
      continue;
    }
    if (call.resource->view == View::kEventsV1) {
      if (absl::StartsWith(r.field, "involvedObject.")) {
        return BadRequest(absl::StrCat("field label not supported: ", r.field));
      }
      r.field = std::string(views::CoreFieldName(r.field));
    }
    if (r.field == "spec.host") r.field = "spec.nodeName";
    const auto it =
        std::find_if(known.begin(), known.end(), [&](const auto& f) { return f.name == r.field; });
    if (it == known.end()) {
      return UnknownField(*call.resource, r.field);
    }
    out.filter.fields.push_back(
        {static_cast<size_t>(it - known.begin()), r.equal, std::move(r.value)});
  }
  return absl::OkStatus();
}

absl::Status CheckListOptions(const ListParams& p) {
  FieldErrors errors;
  constexpr char kMatch[] = "resourceVersionMatch";
  if (p.watch) {
    if (p.send_initial_events.has_value()) {
      if (p.version_match != "NotOlderThan") {
        errors.Forbidden(kMatch,
                         "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
      }
      if (!p.version_match.empty() && p.version_match != "NotOlderThan") {
        errors.NotSupported(kMatch, Value(p.version_match), {"NotOlderThan"});
      }
    } else if (!p.version_match.empty()) {
      errors.Forbidden(kMatch,
                       "resourceVersionMatch is forbidden for watch unless "
                       "sendInitialEvents is provided");
      if (p.version_match != "NotOlderThan") {
        errors.NotSupported(kMatch, Value(p.version_match), {"NotOlderThan"});
      }
    }
    if (!p.continue_token.empty()) {
      errors.Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided");
    }
  } else {
    if (p.send_initial_events.has_value()) {
      errors.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    if (!p.version_match.empty()) {
      if (p.resource_version.empty()) {
        errors.Forbidden(kMatch,
                         "resourceVersionMatch is forbidden unless resourceVersion is provided");
      }
      if (!p.continue_token.empty()) {
        errors.Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided");
      }
      if (p.version_match != "Exact" && p.version_match != "NotOlderThan") {
        errors.NotSupported(kMatch, Value(p.version_match), {"Exact", "NotOlderThan", ""});
      }
      if (p.version_match == "Exact" && p.resource_version == "0") {
        errors.Forbidden(kMatch,
                         "resourceVersionMatch \"exact\" is forbidden for resourceVersion "
                         "\"0\"");
      }
    }
  }
  if (errors.empty()) return absl::OkStatus();
  return Invalid(OptionsKind("ListOptions"), "", errors);
}

}  // namespace

std::optional<bool> Flag(const Call& call, absl::string_view key) {
  if (!call.target.Has(key)) return std::nullopt;
  const absl::string_view text = call.Query(key);
  return text != "0" && !absl::EqualsIgnoreCase(text, "false");
}

std::optional<bool> ParseBool(absl::string_view text) {
  for (absl::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (absl::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

absl::StatusOr<WriteQuery> ReadWriteQuery(const Call& call, absl::string_view kind) {
  WriteQuery out;
  FieldErrors errors;
  out.params.dry_run = CheckDryRun(All(call, "dryRun"), errors);
  const std::string manager(call.Query("fieldManager"));
  out.has_manager = !manager.empty();
  out.params.names_manager = out.has_manager;
  if (manager.size() > kMaxManager) {
    errors.TooLong("fieldManager", static_cast<int>(kMaxManager));
  }
  const auto odd = std::find_if(manager.begin(), manager.end(),
                                [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (odd != manager.end()) {
    errors.InvalidRaw("fieldManager", absl::StrCat("\"", GoEscape(manager), "\""),
                      absl::StrFormat("invalid character U+%04X (at position %d)",
                                      static_cast<unsigned char>(*odd), odd - manager.begin()));
  }
  out.params.field_manager =
      manager.empty() ? AgentName(call.request->headers.Get("User-Agent")) : manager;
  const absl::string_view validation = call.Query("fieldValidation");
  if (validation == "Strict") {
    out.validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    out.validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    errors.NotSupported("fieldValidation", Value(validation), {"", "Ignore", "Strict", "Warn"});
  }
  out.has_force = call.target.Has("force");
  out.force = Flag(call, "force").value_or(false);
  if (!errors.empty()) return Invalid(OptionsKind(kind), "", errors);
  out.params.subresource = call.subresource;
  return out;
}

absl::StatusOr<DeleteParams> ReadDeleteParams(const Call& call) {
  HEKLA_ASSIGN_OR_RETURN(Value options, DecodeDeleteOptions(*call.request));
  DeleteParams out;
  std::vector<std::string> dry_run;
  std::optional<bool> orphan;
  if (call.request->body.empty()) {
    int64_t seconds;
    const absl::string_view grace = call.Query("gracePeriodSeconds");
    if (!grace.empty()) {
      if (!absl::SimpleAtoi(grace, &seconds)) {
        return BadRequest(absl::StrCat("strconv.ParseInt: parsing ", apis::json::Quote(grace),
                                       ": invalid syntax"));
      }
      out.grace_seconds = seconds;
    }
    out.propagation = std::string(call.Query("propagationPolicy"));
    orphan = Flag(call, "orphanDependents");
    dry_run = All(call, "dryRun");
  } else {
    if (options.At("gracePeriodSeconds").is_int()) {
      out.grace_seconds = options.GetInt("gracePeriodSeconds");
    }
    out.propagation = std::string(options.GetString("propagationPolicy"));
    if (options.At("orphanDependents").is_bool()) orphan = options.GetBool("orphanDependents");
    const Value& preconditions = options.At("preconditions");
    out.uid = std::string(preconditions.GetString("uid"));
    out.resource_version = std::string(preconditions.GetString("resourceVersion"));
    if (const Value& list = options.At("dryRun"); list.is_array()) {
      for (const Value& item : list.as_array()) {
        if (item.is_string()) dry_run.push_back(item.as_string());
      }
    }
  }
  FieldErrors errors;
  if (orphan.has_value() && !out.propagation.empty()) {
    errors.Invalid("propagationPolicy", Value(out.propagation),
                   "orphanDependents and deletionPropagation cannot be both set");
  }
  if (!out.propagation.empty() && out.propagation != "Foreground" &&
      out.propagation != "Background" && out.propagation != "Orphan") {
    errors.NotSupported("propagationPolicy", Value(out.propagation),
                        {"Foreground", "Background", "Orphan", "nil"});
  }
  out.dry_run = CheckDryRun(dry_run, errors);
  if (!errors.empty()) return Invalid(OptionsKind("DeleteOptions"), "", errors);
  if (orphan.has_value()) out.propagation = *orphan ? "Orphan" : "Background";
  return out;
}

absl::StatusOr<ListParams> ReadListParams(const Call& call) {
  ListParams out;
  out.filter.ns = call.ns;
  out.filter.name = call.name;
  HEKLA_RETURN_IF_ERROR(CheckSelectors(call, out));
  out.watch = Flag(call, "watch").value_or(false);
  out.bookmarks = Flag(call, "allowWatchBookmarks").value_or(false);
  out.send_initial_events = Flag(call, "sendInitialEvents");
  out.resource_version = std::string(call.Query("resourceVersion"));
  out.version_match = std::string(call.Query("resourceVersionMatch"));
  out.continue_token = std::string(call.Query("continue"));
  for (const char* key : {"limit", "timeoutSeconds"}) {
    const absl::string_view text = call.Query(key);
    int64_t number = 0;
    if (!call.target.Has(key)) continue;
    if (!absl::SimpleAtoi(text, &number)) {
      const absl::string_view digits = absl::StripPrefix(text, "-");
      const bool is_number =
          !digits.empty() &&
          std::all_of(digits.begin(), digits.end(), [](char c) { return absl::ascii_isdigit(c); });
      return BadRequest(absl::StrCat("strconv.ParseInt: parsing ", apis::json::Quote(text),
                                     is_number ? ": value out of range" : ": invalid syntax"));
    }
    if (key == absl::string_view("limit")) {
      out.limit = std::max<int64_t>(0, number);
    } else {
      out.timeout_seconds = number;
    }
  }
  HEKLA_RETURN_IF_ERROR(CheckListOptions(out));
  return out;
}

}  // namespace hekla::apiserver
