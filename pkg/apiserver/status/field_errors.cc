#include "pkg/apiserver/status/field_errors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

std::string Print(const Value& value) { return apis::json::Dump(value); }

}  // namespace

std::string FieldError::Text() const { return absl::StrCat(field, ": ", body); }

void FieldErrors::Push(absl::string_view reason, absl::string_view field, absl::string_view type,
                       absl::string_view detail) {
  std::string body(type);
  if (!detail.empty()) absl::StrAppend(&body, ": ", detail);
  errors_.push_back(FieldError{std::string(reason), std::string(field), std::move(body)});
}

void FieldErrors::Required(absl::string_view field, absl::string_view detail) {
  Push("FieldValueRequired", field, "Required value", detail);
}

void FieldErrors::Invalid(absl::string_view field, const Value& bad, absl::string_view detail) {
  Push("FieldValueInvalid", field, absl::StrCat("Invalid value: ", Print(bad)), detail);
}

void FieldErrors::InvalidRaw(absl::string_view field, absl::string_view bad,
                             absl::string_view detail) {
  Push("FieldValueInvalid", field, absl::StrCat("Invalid value: ", bad), detail);
}

void FieldErrors::TypeInvalid(absl::string_view field, const Value& bad, absl::string_view detail) {
  Push("FieldValueTypeInvalid", field, absl::StrCat("Invalid value: ", Print(bad)), detail);
}

void FieldErrors::NotSupported(absl::string_view field, const Value& bad,
                               const std::vector<std::string>& supported) {
  std::string detail = "supported values: ";
  absl::StrAppend(&detail,
                  absl::StrJoin(supported, ", ", [](std::string* out, const std::string& s) {
                    absl::StrAppend(out, apis::json::Quote(s));
                  }));
  Push("FieldValueNotSupported", field, absl::StrCat("Unsupported value: ", Print(bad)), detail);
}

void FieldErrors::Forbidden(absl::string_view field, absl::string_view detail) {
  Push("FieldValueForbidden", field, "Forbidden", detail);
}

void FieldErrors::Duplicate(absl::string_view field, const Value& bad) {
  Push("FieldValueDuplicate", field, absl::StrCat("Duplicate value: ", Print(bad)), "");
}

void FieldErrors::NotFound(absl::string_view field, const Value& bad) {
  Push("FieldValueNotFound", field, absl::StrCat("Not found: ", Print(bad)), "");
}

void FieldErrors::TooLong(absl::string_view field, int max_bytes) {
  Push("FieldValueTooLong", field, "Too long",
       absl::StrCat("may not be more than ", max_bytes, " bytes"));
}

void FieldErrors::TooMany(absl::string_view field, int count, int max) {
  Push("FieldValueTooMany", field, absl::StrCat("Too many: ", count),
       absl::StrCat("must have at most ", max, " item", max == 1 ? "" : "s"));
}

std::string FieldErrors::Text() const {
  std::vector<std::string> texts;
  for (const FieldError& e : errors_) {
    std::string text = e.Text();
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  if (texts.size() == 1) return texts[0];
  return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

Value FieldErrors::Causes() const {
  Value causes = Value::MakeArray();
  for (const FieldError& e : errors_) {
    causes.Append(
        Value::MakeObject({{"reason", e.reason}, {"message", e.body}, {"field", e.field}}));
  }
  return causes;
}

std::string Child(absl::string_view path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

std::string Index(absl::string_view path, size_t index) {
  return absl::StrCat(path, "[", index, "]");
}

std::string Key(absl::string_view path, absl::string_view key) {
  return absl::StrCat(path, "[", key, "]");
}

}  // namespace hekla::apiserver
