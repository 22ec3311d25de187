#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expr` is not OK.
#define HEKLA_RETURN_IF_ERROR(expr)                \
  do {                                             \
    ::absl::Status hekla_status_ = (expr);         \
    if (!hekla_status_.ok()) return hekla_status_; \
  } while (false)

#define HEKLA_MACRO_CONCAT_INNER_(a, b) a##b
#define HEKLA_MACRO_CONCAT_(a, b) HEKLA_MACRO_CONCAT_INNER_(a, b)

// Evaluates a StatusOr expression; assigns its value to `lhs` or returns its status.
#define HEKLA_ASSIGN_OR_RETURN(lhs, expr) \
  HEKLA_ASSIGN_OR_RETURN_IMPL_(HEKLA_MACRO_CONCAT_(hekla_status_or_, __LINE__), lhs, expr)

#define HEKLA_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                 \
  if (!result.ok()) return result.status();             \
  lhs = std::move(result).value()
