#include "test/conformance/differences.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"

namespace hekla::conformance {

absl::StatusOr<Differences> Differences::Load(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::stringstream text;
  text << in.rdbuf();
  HEKLA_ASSIGN_OR_RETURN(yaml::Document document, yaml::ParseOne(text.str()));
  Differences out;
  if (document.value.is_null()) return out;
  if (!document.value.is_array()) return absl::InvalidArgumentError("a list is expected");
  for (const apis::json::Value& item : document.value.as_array()) {
    Entry entry{std::string(item.GetString("case")), std::string(item.GetString("needs")),
                std::string(item.GetString("reason"))};
    if (entry.case_name.empty() == entry.need.empty() || entry.reason.empty()) {
      return absl::InvalidArgumentError("an entry has a reason, and either case or needs");
    }
    out.entries_.push_back(std::move(entry));
  }
  return out;
}

const std::string* Differences::ReasonOf(absl::string_view case_name) const {
  for (const Entry& entry : entries_) {
    if (!entry.case_name.empty() && entry.case_name == case_name) return &entry.reason;
  }
  return nullptr;
}

const std::string* Differences::ReasonOfNeed(absl::string_view need) const {
  for (const Entry& entry : entries_) {
    if (!entry.need.empty() && entry.need == need) return &entry.reason;
  }
  return nullptr;
}

}  // namespace hekla::conformance
