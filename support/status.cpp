// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Status is one pointer: null is success, anything else owns its code and message. See status.h.
#include "support/status.h"

#include <utility>

namespace tenon {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::OutOfRange:
    return "out of range";
  case StatusCode::FailedPrecondition:
    return "failed precondition";
  case StatusCode::ResourceExhausted:
    return "resource exhausted";
  case StatusCode::Unimplemented:
    return "unimplemented";
  case StatusCode::Unavailable:
    return "unavailable";
  case StatusCode::DataLoss:
    return "data loss";
  case StatusCode::DeadlineExceeded:
    return "deadline exceeded";
  case StatusCode::Aborted:
    return "aborted";
  case StatusCode::Internal:
    return "internal";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::Ok)
    rep_ = std::make_unique<Rep>(Rep{code, std::move(message)});
}

std::string Status::toString() const {
  if (ok())
    return "ok";
  return concat(statusCodeName(code()), ": ", message());
}

Status Status::withContext(std::string_view context) && {
  if (rep_)
    rep_->message = concat(context, ": ", rep_->message);
  return std::move(*this);
}

Status Status::clone() const {
  return ok() ? Status() : Status(rep_->code, rep_->message);
}

} // namespace tenon
