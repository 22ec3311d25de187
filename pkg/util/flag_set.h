#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hekla::util {

// The flags of one program, read as Go's pflag and flag packages read them, because existing
// manifests start our programs with the arguments of programs written in Go.
//
// - `--name=value`, `--name value`, `-name=value`, `-n value`; for a bool `--name` alone is true
// and
//   takes no value behind a blank (`--name false` sets it to true, as in Go).
// - Underscores in names count as dashes.
// - Arguments that are no flags are collected, wherever they stand; `--` ends the flags.
// - A flag given twice keeps the last value; lists collect.
// Threads: none; used at start only.
class FlagSet {
 public:
  // How a list flag takes its values.
  enum class ListForm {
    kRepeated,  // one value per occurrence, commas are part of it
    kComma,     // commas separate, occurrences collect
  };

  // Variables must outlive Parse. What they hold now is the default shown in the usage text.
  void Bool(absl::string_view name, bool* value, absl::string_view help);
  void Int(absl::string_view name, int* value, absl::string_view help);
  void Double(absl::string_view name, double* value, absl::string_view help);
  void String(absl::string_view name, std::string* value, absl::string_view help);
  // Go's form: "300ms", "1h30m", "0". Never negative or endless.
  void Duration(absl::string_view name, absl::Duration* value, absl::string_view help);
  // The first occurrence replaces the default, further ones collect.
  void List(absl::string_view name, std::vector<std::string>* value, ListForm form,
            absl::string_view help);
  // Any other form: `set` is called for each occurrence.
  void Custom(absl::string_view name, absl::string_view default_text,
              std::function<absl::Status(absl::string_view)> set, absl::string_view help);
  // Accepts the flag with any value and does nothing with it.
  void Ignored(absl::string_view name, bool is_bool, absl::string_view help);
  // A second name for a flag: `-v`. Not shown in the usage text.
  void Alias(absl::string_view alias, absl::string_view name);

  // Reads the arguments (without the program's name); returns those that are no flags, in order.
  // `--help` and `-h` are flags that set help().
  // Errors: kInvalidArgument for an unknown flag, a missing or a malformed value.
  absl::StatusOr<std::vector<std::string>> Parse(const std::vector<std::string>& arguments);

  // Whether there is such a flag (or alias).
  bool Has(absl::string_view name) const;
  // Whether the flag was on the command line.
  bool Given(absl::string_view name) const { return given_.count(std::string(name)) > 0; }
  bool help() const { return help_; }
  // One flag a line, sorted by name, with default and meaning.
  std::string Usage() const;

 private:
  struct Flag {
    std::string name;
    std::string default_text;
    std::string help;
    bool is_bool = false;
    std::function<absl::Status(absl::string_view)> set;
  };
  void Add(absl::string_view name, std::string default_text, absl::string_view help,
           std::function<absl::Status(absl::string_view)> set, bool is_bool = false);
  const Flag* Find(const std::string& name) const;
  // The flag of "-v3", with "3" put into `value`; nullptr where there is none.
  const Flag* FindGlued(const std::string& argument, std::string& value) const;
  absl::Status Assign(const Flag& flag, absl::string_view value);

  std::vector<Flag> flags_;
  std::vector<std::pair<std::string, std::string>> aliases_;
  std::set<std::string> given_;
  bool help_ = false;
};

// Errors: kInvalidArgument: "--name must be from LOW to HIGH".
absl::Status CheckRange(absl::string_view flag, int value, int low, int high);

}  // namespace hekla::util
