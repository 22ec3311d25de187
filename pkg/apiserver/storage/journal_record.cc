#include "pkg/apiserver/storage/journal_record.h"

#include <zlib.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::storage {
namespace {

using Kind = JournalRecord::Kind;

constexpr absl::string_view kFormat = "1";
constexpr size_t kSumDigits = 8;
constexpr std::pair<Kind, absl::string_view> kNames[] = {
    {Kind::kOpen, "open"},  {Kind::kState, "state"}, {Kind::kPut, "put"},
    {Kind::kDelete, "del"}, {Kind::kDrop, "drop"},   {Kind::kEnd, "end"}};

absl::string_view NameOf(Kind kind) {
  for (const auto& [k, name] : kNames) {
    if (k == kind) return name;
  }
  return "";
}

uint32_t Sum(absl::string_view text) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

// Takes words from the front of a record.
class Words {
 public:
  explicit Words(absl::string_view text) : rest_(text) {}
  absl::string_view Word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const absl::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  bool Number(int64_t& out) { return absl::SimpleAtoi(Word(), &out) && out >= 0; }
  bool Quoted(std::string& out) {
    if (rest_.empty() || rest_[0] != '"') return false;
    size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return false;
    const auto value = apis::json::Parse(rest_.substr(0, end + 1));
    if (!value.ok() || !value->is_string()) return false;
    out = value->as_string();
    rest_.remove_prefix(end + 1);
    if (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    return true;
  }
  bool Name(std::string& out) {
    out = std::string(Word());
    return !out.empty();
  }
  absl::string_view rest() const { return rest_; }

 private:
  absl::string_view rest_;
};

}  // namespace

std::string JournalLine(const JournalRecord& record) {
  std::string line(kSumDigits + 1, ' ');
  line.reserve(record.content.size() + record.key.size() + record.table.size() + 64);
  absl::StrAppend(&line, NameOf(record.kind), " ");
  switch (record.kind) {
    case Kind::kOpen:
      absl::StrAppend(&line, kFormat, " ", record.version, " ", record.boot);
      break;
    case Kind::kState:
      absl::StrAppend(&line, kFormat, " ", record.version, " ", record.count);
      break;
    case Kind::kPut:
      absl::StrAppend(&line, record.version, " ", record.write_time_seconds, " ", record.table, " ",
                      apis::json::Quote(record.key), " ", record.content);
      break;
    case Kind::kDelete:
      absl::StrAppend(&line, record.version, " ", record.table, " ", apis::json::Quote(record.key));
      break;
    case Kind::kDrop:
      absl::StrAppend(&line, record.version, " ", record.table);
      break;
    case Kind::kEnd:
      absl::StrAppend(&line, record.version);
      break;
  }
  const std::string sum =
      absl::StrCat(absl::Hex(Sum(absl::string_view(line).substr(kSumDigits + 1)), absl::kZeroPad8));
  line.replace(0, kSumDigits, sum);
  line += '\n';
  return line;
}

std::optional<JournalRecord> ParseJournalLine(absl::string_view line) {
  if (line.size() < kSumDigits + 2 || line[kSumDigits] != ' ') return std::nullopt;
  uint32_t sum = 0;
  if (!absl::SimpleHexAtoi(line.substr(0, kSumDigits), &sum)) return std::nullopt;
  const absl::string_view text = line.substr(kSumDigits + 1);
  if (Sum(text) != sum) return std::nullopt;
  Words words(text);
  const absl::string_view name = words.Word();
  JournalRecord out;
  bool known = false;
  for (const auto& [kind, kind_name] : kNames) {
    if (kind_name != name) continue;
    out.kind = kind;
    known = true;
  }
  if (!known) return std::nullopt;
  const bool has_format = out.kind == Kind::kOpen || out.kind == Kind::kState;
  if (has_format && words.Word() != kFormat) return std::nullopt;
  bool good = words.Number(out.version);
  switch (out.kind) {
    case Kind::kOpen:
      out.boot = std::string(words.rest());
      break;
    case Kind::kState:
      good = good && words.Number(out.count);
      break;
    case Kind::kPut:
      good = good && words.Number(out.write_time_seconds) && words.Name(out.table) &&
             words.Quoted(out.key);
      out.content = words.rest();
      break;
    case Kind::kDelete:
      good = good && words.Name(out.table) && words.Quoted(out.key);
      break;
    case Kind::kDrop:
      good = good && words.Name(out.table);
      break;
    case Kind::kEnd:
      break;
  }
  if (!good) return std::nullopt;
  return out;
}

}  // namespace hekla::apiserver::storage
