#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/resource.h"

// HOT PATH
namespace hekla::plugins {

// Arithmetic of shares: amounts as doubles, one per dimension.
//
// Deserved shares, factors and over-subscription are fractions, and upstream forms them in doubles.
// Whether a queue may take one more pod can hang on the last bit, so they are formed here in the
// same unit and with the same operations.
// Units:   thousandths for every scalar but pods and volume counts (also for hugepages and
//          ephemeral storage, which the tables keep in bytes), milli-cores, bytes of memory.
// Source:  spec scheduler-actions 1.1, scheduler-core 8.2 and 8.3.
using Amounts = std::vector<double>;

// Below this an amount counts as zero, and two amounts as equal, where a comparison is tolerant.
inline constexpr double kTolerance = 0.1;

// What one unit of a dimension's integer amounts is worth in upstream's unit.
class UnitScale {
 public:
  // Learns dimensions that have appeared since.
  void Update(const model::ResourceLayout& layout);
  double operator[](size_t dim) const { return dim < scale_.size() ? scale_[dim] : 1; }
  size_t size() const { return scale_.size(); }

 private:
  std::vector<double> scale_;
};

// Amount of one dimension; 0 beyond the end.
inline double At(absl::Span<const double> amounts, size_t dim) {
  return dim < amounts.size() ? amounts[dim] : 0;
}

// out[d] = sum of the given rows in upstream's units; out keeps its width.
void Load(const model::Resource& from, const UnitScale& scale, Amounts& out);
void Accumulate(const model::Resource& from, const UnitScale& scale, Amounts& out);

// a <= b in every dimension, tolerant (LessEqual with Zero).
bool LessEqual(absl::Span<const double> a, absl::Span<const double> b);
// Every dimension but pods is below the tolerance.
bool IsEmpty(absl::Span<const double> amounts);
// x / y; where y is 0: 0 for x = 0, else 1.
inline double Share(double x, double y) {
  if (y == 0) return x == 0 ? 0 : 1;
  return x / y;
}
// Largest share of `allocated` in a dimension in which `whole` has at least the tolerance.
double DominantShare(absl::Span<const double> allocated, absl::Span<const double> whole);

// The dimensions (pods excepted) with request > 0 in which `left` > `right`, without tolerance.
// Order: cpu, memory, then the others by name. Empty: it fits.
std::vector<model::ResourceDim> Exceeding(absl::Span<const double> left,
                                          absl::Span<const double> right,
                                          absl::Span<const double> request,
                                          const model::ResourceLayout& layout);
// Whether there is no such dimension; for calls that need no names.
bool FitsOnRequest(absl::Span<const double> left, absl::Span<const double> right,
                   absl::Span<const double> request);

// Whether some dimension of the request (pods skipped) has left <= right, tolerant; dimensions in
// which both are below the tolerance do not count. False where nothing is asked for.
bool FitsPartly(absl::Span<const double> left, absl::Span<const double> right,
                absl::Span<const double> request);

// "overused cpu, overused memory" for the word `overused`.
std::string JoinNames(absl::string_view word, absl::Span<const model::ResourceDim> dims,
                      const model::ResourceLayout& layout);

}  // namespace hekla::plugins
