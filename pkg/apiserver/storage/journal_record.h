#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// The text of a journal: one record per line, so that ordinary tools can read it. A line is eight
// hexadecimal digits (CRC-32 of what follows), a blank, the record, and "\n".
//   open 1 VERSION BOOT              a process begins to write; VERSION is the newest one so far
//   state 1 VERSION COUNT            head of a snapshot of COUNT objects
//   put VERSION TIME TABLE "KEY" {…} the object's new content
//   del VERSION TABLE "KEY"          the object is gone
//   drop VERSION TABLE               all objects of the table are gone
//   end VERSION                      nothing is missing: a clean stop, or the end of a snapshot
namespace hekla::apiserver::storage {

struct JournalRecord {
  enum class Kind : uint8_t { kOpen, kState, kPut, kDelete, kDrop, kEnd };
  Kind kind = Kind::kEnd;
  int64_t version = 0;
  int64_t write_time_seconds = 0;  // kPut
  int64_t count = 0;               // kState
  std::string boot = {};           // kOpen: which start of the machine that was
  std::string table = {};          // kPut, kDelete, kDrop
  std::string key = {};            // kPut, kDelete
  absl::string_view content = {};  // kPut: the object's JSON, on one line
};

// The record's line, with its end.
std::string JournalLine(const JournalRecord& record);
// Takes a line without its end apart; `content` points into it. nullopt: not a whole record.
std::optional<JournalRecord> ParseJournalLine(absl::string_view line);

}  // namespace hekla::apiserver::storage
