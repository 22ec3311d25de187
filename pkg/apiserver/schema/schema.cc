#include "pkg/apiserver/schema/schema.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "glog/logging.h"
#include "pkg/apiserver/schema/tables.h"

namespace hekla::apiserver::schema {
namespace {

// Messages with more fields than this get a hash index.
constexpr size_t kScanLimit = 8;

struct Tables {
  std::vector<std::unique_ptr<Message>> messages;
  absl::flat_hash_map<std::string, const Message*> by_name;
  std::vector<KindEntry> kinds;
  absl::flat_hash_map<std::string, const Message*> by_kind;  // "group/version/kind"
};

std::string KindKey(absl::string_view group, absl::string_view version, absl::string_view kind) {
  return absl::StrCat(group, "/", version, "/", kind);
}

class Compiler {
 public:
  Tables Run() {
    for (const char* text :
         {internal::kMetaTable, internal::kPodTable, internal::kVolumeTable, internal::kCoreTable,
          internal::kWorkloadTable, internal::kMoreTable, internal::kAutoscalingTable}) {
      for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) Line(line);
    }
    for (auto& message : tables_.messages) Resolve(*message);
    for (auto& message : tables_.messages) Flatten(*message);
    for (auto& message : tables_.messages) BuildIndex(*message);
    for (size_t i = kinds_.size(); i-- > 0;) AddList(kinds_[i]);
    for (KindEntry& entry : kinds_) {
      entry.message = MarkKind(kind_forms_[&entry - kinds_.data()]);
      tables_.by_kind[KindKey(entry.group, entry.version, entry.kind)] = entry.message;
    }
    tables_.kinds = std::move(kinds_);
    return std::move(tables_);
  }

 private:
  void Line(absl::string_view line) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    if (words[0] == "kind") return Kind(words);
    if (words[0] == "message") return NewMessage(words);
    CHECK(current_ != nullptr) << line;
    if (words[0] == "+") {
      for (size_t i = 1; i < words.size(); ++i) Option(current_->fields.back(), words[i]);
      return;
    }
    CHECK_GE(words.size(), 3u) << line;
    Field field;
    uint32_t number = 0;
    CHECK(absl::SimpleAtoi(words[0], &number)) << line;
    field.number = static_cast<uint16_t>(number);
    if (words[2] == "inline") {
      field.inlined = true;
      field.type = Type::kMessage;
      field.go_type = std::string(words[1]);
    } else {
      field.name = std::string(words[1]);
      TypeOf(field, words[2]);
      for (size_t i = 3; i < words.size(); ++i) Option(field, words[i]);
    }
    current_->fields.push_back(std::move(field));
  }

  void Kind(const std::vector<absl::string_view>& words) {
    CHECK_EQ(words.size(), 4u);
    const std::pair<absl::string_view, absl::string_view> gv =
        absl::StrSplit(words[1], absl::MaxSplits('/', 1));
    KindEntry entry;
    entry.group = std::string(gv.second.empty() ? "" : gv.first);
    entry.version = std::string(gv.second.empty() ? gv.first : gv.second);
    entry.kind = std::string(words[2]);
    entry.message = nullptr;
    kinds_.push_back(std::move(entry));
    kind_forms_.emplace_back(words[3]);
  }

  void NewMessage(const std::vector<absl::string_view>& words) {
    tables_.messages.push_back(std::make_unique<Message>());
    current_ = tables_.messages.back().get();
    current_->name = std::string(words[1]);
    current_->atomic = words.size() > 2 && words[2] == "atomic";
    CHECK(tables_.by_name.emplace(current_->name, current_).second) << current_->name;
  }

  static void TypeOf(Field& field, absl::string_view text) {
    if (absl::ConsumeSuffix(&text, "?")) field.presence = Presence::kOptional;
    if (absl::ConsumeSuffix(&text, "!")) field.presence = Presence::kAlways;
    if (absl::ConsumeSuffix(&text, "~")) field.presence = Presence::kNullable;
    if (absl::ConsumePrefix(&text, "[]")) field.shape = Shape::kList;
    if (absl::ConsumePrefix(&text, "{}")) field.shape = Shape::kMap;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits('/', 1));
    static constexpr std::pair<absl::string_view, Type> kTypes[] = {
        {"string", Type::kString},      {"bool", Type::kBool},
        {"int32", Type::kInt32},        {"int64", Type::kInt64},
        {"double", Type::kDouble},      {"bytes", Type::kBytes},
        {"time", Type::kTime},          {"microtime", Type::kMicroTime},
        {"duration", Type::kDuration},  {"quantity", Type::kQuantity},
        {"intstr", Type::kIntOrString}, {"any", Type::kAny},
        {"fields", Type::kAny}};
    field.type = Type::kMessage;
    for (const auto& [name, type] : kTypes) {
      if (name == parts.first) field.type = type;
    }
    GoType(field, parts.first, parts.second);
  }

  // How Go's decoder names the type in its errors.
  static void GoType(Field& field, absl::string_view base, absl::string_view go_name) {
    if (field.type == Type::kMessage) {
      // Kept as the form's name until Resolve.
      field.go_type = std::string(base);
      return;
    }
    std::string type(base);
    if (base == "double") type = "float64";
    if (base == "bytes") type = "[]uint8";
    if (base == "quantity") type = "resource.Quantity";
    if (base == "intstr") type = "intstr.IntOrString";
    if (base == "time" || base == "duration") type = base == "time" ? "v1.Time" : "v1.Duration";
    if (base == "microtime") type = "v1.MicroTime";
    if (!go_name.empty()) {
      type = absl::StrContains(go_name, ".") ? std::string(go_name) : absl::StrCat("v1.", go_name);
      // A named map type (ResourceList) names the whole, not the element.
      if (field.shape == Shape::kMap) {
        field.go_type = type;
        return;
      }
    }
    if (field.shape == Shape::kList) type = absl::StrCat("[]", type);
    if (field.shape == Shape::kMap) type = absl::StrCat("map[string]", type);
    field.go_type = type;
  }

  static void Option(Field& field, absl::string_view option) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    if (parts.first == "merge") {
      field.merge = true;
      field.merge_key = std::string(parts.second);
    } else if (parts.first == "map") {
      field.list_kind = ListKind::kMap;
      field.list_keys = absl::StrSplit(parts.second, ',');
    } else if (option == "set") {
      field.list_kind = ListKind::kSet;
    } else if (option == "retain") {
      field.retain_keys = true;
    } else if (option == "replace") {
      field.replace = true;
    } else if (option == "atomic") {
      field.atomic = true;
    } else if (parts.first == "default") {
      field.key_default = std::string(parts.second);
    } else {
      LOG(FATAL) << "unknown option " << option << " of " << field.name;
    }
  }

  const Message* Lookup(absl::string_view name) const {
    const auto it = tables_.by_name.find(name);
    CHECK(it != tables_.by_name.end()) << name;
    return it->second;
  }

  const Message* MarkKind(absl::string_view name) {
    for (auto& message : tables_.messages) {
      if (message->name != name) continue;
      message->is_kind = true;
      return message.get();
    }
    LOG(FATAL) << name;
    return nullptr;
  }

  void Resolve(Message& message) const {
    for (Field& field : message.fields) {
      if (field.type != Type::kMessage) continue;
      field.message = Lookup(field.go_type);
      std::string type = absl::StrCat("v1.", field.message->go_name());
      if (field.shape == Shape::kList) type = absl::StrCat("[]", type);
      if (field.shape == Shape::kMap) type = absl::StrCat("map[string]", type);
      field.go_type = std::move(type);
    }
  }

  // Puts the fields of inlined messages in the place of the inlined one, without numbers.
  void Flatten(Message& message) const {
    std::vector<Field> fields;
    for (Field& field : message.fields) {
      if (!field.inlined) {
        fields.push_back(std::move(field));
        continue;
      }
      AppendInlined(*field.message, fields);
      message.inlined.push_back(std::move(field));
    }
    message.fields = std::move(fields);
  }

  static void AppendInlined(const Message& inlined, std::vector<Field>& fields) {
    for (Field field : inlined.fields) {
      if (field.inlined) {
        AppendInlined(*field.message, fields);
        continue;
      }
      field.number = 0;
      const std::string from(inlined.go_name());
      field.inlined_from =
          field.inlined_from.empty() ? from : absl::StrCat(from, ".", field.inlined_from);
      fields.push_back(std::move(field));
    }
  }

  static void BuildIndex(Message& message) {
    if (message.fields.size() <= kScanLimit) return;
    for (size_t i = 0; i < message.fields.size(); ++i) {
      message.index.emplace(message.fields[i].name, static_cast<uint16_t>(i));
    }
  }

  void AddList(const KindEntry& entry) {
    const Message* item = Lookup(kind_forms_[&entry - kinds_.data()]);
    if (item->Find("metadata") == nullptr) return;
    auto list = std::make_unique<Message>();
    list->name = absl::StrCat(item->name, "List");
    list->is_kind = true;
    Field metadata;
    metadata.name = "metadata";
    metadata.number = 1;
    metadata.type = Type::kMessage;
    metadata.presence = Presence::kAlways;
    metadata.message = Lookup("ListMeta");
    Field items;
    items.name = "items";
    items.number = 2;
    items.type = Type::kMessage;
    items.shape = Shape::kList;
    items.presence = Presence::kAlways;
    items.message = item;
    items.go_type = absl::StrCat("[]v1.", item->go_name());
    list->fields = {std::move(metadata), std::move(items)};
    tables_.by_kind[KindKey(entry.group, entry.version, absl::StrCat(entry.kind, "List"))] =
        list.get();
    tables_.by_name.emplace(list->name, list.get());
    tables_.messages.push_back(std::move(list));
  }

  Tables tables_;
  Message* current_ = nullptr;
  std::vector<KindEntry> kinds_;
  std::vector<std::string> kind_forms_;
};

const Tables& Get() {
  static const Tables* const tables = new Tables(Compiler().Run());
  return *tables;
}

}  // namespace

const Field* Message::Find(absl::string_view json_name) const {
  if (!index.empty()) {
    const auto it = index.find(json_name);
    return it == index.end() ? nullptr : &fields[it->second];
  }
  for (const Field& field : fields) {
    if (field.name == json_name) return &field;
  }
  return nullptr;
}

const Field* Message::FindNumber(uint32_t number) const {
  for (const Field& field : fields) {
    if (field.number == number) return &field;
  }
  for (const Field& field : inlined) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

absl::string_view Message::go_name() const {
  const absl::string_view whole = name;
  const size_t dot = whole.rfind('.');
  return dot == absl::string_view::npos ? whole : whole.substr(dot + 1);
}

const Message* FindKind(absl::string_view group, absl::string_view version,
                        absl::string_view kind) {
  // Every group version has its own registration of these.
  if (kind == "DeleteOptions" || kind == "Status") {
    group = "meta.k8s.io";
    version = "v1";
  }
  const auto it = Get().by_kind.find(KindKey(group, version, kind));
  return it == Get().by_kind.end() ? nullptr : it->second;
}

const Message* FindMessage(absl::string_view name) {
  const auto it = Get().by_name.find(name);
  return it == Get().by_name.end() ? nullptr : it->second;
}

const std::vector<KindEntry>& AllKinds() { return Get().kinds; }

}  // namespace hekla::apiserver::schema
