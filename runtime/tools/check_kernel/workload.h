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
// A case (case.h) is a workload with one value for every size.
#pragma once

#include "support/result.h"

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

} // namespace tenon::runtime
