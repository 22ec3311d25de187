#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// One JSON value with value semantics. The form in which objects travel where their kind is not
// known at compile time, and from which typed objects are decoded. RapidJSON reads and writes it
// but is not visible here. Order:   objects keep the order of insertion; equality ignores it.
// Units:   numbers without fraction and exponent that fit int64 are integers, all others doubles.
// Threads: as std::string: const access from several threads is safe.
namespace hekla::apis::json {

struct Member;

class Value {
 public:
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

  Value();
  ~Value();
  Value(const Value& other);
  Value& operator=(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(Value&& other) noexcept;
  Value(std::nullptr_t);       // NOLINT
  Value(bool b);               // NOLINT
  Value(int i);                // NOLINT
  Value(unsigned i);           // NOLINT
  Value(long i);               // NOLINT
  Value(long long i);          // NOLINT
  Value(unsigned long i);      // NOLINT
  Value(double d);             // NOLINT
  Value(std::string s);        // NOLINT
  Value(absl::string_view s);  // NOLINT
  Value(const char* s);        // NOLINT
  static Value MakeArray();
  static Value MakeArray(Array items);
  static Value MakeObject();
  static Value MakeObject(std::initializer_list<std::pair<absl::string_view, Value>> members);
  static Value MakeObjectOf(Object members);  // of different keys

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_int() const { return kind() == Kind::kInt; }
  bool is_number() const { return kind() == Kind::kInt || kind() == Kind::kDouble; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  // Each must be called on a value of that kind only (number: int or double).
  bool as_bool() const { return std::get<bool>(data_); }
  int64_t as_int() const { return std::get<int64_t>(data_); }
  double as_double() const {
    return is_int() ? static_cast<double>(as_int()) : std::get<double>(data_);
  }
  const std::string& as_string() const { return std::get<std::string>(data_); }
  std::string& as_string() { return std::get<std::string>(data_); }
  const Array& as_array() const { return std::get<Array>(data_); }
  Array& as_array() { return std::get<Array>(data_); }
  const Object& as_object() const { return std::get<Object>(data_); }
  Object& as_object() { return std::get<Object>(data_); }

  // The member's value; nullptr where this is no object or has no such member.
  const Value* Find(absl::string_view key) const;
  Value* Find(absl::string_view key);
  // Walks members one after the other; nullptr where a step is missing.
  const Value* FindPath(std::initializer_list<absl::string_view> path) const;
  Value* FindPath(std::initializer_list<absl::string_view> path);
  // As Find, with a shared null value in place of nullptr.
  const Value& At(absl::string_view key) const;
  bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  // The member's value, appended as null where it is missing. A null value becomes an object first.
  Value& operator[](absl::string_view key);
  // Sets or replaces one member.
  void Set(absl::string_view key, Value value);
  // Makes or reuses objects along the path and returns the last.
  Value& Ensure(std::initializer_list<absl::string_view> path);
  // Returns whether there was such a member.
  bool Remove(absl::string_view key);
  // Appends to an array. A null value becomes an array first.
  Value& Append(Value value);
  // Members of an object, items of an array, else 0.
  size_t size() const;

  // Tolerant getters: the fallback where the member is missing or of another kind.
  absl::string_view GetString(absl::string_view key, absl::string_view fallback = "") const;
  int64_t GetInt(absl::string_view key, int64_t fallback = 0) const;
  bool GetBool(absl::string_view key, bool fallback = false) const;

  friend bool operator==(const Value& a, const Value& b);
  friend bool operator!=(const Value& a, const Value& b) { return !(a == b); }

 private:
  using Data = std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object>;
  explicit Value(Data data);
  // An object's members are complete only below this class: whatever makes, moves or ends `data_`
  // is defined after them, the costly part in value.cc.
  Data data_;
};

struct Member {
  std::string key;
  Value value;
};

inline Value::Value(Value&& other) noexcept = default;
inline Value& Value::operator=(Value&& other) noexcept = default;
inline void Value::Set(absl::string_view key, Value value) { (*this)[key] = std::move(value); }

bool operator==(const Member& a, const Member& b);
// Equal values have equal hashes; of one process.
uint64_t HashOf(const Value& value);

// Errors: kInvalidArgument with the byte offset; more than 512 levels deep; bytes after the value.
// Duplicate members: the last one wins, as in Go's decoder.
absl::StatusOr<Value> Parse(absl::string_view text);

// Members that a reader has no use for.
class Omission {
 public:
  Omission() = default;  // none
  // Dotted paths below `prefix` ("" or a dotted path too); lists on the way are walked through:
  // Omission("items", {"metadata.managedFields", "spec.containers.env"}).
  Omission(absl::string_view prefix, const std::vector<absl::string_view>& paths);

  // What of the member is passed over; nullptr: nothing.
  const Omission* Find(absl::string_view member) const;
  bool everything = false;  // the member itself is passed over

 private:
  Omission& Add(absl::string_view member);
  std::vector<std::pair<std::string, Omission>> inner_;
};

// As Parse, as if the members named in `omission` were not in the text; they must be JSON all the
// same.
absl::StatusOr<Value> ParseWithout(const Omission& omission, absl::string_view text);

// As Parse, and reports each duplicate member as a dotted path into `duplicates`.
absl::StatusOr<Value> ParseReportingDuplicates(absl::string_view text,
                                               std::vector<std::string>& duplicates);

// One line, no blanks, members in their order.
std::string Dump(const Value& value);
void DumpTo(const Value& value, std::string& out);
// Indented, for people.
std::string DumpPretty(const Value& value, int indent = 2);
// `text` as a JSON string with its quotes.
std::string Quote(absl::string_view text);

}  // namespace hekla::apis::json
