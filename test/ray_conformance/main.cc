#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"
#include "test/ray_conformance/player.h"
#include "test/recordings/run_arguments.h"

// usage: ray-conformance [--differences F] [-v] [--shared] FILE.json...
// Plays recordings of upstream's Ray operator and prints `<case> agree`, or what came out otherwise
// (path into the file, what it says, what we did; without -v the first few). Exit code 1 where a
// case differs that is not listed.
// With --shared it takes the recordings of the folder HEKLA_SHARED (else ../shared), and passes
// where they are not present.
namespace hekla::ray_conformance {
namespace {

using Arguments = recordings::RunArguments;

// Case name -> reason.
using Listed = std::map<std::string, std::string>;

absl::StatusOr<Listed> LoadDifferences(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::stringstream text;
  text << in.rdbuf();
  HEKLA_ASSIGN_OR_RETURN(const yaml::Document document, yaml::ParseOne(text.str()));
  Listed out;
  if (document.value.is_null()) return out;
  if (!document.value.is_array()) return absl::InvalidArgumentError("a list is expected");
  for (const apis::json::Value& item : document.value.as_array()) {
    const std::string name(item.GetString("case"));
    const std::string reason(item.GetString("reason"));
    if (name.empty() || reason.empty()) {
      return absl::InvalidArgumentError("an entry has a case and a reason");
    }
    out[name] = reason;
  }
  return out;
}

enum class Verdict : uint8_t { kAgrees, kListed, kDiffers };

Verdict RunFile(const std::string& path, const Arguments& arguments, const Listed& listed) {
  constexpr size_t kBrief = 5;
  const absl::StatusOr<Case> recorded = LoadCase(path);
  if (!recorded.ok()) {
    std::cout << path << ": " << recorded.status() << std::endl;
    return Verdict::kDiffers;
  }
  const absl::StatusOr<std::vector<Difference>> played = Play(*recorded);
  std::vector<Difference> found;
  if (played.ok()) {
    found = *played;
  } else {
    found.push_back({"/", "a recording that can be played", played.status().ToString()});
  }
  if (found.empty()) {
    std::cout << recorded->name << " agree" << std::endl;
    return Verdict::kAgrees;
  }
  const auto reason = listed.find(recorded->name);
  const bool is_listed = reason != listed.end();
  std::cout << recorded->name << (is_listed ? " listed: " : " differs: ")
            << (is_listed ? reason->second : absl::StrCat(found.size(), " places")) << std::endl;
  for (size_t i = 0; i < found.size() && (arguments.verbose || i < kBrief); ++i) {
    if (is_listed && !arguments.verbose) break;
    std::cout << "  " << found[i].path << "\n    expected " << found[i].expected
              << "\n    found    " << found[i].found << std::endl;
  }
  return is_listed ? Verdict::kListed : Verdict::kDiffers;
}

int Main(int argc, char** argv) {
  const recordings::Program program = {
      .usage = "usage: ray-conformance [--differences F] [-v] [--shared] FILE.json...",
      .differences = "test/conformance/ray-differences.yaml",
      .folder = "cases/raycluster",
      .extension = ".json"};
  Arguments arguments;
  if (const std::optional<int> over = recordings::ReadArguments(program, argc, argv, arguments)) {
    return *over;
  }
  absl::StatusOr<Listed> listed = LoadDifferences(arguments.differences);
  if (!listed.ok()) {
    if (arguments.differences_given || !absl::IsNotFound(listed.status())) {
      std::cerr << arguments.differences << ": " << listed.status() << "\n";
      return 2;
    }
    listed = Listed();
  }
  std::map<Verdict, int> tally;
  for (const std::string& file : arguments.files) ++tally[RunFile(file, arguments, *listed)];
  std::cout << "agree=" << tally[Verdict::kAgrees] << " listed=" << tally[Verdict::kListed]
            << " differ=" << tally[Verdict::kDiffers] << std::endl;
  return tally[Verdict::kDiffers] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hekla::ray_conformance

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = std::getenv("RAY_CONFORMANCE_LOG") != nullptr ? 0 : 3;
  return hekla::ray_conformance::Main(argc, argv);
}
