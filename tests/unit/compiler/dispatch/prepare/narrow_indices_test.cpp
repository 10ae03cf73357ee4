// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/narrow_indices.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class NarrowIndices : public KernelTextTest {
protected:
  /// A scatter whose indices are made from bytes by `operation`.
  linalg_ext::ScatterOp narrowed(const std::string &operation) {
    auto function = parseFunction(
        "func.func @f(%u: tensor<7xi32>, %i: tensor<7x1xi8>, %to: tensor<256xi32>) -> tensor<256xi32> {\n"
        "%e = tensor.empty() : tensor<7x1xi32>\n%w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, "
        "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%i : tensor<7x1xi8>) "
        "outs(%e : tensor<7x1xi32>) {\n^bb0(%x: i8, %o: i32):\n" +
        operation +
        "\nlinalg.yield %y : i32\n} -> tensor<7x1xi32>\n%r = iree_linalg_ext.scatter dimension_map = [0] "
        "unique_indices(false) ins(%u, %w : tensor<7xi32>, tensor<7x1xi32>) outs(%to : tensor<256xi32>) {\n"
        "^bb0(%a: i32, %b: i32):\n%s = arith.addi %a, %b : i32\niree_linalg_ext.yield %s : i32\n} -> tensor<256xi32>\n"
        "return %r : tensor<256xi32>\n}");
    narrowIndices(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    linalg_ext::ScatterOp found;
    function.walk([&](linalg_ext::ScatterOp scatter) { found = scatter; });
    return found;
  }
  static mlir::Type indexOf(linalg_ext::ScatterOp scatter) {
    return llvm::cast<mlir::RankedTensorType>(scatter.getInputs()[1].getType()).getElementType();
  }
};

TEST_F(NarrowIndices, WideningIsLeftToTheScatter) {
  auto isUnsigned = narrowed("%y = arith.extui %x : i8 to i32");
  EXPECT_TRUE(indexOf(isUnsigned).isInteger(8));
  EXPECT_TRUE(isUnsigned->hasAttr(kUnsignedAttr));
  auto isSigned = narrowed("%y = arith.extsi %x : i8 to i32");
  EXPECT_TRUE(indexOf(isSigned).isInteger(8));
  EXPECT_FALSE(isSigned->hasAttr(kUnsignedAttr));
}

TEST_F(NarrowIndices, WhatIsComputedStays) {
  EXPECT_TRUE(indexOf(narrowed("%z = arith.extui %x : i8 to i32\n%y = arith.addi %z, %z : i32")).isInteger(32));
}

} // namespace
} // namespace tenon::compiler::dispatch
