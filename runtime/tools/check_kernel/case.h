// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one call of a kernel is made of: a workload (workload.h) with one value for every size.
#pragma once

#include "runtime/tools/check_kernel/binding_values.h"
#include "runtime/tools/check_kernel/workload.h"

#include <array>
#include <string>
#include <vector>

namespace tenon::runtime {

struct Case {
  Sizes sizes;
  std::vector<CaseBinding> bindings;               // [layout bindings]
  std::vector<uint64_t> constants;                 // [words]
  std::vector<std::vector<uint8_t>> constantBytes; // [layout constants] as they are passed
  std::array<uint32_t, 3> grid = {1, 1, 1};

  /// "n=31, m=7", or "one size" where there is none.
  std::string text() const;
};

inline constexpr size_t kMaxCases = 1000;

/// Every combination of sizes, with random contents from `seed`.
/// @return InvalidArgument: a count differs from the layout's, a spec does not parse or does not fit; the message shows
///         what the export takes. OutOfRange: more than kMaxCases, or a grid past a launch's limits.
Result<std::vector<Case>> makeCases(const Workload &workload, const abi::Export &declared, uint64_t seed);

} // namespace tenon::runtime
