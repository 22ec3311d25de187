#include "pkg/framework/column_math.h"

#include <algorithm>
#include <limits>

#include "pkg/util/vectorized.h"

namespace hekla::framework {

namespace {

constexpr size_t kLanes = 8;

}  // namespace

HEKLA_VECTORIZED void AddWeighted(const double* raw, double weight, double* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] += weight * raw[i];
}

HEKLA_VECTORIZED void SetWeighted(const double* raw, double weight, double constant, double* sums,
                                  size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] = constant + weight * raw[i];
}

HEKLA_VECTORIZED void AddConstant(double value, double* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] += value;
}

HEKLA_VECTORIZED void AddColumn(const double* other, double* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] += other[i];
}

HEKLA_VECTORIZED void LowerTo(const double* other, double* values, size_t n) {
  for (size_t i = 0; i < n; ++i) values[i] = other[i] < values[i] ? other[i] : values[i];
}

HEKLA_VECTORIZED void LowerToRest(const double* room, double request, double* values, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double left = room[i] - request;
    values[i] = left < values[i] ? left : values[i];
  }
}

HEKLA_VECTORIZED double Greatest(const double* values, size_t n) {
  double lanes[kLanes];
  for (double& lane : lanes) lane = -std::numeric_limits<double>::infinity();
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) {
      lanes[j] = values[i + j] > lanes[j] ? values[i + j] : lanes[j];
    }
  }
  for (; i < n; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  double greatest = lanes[0];
  for (double lane : lanes) greatest = lane > greatest ? lane : greatest;
  return greatest;
}

HEKLA_VECTORIZED uint32_t CountEqual(const double* values, double value, size_t n) {
  uint32_t count = 0;
  for (size_t i = 0; i < n; ++i) count += values[i] == value ? 1 : 0;
  return count;
}

HEKLA_VECTORIZED uint32_t CountEqual(const uint32_t* values, uint32_t value, size_t n) {
  uint32_t count = 0;
  for (size_t i = 0; i < n; ++i) count += values[i] == value ? 1 : 0;
  return count;
}

}  // namespace hekla::framework
