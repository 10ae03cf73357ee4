// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of which each row names its matrix, for tests.
#pragma once

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler {

/// y[t, j, n] = sum of x[t, k] * w[place], where the expert is `expert` of a body in which %i is ids[t, j].
/// @param rows "4" or "?", the first size of x, ids and y
inline std::string routedText(const std::string &rows = "4", const std::string &place = "%e, %k, %n",
                              const std::string &weights = "8x32x16",
                              const std::string &expert = "%e = arith.index_cast %i : i32 to index") {
  const std::string x = "tensor<" + rows + "x32xf32>", ids = "tensor<" + rows + "x2xi32>",
                    y = "tensor<" + rows + "x2x16xf32>", w = "tensor<" + weights + "xf32>";
  return "func.func @f(%x: " + x + ", %ids: " + ids + ", %w: " + w + ", %s: " + y + ") -> " + y +
         " {\n%y = linalg.generic {indexing_maps = [affine_map<(t, j, n, k) -> (t, k)>, affine_map<(t, j, n, k) -> "
         "(t, j)>, affine_map<(t, j, n, k) -> (t, j, n)>], iterator_types = [\"parallel\", \"parallel\", "
         "\"parallel\", \"reduction\"]} ins(%x, %ids : " +
         x + ", " + ids + ") outs(%s : " + y + ") {\n^bb0(%a: f32, %i: i32, %o: f32):\n" + expert +
         "\n%t = linalg.index 0 : index\n%n = linalg.index 2 : index\n%k = linalg.index 3 : index\n"
         "%b = tensor.extract %w[" +
         place + "] : " + w +
         "\n%p = arith.mulf %a, %b : f32\n%q = arith.addf %o, %p : f32\nlinalg.yield %q : f32\n} -> " + y +
         "\nreturn %y : " + y + "\n}";
}

} // namespace tenon::compiler
