#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/utf8.h"
#include "pkg/yaml/scalar.h"
#include "pkg/yaml/yaml.h"

namespace hekla::yaml {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr size_t kMaxDepth = 200;
constexpr size_t kMaxAliasValues = 200000;

// Carries a finding of ours through yaml-cpp's parser; caught in ParseAll.
struct Finding {
  Position at;
  std::string text;
};

Position ToPosition(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

size_t CountValues(const Marks& marks) {
  size_t n = 1;
  for (const Marks& child : marks.children) n += CountValues(child);
  return n;
}

// yaml-cpp writes the escapes \N and \_ as one byte each; all other text is UTF-8 (CheckEncoding).
std::string MendEscapes(const std::string& text) {
  std::string mended;
  absl::string_view rest = text;
  while (true) {
    const size_t valid = util::ValidUtf8Prefix(rest);
    mended.append(rest.data(), valid);
    if (valid == rest.size()) return mended;
    mended += {'\xC2', rest[valid]};
    rest.remove_prefix(valid + 1);
  }
}

class Builder : public YAML::EventHandler {
 public:
  std::vector<Document> TakeDocuments() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // The library does not advance over a token that can start no value (",", "]"), and would
    // report empty documents there for ever.
    if (mark.pos == document_start_) throw Finding{ToPosition(mark), "unexpected token"};
    document_start_ = mark.pos;
    stack_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Leaf(Value(), ToPosition(mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Position at = ToPosition(mark);
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) throw Finding{at, "alias inside its own anchor"};
    alias_values_ += CountValues(it->second.marks);
    if (alias_values_ > kMaxAliasValues) throw Finding{at, "aliases expand to too many values"};
    Document copy = it->second;
    Add(std::move(copy.value), std::move(copy.marks), at);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& read) override {
    const std::string text = MendEscapes(read);
    const Position at = ToPosition(mark);
    if (tag == "?" && text == "<<" && ExpectsKey()) {
      stack_.back().merge = true;
      stack_.back().key_at = at;
      stack_.back().has_key = true;
      return;
    }
    Leaf(Resolve(tag, text, at), at, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(Value::MakeArray(), ToPosition(mark), anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(Value::MakeObject(), ToPosition(mark), anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  int document_start_ = -1;
  struct Frame {
    Value value;
    Marks marks;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    bool merge = false;  // the pending key is `<<`
    std::string key;
    Position key_at;
    absl::flat_hash_set<std::string> own_keys;      // written here
    std::vector<std::pair<Value, Marks>> to_merge;  // applied when the map ends
  };

  bool ExpectsKey() const {
    return !stack_.empty() && stack_.back().value.is_object() && !stack_.back().has_key;
  }

  static Value Resolve(const std::string& tag, const std::string& text, Position at) {
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary") {
      return Value(text);
    }
    std::optional<Value> value = ResolvePlain(text);
    if (!value) throw Finding{at, absl::StrCat("number ", text, " cannot be represented")};
    const auto require = [&](bool ok, absl::string_view kind) {
      if (!ok) throw Finding{at, absl::StrCat("cannot read \"", text, "\" as ", kind)};
    };
    if (tag == "tag:yaml.org,2002:int") require(value->is_int(), "int");
    if (tag == "tag:yaml.org,2002:bool") require(value->is_bool(), "bool");
    if (tag == "tag:yaml.org,2002:null") require(value->is_null(), "null");
    if (tag == "tag:yaml.org,2002:float") {
      require(value->is_number(), "float");
      return Value(value->as_double());
    }
    return *std::move(value);
  }

  static std::string KeyText(const Value& key, Position at) {
    if (key.is_string()) return key.as_string();
    if (key.is_bool()) return key.as_bool() ? "true" : "false";
    if (key.is_number()) return apis::json::Dump(key);
    throw Finding{at, "a map key must be a string, number or boolean"};
  }

  void Leaf(Value value, Position at, YAML::anchor_t anchor) {
    Marks marks{at, at, {}};
    if (anchor != 0) anchors_[anchor] = Document{value, marks};
    Add(std::move(value), std::move(marks), at);
  }

  void Open(Value value, Position at, YAML::anchor_t anchor) {
    if (stack_.size() >= kMaxDepth) throw Finding{at, "nested too deeply"};
    if (ExpectsKey()) throw Finding{at, "a map key must be a string, number or boolean"};
    Frame frame;
    frame.value = std::move(value);
    frame.marks = Marks{at, at, {}};
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void Close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    for (auto& [value, marks] : frame.to_merge) MergeInto(frame, value, marks);
    if (frame.anchor != 0) anchors_[frame.anchor] = Document{frame.value, frame.marks};
    const Position at = frame.marks.value;
    Add(std::move(frame.value), std::move(frame.marks), at);
  }

  // Keys already there win.
  static void MergeInto(Frame& frame, Value& from, Marks& marks) {
    Value::Object& members = from.as_object();
    for (size_t i = 0; i < members.size(); ++i) {
      if (!frame.own_keys.insert(members[i].key).second) continue;
      frame.value.as_object().push_back(std::move(members[i]));
      frame.marks.children.push_back(std::move(marks.children[i]));
    }
  }

  void Add(Value value, Marks marks, Position at) {
    if (stack_.empty()) {
      documents_.push_back(Document{std::move(value), std::move(marks)});
      return;
    }
    Frame& top = stack_.back();
    if (top.value.is_array()) {
      marks.key = at;
      top.value.as_array().push_back(std::move(value));
      top.marks.children.push_back(std::move(marks));
      return;
    }
    if (!top.has_key) {
      top.key = KeyText(value, at);
      top.key_at = at;
      top.has_key = true;
      if (!top.own_keys.insert(top.key).second) {
        throw Finding{at, absl::StrCat("key \"", top.key, "\" is given twice")};
      }
      return;
    }
    top.has_key = false;
    if (top.merge) {
      top.merge = false;
      AddMerge(top, std::move(value), std::move(marks), at);
      return;
    }
    marks.key = top.key_at;
    top.value.as_object().push_back(Member{top.key, std::move(value)});
    top.marks.children.push_back(std::move(marks));
  }

  static void AddMerge(Frame& top, Value value, Marks marks, Position at) {
    if (value.is_object()) {
      top.to_merge.emplace_back(std::move(value), std::move(marks));
      return;
    }
    bool ok = value.is_array();
    for (size_t i = 0; ok && i < value.size(); ++i) {
      ok = value.as_array()[i].is_object();
      if (ok) top.to_merge.emplace_back(value.as_array()[i], marks.children[i]);
    }
    if (!ok) throw Finding{at, "a merge key needs a map or a list of maps"};
  }

  std::vector<Document> documents_;
  std::vector<Frame> stack_;
  absl::flat_hash_map<YAML::anchor_t, Document> anchors_;
  size_t alias_values_ = 0;
};

// Reads a view without copying it.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(absl::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

absl::Status ErrorAt(Position at, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", at.line, ", column ", at.column, ": ", text));
}

// yaml-cpp hands on bytes that are no UTF-8, and takes some texts with NUL bytes for UTF-16 or
// UTF-32.
absl::Status CheckEncoding(absl::string_view text) {
  const size_t bad = std::min(util::ValidUtf8Prefix(text), text.find('\0'));
  if (bad >= text.size()) return absl::OkStatus();
  const absl::string_view good = text.substr(0, bad);
  const size_t line_start = good.rfind('\n') + 1;  // npos + 1 = 0
  return ErrorAt({.line = static_cast<int>(std::count(good.begin(), good.end(), '\n')) + 1,
                  .column = static_cast<int>(bad - line_start) + 1},
                 "not UTF-8 text");
}

}  // namespace

absl::StatusOr<std::vector<Document>> ParseAll(absl::string_view text) {
  HEKLA_RETURN_IF_ERROR(CheckEncoding(text));
  ViewBuffer buffer(text);
  std::istream input(&buffer);
  Builder builder;
  try {
    YAML::Parser parser(input);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Finding& finding) {
    return ErrorAt(finding.at, finding.text);
  } catch (const YAML::Exception& e) {
    return ErrorAt(ToPosition(e.mark), e.msg);
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("malformed YAML: ", e.what()));
  }
  return builder.TakeDocuments();
}

absl::StatusOr<Document> ParseOne(absl::string_view text) {
  HEKLA_ASSIGN_OR_RETURN(std::vector<Document> documents, ParseAll(text));
  Document result;
  bool found = false;
  for (Document& document : documents) {
    if (document.value.is_null()) continue;
    if (found) return ErrorAt(document.marks.value, "more than one document");
    found = true;
    result = std::move(document);
  }
  return result;
}

}  // namespace hekla::yaml
