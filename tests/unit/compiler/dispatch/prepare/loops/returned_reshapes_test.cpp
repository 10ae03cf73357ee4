// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/returned_reshapes.h"

#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class ReturnedReshapes : public KernelTextTest {
protected:
  /// An image as rows, minus a number that is read at `read`, as an image of `back` again, and squared.
  mlir::func::FuncOp made(const std::string &number, const std::string &read, const std::string &back = "2x12x4x5",
                          const std::string &body = "%s = arith.subf %x, %y : f32") {
    const std::string image = "tensor<" + back + "xf32>", to = "output_shape [" + replaced(back) + "]";
    auto function = parseFunction(
        "#id = affine_map<(n, g, p) -> (n, g, p)>\n#read = affine_map<(n, g, p) -> " + read +
        ">\n#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>\nfunc.func @f(%image: tensor<2x12x4x5xf32>, %m: tensor<" +
        number + "xf32>) -> " + image + R"mlir( {
      %flat = tensor.collapse_shape %image [[0], [1, 2, 3]] : tensor<2x12x4x5xf32> into tensor<2x240xf32>
      %rows = tensor.expand_shape %flat [[0], [1, 2]] output_shape [2, 3, 80] : tensor<2x240xf32> into tensor<2x3x80xf32>
      %e = tensor.empty() : tensor<2x3x80xf32>
      %c = linalg.generic {indexing_maps = [#id, #read, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%rows, %m : tensor<2x3x80xf32>, tensor<)mlir" +
        number + R"mlir(xf32>) outs(%e : tensor<2x3x80xf32>) {
        ^bb0(%x: f32, %y: f32, %o: f32):
          )mlir" +
        body + R"mlir(
          linalg.yield %s : f32
      } -> tensor<2x3x80xf32>
      %f = tensor.collapse_shape %c [[0], [1, 2]] : tensor<2x3x80xf32> into tensor<2x240xf32>
      %i = tensor.expand_shape %f [[0], [1, 2, 3]] )mlir" +
        to + " : tensor<2x240xf32> into " + image + "\n%ei = tensor.empty() : " + image + R"mlir(
      %r = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%i : )mlir" +
        image + ") outs(%ei : " + image + R"mlir() {
        ^bb0(%x: f32, %o: f32):
          %s = arith.mulf %x, %x : f32
          linalg.yield %s : f32
      } -> )mlir" +
        image + "\nreturn %r : " + image + "\n}");
    changed_ = computeUnreshaped(function);
    eraseDeadOperations(function);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    return function;
  }
  static std::string replaced(std::string sizes) {
    for (size_t at; (at = sizes.find('x')) != std::string::npos;)
      sizes.replace(at, 1, ", ");
    return sizes;
  }

  bool changed_ = false;
};

TEST_F(ReturnedReshapes, NumbersOfAGroupAreReadWhereItsChannelsAre) {
  auto function = made("2x3", "(n, g)");
  EXPECT_TRUE(changed_);
  EXPECT_TRUE(function.getOps<mlir::tensor::ExpandShapeOp>().empty());
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(op.getDpsInputs()[0], function.getArgument(0));
  mlir::AffineExpr n = mlir::getAffineDimExpr(0, &context_), c = mlir::getAffineDimExpr(1, &context_);
  EXPECT_EQ(op.getIndexingMapsArray()[1], mlir::AffineMap::get(4, 0, {n, c.floorDiv(4)}, &context_));
}

TEST_F(ReturnedReshapes, NumbersOfAnImageKeepTheirLoop) {
  auto function = made("2", "(n)");
  EXPECT_TRUE(changed_);
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(op.getIndexingMapsArray()[1], mlir::AffineMap::get(4, 0, mlir::getAffineDimExpr(0, &context_), &context_));
}

TEST_F(ReturnedReshapes, WhatHasNoPlaceThereStaysAsItIs) {
  made("80", "(p)"); // a part of a row: rows of four channels
  EXPECT_FALSE(changed_);
  made("2x3", "(n, g)", "2x12x5x4"); // another image than the one that came
  EXPECT_FALSE(changed_);
  made("2x3", "(n, g)", "2x12x4x5",
       "%p = linalg.index 2 : index\n%q = arith.index_cast %p : index to i32\n%z = arith.sitofp %q : i32 to f32\n"
       "%t = arith.addf %y, %z : f32\n%s = arith.subf %x, %t : f32");
  EXPECT_FALSE(changed_);
}

} // namespace
} // namespace tenon::compiler::dispatch
