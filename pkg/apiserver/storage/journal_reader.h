#pragma once

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"

namespace hekla::apiserver::storage {

// What a journal knows of one object.
struct RecoveredObject {
  std::string json;
  int64_t resource_version = 0;
  int64_t write_time_seconds = 0;
};
// By key.
using RecoveredTable = absl::btree_map<std::string, RecoveredObject>;
// The state that a journal leads to.
struct Recovered {
  int64_t version = 0;
  absl::btree_map<std::string, RecoveredTable> tables;  // by the table's name
};

// A journal's folder as it was found, see Journal for its files.
struct JournalContents {
  Recovered state;
  uint64_t snapshot = 0;  // number of the snapshot; 0: there is none
  uint64_t snapshot_bytes = 0;
  uint64_t newest_log = 0;        // 0: there is none
  uint64_t newest_log_bytes = 0;  // of its whole records
  uint64_t log_bytes = 0;         // of all logs
  uint64_t torn_bytes = 0;        // behind the newest log's last whole record
  std::string boot;               // of the process that wrote last
  bool ended = true;              // it stopped in order
};

// Reads a folder and changes nothing in it.
// Errors: kDataLoss with file and offset: a file is missing, or holds something other than whole
//         records; only the newest log may end in the middle of one. kUnavailable: not readable.
absl::StatusOr<JournalContents> ReadJournal(const std::string& folder);

// "FOLDER/log-0000000012".
std::string JournalPath(const std::string& folder, const char* kind, uint64_t number);

}  // namespace hekla::apiserver::storage
