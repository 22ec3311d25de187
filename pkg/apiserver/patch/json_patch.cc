#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/schema/decode.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::patch {
namespace {

using apis::json::Value;

absl::Status Refused() {
  return absl::FailedPreconditionError(
      "the server rejected our request due to an error in our request");
}

std::vector<std::string> Tokens(absl::string_view pointer) {
  std::vector<std::string> out;
  if (pointer.empty()) return out;
  for (absl::string_view part : absl::StrSplit(pointer.substr(1), '/')) {
    out.push_back(absl::StrReplaceAll(part, {{"~1", "/"}, {"~0", "~"}}));
  }
  return out;
}

// A position in an array; negative ones count from its end. `limit` is the first one not allowed.
std::optional<size_t> Index(absl::string_view token, size_t size, size_t limit) {
  int64_t index = 0;
  if (!absl::SimpleAtoi(token, &index)) return std::nullopt;
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || index >= static_cast<int64_t>(limit)) return std::nullopt;
  return static_cast<size_t>(index);
}

Value* Step(Value& at, absl::string_view token) {
  if (at.is_object()) return at.Find(token);
  if (!at.is_array()) return nullptr;
  const auto index = Index(token, at.size(), at.size());
  return index ? &at.as_array()[*index] : nullptr;
}

// The container of the last token; nullptr where a step is missing.
Value* Parent(Value& root, const std::vector<std::string>& tokens) {
  Value* at = &root;
  for (size_t i = 0; at != nullptr && i + 1 < tokens.size(); ++i) at = Step(*at, tokens[i]);
  return at;
}

bool Add(Value& root, const std::vector<std::string>& tokens, Value value) {
  if (tokens.empty()) return false;
  Value* parent = Parent(root, tokens);
  if (parent == nullptr) return false;
  const std::string& key = tokens.back();
  if (parent->is_object()) {
    parent->Set(key, std::move(value));
    return true;
  }
  if (!parent->is_array()) return false;
  auto& items = parent->as_array();
  if (key == "-") {
    items.push_back(std::move(value));
    return true;
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(key, &number)) return false;
  // A negative position counts from the end of the longer list.
  if (number < 0) number += static_cast<int64_t>(items.size()) + 1;
  if (number < 0 || number > static_cast<int64_t>(items.size())) return false;
  items.insert(items.begin() + number, std::move(value));
  return true;
}

bool Take(Value& root, const std::vector<std::string>& tokens, Value& taken) {
  if (tokens.empty()) return false;
  Value* parent = Parent(root, tokens);
  if (parent == nullptr) return false;
  Value* target = Step(*parent, tokens.back());
  if (target == nullptr) return false;
  taken = std::move(*target);
  if (parent->is_object()) return parent->Remove(tokens.back());
  auto& items = parent->as_array();
  items.erase(items.begin() + (target - items.data()));
  return true;
}

Value* Get(Value& root, const std::vector<std::string>& tokens) {
  Value* at = &root;
  for (const std::string& token : tokens) {
    at = Step(*at, token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// Quirk: the real server's library replaces members that are not there, too.
bool Replace(Value& root, const std::vector<std::string>& tokens, const Value& value) {
  if (tokens.empty() && !value.is_object() && !value.is_array()) return false;
  Value* parent = tokens.empty() ? nullptr : Parent(root, tokens);
  if (parent != nullptr && parent->is_object()) {
    parent->Set(tokens.back(), value);
    return true;
  }
  Value* target = Get(root, tokens);
  if (target == nullptr) return false;
  *target = value;
  return true;
}

// Whether `inner` lies below `outer`: such a move would swallow itself.
bool Below(absl::string_view outer, absl::string_view inner) {
  return inner.size() > outer.size() && inner.substr(0, outer.size()) == outer &&
         inner[outer.size()] == '/';
}

bool ApplyOne(Value& root, const Value& operation) {
  const absl::string_view op = operation.GetString("op");
  const Value* path = operation.Find("path");
  if (path == nullptr || !path->is_string()) return false;
  const std::string& pointer = path->as_string();
  if (!pointer.empty() && pointer[0] != '/') return false;
  const std::vector<std::string> tokens = Tokens(pointer);
  if (op == "add") {
    // A missing value is null, as for the real server's library.
    return Add(root, tokens, operation.At("value"));
  }
  if (op == "remove") {
    Value dropped;
    return Take(root, tokens, dropped);
  }
  if (op == "replace") {
    return Replace(root, tokens, operation.At("value"));
  }
  if (op == "test") {
    Value* parent = tokens.empty() ? &root : Parent(root, tokens);
    if (parent == nullptr) return false;
    const Value* target = Get(root, tokens);
    // An absent member equals null; an absent list position is an error.
    if (target == nullptr) return parent->is_object() && operation.At("value").is_null();
    return *target == operation.At("value");
  }
  if (op != "move" && op != "copy") return false;
  const Value* from = operation.Find("from");
  if (from == nullptr || !from->is_string()) return false;
  const std::string& source = from->as_string();
  if (source.empty() || source[0] != '/') return false;
  if (op == "copy") {
    const std::vector<std::string> where = Tokens(source);
    const Value* value = Get(root, where);
    const Value* parent = Parent(root, where);
    // Quirk: a member that is not there is copied as null.
    if (value == nullptr && (parent == nullptr || !parent->is_object())) return false;
    Value copy = value == nullptr ? Value() : *value;
    return Add(root, tokens, std::move(copy));
  }
  if (Below(source, pointer)) return false;
  Value moved;
  if (!Take(root, Tokens(source), moved)) return false;
  return Add(root, tokens, std::move(moved));
}

}  // namespace

absl::StatusOr<Value> ApplyJsonPatch(const Value& document, const Value& patch) {
  if (patch.is_null()) return document;
  if (!patch.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("error decoding patch: json: cannot unmarshal ", schema::GoKind(patch),
                     " into Go value of type []handlers.jsonPatchOp"));
  }
  for (const Value& operation : patch.as_array()) {
    if (operation.is_null()) continue;
    if (!operation.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat("error decoding patch: json: cannot unmarshal ", schema::GoKind(operation),
                       " into Go value of type handlers.jsonPatchOp"));
    }
    for (const char* name : {"op", "path", "from"}) {
      const Value& text = operation.At(name);
      if (text.is_null() || text.is_string()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("error decoding patch: json: cannot unmarshal ", schema::GoKind(text),
                       " into Go struct field jsonPatchOp.", name, " of type string"));
    }
  }
  if (patch.size() > kMaxJsonPatchOperations) {
    return absl::ResourceExhaustedError(
        absl::StrCat("The allowed maximum operations in a JSON patch is ", kMaxJsonPatchOperations,
                     ", got ", patch.size()));
  }
  Value out = document;
  for (const Value& operation : patch.as_array()) {
    if (!ApplyOne(out, operation)) return Refused();
  }
  return out;
}

}  // namespace hekla::apiserver::patch
