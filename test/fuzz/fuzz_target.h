#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What every fuzz target defines: the entry point that libFuzzer knows, and inputs to start from.
// A target aborts (CHECK) when a property does not hold.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

std::vector<std::string> FuzzSeeds();
// Pieces that mutations insert: words of the grammar.
std::vector<std::string> FuzzWords();

// What a target does many of per input (requests) is counted here; for the driver's --steps.
inline uint64_t fuzz_steps = 0;
