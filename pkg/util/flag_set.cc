#include "pkg/util/flag_set.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "pkg/util/status_macros.h"

namespace hekla::util {
namespace {

absl::Status Malformed(absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("not ", expected));
}

// The texts that Go's strconv.ParseBool takes.
bool ParseBool(absl::string_view text, bool* value) {
  static constexpr absl::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  static constexpr absl::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
  const auto holds = [text](const auto& list) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
  };
  if (!holds(kTrue) && !holds(kFalse)) return false;
  *value = holds(kTrue);
  return true;
}

std::string Dashed(absl::string_view name) { return absl::StrReplaceAll(name, {{"_", "-"}}); }

// An argument taken apart: "--a=b" is {"a", "b", true}.
struct Piece {
  std::string name;
  std::string value;
  bool has_value = false;
};

Piece TakeApart(absl::string_view argument) {
  absl::ConsumePrefix(&argument, "-");
  absl::ConsumePrefix(&argument, "-");
  Piece piece;
  const size_t equals = argument.find('=');
  piece.name = Dashed(argument.substr(0, equals));
  if (equals != absl::string_view::npos) {
    piece.value = std::string(argument.substr(equals + 1));
    piece.has_value = true;
  }
  return piece;
}

}  // namespace

void FlagSet::Add(absl::string_view name, std::string default_text, absl::string_view help,
                  std::function<absl::Status(absl::string_view)> set, bool is_bool) {
  flags_.push_back({.name = std::string(name),
                    .default_text = std::move(default_text),
                    .help = std::string(help),
                    .is_bool = is_bool,
                    .set = std::move(set)});
}

void FlagSet::Bool(absl::string_view name, bool* value, absl::string_view help) {
  const auto set = [value](absl::string_view text) {
    return ParseBool(text, value) ? absl::OkStatus() : Malformed("a boolean");
  };
  Add(name, *value ? "true" : "false", help, set, true);
}

void FlagSet::Int(absl::string_view name, int* value, absl::string_view help) {
  const auto set = [value](absl::string_view text) {
    return absl::SimpleAtoi(text, value) ? absl::OkStatus() : Malformed("a whole number");
  };
  Add(name, absl::StrCat(*value), help, set);
}

void FlagSet::Double(absl::string_view name, double* value, absl::string_view help) {
  const auto set = [value](absl::string_view text) {
    return absl::SimpleAtod(text, value) ? absl::OkStatus() : Malformed("a number");
  };
  Add(name, absl::StrCat(*value), help, set);
}

void FlagSet::String(absl::string_view name, std::string* value, absl::string_view help) {
  const auto set = [value](absl::string_view text) {
    *value = std::string(text);
    return absl::OkStatus();
  };
  Add(name, absl::StrCat("\"", *value, "\""), help, set);
}

void FlagSet::Duration(absl::string_view name, absl::Duration* value, absl::string_view help) {
  const auto set = [value](absl::string_view text) {
    absl::Duration read;
    if (!absl::ParseDuration(std::string(text), &read) || read < absl::ZeroDuration() ||
        read == absl::InfiniteDuration()) {
      return Malformed("a duration such as 300ms, 1s or 1h30m");
    }
    *value = read;
    return absl::OkStatus();
  };
  Add(name, absl::FormatDuration(*value), help, set);
}

void FlagSet::List(absl::string_view name, std::vector<std::string>* value, ListForm form,
                   absl::string_view help) {
  const auto set = [value, form, first = std::make_shared<bool>(true)](absl::string_view text) {
    if (*first) value->clear();
    *first = false;
    if (form == ListForm::kRepeated) {
      value->emplace_back(text);
    } else {
      for (absl::string_view part : absl::StrSplit(text, ',')) value->emplace_back(part);
    }
    return absl::OkStatus();
  };
  Add(name, absl::StrCat("[", absl::StrJoin(*value, ","), "]"), help, set);
}

void FlagSet::Custom(absl::string_view name, absl::string_view default_text,
                     std::function<absl::Status(absl::string_view)> set, absl::string_view help) {
  Add(name, std::string(default_text), help, std::move(set));
}

bool FlagSet::Has(absl::string_view name) const { return Find(std::string(name)) != nullptr; }

void FlagSet::Ignored(absl::string_view name, bool is_bool, absl::string_view help) {
  const auto ignore = [](absl::string_view) { return absl::OkStatus(); };
  Add(name, is_bool ? "false" : "\"\"", help, ignore, is_bool);
}

void FlagSet::Alias(absl::string_view alias, absl::string_view name) {
  aliases_.emplace_back(alias, name);
}

const FlagSet::Flag* FlagSet::Find(const std::string& name) const {
  std::string wanted = name;
  for (const auto& [alias, real] : aliases_) {
    if (alias == name) wanted = real;
  }
  for (const Flag& flag : flags_) {
    if (flag.name == wanted) return &flag;
  }
  return nullptr;
}

const FlagSet::Flag* FlagSet::FindGlued(const std::string& argument, std::string& value) const {
  const Flag* flag = Find(argument.substr(1, 1));
  if (flag == nullptr || flag->is_bool) return nullptr;
  value = argument.substr(2);
  return flag;
}

absl::Status FlagSet::Assign(const Flag& flag, absl::string_view value) {
  const absl::Status set = flag.set(value);
  if (!set.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid argument \"", value, "\" for --", flag.name, ": ", set.message()));
  }
  given_.insert(flag.name);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      rest.push_back(argument);
      continue;
    }
    Piece piece = TakeApart(argument);
    if (piece.name == "help" || piece.name == "h") {
      help_ = true;
      continue;
    }
    const Flag* flag = Find(piece.name);
    if (flag == nullptr && argument[1] != '-') flag = FindGlued(argument, piece.value);
    if (flag == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("unknown flag: --", piece.name));
    }
    if (!piece.has_value && piece.value.empty()) {
      if (!flag->is_bool && i + 1 == arguments.size()) {
        return absl::InvalidArgumentError(absl::StrCat("flag needs an argument: --", flag->name));
      }
      piece.value = flag->is_bool ? "true" : arguments[++i];
    }
    HEKLA_RETURN_IF_ERROR(Assign(*flag, piece.value));
  }
  return rest;
}

std::string FlagSet::Usage() const {
  std::vector<const Flag*> sorted;
  for (const Flag& flag : flags_) sorted.push_back(&flag);
  std::sort(sorted.begin(), sorted.end(),
            [](const Flag* a, const Flag* b) { return a->name < b->name; });
  std::string out;
  for (const Flag* flag : sorted) {
    absl::StrAppend(&out, flag->name.size() == 1 ? "  -" : "  --", flag->name, " (default ",
                    flag->default_text, ")\n        ", flag->help, "\n");
  }
  return out;
}

absl::Status CheckRange(absl::string_view flag, int value, int low, int high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, " must be from ", low, " to ", high));
}

}  // namespace hekla::util
