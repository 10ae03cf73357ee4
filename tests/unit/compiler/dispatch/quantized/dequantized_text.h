// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dequantised matrix as MLIR.
#pragma once

#include "compiler/dispatch/quantized/moved_integers.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {

class DequantizedText : public KernelTextTest {
protected:
  /// Of what `body` computes as %r from the byte %q and the scale %s of each row; `moves` makes %last of that, %f.
  std::optional<MovedIntegers> read(const std::string &body, const std::string &moves = "",
                                    const std::string &type = "") {
    const std::string last = moves.empty() ? "%f" : "%last", to = type.empty() ? "tensor<4x6xf32>" : type;
    function_ = parseFunction("func.func @f(%a: tensor<4x6xi8>, %scale: tensor<4xf32>, %any: i32) -> " + to + R"mlir( {
  %e = tensor.empty() : tensor<4x6xf32>
  %zero = arith.constant dense<7> : tensor<i8>
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %scale, %zero : tensor<4x6xi8>, tensor<4xf32>, tensor<i8>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%q: i8, %s: f32, %z: i8, %o: f32):
)mlir" + body + "\nlinalg.yield %r : f32\n} -> tensor<4x6xf32>\n" +
                              moves + "\nreturn " + last + " : " + to + "\n}");
    last_ = function_.front().getTerminator()->getOperand(0);
    return movedIntegersOf(last_);
  }

  static constexpr char kUnsigned[] = "%w = arith.extui %q : i8 to i32\n%zw = arith.extui %z : i8 to i32\n"
                                      "%d = arith.subi %w, %zw : i32\n%g = arith.sitofp %d : i32 to f32\n";
  mlir::func::FuncOp function_;
  mlir::Value last_;
};

} // namespace tenon::compiler::dispatch
