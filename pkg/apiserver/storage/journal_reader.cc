#include "pkg/apiserver/storage/journal_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/storage/journal_record.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::storage {
namespace {

using Kind = JournalRecord::Kind;

absl::Status Damaged(const std::string& path, uint64_t offset, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("journal file ", path, " is damaged at byte ", offset,
                                          ": ", what,
                                          "; put a copy of the folder back, or cut the file off "
                                          "there to lose what follows"));
}

// The lines of a file with their places.
class Lines {
 public:
  explicit Lines(const std::string& path) : in_(path, std::ios::binary) {}
  bool opened() const { return in_.is_open(); }
  // False at the end. A last line without an end counts as one that is not whole.
  bool Next() {
    begin_ = end_;
    if (!std::getline(in_, line_)) return false;
    whole_ = !in_.eof();
    end_ = begin_ + line_.size() + (whole_ ? 1 : 0);
    return true;
  }
  std::optional<JournalRecord> Record() const {
    return whole_ ? ParseJournalLine(line_) : std::nullopt;
  }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

 private:
  std::ifstream in_;
  std::string line_;
  bool whole_ = false;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

class Reader {
 public:
  explicit Reader(const std::string& folder) : folder_(folder) {}

  absl::StatusOr<JournalContents> Read() {
    std::vector<uint64_t> logs;
    HEKLA_RETURN_IF_ERROR(ListFiles(logs));
    if (out_.snapshot != 0) HEKLA_RETURN_IF_ERROR(ReadSnapshot());
    uint64_t expected = std::max<uint64_t>(out_.snapshot, 1);
    for (const uint64_t number : logs) {
      if (number < out_.snapshot) continue;  // what a compaction has not removed any more
      if (number != expected++) return Missing(expected - 1);
      HEKLA_RETURN_IF_ERROR(ReadLog(number, number == logs.back()));
    }
    if (out_.snapshot != 0 && out_.newest_log == 0) return Missing(expected);
    return std::move(out_);
  }

 private:
  absl::Status Missing(uint64_t number) const {
    return absl::DataLossError(
        absl::StrCat("journal file ", JournalPath(folder_, "log", number), " is missing"));
  }

  absl::Status ListFiles(std::vector<uint64_t>& logs) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      const std::string name = entry.path().filename().string();
      absl::string_view digits = name;
      uint64_t number = 0;
      if (absl::ConsumePrefix(&digits, "log-") && absl::SimpleAtoi(digits, &number)) {
        logs.push_back(number);
      }
      digits = name;
      if (absl::ConsumePrefix(&digits, "snapshot-") && absl::SimpleAtoi(digits, &number)) {
        out_.snapshot = std::max(out_.snapshot, number);
      }
    }
    if (error) {
      return absl::UnavailableError(absl::StrCat("folder ", folder_, ": ", error.message()));
    }
    std::sort(logs.begin(), logs.end());
    return absl::OkStatus();
  }

  absl::Status ReadSnapshot() {
    const std::string path = JournalPath(folder_, "snapshot", out_.snapshot);
    Lines lines(path);
    if (!lines.opened()) return absl::UnavailableError(absl::StrCat("cannot read file ", path));
    int64_t expected = -1, count = 0;
    bool ended = false;
    while (lines.Next()) {
      const std::optional<JournalRecord> record = lines.Record();
      if (!record.has_value() || ended) return Damaged(path, lines.begin(), "no whole record");
      if (expected < 0) {
        if (record->kind != Kind::kState) return Damaged(path, lines.begin(), "no head");
        expected = record->count;
        out_.state.version = record->version;
      } else if (record->kind == Kind::kPut) {
        Apply(*record);
        ++count;
      } else {
        ended = record->kind == Kind::kEnd;
        if (!ended) return Damaged(path, lines.begin(), "an unexpected record");
      }
    }
    if (!ended || count != expected) return Damaged(path, lines.end(), "the end is missing");
    out_.snapshot_bytes = lines.end();
    return absl::OkStatus();
  }

  absl::Status ReadLog(uint64_t number, bool newest) {
    const std::string path = JournalPath(folder_, "log", number);
    Lines lines(path);
    if (!lines.opened()) return absl::UnavailableError(absl::StrCat("cannot read file ", path));
    out_.newest_log = number;
    uint64_t good = 0;
    while (lines.Next()) {
      const std::optional<JournalRecord> record = lines.Record();
      if (record.has_value()) {
        // A whole record behind one that is not: this is no write that was cut off.
        if (good != lines.begin()) return Damaged(path, good, "no whole record");
        Apply(*record);
        good = lines.end();
      } else if (!newest) {
        return Damaged(path, lines.begin(), "no whole record");
      }
    }
    out_.torn_bytes = lines.end() - good;
    out_.newest_log_bytes = good;
    out_.log_bytes += good;
    return absl::OkStatus();
  }

  void Apply(const JournalRecord& record) {
    Recovered& state = out_.state;
    state.version = std::max(state.version, record.version);
    out_.ended = record.kind == Kind::kEnd;
    switch (record.kind) {
      case Kind::kOpen:
        out_.boot = record.boot;
        break;
      case Kind::kPut:
        state.tables[record.table][record.key] = {std::string(record.content), record.version,
                                                  record.write_time_seconds};
        break;
      case Kind::kDelete:
        state.tables[record.table].erase(record.key);
        break;
      case Kind::kDrop:
        state.tables.erase(record.table);
        break;
      case Kind::kState:
      case Kind::kEnd:
        break;
    }
  }

  const std::string folder_;
  JournalContents out_;
};

}  // namespace

std::string JournalPath(const std::string& folder, const char* kind, uint64_t number) {
  return absl::StrFormat("%s/%s-%010d", folder, kind, number);
}

absl::StatusOr<JournalContents> ReadJournal(const std::string& folder) {
  return Reader(folder).Read();
}

}  // namespace hekla::apiserver::storage
