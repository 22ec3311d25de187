#include "pkg/scheduler/config_file.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "pkg/util/status_macros.h"

namespace hekla::scheduler {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ConfigFile::ConfigFile(Options options, conf::Known known)
    : options_(std::move(options)), known_(std::move(known)) {}

absl::StatusOr<std::string> ConfigFile::Read() const {
  std::ifstream file(options_.path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(absl::StrCat("cannot read configuration file ", options_.path));
  }
  return text.str();
}

absl::StatusOr<conf::Config> ConfigFile::Parse(const std::string& text) const {
  HEKLA_ASSIGN_OR_RETURN(conf::Config config, conf::ParseConfig(text, options_.path, known_));
  for (const std::string& warning : config.warnings) LOG(WARNING) << warning;
  if (VLOG_IS_ON(2)) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) VLOG(2) << line;
  }
  return config;
}

absl::StatusOr<conf::Config> ConfigFile::BuiltIn() const {
  return conf::ParseConfig(conf::BuiltInConfigText(), "built-in configuration", known_);
}

absl::StatusOr<conf::Config> ConfigFile::Load() {
  if (options_.path.empty()) {
    if (options_.require) {
      return absl::NotFoundError(
          "--disable-default-scheduler-config is given, --scheduler-conf is missing");
    }
    return BuiltIn();
  }
  HEKLA_ASSIGN_OR_RETURN(watch_, FolderWatch::Open(FolderOf(options_.path)));
  absl::StatusOr<std::string> text = Read();
  if (!text.ok()) {
    if (options_.require) return text.status();
    LOG(ERROR) << text.status().message() << ", using the built-in configuration";
    return BuiltIn();
  }
  text_ = *text;
  return Parse(text_);
}

absl::StatusOr<std::optional<conf::Config>> ConfigFile::Poll() {
  if (watch_ == nullptr || !watch_->TakeChange()) return std::nullopt;
  absl::StatusOr<std::string> text = Read();
  // Other files of the folder, or the same content again: nothing to do.
  if (text.ok() && *text == text_) return std::nullopt;
  absl::StatusOr<conf::Config> config =
      text.ok() ? Parse(*text) : absl::StatusOr<conf::Config>(text.status());
  if (config.ok()) {
    text_ = *std::move(text);
    ++reloads_;
    LOG(INFO) << "configuration reloaded file=" << options_.path;
    return std::optional<conf::Config>(*std::move(config));
  }
  ++failed_reloads_;
  if (options_.require) return config.status();
  LOG(ERROR) << "configuration not reloaded, the previous one stays: " << config.status().message();
  return std::nullopt;
}

}  // namespace hekla::scheduler
