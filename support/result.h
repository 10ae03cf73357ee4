// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value or the Status that says why there is none.
#pragma once

#include "support/status.h"

#include <optional>
#include <utility>

namespace tenon {

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}        // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) { // NOLINT: implicit on purpose
    if (status_.ok())
      status_ = Status(StatusCode::Internal, "a Result was made from an ok Status");
  }

  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  /// The failure, moved out; call only when !ok().
  Status takeStatus() { return std::move(status_); }

  /// The value; call only when ok().
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  T take() { return std::move(*value_); }

private:
  Status status_;
  std::optional<T> value_;
};

} // namespace tenon

#define TENON_CONCAT_IMPL_(a, b) a##b
#define TENON_CONCAT_(a, b) TENON_CONCAT_IMPL_(a, b)
/// TENON_ASSIGN_OR_RETURN(auto file, readFile(path));
#define TENON_ASSIGN_OR_RETURN(decl, expr)                                                                             \
  TENON_ASSIGN_OR_RETURN_IMPL_(TENON_CONCAT_(tenonResult_, __LINE__), decl, expr)
#define TENON_ASSIGN_OR_RETURN_IMPL_(result, decl, expr)                                                               \
  auto result = (expr);                                                                                                \
  if (!result.ok())                                                                                                    \
    return result.takeStatus();                                                                                        \
  decl = result.take()
