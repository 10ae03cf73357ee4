// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/host_operations.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

using HostOperations = KernelTextTest;

TEST_F(HostOperations, TakesShapesAndIntegerScalars) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<?x4xf32>, %i: i32) -> (tensor<?xf32>, i64) {
      %c0 = arith.constant 0 : index
      %d = tensor.dim %a, %c0 : tensor<?x4xf32>
      %n = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%d]
      %e = tensor.empty(%n) : tensor<?xf32>
      %j = arith.extsi %i : i32 to i64
      %k = arith.addi %j, %j : i64
      %b = tensor.collapse_shape %a [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
      return %b, %k : tensor<?xf32>, i64
    })mlir");
  EXPECT_TRUE(mlir::succeeded(verifyHostFunction(function))) << messages_;
}

TEST_F(HostOperations, TakesBranchesReadsAndFloats) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<4xf32>, %x: f32) -> f32 {
      %c0 = arith.constant 0 : index
      %y = tensor.extract %a[%c0] : tensor<4xf32>
      %z = arith.mulf %x, %y : f32
      %c = arith.cmpf olt, %z, %x : f32
      cf.cond_br %c, ^bb1(%z : f32), ^bb1(%x : f32)
    ^bb1(%r: f32):
      return %r : f32
    })mlir");
  EXPECT_TRUE(mlir::succeeded(verifyHostFunction(function))) << messages_;
}

TEST_F(HostOperations, ReportsEveryOtherOperation) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<4xf32>, %x: f32) -> (tensor<4xf32>, f32) {
      %c0 = arith.constant 0 : index
      %y = tensor.insert %x into %a[%c0] : tensor<4xf32>
      %z = math.exp %x : f32
      return %y, %z : tensor<4xf32>, f32
    })mlir");
  EXPECT_TRUE(mlir::failed(verifyHostFunction(function)));
  EXPECT_NE(messages_.find("'tensor.insert' is not supported"), std::string::npos) << messages_;
  EXPECT_NE(messages_.find("'math.exp' on scalars is not supported outside of tensor code"), std::string::npos)
      << messages_;
}

TEST_F(HostOperations, AScalarThatOnlyKernelsComputeIsReadBackFromOne) {
  auto function = parseFunction(R"mlir(
    func.func @f(%x: f32, %n: i32) -> (f32, f32) {
      %t = arith.sitofp %n : i32 to f32
      %p = math.powf %x, %t : f32
      %r = math.sqrt %p : f32
      return %p, %r : f32, f32
    })mlir");
  moveScalarsToKernels(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
  unsigned kernels = 0, roots = 0;
  function.walk([&](mlir::Operation *op) {
    kernels += op->getName().getStringRef() == "linalg.generic";
    roots += op->getName().getStringRef() == "math.sqrt" && op->getParentOp() == function;
  });
  EXPECT_EQ(kernels, 1u);
  EXPECT_EQ(roots, 1u);
}

} // namespace
} // namespace tenon::compiler::dispatch
