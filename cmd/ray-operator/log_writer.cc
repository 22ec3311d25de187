#include "cmd/ray-operator/log_writer.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "pkg/apis/json/value.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::ray_operator {
namespace {

namespace fs = std::filesystem;

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

// Takes the library's lines of every severity, which end up with the logger of the lowest.
class Writer final : public google::base::Logger {
 public:
  Writer(Encoder standard_output, Encoder file_encoder, std::unique_ptr<RotatingFile> file)
      : standard_output_(standard_output), file_encoder_(file_encoder), file_(std::move(file)) {}

  void Write(bool, time_t, const char* message, size_t length) override {
    const absl::Time now = absl::Now();
    const ParsedLine parsed = ParseLibraryLine(absl::string_view(message, length));
    std::string line =
        LogLine(standard_output_, parsed.severity, now, parsed.logger, parsed.message) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
    if (file_ == nullptr) return;
    if (file_encoder_ != standard_output_) {
      line = LogLine(file_encoder_, parsed.severity, now, parsed.logger, parsed.message) + "\n";
    }
    file_->Write(line, now);
  }
  void Flush() override {}
  google::uint32 LogSize() override { return 0; }

 private:
  const Encoder standard_output_;
  const Encoder file_encoder_;
  const std::unique_ptr<RotatingFile> file_;
};

// For the severities whose lines the one above has already had.
class Nothing final : public google::base::Logger {
 public:
  void Write(bool, time_t, const char*, size_t) override {}
  void Flush() override {}
  google::uint32 LogSize() override { return 0; }
};

}  // namespace

ParsedLine ParseLibraryLine(absl::string_view line) {
  ParsedLine out;
  const size_t severity = absl::string_view("IWEF").find(line.empty() ? ' ' : line[0]);
  out.severity = severity == absl::string_view::npos ? 0 : static_cast<int>(severity);
  const size_t end = line.find("] ");
  if (end == absl::string_view::npos) {
    out.message = line;
    return out;
  }
  out.message = line.substr(end + 2);
  absl::string_view source = line.substr(0, end);
  source = source.substr(source.rfind(' ') + 1);
  source = source.substr(0, source.find('.'));
  // Upstream's logger names are components; here they are sources.
  out.logger = source == "wiring" || source == "main" ? "setup" : source;
  return out;
}

std::string LogLine(Encoder encoder, int severity, absl::Time time, absl::string_view logger,
                    absl::string_view message) {
  message = absl::StripSuffix(message, "\n");
  static constexpr absl::string_view kLower[] = {"info", "warn", "error", "fatal"};
  static constexpr absl::string_view kUpper[] = {"INFO", "WARN", "ERROR", "FATAL"};
  const size_t level = static_cast<size_t>(std::clamp(severity, 0, 3));
  if (encoder == Encoder::kConsole) {
    return absl::StrCat(TimeText(time), "\t", kUpper[level], "\t", logger, "\t", message);
  }
  return absl::StrCat("{\"level\":\"", kLower[level], "\",\"ts\":\"", TimeText(time),
                      "\",\"logger\":", apis::json::Quote(logger),
                      ",\"msg\":", apis::json::Quote(message), "}");
}

absl::StatusOr<std::unique_ptr<RotatingFile>> RotatingFile::Open(Options options) {
  std::unique_ptr<RotatingFile> file(new RotatingFile(std::move(options)));
  absl::MutexLock lock(&file->mutex_);
  HEKLA_RETURN_IF_ERROR(file->OpenFile());
  return file;
}

RotatingFile::~RotatingFile() {
  absl::MutexLock lock(&mutex_);
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status RotatingFile::OpenFile() {
  std::error_code ignored;
  const fs::path path(options_.path);
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
  file_ = std::fopen(options_.path.c_str(), "a");
  if (file_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot write log file ", options_.path));
  }
  const auto size = fs::file_size(path, ignored);
  bytes_ = ignored ? 0 : static_cast<int64_t>(size);
  return absl::OkStatus();
}

void RotatingFile::Write(absl::string_view line, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (bytes_ > 0 && bytes_ + static_cast<int64_t>(line.size()) > options_.max_bytes) Rotate(now);
  if (file_ == nullptr) return;
  bytes_ += static_cast<int64_t>(std::fwrite(line.data(), 1, line.size(), file_));
  std::fflush(file_);
}

void RotatingFile::Rotate(absl::Time now) {
  std::fclose(std::exchange(file_, nullptr));
  const fs::path path(options_.path);
  const std::string stem = path.stem().string() + "-";
  const std::string extension = path.extension().string();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  fs::rename(
      path,
      folder / absl::StrCat(stem, absl::FormatTime("%Y-%m-%dT%H-%M-%E6S", now, absl::UTCTimeZone()),
                            extension),
      ignored);
  // The names sort by time.
  std::vector<fs::path> backups;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > stem.size() + extension.size() && name.compare(0, stem.size(), stem) == 0 &&
        entry.path().extension() == extension) {
      backups.push_back(entry.path());
    }
  }
  std::sort(backups.rbegin(), backups.rend());
  const fs::file_time_type oldest = fs::file_time_type::clock::now() -
                                    std::chrono::seconds(absl::ToInt64Seconds(options_.max_age));
  for (size_t i = 0; i < backups.size(); ++i) {
    const auto written = fs::last_write_time(backups[i], ignored);
    if (i >= options_.max_backups || written < oldest) fs::remove(backups[i], ignored);
  }
  (void)OpenFile();  // nothing can be said in a log that cannot be written
}

absl::Status StartOperatorLog(const Options& options) {
  std::unique_ptr<RotatingFile> file;
  if (!options.config.log_file.empty()) {
    HEKLA_ASSIGN_OR_RETURN(file, RotatingFile::Open({.path = options.config.log_file}));
  }
  // The writer does it all: no lines on standard error but those that end the process.
  util::LogOptions log = options.log;
  log.to_stderr = false;
  log.stderr_threshold = 3;
  util::StartLogging("hekla-ray-operator", log);
  // The library keeps the pointers for as long as the process lives.
  static Writer* const writer =
      new Writer(options.stdout_encoder, options.file_encoder, std::move(file));
  static Nothing* const nothing = new Nothing();
  google::base::SetLogger(google::GLOG_INFO, writer);
  for (google::LogSeverity severity :
       {google::GLOG_WARNING, google::GLOG_ERROR, google::GLOG_FATAL}) {
    google::base::SetLogger(severity, nothing);
  }
  return absl::OkStatus();
}

}  // namespace hekla::cmd::ray_operator
