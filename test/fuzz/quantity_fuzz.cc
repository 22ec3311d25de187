#include <cmath>

#include "absl/strings/match.h"
#include "glog/logging.h"
#include "pkg/apis/meta/quantity.h"
#include "test/fuzz/fuzz_target.h"

using hekla::apis::meta::Quantity;

// The canonical text of a quantity is the same amount, and canonical itself unless it is a binary
// quantity of no whole Ki: upstream writes that without suffix, which reads as a decimal quantity.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto quantity = Quantity::Parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!quantity.ok()) return 0;
  const std::string text = quantity->ToString();
  auto again = Quantity::Parse(text);
  CHECK(again.ok()) << text << ": " << again.status();
  CHECK(*again == *quantity) << text;
  const std::string settled = again->ToString();
  if (settled != text) {
    CHECK(absl::StrContains(absl::string_view(reinterpret_cast<const char*>(data), size), "i"))
        << text << " became " << settled;
    auto third = Quantity::Parse(settled);
    CHECK(third.ok() && *third == *quantity && third->ToString() == settled) << settled;
  }
  // Rounded away from zero, and saturated beyond 64 bits.
  const double milli = quantity->AsDouble() * 1e3;
  if (std::abs(milli) < 1e12)
    CHECK_LE(std::abs(milli), std::abs(static_cast<double>(quantity->MilliValue())) + 1e-3) << text;
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"1", "100m", "1.5Gi", "-3Ki", "12e6", "1E", "0.1", "9223372036854775807", "1e-9", "+.5k"};
}
std::vector<std::string> FuzzWords() {
  return {"n",  "u",  "m",  "k",  "M",  "G",  "T", "P", "E",
          "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e", "-", "."};
}
