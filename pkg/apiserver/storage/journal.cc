#include "pkg/apiserver/storage/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::storage {
namespace {

using Kind = JournalRecord::Kind;

// More than what one machine writes before it hands it to the disk.
constexpr int64_t kVersionGap = 1000000;
constexpr size_t kChunkBytes = 1 << 20;

std::string ErrorText() { return strerror(errno); }

// Which start of the machine this is; "" where the system does not say.
std::string BootOfSystem() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

absl::Status FileError(absl::string_view path) {
  return absl::UnavailableError(absl::StrCat("file ", path, ": ", ErrorText()));
}

JournalRecord PutOf(absl::string_view table, const StoredObject& object) {
  return {.kind = Kind::kPut,
          .version = object.resource_version(),
          .write_time_seconds = object.write_time_seconds(),
          .table = std::string(table),
          .key = object.key(),
          .content = object.json()};
}

}  // namespace

struct Journal::File {
  explicit File(int descriptor) : fd(descriptor) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const int fd;
};

Journal::Journal(Options options) : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(Options options) {
  std::unique_ptr<Journal> out(new Journal(std::move(options)));
  HEKLA_RETURN_IF_ERROR(out->LockFolder());
  HEKLA_RETURN_IF_ERROR(out->Recover());
  return out;
}

Journal::~Journal() {
  if (absl::MutexLock lock(&mutex_); file_ != nullptr && broken_.empty()) {
    absl::Status ended = AppendLine(JournalLine({.kind = Kind::kEnd, .version = version_}));
    if (ended.ok() && ::fdatasync(file_->fd) != 0) ended = absl::DataLossError(ErrorText());
    LOG_IF(WARNING, !ended.ok()) << "journal not ended in order error=" << ended.message();
  }
}

absl::Status Journal::LockFolder() {
  std::error_code error;
  if (std::filesystem::create_directories(options_.folder, error)) {
    std::filesystem::permissions(options_.folder, std::filesystem::perms::owner_all, error);
  }
  if (error) {
    return absl::UnavailableError(absl::StrCat("folder ", options_.folder, ": ", error.message()));
  }
  const std::string path = options_.folder + "/lock";
  lock_file_ =
      std::make_unique<File>(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (lock_file_->fd < 0) {
    return FileError(path);
  }
  if (::flock(lock_file_->fd, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("folder ", options_.folder, " is in use by another process"));
  }
  return absl::OkStatus();
}

absl::Status Journal::Recover() {
  HEKLA_ASSIGN_OR_RETURN(JournalContents found, ReadJournal(options_.folder));
  recovered_ = std::move(found.state);
  boot_ = options_.boot.empty() ? BootOfSystem() : options_.boot;
  dropped_bytes_ = found.torn_bytes;
  if (found.torn_bytes > 0) {
    const std::string path = JournalPath(options_.folder, "log", found.newest_log);
    LOG(WARNING) << "journal ends in the middle of a record, which is dropped file=" << path
                 << " at=" << found.newest_log_bytes << " bytes=" << found.torn_bytes;
    if (::truncate(path.c_str(), static_cast<off_t>(found.newest_log_bytes)) != 0) {
      return FileError(path);
    }
  }
  if (!found.ended && (boot_.empty() || found.boot != boot_)) recovered_.version += kVersionGap;
  RemoveBefore(found.snapshot);
  absl::MutexLock lock(&mutex_);
  log_bytes_ = found.log_bytes;
  compact_at_ = std::max(options_.min_compact_bytes, 2 * found.snapshot_bytes);
  return OpenLog(std::max<uint64_t>(found.newest_log, 1), found.newest_log_bytes,
                 recovered_.version);
}

absl::Status Journal::OpenLog(uint64_t number, uint64_t size, int64_t version) {
  const std::string path = JournalPath(options_.folder, "log", number);
  auto file = std::make_shared<File>(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file->fd < 0) return FileError(path);
  const std::shared_ptr<File> before = std::exchange(file_, std::move(file));
  const uint64_t old_size = std::exchange(size_, size);
  absl::Status opened =
      AppendLine(JournalLine({.kind = Kind::kOpen, .version = version, .boot = boot_}));
  if (opened.ok() && ::fdatasync(file_->fd) != 0) {
    opened = FileError(path);
  }
  if (opened.ok()) opened = SyncFolder();
  if (!opened.ok()) {
    // The old one goes on; a new one without records must not stand behind it.
    if (before != nullptr) ::unlink(path.c_str());
    file_ = before;
    size_ = old_size;
    return opened;
  }
  log_ = number;
  version_ = version;
  return absl::OkStatus();
}

absl::Status Journal::Break(absl::string_view what) {
  broken_ = absl::StrCat("the journal is not written any more: ", what);
  LOG(ERROR) << broken_;
  return absl::DataLossError(broken_);
}

absl::Status Journal::AppendLine(const std::string& line) {
  if (!broken_.empty()) return absl::DataLossError(broken_);
  if (!WriteAll(file_->fd, line)) {
    const std::string why = ErrorText();
    if (::ftruncate(file_->fd, static_cast<off_t>(size_)) != 0) return Break(why);
    LOG_EVERY_N(ERROR, 100) << "journal refuses a write error=" << why;
    return absl::DataLossError(absl::StrCat("the write cannot be kept: ", why));
  }
  size_ += line.size();
  log_bytes_ += line.size();
  ++written_;
  return absl::OkStatus();
}

absl::Status Journal::Append(const JournalRecord& record) {
  const std::string line = JournalLine(record);
  absl::MutexLock lock(&mutex_);
  HEKLA_RETURN_IF_ERROR(AppendLine(line));
  version_ = std::max(version_, record.version);
  return absl::OkStatus();
}

absl::Status Journal::Put(absl::string_view table, const StoredObject& object) {
  return Append(PutOf(table, object));
}

absl::Status Journal::Remove(absl::string_view table, absl::string_view key, int64_t version) {
  return Append({.kind = Kind::kDelete,
                 .version = version,
                 .table = std::string(table),
                 .key = std::string(key)});
}

absl::Status Journal::Drop(absl::string_view table, int64_t version) {
  return Append({.kind = Kind::kDrop, .version = version, .table = std::string(table)});
}

absl::Status Journal::Commit() {
  return options_.sync_interval > absl::ZeroDuration() ? absl::OkStatus() : Sync();
}

absl::Status Journal::Sync() {
  std::optional<uint64_t> wanted;
  while (true) {
    std::shared_ptr<File> file;
    uint64_t written = 0;
    {
      absl::MutexLock lock(&mutex_);
      if (!wanted.has_value()) wanted = written_;
      while (syncing_ && synced_ < *wanted) synced_more_.Wait(&mutex_);
      if (synced_ >= *wanted) return absl::OkStatus();
      if (!broken_.empty()) return absl::DataLossError(broken_);
      syncing_ = true;
      file = file_;
      written = written_;
    }
    const bool done = ::fdatasync(file->fd) == 0;
    const std::string why = done ? "" : ErrorText();
    absl::MutexLock lock(&mutex_);
    syncing_ = false;
    synced_more_.SignalAll();
    if (!done) return Break(why);  // what the disk has is not known any more
    synced_ = std::max(synced_, written);
  }
}

bool Journal::WantsCompaction() const {
  absl::MutexLock lock(&mutex_);
  return broken_.empty() && log_bytes_ >= compact_at_;
}

absl::StatusOr<uint64_t> Journal::Rotate(int64_t version) {
  absl::MutexLock lock(&mutex_);
  if (!broken_.empty()) return absl::DataLossError(broken_);
  if (::fdatasync(file_->fd) != 0) return Break(ErrorText());
  synced_ = written_;
  HEKLA_RETURN_IF_ERROR(OpenLog(log_ + 1, 0, version));
  return log_;
}

absl::Status Journal::Compact(uint64_t log, const JournalState& state) {
  const std::string path = JournalPath(options_.folder, "snapshot", log);
  const std::string draft = path + ".tmp";
  const File file(
      ::open(draft.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  JournalRecord head{.kind = Kind::kState, .version = state.version};
  for (const auto& [name, objects] : state.tables) head.count += objects.size();
  for (const auto& [name, objects] : state.parked) head.count += objects.size();
  uint64_t bytes = 0;
  std::string chunk = JournalLine(head);
  bool good = file.fd >= 0;
  const auto add = [&](const JournalRecord& record) {
    chunk += JournalLine(record);
    if (chunk.size() < kChunkBytes && record.kind != Kind::kEnd) return;
    good = good && WriteAll(file.fd, chunk);
    bytes += chunk.size();
    chunk.clear();
  };
  for (const auto& [name, objects] : state.tables) {
    for (const ObjectPtr& object : objects) add(PutOf(name, *object));
  }
  for (const auto& [name, objects] : state.parked) {
    for (const auto& [key, object] : objects) {
      add({.kind = Kind::kPut,
           .version = object.resource_version,
           .write_time_seconds = object.write_time_seconds,
           .table = name,
           .key = key,
           .content = object.json});
    }
  }
  add({.kind = Kind::kEnd, .version = state.version});
  good = good && ::fdatasync(file.fd) == 0 && ::rename(draft.c_str(), path.c_str()) == 0;
  absl::Status done = good ? SyncFolder() : absl::UnavailableError(ErrorText());
  absl::MutexLock lock(&mutex_);
  if (!done.ok()) {
    ::unlink(draft.c_str());
    compact_at_ = 2 * log_bytes_;  // the logs are still there; not again with every second
    return done;
  }
  RemoveBefore(log);
  log_bytes_ = size_;
  compact_at_ = std::max(options_.min_compact_bytes, 2 * bytes);
  return absl::OkStatus();
}

absl::Status Journal::SyncFolder() const {
  const File folder(::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd < 0 || ::fsync(folder.fd) != 0) {
    return absl::UnavailableError(absl::StrCat("folder ", options_.folder, ": ", ErrorText()));
  }
  return absl::OkStatus();
}

void Journal::RemoveBefore(uint64_t log) const {
  std::error_code error;
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(options_.folder, error)) {
    const std::string name = entry.path().filename().string();
    for (const char* const kind : {"log", "snapshot"}) {
      if (!absl::StartsWith(name, absl::StrCat(kind, "-"))) continue;
      const bool before = absl::StrCat("/", name) < JournalPath("", kind, log);
      if (before || absl::EndsWith(name, ".tmp")) old.push_back(entry.path());
    }
  }
  for (const auto& path : old) std::filesystem::remove(path, error);
}

}  // namespace hekla::apiserver::storage
