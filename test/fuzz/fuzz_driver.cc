// Runs a fuzz target without libFuzzer: mutates its seeds with a generator of a fixed seed.
//   fuzz_<name> [--runs N] [--seed S]   N mutated inputs
//   fuzz_<name> --steps N [--seed S]    mutated inputs until the target has done N steps
//   (requests);
//                                       HEKLA_FUZZ_STEPS in the environment takes precedence
//   fuzz_<name> FILE...                 exactly these inputs
// A failing input (also one that takes more than 20 seconds) is written to the file fuzz-failure.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "pkg/util/random.h"
#include "test/fuzz/fuzz_target.h"

namespace {

using hekla::util::Random;

constexpr unsigned kSecondsPerInput = 20;
constexpr size_t kMaxInput = 16384;

std::string current;  // for the handler of a crash

void KeepInput(int signal) {
  if (std::FILE* f = std::fopen("fuzz-failure", "wb")) {
    std::fwrite(current.data(), 1, current.size(), f);
    std::fclose(f);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void RunOne(const std::string& input) {
  current = input;
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

std::string Mutate(std::string text, const std::vector<std::string>& seeds,
                   const std::vector<std::string>& words, Random& random) {
  const uint64_t steps = 1 + random.Below(6);
  for (uint64_t i = 0; i < steps; ++i) {
    const size_t at = random.Below(text.size() + 1);
    switch (random.Below(7)) {
      case 0:  // change a byte
        if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:  // drop a stretch
        text.erase(at, random.Below(8));
        break;
      case 2:  // repeat a stretch
        text.insert(at, text.substr(at, random.Below(16)));
        break;
      case 3: {  // insert a word
        if (!words.empty()) text.insert(at, words[random.Below(words.size())]);
        break;
      }
      case 4: {  // cross with another seed
        const std::string& other = seeds[random.Below(seeds.size())];
        text = text.substr(0, at) + other.substr(random.Below(other.size() + 1));
        break;
      }
      case 5:  // a printable byte
        text.insert(at, 1, static_cast<char>(32 + random.Below(95)));
        break;
      default: {  // a number in place of a digit
        if (at < text.size() && text[at] >= '0' && text[at] <= '9') {
          text.replace(at, 1, std::to_string(random.Next() >> random.Below(64)));
        }
      }
    }
    if (text.size() > kMaxInput) text.resize(kMaxInput);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 10000, seed = 1, steps = 0;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    uint64_t* const number = argument == "--runs"    ? &runs
                             : argument == "--seed"  ? &seed
                             : argument == "--steps" ? &steps
                                                     : nullptr;
    if (number == nullptr || i + 1 == argc) {
      files.emplace_back(argument);
    } else if (!absl::SimpleAtoi(argv[++i], number)) {
      std::cerr << argument << ": \"" << argv[i] << "\" is no number\n";
      return 2;
    }
  }
  const char* const wanted = std::getenv("HEKLA_FUZZ_STEPS");
  if (steps > 0 && wanted != nullptr && !absl::SimpleAtoi(wanted, &steps)) {
    std::cerr << "HEKLA_FUZZ_STEPS: \"" << wanted << "\" is no number\n";
    return 2;
  }
  std::signal(SIGABRT, KeepInput);
  std::signal(SIGSEGV, KeepInput);
  std::signal(SIGALRM, KeepInput);
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    RunOne(text.str());
  }
  if (!files.empty()) return 0;
  const std::vector<std::string> seeds = FuzzSeeds();
  const std::vector<std::string> words = FuzzWords();
  for (const std::string& input : seeds) RunOne(input);
  RunOne("");
  Random random(seed);
  uint64_t inputs = 0;
  for (; steps > 0 ? fuzz_steps < steps : inputs < runs; ++inputs) {
    RunOne(Mutate(seeds[random.Below(seeds.size())], seeds, words, random));
  }
  std::cout << inputs << " inputs";
  if (fuzz_steps > 0) std::cout << ", " << fuzz_steps << " steps";
  std::cout << ", no finding\n";
  return 0;
}
