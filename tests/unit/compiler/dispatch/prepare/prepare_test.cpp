// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/prepare.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class Prepare : public KernelTextTest {
protected:
  /// How many kernels the function is made of.
  size_t kernelsIn(const std::string &text) {
    auto function = parseFunction(text);
    EXPECT_TRUE(mlir::succeeded(prepareFunction(function)));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return llvm::range_size(function.getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(Prepare, FusesAChain) {
  EXPECT_EQ(kernelsIn("func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {\n"
                      "%0 = arith.addf %a, %b : tensor<?xf32>\n%1 = math.exp %0 : tensor<?xf32>\n"
                      "%2 = arith.mulf %1, %b : tensor<?xf32>\nreturn %2 : tensor<?xf32>\n}"),
            1u);
}

// A loop that the result names is parallel: as a reduction it would be taken apart, and the parts have no place.
TEST_F(Prepare, LoopsOfResultsAreParallel) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<64x1024xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
      %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["reduction", "reduction"]} ins(%a : tensor<64x1024xf32>) outs(%b : tensor<64xf32>) {
        ^bb0(%x: f32, %y: f32):
          %t = arith.addf %y, %x : f32
          linalg.yield %t : f32
      } -> tensor<64xf32>
      return %0 : tensor<64xf32>
    })mlir");
  EXPECT_TRUE(mlir::succeeded(prepareFunction(function)));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(op.getNumReductionLoops(), 1u);
  EXPECT_EQ(op.getIteratorTypesArray()[0], mlir::utils::IteratorType::parallel);
}

// Two steps of a recurrent network whose first state is all zeros: 0 * w is a NaN where w is an infinity, so that it is
// computed, once for all rows. No copy of the weights is stored, and what is one more dimension is none.
TEST_F(Prepare, StepsOfANetworkReadWeightsAsTheyLie) {
  auto function = parseFunction(R"mlir(
    #mk = affine_map<(b, m, n, k) -> (b, m, k)>
    #kn = affine_map<(b, m, n, k) -> (b, k, n)>
    #mn = affine_map<(b, m, n, k) -> (b, m, n)>
    func.func @f(%w: tensor<256x128xbf16>, %x: tensor<1x32x128xbf16>, %y: tensor<1x32x128xbf16>)
        -> (tensor<1x32x256xf32>, tensor<1x32x256xf32>, tensor<1x32x256xf32>) {
      %zero = arith.constant 0.0 : f32
      %state = arith.constant dense<0.0> : tensor<1x32x128xbf16>
      %t = tensor.empty() : tensor<1x128x256xbf16>
      %turned = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (n, k)>, affine_map<(b, k, n) -> (b, k, n)>],
          iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<256x128xbf16>) outs(%t : tensor<1x128x256xbf16>) {
        ^bb0(%a: bf16, %o: bf16):
          linalg.yield %a : bf16
      } -> tensor<1x128x256xbf16>
      %e = tensor.empty() : tensor<1x32x256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x256xf32>) -> tensor<1x32x256xf32>
      %0 = linalg.batch_matmul ins(%state, %turned : tensor<1x32x128xbf16>, tensor<1x128x256xbf16>) outs(%f : tensor<1x32x256xf32>) -> tensor<1x32x256xf32>
      %1 = linalg.batch_matmul ins(%x, %turned : tensor<1x32x128xbf16>, tensor<1x128x256xbf16>) outs(%f : tensor<1x32x256xf32>) -> tensor<1x32x256xf32>
      %2 = linalg.batch_matmul ins(%y, %turned : tensor<1x32x128xbf16>, tensor<1x128x256xbf16>) outs(%f : tensor<1x32x256xf32>) -> tensor<1x32x256xf32>
      return %0, %1, %2 : tensor<1x32x256xf32>, tensor<1x32x256xf32>, tensor<1x32x256xf32>
    })mlir");
  ASSERT_TRUE(mlir::succeeded(prepareFunction(function)));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  const mlir::Value weights = function.getArgument(0);
  std::vector<unsigned> loopsOfSums;
  for (auto op : function.getOps<mlir::linalg::GenericOp>()) {
    if (op.getNumReductionLoops() == 0)
      continue;
    loopsOfSums.push_back(op.getNumLoops());
    EXPECT_TRUE(llvm::is_contained(op.getDpsInputs(), weights));
  }
  llvm::sort(loopsOfSums);
  EXPECT_EQ(loopsOfSums, (std::vector<unsigned>{2, 4, 4}));
}

TEST_F(Prepare, WhatIsOneKernelReducesNothingApart) {
  const std::string text = R"mlir(
    func.func @f(%w: tensor<128x256xf32>) -> tensor<32x256xf32> {
      %zero = arith.constant 0.0 : f32
      %ones = arith.constant dense<1.0> : tensor<32x128xf32>
      %e = tensor.empty() : tensor<32x256xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x256xf32>) -> tensor<32x256xf32>
      %0 = linalg.matmul ins(%ones, %w : tensor<32x128xf32>, tensor<128x256xf32>) outs(%f : tensor<32x256xf32>) -> tensor<32x256xf32>
      return %0 : tensor<32x256xf32>
    })mlir";
  EXPECT_EQ(kernelsIn(text), 2u);
  auto function = parseFunction(text);
  EXPECT_TRUE(mlir::succeeded(prepareFunction(function, /*isOneKernel=*/true)));
  EXPECT_EQ(llvm::range_size(function.getOps<mlir::linalg::GenericOp>()), 1u);
}

TEST_F(Prepare, KeepsWhatTwoReadersNeed) {
  EXPECT_EQ(kernelsIn("func.func @f(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {\n"
                      "%0 = math.exp %a : tensor<?xf32>\n%1 = arith.negf %0 : tensor<?xf32>\n"
                      "return %0, %1 : tensor<?xf32>, tensor<?xf32>\n}"),
            2u);
}

TEST_F(Prepare, DoesNotRecomputeCostlyWorkForEveryReader) {
  const char text[] = R"mlir(
    func.func @f(%a: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
      %0 = OP %b : tensor<16xf32>
      %e = tensor.empty() : tensor<8x16xf32>
      %1 = linalg.broadcast ins(%0 : tensor<16xf32>) outs(%e : tensor<8x16xf32>) dimensions = [0]
      %2 = arith.addf %a, %1 : tensor<8x16xf32>
      return %2 : tensor<8x16xf32>
    })mlir";
  std::string cheap(text), costly(text);
  cheap.replace(cheap.find("OP"), 2, "arith.negf");
  costly.replace(costly.find("OP"), 2, "math.exp");
  EXPECT_EQ(kernelsIn(cheap), 1u);
  EXPECT_EQ(kernelsIn(costly), 2u);
}

TEST_F(Prepare, AViewIsPartOfEveryReader) {
  EXPECT_EQ(kernelsIn(R"mlir(
    #row = affine_map<(i) -> (1, i)>
    #id = affine_map<(i) -> (i)>
    func.func @f(%a: tensor<3x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %e = tensor.empty() : tensor<8xf32>
      %0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<3x8xf32>) outs(%e : tensor<8xf32>) {
      ^bb0(%x: f32, %o: f32):
        linalg.yield %x : f32
      } -> tensor<8xf32>
      %1 = arith.negf %0 : tensor<8xf32>
      %2 = math.exp %0 : tensor<8xf32>
      return %1, %2 : tensor<8xf32>, tensor<8xf32>
    })mlir"),
            2u);
}

TEST_F(Prepare, SplitsWhatReadsHundredsOfTensors) {
  constexpr unsigned kCount = 600;
  std::string arguments = "%a0: tensor<?xf32>", body, last = "%a0";
  for (unsigned number = 1; number < kCount; ++number) {
    const std::string n = std::to_string(number);
    arguments += ", %a" + n + ": tensor<?xf32>";
    body += "%s" + n + " = arith.addf " + last + ", %a" + n + " : tensor<?xf32>\n";
    last = "%s" + n;
  }
  auto function = parseFunction("func.func @f(" + arguments + ") -> tensor<?xf32> {\n" + body + "return " + last +
                                " : tensor<?xf32>\n}");
  ASSERT_TRUE(mlir::succeeded(prepareFunction(function)));
  size_t kernels = 0;
  for (auto op : function.getOps<mlir::linalg::GenericOp>()) {
    EXPECT_LE(op->getNumOperands(), 32u);
    ++kernels;
  }
  EXPECT_LE(kernels, 25u);
}

/// One result passes an operand of unknown shape on, the other does not.
TEST_F(Prepare, EndsWhereOnlySomeResultsAreOperands) {
  EXPECT_EQ(kernelsIn(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @f(%a: tensor<?xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %e = tensor.empty() : tensor<8xf32>
      %0:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<?xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
      ^bb0(%x: f32, %o: f32, %p: f32):
        %c = arith.constant 1.0 : f32
        linalg.yield %x, %c : f32, f32
      } -> (tensor<8xf32>, tensor<8xf32>)
      return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
    })mlir"),
            1u);
}

TEST_F(Prepare, WhatPassesItsOperandsOnIsNoKernel) {
  EXPECT_EQ(kernelsIn(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @f(%a: tensor<?xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %e = tensor.empty() : tensor<8xf32>
      %0:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
          ins(%a, %b : tensor<?xf32>, tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32, %p: f32):
        linalg.yield %y, %x : f32, f32
      } -> (tensor<8xf32>, tensor<8xf32>)
      return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
    })mlir"),
            0u);
}

TEST_F(Prepare, NoSizeWaitsForAKernel) {
  auto function = parseFunction("func.func @f(%a: tensor<?xf32>) -> index {\n%c0 = arith.constant 0 : index\n"
                                "%0 = arith.negf %a : tensor<?xf32>\n%d = tensor.dim %0, %c0 : tensor<?xf32>\n"
                                "return %d : index\n}");
  ASSERT_TRUE(mlir::succeeded(prepareFunction(function)));
  auto dim = function.front().getTerminator()->getOperand(0).getDefiningOp<mlir::tensor::DimOp>();
  ASSERT_TRUE(dim);
  EXPECT_EQ(dim.getSource(), function.getArgument(0));
}

TEST_F(Prepare, AConcatenationComputesItsParts) {
  const char text[] = R"mlir(
    func.func @f(%a: tensor<8x64xf32>) -> tensor<8x128xf32> {
      %0 = math.exp %a : tensor<8x64xf32>
      %1 = math.sin %a : tensor<8x64xf32>
      %e = tensor.empty() : tensor<8x128xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          outs(%e : tensor<8x128xf32>) {
        ^bb0(%o: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %c0 = arith.constant 0 : index
          %c63 = arith.constant 63 : index
          %c64 = arith.constant 64 : index
          %left = arith.minsi %j, %c63 : index
          %x = tensor.extract %0[%i, %left] : tensor<8x64xf32>
          %moved = arith.subi %j, %c64 : index
          %inside = arith.cmpi ult, %moved, %c64 : index
          %right = arith.maxsi %moved, %c0 : index
          %y = tensor.extract %1[%i, %right] : tensor<8x64xf32>
          %z = arith.select %inside, %y, %x : f32
          linalg.yield %z : f32
      } -> tensor<8x128xf32>
      return %r : tensor<8x128xf32>
    })mlir";
  EXPECT_EQ(kernelsIn(text), 1u);
  // One column for all of the result's: a sine for each would be a hundred and twenty-eight of the same.
  std::string repeated(text);
  repeated.replace(repeated.find("[%i, %right]"), 12, "[%i, %c63]");
  EXPECT_EQ(kernelsIn(repeated), 2u);
}

TEST_F(Prepare, AReductionReadsTheSliceThatOthersReadToo) {
  auto function = parseFunction(R"mlir(
    #every = affine_map<(i) -> (i * 2)>
    #id = affine_map<(i) -> (i)>
    func.func @f(%a: tensor<8xi64>, %b: tensor<4xi64>, %s: tensor<i64>) -> (tensor<i64>, tensor<2x2xi64>) {
      %e = tensor.empty() : tensor<4xi64>
      %0 = linalg.generic {indexing_maps = [#every, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<8xi64>) outs(%e : tensor<4xi64>) {
        ^bb0(%x: i64, %o: i64):
          linalg.yield %x : i64
      } -> tensor<4xi64>
      %1 = linalg.generic {indexing_maps = [#id, #id, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
          ins(%0, %b : tensor<4xi64>, tensor<4xi64>) outs(%s : tensor<i64>) {
        ^bb0(%x: i64, %y: i64, %o: i64):
          %t = arith.addi %y, %o : i64
          linalg.yield %t : i64
      } -> tensor<i64>
      %2 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xi64> into tensor<2x2xi64>
      return %1, %2 : tensor<i64>, tensor<2x2xi64>
    })mlir");
  EXPECT_TRUE(mlir::succeeded(prepareFunction(function)));
  function.walk([&](mlir::linalg::GenericOp op) {
    for (mlir::OpOperand &init : op.getDpsInitsMutable())
      for (mlir::AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
        EXPECT_EQ(op.getIteratorTypesArray()[llvm::cast<mlir::AffineDimExpr>(expr).getPosition()],
                  mlir::utils::IteratorType::parallel);
  });
}

// The wider form of a tensor of bf16 is no tensor that one kernel stores for another one.
TEST_F(Prepare, EachReaderWidensForItself) {
  auto function = parseFunction(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @f(%a: tensor<64xbf16>, %s: tensor<f32>) -> (tensor<64xf32>, tensor<f32>) {
      %e = tensor.empty() : tensor<64xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%a : tensor<64xbf16>) outs(%e : tensor<64xf32>) {
        ^bb0(%x: bf16, %o: f32):
          %w = arith.extf %x : bf16 to f32
          linalg.yield %w : f32
      } -> tensor<64xf32>
      %1 = math.exp %0 : tensor<64xf32>
      %2 = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
          ins(%0 : tensor<64xf32>) outs(%s : tensor<f32>) {
        ^bb0(%x: f32, %o: f32):
          %t = arith.addf %x, %o : f32
          linalg.yield %t : f32
      } -> tensor<f32>
      return %1, %2 : tensor<64xf32>, tensor<f32>
    })mlir");
  EXPECT_TRUE(mlir::succeeded(prepareFunction(function)));
  for (auto op : function.getOps<mlir::linalg::GenericOp>())
    EXPECT_EQ(op.getDpsInputs()[0], function.getArgument(0));
}

} // namespace
} // namespace tenon::compiler::dispatch
