// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/early_reads.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon::compiler::codegen {
namespace {

class EarlyReadsTest : public KernelTest {};

TEST_F(EarlyReadsTest, AReadIsTakenWithTheSelectsBehindIt) {
  auto kernel = KernelFunction::read(parseFunction(
      "func.func @k(%x: tensor<9xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {\n%c3 = arith.constant 3 : index\n"
      "%z = arith.constant 0.0 : f32\n%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = "
      "[\"parallel\"]} outs(%e : tensor<64xf32>) {\n^bb0(%o: f32):\n%i = linalg.index 0 : index\n"
      "%p = arith.minsi %i, %c3 : index\n%a = tensor.extract %x[%p] : tensor<9xf32>\n"
      "%b = tensor.extract %x[%c3] : tensor<9xf32>\n%is = arith.cmpi slt, %i, %c3 : index\n"
      "%s = arith.select %is, %a, %z : f32\n%t = arith.select %is, %z, %s : f32\n%n = arith.negf %t : f32\n"
      "%m = arith.addf %n, %b : f32\nlinalg.yield %m : f32\n} -> tensor<64xf32>\nreturn %r : tensor<64xf32>\n}\n"));
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  const auto reads = readsOf(kernel->only().op);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_TRUE(reads[0].getDefiningOp<mlir::arith::SelectOp>());
  EXPECT_TRUE(llvm::any_of(reads[0].getUsers(), llvm::IsaPred<mlir::arith::NegFOp>));
  EXPECT_TRUE(reads[1].getDefiningOp<mlir::tensor::ExtractOp>());
}

} // namespace
} // namespace tenon::compiler::codegen
