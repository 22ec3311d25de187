#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/meta/string_map.h"

namespace hekla::apis::meta {

// Reads typed fields out of a JSON object. Absent and null members leave the target as it is. The
// first problem is kept with its path (`spec.containers[0].name: expected string, got number`), and
// after it everything else is still read, so that callers need no check per field.
//
//   Reader root(value);
//   root.String("name", out.name);
//   root.Object("spec", [&](Reader& spec) { spec.Int("replicas", out.replicas); });
//   return root.status();
//
// Cost: no allocation of its own unless there is a problem.
// Threads: one reader and its children belong to one thread.
class Reader {
 public:
  // `value` must outlive the reader.
  explicit Reader(const json::Value& value);

  void String(absl::string_view key, std::string& out) const;
  void Bool(absl::string_view key, bool& out) const;
  void Bool(absl::string_view key, std::optional<bool>& out) const;
  void Int(absl::string_view key, int32_t& out) const;
  void Int(absl::string_view key, int64_t& out) const;
  void Int(absl::string_view key, std::optional<int32_t>& out) const;
  void Int(absl::string_view key, std::optional<int64_t>& out) const;
  void Time(absl::string_view key, absl::Time& out) const;
  void Amount(absl::string_view key, Quantity& out) const;
  void Resources(absl::string_view key, ResourceList& out) const;
  void Strings(absl::string_view key, std::vector<std::string>& out) const;
  void Map(absl::string_view key, StringMap& out) const;

  // Calls `read` with a reader of the member where it is there.
  template <typename F>
  void Object(absl::string_view key, F read) const {
    if (const json::Value* member = Member(key, json::Value::Kind::kObject)) {
      Reader child(*member, this, key, -1);
      read(child);
    }
  }
  // Calls `read` for each item, all of which must be objects.
  template <typename F>
  void List(absl::string_view key, F read) const {
    const json::Value* member = Member(key, json::Value::Kind::kArray);
    if (member == nullptr) return;
    const Reader list(*member, this, key, -1);
    int index = 0;
    for (const json::Value& item : member->as_array()) {
      Reader child(item, &list, "", index++);
      if (item.is_object()) {
        read(child);
      } else {
        child.Expected("object", item);
      }
    }
  }
  // Calls `read(name, reader)` for each member of an object of objects.
  template <typename F>
  void Objects(absl::string_view key, F read) const {
    const json::Value* member = Member(key, json::Value::Kind::kObject);
    if (member == nullptr) return;
    const Reader map(*member, this, key, -1);
    for (const json::Member& m : member->as_object()) {
      map.Object(m.key, [&](Reader& child) { read(m.key, child); });
    }
  }

  bool Has(absl::string_view key) const;
  const json::Value& value() const { return *value_; }

  // Records a problem with the member `key` ("" = the object itself).
  void Fail(absl::string_view key, absl::string_view problem) const;
  // The first problem of this reader and all readers made from it.
  absl::Status status() const { return root_->status_; }

 private:
  Reader(const json::Value& value, const Reader* parent, absl::string_view key, int index)
      : value_(&value), parent_(parent), root_(parent->root_), key_(key), index_(index) {}
  Reader(const Reader&) = delete;

  // The member where it is there and of that kind; a problem is recorded for another kind.
  const json::Value* Member(absl::string_view key, json::Value::Kind kind) const;
  void Expected(absl::string_view kind, const json::Value& got, absl::string_view key = "") const;
  void AppendPath(std::string& out) const;

  const json::Value* value_;
  const Reader* parent_ = nullptr;
  const Reader* root_;
  absl::string_view key_;
  int index_ = -1;
  mutable absl::Status status_;  // of the root only
};

}  // namespace hekla::apis::meta
