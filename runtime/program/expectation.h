// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program expects of its values: check.expect_* of MLIR, compared by the host once a call has ended. Tests
// of kernels are written as text that way, and run by tenon-check.
#pragma once

#include "runtime/program/plan/call_plan.h"

#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

class Device;

/// What one expectation found.
struct ExpectationOutcome {
  std::string place;      // "f.mlir:5:7", may be empty
  std::string operation;  // "check.expect_eq"
  std::string difference; // empty: it holds. Else what differs, and below it the first elements that do, indented
  bool holds() const { return difference.empty(); }
  /// "f.mlir:5:7: check.expect_eq: 1 of 4 elements differ\n    [2]: got 1, wanted 2".
  std::string toString() const;
};

/// Every expectation of the plan's function, in order. Waits for the device's own stream.
/// @param results as bindResults() left them, what is compared behind what is returned
Result<std::vector<ExpectationOutcome>> evaluateExpectations(Device &device, const CallPlan &plan,
                                                             std::span<const Value> results);

/// FailedPrecondition with the text of all that failed.
Status statusOf(std::span<const ExpectationOutcome> outcomes, std::string_view function);

} // namespace tenon::runtime
