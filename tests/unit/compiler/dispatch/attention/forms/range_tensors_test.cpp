// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/range_tensors.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class RangeTensorsTest : public KernelTextTest {
protected:
  RangeTensorsTest() {
    function_ = parseFunction(R"mlir(
func.func @f(%s: tensor<3x?x320xf32>, %rows: tensor<3x?xi16>, %keys: tensor<320xi16>) -> tensor<3x?x320xf32> {
  %l = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (n)>, affine_map<(b, m, n) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %keys : tensor<3x?xi16>, tensor<320xi16>) outs(%s : tensor<3x?x320xf32>) {
    ^bb0(%x: i16, %y: i16, %o: f32):
      linalg.yield %o : f32
  } -> tensor<3x?x320xf32>
  return %l : tensor<3x?x320xf32>
}
)mlir");
    logits_ = *function_.front().getOps<mlir::linalg::GenericOp>().begin();
    rows_ = {function_.getArgument(1), 1, {0, 1}, {}};
    keys_ = {function_.getArgument(2), 0, {2}, {}};
  }
  static llvm::ArrayRef<int64_t> shapeOf(const RangeTensors::Tensor &tensor) {
    return llvm::cast<mlir::RankedTensorType>(tensor.value.getType()).getShape();
  }

  mlir::func::FuncOp function_;
  mlir::linalg::GenericOp logits_;
  RowNumbers rows_, keys_;
};

TEST_F(RangeTensorsTest, HasAnExtentForEach64) {
  RangeTensors tensors;
  const auto extent = tensors.extentOf(logits_, keys_);
  EXPECT_EQ(shapeOf(extent.least), llvm::ArrayRef<int64_t>{5});
  EXPECT_TRUE(extent.least.loops.empty());
  EXPECT_EQ(shapeOf(tensors.extentOf(logits_, rows_).largest),
            (llvm::ArrayRef<int64_t>{3, mlir::ShapedType::kDynamic}));
  EXPECT_EQ(tensors.extentOf(logits_, keys_).least.value, extent.least.value) << "once for all";
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
}

TEST_F(RangeTensorsTest, HasBoundsForEachElementOfTheBatch) {
  RangeTensors tensors;
  const auto bounds = tensors.boundsOf(logits_, rows_, keys_);
  for (const RangeTensors::Tensor *each : {&bounds.from, &bounds.to, &bounds.wholeFrom, &bounds.wholeTo}) {
    EXPECT_EQ(shapeOf(*each), (llvm::ArrayRef<int64_t>{3, mlir::ShapedType::kDynamic}));
    EXPECT_EQ(each->loops, (llvm::SmallVector<unsigned>{0}));
    EXPECT_TRUE(each->value.getDefiningOp()->isBeforeInBlock(logits_));
  }
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
}

} // namespace
} // namespace tenon::compiler::dispatch
