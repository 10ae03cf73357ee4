// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel is called with: sizes, bindings, constants and a grid, as lines `key = value`. The options of
// tenon-check-kernel are the same lines.
//
//   [saxpy]                         the export that the following lines are for (in a file)
//   size = n = 1, 31, 128, 1000     values to try; left out: around the workgroup size, odd ones among them
//   binding = nxf32                 one per binding: shape and element type; contents are random
//   binding = inout nxf32=0         what was there matters; contents: a value, an expression, 1 2 3, LOW..HIGH, @f.npy
//   binding = partial (n*2)xf32     the kernel writes some elements only
//   constant = 2.5                  one per constant: a number, an expression, i32=n, f32=2, (i64=n, f32=2) for a
//                                   struct, bytes:00ff10; a described tensor map takes none
//   grid = ceildiv(n, 128), 1, 1    left out: a thread for each element of the first output
//   reference = ...                 reference.h
//
// A case is a workload with one value for every size.
#pragma once

#include "abi/layout.h"
#include "abi/parameter_layout.h"
#include "runtime/tools/check_kernel/size_expression.h"
#include "runtime/values/value.h"
#include "support/result.h"

#include <array>
#include <string>
#include <vector>

namespace tenon::runtime {

struct Workload {
  std::string exportName; // empty: of the command line
  std::vector<std::string> sizes, bindings, constants;
  std::string grid, reference;

  /// Adds one line. InvalidArgument: an unknown key, or one that is there already.
  Status add(std::string_view key, std::string_view value);
};

/// A workload file. Errors name `path` and the line.
Result<std::vector<Workload>> parseWorkloads(std::string_view text, std::string_view path);

/// How a binding's contents count: an output's are what the kernel makes of it.
enum class BindingRole : uint8_t { Input, Output, InOut, PartialOutput };

struct CaseBinding {
  BindingRole role = BindingRole::Input;
  HostTensor value; // contents before; of an output: only type and shape count
};

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
