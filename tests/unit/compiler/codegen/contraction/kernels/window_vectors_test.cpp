// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/window_vectors.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class WindowVectorsTest : public KernelTest {
protected:
  /// image[n, x + r - 1, c] within zeros * filters[f, r, c]
  bool areThere(int window, int channels, uint32_t depth = 16) {
    const std::string r = std::to_string(window), c = std::to_string(channels), image = "tensor<4x512x" + c + "xf32>",
                      filters = "tensor<64x" + r + "x" + c + "xf32>", result = "tensor<4x512x64xf32>";
    auto kernel = KernelFunction::read(parseFunction(
        "func.func @k(%i: " + image + ", %w: " + filters + ", %o: " + result + ") -> " + result +
        " {\n%zero = arith.constant 0.0 : f32\n%v = linalg.generic {indexing_maps = [affine_map<(n, x, f, r, c) -> (f, "
        "r, "
        "c)>, affine_map<(n, x, f, r, c) -> (n, x, f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\", \"reduction\"]} ins(%w : " +
        filters + ") outs(%o : " + result + R"() {
  ^bb0(%y: f32, %s: f32):
    %n = linalg.index 0 : index
    %x = linalg.index 1 : index
    %r = linalg.index 3 : index
    %c = linalg.index 4 : index
    %one = arith.constant 1 : index
    %size = arith.constant 512 : index
    %wide = arith.addi %x, %r : index
    %place = arith.subi %wide, %one : index
    %inside = arith.cmpi ult, %place, %size : index
    %read = tensor.extract %i[%n, %place, %c] : )" +
        image + R"(
    %e = arith.select %inside, %read, %zero : f32
    %p = arith.mulf %e, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> )" +
        result + "\n  return %v : " + result + "\n}"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    const GroupShape shape = GroupShape::of(*kernel);
    const std::optional<Product> product = Product::of(*kernel, shape);
    EXPECT_TRUE(product && (product->left.border || product->right.border));
    const Operand &image_ = product->left.border ? product->left : product->right,
                  &filters_ = product->left.border ? product->right : product->left;
    EXPECT_FALSE(WindowVectors::areThere(shape, *product, filters_, depth)) << "they have no border";
    return WindowVectors::areThere(shape, *product, image_, depth);
  }
};

TEST_F(WindowVectorsTest, AreThereWhereAStepIsOfOnePlace) {
  EXPECT_TRUE(areThere(3, 64));
  EXPECT_TRUE(areThere(3, 48));
  EXPECT_FALSE(areThere(3, 40)) << "a step has channels of two places";
  EXPECT_TRUE(areThere(3, 40, 8));
}

TEST_F(WindowVectorsTest, HaveABitForEachPlace) {
  EXPECT_TRUE(areThere(32, 64));
  EXPECT_FALSE(areThere(33, 64));
}

} // namespace
} // namespace tenon::compiler::codegen
