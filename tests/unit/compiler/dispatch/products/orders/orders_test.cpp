// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/orders.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class Orders : public KernelTextTest {
protected:
  template <typename Op> Op first(const std::string &text) {
    mlir::func::FuncOp function = parseFunction(text);
    return *function.getOps<Op>().begin();
  }
  /// Two tensors are read, with one map each.
  std::optional<Order> beside(const Order &order, const std::string &from, const std::string &to) {
    auto op = first<mlir::linalg::GenericOp>(
        "func.func @f(%a: tensor<4x4x4xf32>, %b: tensor<4x4x4xf32>, %o: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {\n"
        "%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (" +
        from + ")>, affine_map<(i, j, k) -> (" + to +
        ")>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}\n"
        "ins(%a, %b : tensor<4x4x4xf32>, tensor<4x4x4xf32>) outs(%o : tensor<4x4x4xf32>) {\n"
        "^bb0(%x: f32, %y: f32, %z: f32):\nlinalg.yield %x : f32\n} -> tensor<4x4x4xf32>\n"
        "return %r : tensor<4x4x4xf32>\n}");
    auto maps = op.getIndexingMapsArray();
    return orderBeside(order, loopsOf(maps[0], op), loopsOf(maps[1], op));
  }
};

TEST_F(Orders, DimensionsOfOneLoopLieAlike) {
  EXPECT_EQ(beside({0, 2, 1}, "i, j, k", "i, j, k"), (Order{0, 2, 1}));
  EXPECT_EQ(beside({2, 0, 1}, "i, j, k", "0, j, k"), (Order{2, 0, 1})) << "what is alone belongs together";
  EXPECT_FALSE(beside({0, 2, 1}, "i, j, k", "0, 0, k"));
  EXPECT_FALSE(beside({0, 2, 1}, "i, j, k", "i, j, j"));
}

TEST_F(Orders, GroupsOfAReshapeStayTogether) {
  auto expand = first<mlir::tensor::ExpandShapeOp>("func.func @f(%a: tensor<2x12x5xf32>) -> tensor<2x3x4x5xf32> {\n"
                                                   "%r = tensor.expand_shape %a [[0], [1, 2], [3]] output_shape [2, 3, "
                                                   "4, 5] : tensor<2x12x5xf32> into tensor<2x3x4x5xf32>\n"
                                                   "return %r : tensor<2x3x4x5xf32>\n}");
  ASSERT_TRUE(isReshape(expand));
  EXPECT_FALSE(isReshape(nullptr));
  EXPECT_EQ(orderThrough(expand, {0, 2, 1}, /*isOfSource=*/true), (Order{0, 3, 1, 2}));
  EXPECT_EQ(orderThrough(expand, {0, 3, 1, 2}, /*isOfSource=*/false), (Order{0, 2, 1}));
  EXPECT_FALSE(orderThrough(expand, {0, 1, 3, 2}, /*isOfSource=*/false));
}

} // namespace
} // namespace tenon::compiler::dispatch
