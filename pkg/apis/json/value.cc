#include "pkg/apis/json/value.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>

#define RAPIDJSON_HAS_STDSTRING 1
// Without RAPIDJSON_SSE2: in 1.1.0 that takes the bytes 0x1a to 0x1f for ordinary ones, in both
// directions, and was measured to be no faster here.
#include <rapidjson/error/en.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

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

// Builds a Value from RapidJSON's events. Members and items wait on stacks until their object or
// list is complete, so that it is made at once and in its final size.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  Builder(absl::string_view text, const Omission* omission, std::vector<std::string>* duplicates)
      : omission_(omission),
        duplicates_(duplicates),
        may_have_surrogates_(absl::StrContains(text, "\\u")) {}

  bool Null() {
    return Add([] { return Value(); });
  }
  bool Bool(bool b) {
    return Add([b] { return Value(b); });
  }
  // Numbers come as text (kParseNumbersAsStringsFlag), already known to have a number's form.
  bool RawNumber(const char* s, rapidjson::SizeType n, bool) {
    if (omitting_) return PassOver();
    const absl::string_view text(s, n);
    int64_t integer = 0;
    if (text.find_first_of(".eE") == absl::string_view::npos && absl::SimpleAtoi(text, &integer)) {
      return Add([&] { return Value(static_cast<long long>(integer)); });
    }
    double number = 0;
    number_too_big_ = !absl::SimpleAtod(text, &number) || std::isinf(number);
    return !number_too_big_ && Add([&] { return Value(number); });
  }
  bool String(const char* s, rapidjson::SizeType n, bool) {
    return Add([&] { return Value(Text(s, n)); });
  }
  bool StartObject() { return Open(/*is_array=*/false); }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    if (omitting_) return true;
    Frame& top = frames_.back();
    std::string key = Text(s, n);
    top.next = top.omission == nullptr ? nullptr : top.omission->Find(key);
    omitting_ = top.next != nullptr && top.next->everything;
    if (omitting_) return true;
    top.target = Known(top, key);
    if (top.target == members_.size()) {
      if (top.index != nullptr) top.index->emplace(key, top.target);
      members_.push_back(Member{std::move(key), Value()});
    } else if (duplicates_ != nullptr) {
      duplicates_->push_back(Path());
    }
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    if (omitting_) return CloseOmitted();
    Value::Object all = TakeFrom(members_, frames_.back().begin);
    frames_.pop_back();
    return Add([&] { return Value::MakeObjectOf(std::move(all)); });
  }
  bool StartArray() { return Open(/*is_array=*/true); }
  bool EndArray(rapidjson::SizeType) {
    if (omitting_) return CloseOmitted();
    Value::Array all = TakeFrom(items_, frames_.back().begin);
    frames_.pop_back();
    return Add([&] { return Value::MakeArray(std::move(all)); });
  }

  Value Take() { return std::move(root_); }
  bool number_too_big() const { return number_too_big_; }

 private:
  using Index = absl::flat_hash_map<std::string, size_t>;
  // An object or list that is not complete.
  struct Frame {
    bool is_array;
    size_t begin;              // of its members in members_ or its items in items_
    const Omission* omission;  // what of it is passed over; null: nothing
    size_t target = 0;         // of an object: the member that comes next
    const Omission* next = nullptr;
    std::unique_ptr<Index> index = nullptr;  // positions in members_; only for large objects
  };

  template <typename T>
  static std::vector<T> TakeFrom(std::vector<T>& stack, size_t begin) {
    const auto first = stack.begin() + static_cast<ptrdiff_t>(begin);
    std::vector<T> out(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
    stack.erase(first, stack.end());
    return out;
  }

  std::string Text(const char* s, rapidjson::SizeType n) const {
    std::string text(s, n);
    if (may_have_surrogates_) ReplaceSurrogates(text);
    return text;
  }

  // One value inside of what is passed over has ended.
  bool PassOver() {
    if (omitted_depth_ == 0) omitting_ = false;
    return true;
  }
  bool CloseOmitted() {
    --omitted_depth_;
    return PassOver();
  }

  bool Open(bool is_array) {
    if (frames_.size() + omitted_depth_ >= kMaxDepth) return false;
    if (omitting_) {
      ++omitted_depth_;
      return true;
    }
    const Omission* omission = omission_;
    if (!frames_.empty()) {
      const Frame& top = frames_.back();
      omission = top.is_array ? top.omission : top.next;
    }
    frames_.push_back(Frame{is_array, is_array ? items_.size() : members_.size(), omission});
    return true;
  }

  template <typename Make>
  bool Add(Make make) {
    if (omitting_) return PassOver();
    if (frames_.empty()) {
      root_ = make();
    } else if (frames_.back().is_array) {
      items_.push_back(make());
    } else {
      members_[frames_.back().target].value = make();
    }
    return true;
  }

  // Where the member is, or would be appended.
  size_t Known(Frame& frame, const std::string& key) const {
    if (members_.size() - frame.begin <= kLinearMembers) {
      size_t i = frame.begin;
      while (i < members_.size() && members_[i].key != key) ++i;
      return i;
    }
    if (frame.index == nullptr) {
      frame.index = std::make_unique<Index>();
      for (size_t i = frame.begin; i < members_.size(); ++i)
        frame.index->emplace(members_[i].key, i);
    }
    const auto it = frame.index->find(key);
    return it == frame.index->end() ? members_.size() : it->second;
  }

  // Of the member that comes next.
  std::string Path() const {
    std::string path;
    for (size_t i = 0; i < frames_.size(); ++i) {
      const Frame& f = frames_[i];
      if (f.is_array) {
        const size_t end = EndOfItems(i);
        absl::StrAppend(&path, "[", end - f.begin, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", members_[f.target].key);
      }
    }
    return path;
  }
  // Items of a list end where those of the next list inside of it begin.
  size_t EndOfItems(size_t frame) const {
    for (size_t i = frame + 1; i < frames_.size(); ++i) {
      if (frames_[i].is_array) return frames_[i].begin;
    }
    return items_.size();
  }

  const Omission* const omission_;
  std::vector<std::string>* const duplicates_;
  const bool may_have_surrogates_;
  std::vector<Frame> frames_;
  std::vector<Member> members_;
  std::vector<Value> items_;
  bool omitting_ = false;  // the value that comes next, or is under way, is passed over
  size_t omitted_depth_ = 0;
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
  uint64_t all = 0;
  for (; text.size() >= sizeof(all); text.remove_prefix(sizeof(all))) {
    uint64_t word;
    std::memcpy(&word, text.data(), sizeof(word));
    all |= word;
  }
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return (all & 0x8080808080808080) == 0;
}

// Of a character that the end of the text cuts off, RapidJSON reads so many bytes all the same.
constexpr size_t kPadding = 4;

absl::StatusOr<Value> ParseInto(absl::string_view text, const Omission* omission,
                                std::vector<std::string>* duplicates) {
  Builder builder(text, omission, duplicates);
  // Read in place: strings are taken from where they stand, with their escapes resolved there.
  std::string copy;
  copy.reserve(text.size() + kPadding);
  copy.assign(text.data(), text.size());
  copy.resize(text.size() + kPadding, '\0');
  rapidjson::InsituStringStream stream(copy.data());
  rapidjson::Reader reader;
  // By recursion, which the builder ends at kMaxDepth.
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result =
      IsAscii(text)  // nearly all there is, and nothing to validate
          ? reader.Parse<kFlags>(stream, builder)
          : reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(stream, builder);
  if (result.IsError()) {
    const char* why = builder.number_too_big() ? "number too big for a double"
                      : result.Code() == rapidjson::kParseErrorTermination
                          ? "nested too deeply"
                          : rapidjson::GetParseError_En(result.Code());
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", result.Offset(), ": ", why));
  }
  if (stream.Tell() != text.size()) {  // a zero byte passes for the end
    return absl::InvalidArgumentError(
        absl::StrCat("invalid JSON at byte ", stream.Tell(), ": ",
                     rapidjson::GetParseError_En(rapidjson::kParseErrorDocumentRootNotSingular)));
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
Value Value::MakeObjectOf(Object members) { return Value(Data(std::move(members))); }

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

Omission::Omission(absl::string_view prefix, const std::vector<absl::string_view>& paths) {
  for (const absl::string_view path : paths) {
    Omission* at = this;
    for (const absl::string_view step :
         absl::StrSplit(absl::StrCat(prefix, ".", path), '.', absl::SkipEmpty())) {
      at = &at->Add(step);
    }
    at->everything = true;
  }
}

const Omission* Omission::Find(absl::string_view member) const {
  for (const auto& [name, inner] : inner_) {
    if (name == member) return &inner;
  }
  return nullptr;
}

Omission& Omission::Add(absl::string_view member) {
  for (auto& [name, inner] : inner_) {
    if (name == member) return inner;
  }
  return inner_.emplace_back(std::string(member), Omission()).second;
}

bool operator==(const Member& a, const Member& b) { return a.key == b.key && a.value == b.value; }

uint64_t HashOf(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return 1;
    case Value::Kind::kBool:
      return value.as_bool() ? 2 : 3;
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      return absl::HashOf(value.as_double());
    case Value::Kind::kString:
      return absl::HashOf(absl::string_view(value.as_string()));
    case Value::Kind::kArray: {
      uint64_t hash = 4;
      for (const Value& item : value.as_array()) hash = absl::HashOf(hash, HashOf(item));
      return hash;
    }
    case Value::Kind::kObject: {
      uint64_t hash = 5;  // the same in any order
      for (const Member& m : value.as_object()) {
        hash += absl::HashOf(absl::string_view(m.key), HashOf(m.value));
      }
      return hash;
    }
  }
  return 0;
}

absl::StatusOr<Value> Parse(absl::string_view text) { return ParseInto(text, nullptr, nullptr); }

absl::StatusOr<Value> ParseWithout(const Omission& omission, absl::string_view text) {
  return ParseInto(text, &omission, nullptr);
}

absl::StatusOr<Value> ParseReportingDuplicates(absl::string_view text,
                                               std::vector<std::string>& duplicates) {
  return ParseInto(text, nullptr, &duplicates);
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
