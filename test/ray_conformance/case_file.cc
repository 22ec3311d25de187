#include "test/ray_conformance/case_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"

namespace hekla::ray_conformance {
namespace {

using apis::json::Member;
using apis::json::Value;

int SameAsStep(const Value& value) {
  return value.is_object() && value.size() == 1 ? static_cast<int>(value.GetInt("sameAsStep", 0))
                                                : 0;
}

// Objects that equal an earlier dump are written as {"sameAsStep": n}.
absl::Status Resolve(const std::vector<Step>& before, Step& step) {
  if (step.objects.is_object()) {
    for (Member& kind : step.objects.as_object()) {
      for (Member& object : kind.value.as_object()) {
        const int n = SameAsStep(object.value);
        if (n == 0) continue;
        if (n < 1 || n > static_cast<int>(before.size())) {
          return absl::InvalidArgumentError(absl::StrCat("no step ", n));
        }
        const Value copy = before[n - 1].objects.At(kind.key).At(object.key);
        object.value = copy;
      }
    }
  }
  if (!step.raycluster.is_object()) return absl::OkStatus();
  Value* spec = step.raycluster.Find("spec");
  const int n = spec == nullptr ? 0 : SameAsStep(*spec);
  if (n < 0 || n > static_cast<int>(before.size())) {
    return absl::InvalidArgumentError(absl::StrCat("no step ", n));
  }
  if (n > 0) {
    Value copy = before[n - 1].raycluster.At("spec");
    *spec = std::move(copy);
  }
  return absl::OkStatus();
}

std::vector<std::string> Strings(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) {
    if (item.is_string()) out.push_back(item.as_string());
  }
  return out;
}

}  // namespace

absl::StatusOr<Case> LoadCase(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::stringstream text;
  text << in.rdbuf();
  Case out;
  out.text = text.str();
  out.folder = std::filesystem::path(path).parent_path().string();
  HEKLA_ASSIGN_OR_RETURN(Value root, apis::json::Parse(out.text));
  out.name = std::string(root.GetString("name"));
  out.ns = std::string(root.GetString("namespace"));
  out.flags = Strings(root.At("operatorFlags"));
  out.unstable = Strings(root.At("unstable"));
  out.manifest = root.At("manifest");
  if (root.At("operatorEnv").is_object()) {
    for (const Member& m : root.At("operatorEnv").as_object()) {
      if (m.value.is_string()) out.env.emplace_back(m.key, m.value.as_string());
    }
  }
  if (root.At("pre").is_array()) out.pre = root.At("pre").as_array();
  if (out.name.empty() || out.ns.empty() || !root.At("steps").is_array()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": no name, namespace or steps"));
  }
  for (const Value& item : root.At("steps").as_array()) {
    Step step{item.At("action"),     item.At("objects"), item.At("created"), item.At("deleted"),
              item.At("raycluster"), item.At("status"),  item.At("events"),  item.At("response")};
    HEKLA_RETURN_IF_ERROR(Resolve(out.steps, step));
    out.steps.push_back(std::move(step));
  }
  return out;
}

bool IsUnstable(const Case& recorded, absl::string_view path) {
  const auto covers = [](absl::string_view upper, absl::string_view lower) {
    return absl::StartsWith(lower, upper) &&
           (lower.size() == upper.size() || lower[upper.size()] == '/' ||
            lower[upper.size()] == '[');
  };
  for (const std::string& unstable : recorded.unstable) {
    if (covers(unstable, path) || covers(path, unstable)) return true;
  }
  return false;
}

}  // namespace hekla::ray_conformance
