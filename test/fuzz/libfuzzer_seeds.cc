// Gives libFuzzer what the targets define: seeds as a folder of inputs, words as a dictionary.
// Both are written to fuzz-corpus/<program> below the current folder, where libFuzzer also keeps
// the inputs that reached new code, so that a second run goes on from them.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/fuzz/fuzz_target.h"

namespace {

namespace fs = std::filesystem;

// A dictionary has one quoted word a line; escapes spare it all special characters.
std::string Quoted(const std::string& word) {
  std::string out = "\"";
  for (const unsigned char c : word) absl::StrAppendFormat(&out, "\\x%02X", c);
  return out + "\"\n";
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static std::vector<std::string> arguments(*argv, *argv + *argc);
  static std::vector<char*> pointers;
  const fs::path folder = fs::path("fuzz-corpus") / fs::path(arguments[0]).filename();
  const fs::path dictionary = absl::StrCat(folder.string(), ".dict");
  fs::create_directories(folder);
  const std::vector<std::string> seeds = FuzzSeeds();
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream(folder / absl::StrCat("seed-", i), std::ios::binary) << seeds[i];
  }
  std::ofstream words(dictionary);
  for (const std::string& word : FuzzWords()) words << Quoted(word);
  arguments.push_back(absl::StrCat("-dict=", dictionary.string()));
  // Inputs that were named are replayed; without any the corpus is explored.
  const bool named = std::any_of(arguments.begin() + 1, arguments.end(),
                                 [](const std::string& a) { return a.front() != '-'; });
  if (!named) arguments.push_back(folder.string());
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  *argc = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  *argv = pointers.data();
  return 0;
}
