#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver {

// One finding of validation: where and what.
struct FieldError {
  std::string reason;  // of the cause: "FieldValueInvalid"
  std::string field;   // "spec.containers[0].name"
  std::string body;    // `Invalid value: "x": must be …`

  std::string Text() const;  // "field: body"
};

// The findings about one object in the order in which they were made.
// Source: spec kube-machinery 1.9.
class FieldErrors {
 public:
  void Required(absl::string_view field, absl::string_view detail = "");
  void Invalid(absl::string_view field, const apis::json::Value& bad, absl::string_view detail);
  // The value is printed as given, without quotes (CEL rules).
  void InvalidRaw(absl::string_view field, absl::string_view bad, absl::string_view detail);
  // A value of the wrong JSON type.
  void TypeInvalid(absl::string_view field, const apis::json::Value& bad, absl::string_view detail);
  void NotSupported(absl::string_view field, const apis::json::Value& bad,
                    const std::vector<std::string>& supported);
  void Forbidden(absl::string_view field, absl::string_view detail);
  void Duplicate(absl::string_view field, const apis::json::Value& bad);
  void NotFound(absl::string_view field, const apis::json::Value& bad);
  void TooLong(absl::string_view field, int max_bytes);
  void TooMany(absl::string_view field, int count, int max);
  void Add(FieldError error) { errors_.push_back(std::move(error)); }
  void Append(const FieldErrors& more) {
    errors_.insert(errors_.end(), more.errors_.begin(), more.errors_.end());
  }

  bool empty() const { return errors_.empty(); }
  const std::vector<FieldError>& all() const { return errors_; }
  // One text: alone, or "[a, b]" with equal ones printed once.
  std::string Text() const;
  apis::json::Value Causes() const;

 private:
  void Push(absl::string_view reason, absl::string_view field, absl::string_view type,
            absl::string_view detail);

  std::vector<FieldError> errors_;
};

// The path of a child: "a.b", "a[0]", "a[key]".
std::string Child(absl::string_view path, absl::string_view name);
std::string Index(absl::string_view path, size_t index);
std::string Key(absl::string_view path, absl::string_view key);

}  // namespace hekla::apiserver
