#pragma once

// GoogleTest matchers for absl::Status and absl::StatusOr; the packaged abseil has none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hekla::util::testing {

inline const absl::Status& ToStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  const absl::Status& status = ToStatus(arg);
  *result_listener << status.ToString();
  return status.ok();
}

// Matches a status of the given code whose message contains `text`.
MATCHER_P2(StatusIs, code, text, "") {
  const absl::Status& status = ToStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         std::string(status.message()).find(std::string(text)) != std::string::npos;
}

}  // namespace hekla::util::testing

#define HEKLA_EXPECT_OK(expr) EXPECT_THAT((expr), ::hekla::util::testing::IsOk())
#define HEKLA_ASSERT_OK(expr) ASSERT_THAT((expr), ::hekla::util::testing::IsOk())
