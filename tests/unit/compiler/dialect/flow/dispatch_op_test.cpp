// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/flow/FlowOps.h"
#include "tests/unit/compiler/dialect/parse.h"

#include "mlir/IR/Builders.h"

namespace tenon::compiler {
namespace {

class DispatchOp : public ParseTest {
protected:
  static constexpr const char *kModule = R"(
    #ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
    #rw = #hal.pipeline.binding<storage_buffer>
    hal.executable.source private @e attributes {objects = #hal.executable.objects<{
      <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "a"}>]
    }>} {
      hal.executable.export @f layout(#hal.pipeline.layout<constants = 2, bindings = [#ro, #rw, #rw, #rw]>)
        count(%device: !hal.device, %w: index) -> (index, index, index) {
          hal.return %w, %w, %w : index, index, index
        } attributes {workgroup_size = [64 : index]}
    }
    func.func @g(%w: index, %n: i32, %a: tensor<?x4xf32>, %b: tensor<?x?xf32>, %d0: index, %d1: index, %d2: index) {
      %0:3 = flow.dispatch @e::@f[%w](%n, %a, %n, %b) : (i32, tensor<?x4xf32>{%d0}, i32, tensor<?x?xf32>{%d1, %d2})
          -> (tensor<2x?xf16>{%d2}, %b{%d1, %d2}, tensor<8xf32>)
      return
    })";
};

TEST_F(DispatchOp, NamesItsParts) {
  auto module = parse(kModule);
  auto op = find<flow::DispatchOp>(*module);
  auto function = op->getParentOp();
  auto argument = [&](unsigned i) { return function->getRegion(0).getArgument(i); };
  EXPECT_EQ(op.entryPoint().getRootReference(), "e");
  EXPECT_EQ(op.entryPoint().getLeafReference(), "f");
  EXPECT_EQ(op.getWorkload().size(), 1u);
  EXPECT_EQ(op.getArguments().size(), 4u);
  EXPECT_EQ(op.tensorArguments(), (llvm::SmallVector<unsigned>{1, 3}));
  EXPECT_EQ(op.scalarArguments(), (llvm::SmallVector<unsigned>{0, 2}));
  EXPECT_EQ(op.untiedResults(), (llvm::SmallVector<unsigned>{0, 2}));
  EXPECT_EQ(op.getTiedOperandIndex(0), std::nullopt);
  EXPECT_EQ(op.getTiedOperandIndex(1), 3u);
  EXPECT_EQ(op.getTiedOperandIndex(2), std::nullopt);
  EXPECT_TRUE(op.isTied(3));
  EXPECT_FALSE(op.isTied(1));
  EXPECT_EQ(op.argumentDims(0).size(), 0u);
  EXPECT_EQ(llvm::to_vector(op.argumentDims(1)), (llvm::SmallVector<mlir::Value>{argument(4)}));
  EXPECT_EQ(llvm::to_vector(op.argumentDims(3)), (llvm::SmallVector<mlir::Value>{argument(5), argument(6)}));
  EXPECT_EQ(llvm::to_vector(op.resultDims(0)), (llvm::SmallVector<mlir::Value>{argument(6)}));
  EXPECT_EQ(llvm::to_vector(op.getResultDims(1)), (llvm::SmallVector<mlir::Value>{argument(5), argument(6)}));
  EXPECT_EQ(op.resultDims(2).size(), 0u);
}

TEST_F(DispatchOp, ReifiesResultShapesFromItsOperands) {
  auto module = parse(kModule);
  auto op = find<flow::DispatchOp>(*module);
  mlir::OpBuilder builder(op);
  mlir::ReifiedRankedShapedTypeDims shapes;
  ASSERT_TRUE(mlir::succeeded(mlir::reifyResultShapes(builder, op, shapes)));
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes[0], (llvm::SmallVector<mlir::OpFoldResult>{builder.getIndexAttr(2), op.resultDims(0)[0]}));
  EXPECT_EQ(shapes[1], (llvm::SmallVector<mlir::OpFoldResult>{op.resultDims(1)[0], op.resultDims(1)[1]}));
  EXPECT_EQ(shapes[2], (llvm::SmallVector<mlir::OpFoldResult>{builder.getIndexAttr(8)}));
}

TEST_F(DispatchOp, BuildsWhatItParses) {
  auto module = parse(kModule);
  auto op = find<flow::DispatchOp>(*module);
  mlir::OpBuilder builder(op);
  auto copy = flow::DispatchOp::create(builder, op.getLoc(), op.entryPoint(), op.getWorkload(), op.getResultTypes(),
                                       op.getResultDims(), op.getArguments(), op.getArgumentDims(), {-1, 3, -1});
  EXPECT_EQ(copy->getAttrDictionary(), op->getAttrDictionary());
  EXPECT_EQ(llvm::to_vector(copy->getOperands()), llvm::to_vector(op->getOperands()));
  auto untied = flow::DispatchOp::create(builder, op.getLoc(), op.entryPoint(), op.getWorkload(), op.getResultTypes(),
                                         op.getResultDims(), op.getArguments(), op.getArgumentDims());
  EXPECT_FALSE(untied.getTiedOperandsAttr());
}

} // namespace
} // namespace tenon::compiler
