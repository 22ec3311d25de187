#include "pkg/apiserver/codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/negotiate.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/protobuf/protobuf.h"
#include "pkg/apiserver/schema/decode.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/views/events.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr char kBodyTypes[] =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr char kTypeMeta[] =
    " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
    "string \"json:\\\"kind,omitempty\\\"\" }";
constexpr char kUnmarshal[] =
    "couldn't get version/kind; json parse error: json: cannot unmarshal ";
constexpr char kScheme[] = "pkg/runtime/scheme.go:111";

// The start of a body for error texts: as text where it looks like JSON, else in hexadecimal.
std::string Summary(absl::string_view body) {
  constexpr size_t kMax = 30;
  if (body.empty()) return "<empty>";
  const absl::string_view cut = body.substr(0, kMax);
  const absl::string_view rest = body.size() > kMax ? " ..." : "";
  if (body[0] == '{') return absl::StrCat(cut, rest);
  return absl::StrCat(absl::BytesToHexString(cut), rest);
}

absl::Status Unrecognized(absl::string_view kind, absl::string_view why, absl::string_view body) {
  return BadRequest(absl::StrCat("the object provided is unrecognized (must be of type ", kind,
                                 "): ", why, " (", Summary(body), ")"));
}

std::pair<absl::string_view, absl::string_view> SplitApiVersion(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == absl::string_view::npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

// The Go package in which the server holds a group's kinds.
absl::string_view InternalPackage(absl::string_view group) {
  if (group.empty() || group == "events.k8s.io") return "core";
  return group.substr(0, group.find('.'));
}

absl::Status CannotHandle(const Value& given, absl::string_view api_version, absl::string_view kind,
                          absl::string_view why) {
  const absl::string_view found = given.GetString("kind", kind);
  const absl::string_view version =
      SplitApiVersion(given.GetString("apiVersion", api_version)).second;
  return BadRequest(absl::StrCat(found.empty() ? kind : found, " in version ",
                                 apis::json::Quote(version), " cannot be handled as a ", kind, ": ",
                                 why));
}

// Whether the body is of the wanted kind; missing members are taken as meant.
absl::Status CheckType(const Value& given, absl::string_view api_version, absl::string_view kind) {
  const absl::string_view have_version = given.GetString("apiVersion", "");
  const absl::string_view have_kind = given.GetString("kind", "");
  const absl::string_view found_version = have_version.empty() ? api_version : have_version;
  const absl::string_view found_kind = have_kind.empty() ? kind : have_kind;
  if (found_version == api_version && found_kind == kind) return absl::OkStatus();
  // The one kind that is also taken in the form of an older version.
  if (kind == "Eviction" && found_kind == kind && found_version == "policy/v1beta1") {
    return absl::OkStatus();
  }
  const auto [group, version] = SplitApiVersion(found_version);
  if (schema::FindKind(group, version, found_kind) == nullptr) {
    return CannotHandle(given, api_version, kind,
                        absl::StrCat("no kind \"", found_kind, "\" is registered for version \"",
                                     found_version, "\" in scheme \"", kScheme, "\""));
  }
  const absl::string_view wanted_group = SplitApiVersion(api_version).first;
  return CannotHandle(
      given, api_version, kind,
      absl::StrCat("converting (", version, ".", found_kind, ") to (",
                   InternalPackage(wanted_group), ".", kind, "): unknown conversion"));
}

// What the decoder says about a body that is no object, or whose type is no text; OK where it can
// tell the type.
absl::Status CheckTypeMeta(const Value& body, absl::string_view kind, absl::string_view text) {
  if (!body.is_object()) {
    return Unrecognized(kind, absl::StrCat(kUnmarshal, schema::GoKind(body), kTypeMeta), text);
  }
  for (const char* name : {"apiVersion", "kind"}) {
    const Value& value = body.At(name);
    if (value.is_null() || value.is_string()) continue;
    return Unrecognized(kind,
                        absl::StrCat(kUnmarshal, schema::GoKind(value), " into Go struct field .",
                                     name, " of type string"),
                        text);
  }
  const absl::string_view version = body.GetString("apiVersion");
  if (std::count(version.begin(), version.end(), '/') > 1) {
    return Unrecognized(kind, absl::StrCat("unexpected GroupVersion string: ", version), text);
  }
  return absl::OkStatus();
}

absl::Status OtherVersion(absl::string_view have, absl::string_view wanted) {
  return BadRequest(absl::StrCat("the API version in the data (", have,
                                 ") does not match the expected API version (", wanted, ")"));
}

struct FieldReport {
  std::vector<std::string> unknown;
  std::vector<std::string> duplicates;
};

absl::Status ReportFields(const FieldReport& found, FieldValidation validation, const Value& given,
                          const Resource& resource, std::vector<std::string>* warnings) {
  if (validation == FieldValidation::kIgnore ||
      (found.unknown.empty() && found.duplicates.empty())) {
    return absl::OkStatus();
  }
  if (validation == FieldValidation::kStrict) {
    return CannotHandle(given, resource.api_version(), resource.kind,
                        schema::StrictDecodingError(found.unknown, found.duplicates));
  }
  if (warnings != nullptr) {
    for (std::string& text : schema::StrictWarnings(found.unknown, found.duplicates)) {
      warnings->push_back(std::move(text));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> DecodeCustom(const Resource& resource, const Value& given,
                                   std::vector<std::string>* unknown) {
  Value object = given;
  if (object.GetString("apiVersion").empty()) object.Set("apiVersion", resource.api_version());
  if (object.GetString("kind").empty()) object.Set("kind", resource.kind);
  if (Value* metadata = object.Find("metadata"); metadata != nullptr && !metadata->is_null()) {
    std::vector<std::string> dropped;
    absl::StatusOr<Value> decoded = schema::DecodeObjectMeta(*metadata, &dropped);
    if (!decoded.ok()) {
      return CannotHandle(given, resource.api_version(), resource.kind, decoded.status().message());
    }
    *metadata = *std::move(decoded);
    for (const std::string& field : dropped) {
      unknown->push_back(absl::StartsWith(field, "metadata.") ? field
                                                              : absl::StrCat("metadata.", field));
    }
  } else {
    object.Set("metadata", Value::MakeObject());
  }
  resource.custom->schema().Prune(object, unknown);
  resource.custom->schema().Default(object);
  return object;
}

}  // namespace

absl::StatusOr<RawBody> ReadBody(const http::Request& request, absl::string_view api_version,
                                 absl::string_view kind, bool typed) {
  if (request.body.size() > kMaxBodyBytes) {
    return TooLargeBody(absl::StrCat("Request entity too large: limit is ", kMaxBodyBytes));
  }
  const absl::string_view header = request.headers.Get("Content-Type");
  const std::string type = header.empty() ? std::string(kJson) : ParseMediaType(header).type;
  RawBody out;
  if (type == protobuf::kContentType) {
    absl::StatusOr<Value> value = protobuf::Decode(request.body, api_version, kind);
    if (!value.ok()) return Unrecognized(kind, value.status().message(), request.body);
    out.value = *std::move(value);
  } else if (type == kYaml) {
    absl::StatusOr<yaml::Document> document = yaml::ParseOne(request.body);
    if (!document.ok()) {
      return Unrecognized(kind, absl::StrCat("yaml: ", document.status().message()), request.body);
    }
    out.value = std::move(document->value);
  } else if (type == kJson) {
    absl::StatusOr<Value> value =
        apis::json::ParseReportingDuplicates(request.body, out.duplicates);
    if (!value.ok()) {
      return Unrecognized(kind,
                          absl::StrCat("couldn't get version/kind; json parse error: ",
                                       patch::GoSyntaxError(request.body)),
                          request.body);
    }
    out.value = *std::move(value);
  } else {
    return UnsupportedMediaType(kBodyTypes);
  }
  if (out.value.is_null() && !typed) out.value = Value::MakeObject();
  if (out.value.is_null()) {
    return Unrecognized(kind, "Object 'Kind' is missing in 'null'", request.body);
  }
  HEKLA_RETURN_IF_ERROR(CheckTypeMeta(out.value, kind, request.body));
  if (typed && out.value.GetString("kind").empty()) {
    return Unrecognized(kind, absl::StrCat("Object 'Kind' is missing in '", request.body, "'"),
                        request.body);
  }
  if (typed && out.value.GetString("apiVersion") != api_version) {
    return OtherVersion(out.value.GetString("apiVersion"), api_version);
  }
  return out;
}

absl::StatusOr<Value> DecodeDeleteOptions(const http::Request& request) {
  if (request.body.empty()) return Value::MakeObject();
  const absl::string_view header = request.headers.Get("Content-Type");
  constexpr char kKind[] = "DeleteOptions";
  if (!header.empty() && ParseMediaType(header).type != kJson) {
    HEKLA_ASSIGN_OR_RETURN(RawBody body, ReadBody(request, "v1", kKind));
    return schema::Decode(*schema::FindKind("", "v1", kKind), body.value);
  }
  const absl::StatusOr<Value> given = apis::json::Parse(request.body);
  if (!given.ok()) {
    return BadRequest(absl::StrCat("couldn't get version/kind; json parse error: ",
                                   patch::GoSyntaxError(request.body)));
  }
  if (given->is_null()) return Value::MakeObject();
  if (!given->is_object()) {
    return BadRequest(absl::StrCat(kUnmarshal, schema::GoKind(*given), kTypeMeta));
  }
  const absl::string_view kind = given->GetString("kind", kKind);
  if (kind != kKind) {
    return BadRequest(absl::StrCat("no kind \"", kind, "\" is registered for version \"",
                                   given->GetString("apiVersion", "v1"), "\" in scheme \"", kScheme,
                                   "\""));
  }
  absl::StatusOr<Value> options = schema::Decode(*schema::FindKind("", "v1", kKind), *given);
  if (!options.ok()) return BadRequest(options.status().message());
  return options;
}

absl::StatusOr<Value> DecodeObject(const Resource& resource, const RawBody& body,
                                   FieldValidation validation, std::vector<std::string>* warnings) {
  const std::string api_version = resource.api_version();
  FieldReport found{{}, body.duplicates};
  absl::StatusOr<Value> object = Value();
  if (resource.is_custom()) {
    object = DecodeCustom(resource, body.value, &found.unknown);
    if (!object.ok()) return object.status();
    if (object->GetString("apiVersion") != api_version) {
      return OtherVersion(object->GetString("apiVersion"), api_version);
    }
  } else {
    HEKLA_RETURN_IF_ERROR(CheckType(body.value, api_version, resource.kind));
    object = schema::Decode(*resource.message, body.value, &found.unknown);
    if (!object.ok()) {
      return CannotHandle(body.value, api_version, resource.kind, object.status().message());
    }
    object->Set("apiVersion", api_version);
    object->Set("kind", resource.kind);
    if (!object->At("metadata").is_object()) object->Set("metadata", Value::MakeObject());
  }
  HEKLA_RETURN_IF_ERROR(ReportFields(found, validation, body.value, resource, warnings));
  Value stored = FromView(resource, *std::move(object));
  if (resource.strategy->set_defaults != nullptr) resource.strategy->set_defaults(stored);
  return stored;
}

absl::StatusOr<Value> DecodeKind(absl::string_view api_version, absl::string_view kind,
                                 const http::Request& request) {
  if (request.body.empty()) return Value::MakeObject();
  HEKLA_ASSIGN_OR_RETURN(RawBody body, ReadBody(request, api_version, kind));
  const auto [group, version] = SplitApiVersion(api_version);
  const schema::Message* message = schema::FindKind(group, version, kind);
  if (message == nullptr) return std::move(body.value);
  HEKLA_RETURN_IF_ERROR(CheckType(body.value, api_version, kind));
  absl::StatusOr<Value> object = schema::Decode(*message, body.value);
  if (!object.ok()) return CannotHandle(body.value, api_version, kind, object.status().message());
  return object;
}

Value Canonical(const Resource& resource, Value object) {
  if (resource.message == nullptr || resource.view != View::kStored) return object;
  absl::StatusOr<Value> decoded = schema::Decode(*resource.message, object);
  return decoded.ok() ? *std::move(decoded) : std::move(object);
}

Value ToView(const Resource& resource, Value stored) {
  switch (resource.view) {
    case View::kStored:
      return stored;
    case View::kApiVersion:
      stored.Set("apiVersion", resource.api_version());
      return stored;
    case View::kEventsV1:
      return views::EventToV1(stored);
  }
  return stored;
}

Value FromView(const Resource& resource, Value object) {
  switch (resource.view) {
    case View::kStored:
      return object;
    case View::kApiVersion:
      object.Set("apiVersion", resource.stored_api_version);
      // Real servers do this whenever they read the object back.
      if (resource.stored_custom != nullptr) resource.stored_custom->schema().Default(object);
      return object;
    case View::kEventsV1:
      return views::EventFromV1(object);
  }
  return object;
}

std::string ToViewText(const Resource& resource, absl::string_view stored_json) {
  if (resource.view == View::kStored) return std::string(stored_json);
  absl::StatusOr<Value> value = apis::json::Parse(stored_json);
  if (!value.ok()) return std::string(stored_json);
  return apis::json::Dump(ToView(resource, *std::move(value)));
}

}  // namespace hekla::apiserver
