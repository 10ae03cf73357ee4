// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/form_group.h"
#include "compiler/dispatch/outline_kernel.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

using OutlineKernel = KernelTextTest;

Group onlyGroup(mlir::linalg::GenericOp op) {
  std::string reason;
  return *groupOf({op}, reason);
}

TEST_F(OutlineKernel, PassesSizesThenScalarsThenTensors) {
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(firstGeneric(kRowSum)), "sum");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->function.getName(), "sum");
  ASSERT_EQ(kernel->function.getNumArguments(), 3u);
  EXPECT_TRUE(kernel->function.getArgument(0).getType().isInteger(64));
  EXPECT_TRUE(kernel->function.getArgument(1).getType().isInteger(64));
  EXPECT_EQ(kernel->scalars.size(), 2u);
  EXPECT_EQ(kernel->tensors.size(), 1u);
  EXPECT_EQ(kernel->tensorDims.size(), 2u);
  EXPECT_EQ(kernel->resultDims.size(), 1u);
  ASSERT_EQ(kernel->workload.size(), 2u); // every size, as the first scalars
  EXPECT_EQ(kernel->workload[0], kernel->resultDims[0]);
  auto dims = kernel->function.getArgAttrOfType<mlir::DenseI64ArrayAttr>(2, kDimsAttr);
  EXPECT_EQ(dims.asArrayRef(), (llvm::ArrayRef<int64_t>{0, 1}));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

TEST_F(OutlineKernel, AConstantStaysInTheKernel) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
      %k = arith.constant 2.0 : f32
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
        ^bb0(%x: f32, %o: f32):
          %0 = arith.mulf %x, %k : f32
          %1 = arith.addf %0, %s : f32
          linalg.yield %1 : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })mlir");
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(op), "k");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  ASSERT_EQ(kernel->scalars.size(), 1u); // %s alone
  EXPECT_TRUE(kernel->scalars[0].getType().isF32());
  EXPECT_TRUE(kernel->workload.empty()); // its sizes are known
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

TEST_F(OutlineKernel, AScalarThatIsASizeIsPassedOnce) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %d = tensor.dim %a, %c0 : tensor<?xf32>
      %e = tensor.empty(%d) : tensor<?xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
        ^bb0(%x: f32, %o: f32):
          %i = linalg.index 0 : index
          %last = arith.subi %d, %i : index
          %k = arith.addi %last, %n : index
          %w = arith.index_cast %k : index to i32
          %y = arith.sitofp %w : i32 to f32
          %z = arith.addf %x, %y : f32
          linalg.yield %z : f32
      } -> tensor<?xf32>
      return %r : tensor<?xf32>
    })mlir");
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(op), "k");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  ASSERT_EQ(kernel->scalars.size(), 2u) << "the size, and %n";
  EXPECT_TRUE(kernel->function.getArgument(0).getType().isInteger(64));
  EXPECT_TRUE(kernel->function.getArgument(1).getType().isIndex());
  auto casts = llvm::to_vector(kernel->function.getOps<mlir::arith::IndexCastOp>());
  ASSERT_FALSE(casts.empty());
  EXPECT_TRUE(llvm::all_of(casts, [&](auto cast) { return cast.getIn() == kernel->function.getArgument(0); }));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

TEST_F(OutlineKernel, ATensorReadTwiceIsPassedOnce) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %e = tensor.empty() : tensor<4x4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>,
          affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
        ^bb0(%x: f32, %y: f32, %o: f32):
          %0 = arith.addf %x, %y : f32
          linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      return %r : tensor<4x4xf32>
    })mlir");
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(op), "k");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->tensors.size(), 1u);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

/// The second result, which another dispatch may write over, is bound first; so are its sizes.
TEST_F(OutlineKernel, SizesOfResultsAreInTheOrderOfTheResults) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<?x?xf32>, %c: i1, %other: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.dim %a, %c0 : tensor<?x?xf32>
      %n = tensor.dim %a, %c1 : tensor<?x?xf32>
      %e = tensor.empty(%n, %m) : tensor<?x?xf32>
      %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
        ^bb0(%x: f32, %o: f32):
          linalg.yield %x : f32
      } -> tensor<?x?xf32>
      %g = tensor.empty(%m, %n) : tensor<?x?xf32>
      %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]} ins(%t : tensor<?x?xf32>) outs(%g : tensor<?x?xf32>) {
        ^bb0(%x: f32, %o: f32):
          linalg.yield %x : f32
      } -> tensor<?x?xf32>
      %r = arith.select %c, %other, %u {tenon.either} : tensor<?x?xf32>
      return %t, %r : tensor<?x?xf32>, tensor<?x?xf32>
    })mlir");
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  std::string reason;
  std::optional<Group> group = groupOf(ops, reason);
  ASSERT_TRUE(group.has_value()) << reason;
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(*group, "k");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->results, (llvm::SmallVector<mlir::Value>{ops[1]->getResult(0), ops[0]->getResult(0)}));
  llvm::SmallVector<mlir::Value> stated; // by the kernel
  for (unsigned result : {0, 1})
    for (int64_t position :
         kernel->function.getResultAttrOfType<mlir::DenseI64ArrayAttr>(result, kDimsAttr).asArrayRef())
      stated.push_back(kernel->workload[position]);
  EXPECT_EQ(llvm::ArrayRef(kernel->resultDims), llvm::ArrayRef(stated));
}

} // namespace
} // namespace tenon::compiler::dispatch
