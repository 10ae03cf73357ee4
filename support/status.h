// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors are values. A Status says what failed and why; nothing below main() throws, exits or asserts on bad input.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace tenon {

enum class StatusCode : uint8_t {
  Ok,
  InvalidArgument,    // the caller's input is malformed or breaks a rule
  NotFound,           // a file, symbol, function, device is not there
  OutOfRange,         // an index, offset or size past its end
  FailedPrecondition, // the request is well formed, the state or device cannot take it
  ResourceExhausted,  // memory or another limit
  Unimplemented,      // known and not supported; the message names it
  Unavailable,        // no driver, no device
  DataLoss,           // bytes of a file do not verify
  DeadlineExceeded,
  Aborted,  // a wait or queue ended by another's failure
  Internal, // a bug in Tenon
};

/// Name of a code as printed: "invalid argument".
std::string_view statusCodeName(StatusCode code);

/// Success, or a code with a message. One pointer wide; success allocates nothing. Movable, not copyable (see clone()).
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message);

  bool ok() const { return !rep_; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::Ok; }
  /// The message without the code; empty on success.
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : std::string_view(); }
  /// "not found: cannot read 'x.tenon': ..." or "ok".
  std::string toString() const;
  /// The same status with "context: " before its message; success stays success.
  Status withContext(std::string_view context) &&;
  Status clone() const;
  /// Says at the call site that a failure is of no interest there.
  void ignore() const {}

private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

inline Status okStatus() {
  return Status();
}
/// Each argument is a string, string_view, char or number; they are concatenated.
template <typename... Args> std::string concat(const Args &...args);
template <typename... Args> Status makeError(StatusCode code, const Args &...args) {
  return Status(code, concat(args...));
}

namespace detail {
inline void append(std::string &out, std::string_view value) {
  out += value;
}
inline void append(std::string &out, const char *value) {
  out += value;
}
inline void append(std::string &out, char value) {
  out += value;
}
inline void append(std::string &out, bool value) {
  out += value ? "true" : "false";
}
template <typename T>
  requires std::is_arithmetic_v<T>
void append(std::string &out, T value) {
  out += std::to_string(value);
}
} // namespace detail
template <typename... Args> std::string concat(const Args &...args) {
  std::string out;
  (detail::append(out, args), ...);
  return out;
}

} // namespace tenon

/// Returns from the calling function when `expr` (a Status) failed.
#define TENON_RETURN_IF_ERROR(expr)                                                                                    \
  do {                                                                                                                 \
    if (::tenon::Status tenonStatus_ = (expr); !tenonStatus_.ok())                                                     \
      return tenonStatus_;                                                                                             \
  } while (false)
