// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/read_orders.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

using Along = GroupShape::Along;

class ReadOrders : public KernelTest {
protected:
  /// How a tensor<9x70x80xELEMENT> lies along an axis of 8x64x64 elements that are read of it at `indices`.
  Along along(const std::string &indices, unsigned axis, const std::string &element = "f32") {
    const std::string result = "tensor<8x64x64x" + element + ">", source = "tensor<9x70x80x" + element + ">";
    auto kernel = KernelFunction::read(parseFunction(
        "func.func @k(%x: " + source + ") -> " + result +
        " {\n%c3 = arith.constant 3 : index\n%e = tensor.empty() : " + result +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = [\"parallel\", "
        "\"parallel\", \"parallel\"]} outs(%e : " +
        result + ") {\n^bb0(%o: " + element +
        "):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%k = linalg.index 2 : index\n"
        "%moved = arith.addi %k, %c3 : index\n%clamped = arith.minsi %moved, %c3 : index\n"
        "%twice = arith.muli %k, %c3 : index\n%both = arith.addi %j, %k : index\n"
        "%applied = affine.apply affine_map<(d0, d1) -> (d1 + 2)>(%j, %k)\n%v = tensor.extract %x[" +
        indices + "] : " + source + "\nlinalg.yield %v : " + element + "\n} -> " + result + "\nreturn %r : " + result +
        "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    const GroupShape shape = GroupShape::of(*kernel);
    EXPECT_EQ(shape.axes.size(), 3u);
    width_ = widthOfReads(*kernel, shape, axis);
    mlir::linalg::GenericOp op = kernel->only().op;
    return alongOfRead(*kernel, shape, op, *op.getBody()->getOps<mlir::tensor::ExtractOp>().begin(), axis);
  }
  uint32_t width_ = 0;
};

TEST_F(ReadOrders, NeighboursAreSideBySideWhereTheLastIndexIsARun) {
  for (const char *last : {"%k", "%moved", "%clamped", "%applied"}) {
    EXPECT_EQ(along(std::string("%i, %j, ") + last, 2), Along::Shifted) << last;
    EXPECT_EQ(width_, 4u);
    EXPECT_EQ(along(std::string("%i, %j, ") + last, 1), Along::Apart) << last;
    EXPECT_EQ(width_, 1u);
  }
  EXPECT_EQ(along("%i, %k, %j", 2), Along::Apart);
  EXPECT_EQ(along("%i, %k, %j", 1), Along::Shifted);
  EXPECT_EQ(along("%i, %j, %twice", 2), Along::Apart);
  EXPECT_EQ(along("%i, %k, %both", 2), Along::Apart) << "another dimension moves, too";
  EXPECT_EQ(along("%i, %j, %c3", 2), Along::Same);
}

TEST_F(ReadOrders, VectorsAre16BytesOrEightElements) {
  along("%i, %j, %k", 2, "f64");
  EXPECT_EQ(width_, 2u);
  along("%i, %j, %k", 2, "f16");
  EXPECT_EQ(width_, 8u);
  along("%i, %j, %k", 2, "i8");
  EXPECT_EQ(width_, 8u);
}

} // namespace
} // namespace tenon::compiler::codegen
