// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/computed_tile.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class ComputedTileOf : public KernelTest {
protected:
  /// y[m, n] = sum over g, k of x[m, g, k] * (q[n, g, k / shared] * scale[n, g]), groups of so many elements.
  void read(const std::string &groups, int64_t each, int64_t shared, const std::string &stored = "i8") {
    auto size = [](int64_t number) { return std::to_string(number); };
    const std::string x = "tensor<128x" + groups + "x" + size(each) + "xbf16>",
                      q = "tensor<256x" + groups + "x" + size(each / shared) + "x" + stored + ">",
                      scale = "tensor<256x" + groups + "xbf16>", y = "tensor<128x256xf32>";
    const std::string convert =
        stored == "i8" ? "%b = arith.sitofp %a : i8 to bf16" : "%b = arith.truncf %a : f32 to bf16";
    const std::string in = shared == 1 ? "k" : "k floordiv " + size(shared);
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%x: " + x + ", %q: " + q + ", %scale: " + scale + ", %c: " + y + ") -> (" + y +
        ") {\n%r = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> "
        "(n, g, " +
        in +
        ")>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>], iterator_types = "
        "[\"parallel\", \"parallel\", \"reduction\", \"reduction\"]} ins(%x, %q, %scale : " +
        x + ", " + q + ", " + scale + ") outs(%c : " + y + ") {\n^bb0(%v: bf16, %a: " + stored +
        ", %s: bf16, %o: f32):\n" + convert +
        "\n%w = arith.mulf %b, %s : bf16\n%d = arith.extf %v : bf16 to f32\n%e = arith.extf %w : bf16 to f32\n"
        "%t = arith.mulf %d, %e : f32\n%u = arith.addf %o, %t : f32\nlinalg.yield %u : f32\n} -> " +
        y + "\nreturn %r : " + y + "\n}\n"));
    ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    product_ = Product::of(*kernel_, *shape_);
    ASSERT_TRUE(product_);
  }
  bool isComputed() { return ComputedTile::operandOf(*product_, *shape_) == &product_->right; }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
  std::optional<Product> product_;
};

TEST_F(ComputedTileOf, BytesAndHalvesOfThem) {
  read("4", 128, 1);
  EXPECT_TRUE(isComputed());
  EXPECT_EQ(product_->widthOf(product_->right, *shape_), 16u);
  read("4", 128, 2);
  EXPECT_TRUE(isComputed());
  EXPECT_EQ(product_->widthOf(product_->right, *shape_), 32u);
}

TEST_F(ComputedTileOf, GroupsAreWholeSteps) {
  read("4", 96, 1);
  EXPECT_FALSE(isComputed());
  read("4", 64, 2);
  EXPECT_TRUE(isComputed());
}

TEST_F(ComputedTileOf, ElementsOfFourBytesAreStoredBefore) {
  read("4", 128, 1, "f32");
  EXPECT_FALSE(isComputed());
}

} // namespace
} // namespace tenon::compiler::codegen
