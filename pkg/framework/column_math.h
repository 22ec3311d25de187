#pragma once

#include <cstddef>
#include <cstdint>

// Plain loops over columns of scores, fast where the machine has wide registers. HOT PATH
namespace hekla::framework {

// sums[i] += weight * raw[i]
void AddWeighted(const double* raw, double weight, double* sums, size_t n);
// sums[i] = constant + weight * raw[i]
void SetWeighted(const double* raw, double weight, double constant, double* sums, size_t n);
void AddConstant(double value, double* sums, size_t n);
// sums[i] += other[i]
void AddColumn(const double* other, double* sums, size_t n);
// values[i] = min(values[i], other[i])
void LowerTo(const double* other, double* values, size_t n);
// values[i] = min(values[i], room[i] - request)
void LowerToRest(const double* room, double request, double* values, size_t n);
// The greatest value; -infinity of none.
double Greatest(const double* values, size_t n);
// How many are equal to `value`.
uint32_t CountEqual(const double* values, double value, size_t n);
uint32_t CountEqual(const uint32_t* values, uint32_t value, size_t n);

}  // namespace hekla::framework
