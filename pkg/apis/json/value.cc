#include "pkg/apis/json/value.h"

#include <cmath>

#define RAPIDJSON_HAS_STDSTRING 1
#include <rapidjson/error/en.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hekla::apis::json {
namespace {

constexpr size_t kMaxDepth = 512;
// Objects with more members than this are checked for duplicates through a hash table.
constexpr size_t kLinearMembers = 32;

// A lone low surrogate ("\\udd1e") comes out of RapidJSON as three bytes that are no UTF-8; as in
// Go's decoder it becomes U+FFFD, which is three bytes long, too.
void ReplaceSurrogates(std::string& text) {
  if (text.find('\xED') == std::string::npos) return;
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '\xED' && static_cast<unsigned char>(text[i + 1]) >= 0xA0) {
      text.replace(i, 3, "\xEF\xBF\xBD");
    }
  }
}

// Builds a Value from RapidJSON's events.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  explicit Builder(std::vector<std::string>* duplicates) : duplicates_(duplicates) {}

  bool Null() { return Add(Value()); }
  bool Bool(bool b) { return Add(Value(b)); }
  // Numbers come as text (kParseNumbersAsStringsFlag), already known to have a number's form.
  bool RawNumber(const char* s, rapidjson::SizeType n, bool) {
    const absl::string_view text(s, n);
    int64_t integer = 0;
    if (text.find_first_of(".eE") == absl::string_view::npos && absl::SimpleAtoi(text, &integer)) {
      return Add(Value(static_cast<long long>(integer)));
    }
    double number = 0;
    number_too_big_ = !absl::SimpleAtod(text, &number) || std::isinf(number);
    return !number_too_big_ && Add(Value(number));
  }
  bool String(const char* s, rapidjson::SizeType n, bool) {
    std::string text(s, n);
    ReplaceSurrogates(text);
    return Add(Value(std::move(text)));
  }
  bool StartObject() { return Open(Value::MakeObject()); }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    stack_.back().key.assign(s, n);
    ReplaceSurrogates(stack_.back().key);
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(Value::MakeArray()); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

  Value Take() { return std::move(root_); }
  bool number_too_big() const { return number_too_big_; }

 private:
  struct Frame {
    Value value;
    std::string key;
    absl::flat_hash_map<std::string, size_t> index;  // only for large objects
  };

  bool Open(Value v) {
    if (stack_.size() >= kMaxDepth) return false;
    stack_.push_back(Frame{std::move(v), {}, {}});
    return true;
  }
  bool Close() {
    Value v = std::move(stack_.back().value);
    stack_.pop_back();
    return Add(std::move(v));
  }
  bool Add(Value v) {
    if (stack_.empty()) {
      root_ = std::move(v);
      return true;
    }
    Frame& top = stack_.back();
    if (top.value.is_array()) {
      top.value.as_array().push_back(std::move(v));
      return true;
    }
    Value::Object& members = top.value.as_object();
    if (Member* old = FindMember(top, members)) {
      if (duplicates_ != nullptr) duplicates_->push_back(Path());
      old->value = std::move(v);
      return true;
    }
    members.push_back(Member{top.key, std::move(v)});
    if (members.size() > kLinearMembers) top.index[top.key] = members.size() - 1;
    return true;
  }
  static Member* FindMember(Frame& frame, Value::Object& members) {
    if (members.size() <= kLinearMembers) {
      for (Member& m : members) {
        if (m.key == frame.key) return &m;
      }
      return nullptr;
    }
    if (frame.index.size() < members.size()) {
      for (size_t i = 0; i < members.size(); ++i) frame.index[members[i].key] = i;
    }
    auto it = frame.index.find(frame.key);
    return it == frame.index.end() ? nullptr : &members[it->second];
  }
  std::string Path() const {
    std::string path;
    for (const Frame& f : stack_) {
      if (f.value.is_array()) {
        absl::StrAppend(&path, "[", f.value.size(), "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", f.key);
      }
    }
    return path;
  }

  std::vector<std::string>* duplicates_;
  std::vector<Frame> stack_;
  bool number_too_big_ = false;
  Value root_;
};

template <typename Writer>
void Write(const Value& v, Writer& w) {
  switch (v.kind()) {
    case Value::Kind::kNull:
      w.Null();
      break;
    case Value::Kind::kBool:
      w.Bool(v.as_bool());
      break;
    case Value::Kind::kInt:
      w.Int64(v.as_int());
      break;
    case Value::Kind::kDouble:
      if (std::isfinite(v.as_double())) {
        w.Double(v.as_double());
      } else {
        w.Null();
      }
      break;
    case Value::Kind::kString:
      w.String(v.as_string().data(), static_cast<rapidjson::SizeType>(v.as_string().size()));
      break;
    case Value::Kind::kArray:
      w.StartArray();
      for (const Value& item : v.as_array()) Write(item, w);
      w.EndArray();
      break;
    case Value::Kind::kObject:
      w.StartObject();
      for (const Member& m : v.as_object()) {
        w.Key(m.key.data(), static_cast<rapidjson::SizeType>(m.key.size()));
        Write(m.value, w);
      }
      w.EndObject();
      break;
  }
}

bool IsAscii(absl::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

absl::StatusOr<Value> ParseInto(absl::string_view text, std::vector<std::string>* duplicates) {
  Builder builder(duplicates);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  // Iterative, so that hostile nesting cannot exhaust the stack.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::ParseResult result;
  if (IsAscii(text)) {  // nearly all there is, and nothing to validate
    result = reader.Parse<kFlags>(stream, builder);
  } else {
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> input(stream);
    result = reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(input, builder);
  }
  if (result.IsError()) {
    const char* why = builder.number_too_big() ? "number too big for a double"
                      : result.Code() == rapidjson::kParseErrorTermination
                          ? "nested too deeply"
                          : rapidjson::GetParseError_En(result.Code());
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", result.Offset(), ": ", why));
  }
  return builder.Take();
}

}  // namespace

Value::Value() : data_(nullptr) {}
Value::~Value() = default;
Value::Value(const Value& other) = default;
Value& Value::operator=(const Value& other) = default;
Value::Value(std::nullptr_t) : data_(nullptr) {}
Value::Value(bool b) : data_(b) {}
Value::Value(int i) : data_(static_cast<int64_t>(i)) {}
Value::Value(unsigned i) : data_(static_cast<int64_t>(i)) {}
Value::Value(long i) : data_(static_cast<int64_t>(i)) {}
Value::Value(long long i) : data_(static_cast<int64_t>(i)) {}
Value::Value(unsigned long i) : data_(static_cast<int64_t>(i)) {}
Value::Value(double d) : data_(d) {}
Value::Value(std::string s) : data_(std::move(s)) {}
Value::Value(absl::string_view s) : data_(std::string(s.data(), s.size())) {}
Value::Value(const char* s) : data_(std::string(s)) {}
Value::Value(Data data) : data_(std::move(data)) {}

Value Value::MakeArray() { return Value(Data(Array())); }
Value Value::MakeArray(Array items) { return Value(Data(std::move(items))); }
Value Value::MakeObject() { return Value(Data(Object())); }

Value Value::MakeObject(std::initializer_list<std::pair<absl::string_view, Value>> members) {
  Object object;
  object.reserve(members.size());
  for (const auto& [key, value] : members) object.push_back(Member{std::string(key), value});
  return Value(Data(std::move(object)));
}

const Value* Value::Find(absl::string_view key) const {
  if (!is_object()) return nullptr;
  for (const Member& m : as_object()) {
    if (m.key == key) return &m.value;
  }
  return nullptr;
}

Value* Value::Find(absl::string_view key) {
  return const_cast<Value*>(static_cast<const Value*>(this)->Find(key));
}

const Value* Value::FindPath(std::initializer_list<absl::string_view> path) const {
  const Value* v = this;
  for (absl::string_view key : path) {
    v = v->Find(key);
    if (v == nullptr) return nullptr;
  }
  return v;
}

Value* Value::FindPath(std::initializer_list<absl::string_view> path) {
  return const_cast<Value*>(static_cast<const Value*>(this)->FindPath(path));
}

const Value& Value::At(absl::string_view key) const {
  static const Value* const null = new Value();
  const Value* v = Find(key);
  return v == nullptr ? *null : *v;
}

Value& Value::operator[](absl::string_view key) {
  if (is_null()) data_ = Object();
  if (Value* v = Find(key)) return *v;
  as_object().push_back(Member{std::string(key), Value()});
  return as_object().back().value;
}

Value& Value::Ensure(std::initializer_list<absl::string_view> path) {
  Value* v = this;
  for (absl::string_view key : path) {
    v = &(*v)[key];
    if (!v->is_object()) *v = MakeObject();
  }
  return *v;
}

bool Value::Remove(absl::string_view key) {
  if (!is_object()) return false;
  Object& members = as_object();
  for (auto it = members.begin(); it != members.end(); ++it) {
    if (it->key == key) {
      members.erase(it);
      return true;
    }
  }
  return false;
}

Value& Value::Append(Value value) {
  if (is_null()) data_ = Array();
  as_array().push_back(std::move(value));
  return as_array().back();
}

size_t Value::size() const {
  if (is_array()) return as_array().size();
  if (is_object()) return as_object().size();
  return 0;
}

absl::string_view Value::GetString(absl::string_view key, absl::string_view fallback) const {
  const Value* v = Find(key);
  return v != nullptr && v->is_string() ? absl::string_view(v->as_string()) : fallback;
}

int64_t Value::GetInt(absl::string_view key, int64_t fallback) const {
  const Value* v = Find(key);
  return v != nullptr && v->is_int() ? v->as_int() : fallback;
}

bool Value::GetBool(absl::string_view key, bool fallback) const {
  const Value* v = Find(key);
  return v != nullptr && v->is_bool() ? v->as_bool() : fallback;
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return a.is_number() && b.is_number() && a.as_double() == b.as_double();
  if (!a.is_object()) return a.data_ == b.data_;
  if (a.size() != b.size()) return false;
  const Value::Object& left = a.as_object();
  const Value::Object& right = b.as_object();
  for (size_t i = 0; i < left.size(); ++i) {
    const Value* other = right[i].key == left[i].key ? &right[i].value : b.Find(left[i].key);
    if (other == nullptr || left[i].value != *other) return false;
  }
  return true;
}

bool operator==(const Member& a, const Member& b) { return a.key == b.key && a.value == b.value; }

absl::StatusOr<Value> Parse(absl::string_view text) { return ParseInto(text, nullptr); }

absl::StatusOr<Value> ParseReportingDuplicates(absl::string_view text,
                                               std::vector<std::string>& duplicates) {
  return ParseInto(text, &duplicates);
}

void DumpTo(const Value& value, std::string& out) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  Write(value, writer);
  out.append(buffer.GetString(), buffer.GetSize());
}

std::string Dump(const Value& value) {
  std::string out;
  DumpTo(value, out);
  return out;
}

std::string DumpPretty(const Value& value, int indent) {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
  writer.SetIndent(' ', static_cast<unsigned>(indent));
  Write(value, writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string Quote(absl::string_view text) { return Dump(Value(text)); }

}  // namespace hekla::apis::json
