// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/skinny/skinny_shape.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class SkinnyShapeTest : public KernelTest {
protected:
  /// y[m, n] = sum over g, k of x[m, g, k] * (q[n, g, k / inByte] * scale[n, g]).
  void read(const std::string &rows, int64_t columns, int64_t groups, int64_t each, int64_t inByte) {
    auto size = [](int64_t number) { return std::to_string(number); };
    const std::string unknown = rows == "?" ? " {tenon.dims = array<i64: 0>}" : "";
    const std::string x = "tensor<" + rows + "x" + size(groups) + "x" + size(each) + "xbf16>",
                      q = "tensor<" + size(columns) + "x" + size(groups) + "x" + size(each / inByte) + "xi8>",
                      scale = "tensor<" + size(columns) + "x" + size(groups) + "xbf16>",
                      y = "tensor<" + rows + "x" + size(columns) + "xf32>";
    const std::string in = inByte == 1 ? "k" : "k floordiv " + size(inByte);
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%m: i64, %x: " + x + unknown + ", %q: " + q + ", %scale: " + scale + ", %c: " + y + unknown +
        ") -> (" + y + unknown +
        ") {\n%r = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> "
        "(n, g, " +
        in +
        ")>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>], iterator_types = "
        "[\"parallel\", \"parallel\", \"reduction\", \"reduction\"]} ins(%x, %q, %scale : " +
        x + ", " + q + ", " + scale + ") outs(%c : " + y +
        ") {\n^bb0(%v: bf16, %a: i8, %s: bf16, %o: f32):\n%b = arith.sitofp %a : i8 to bf16\n"
        "%w = arith.mulf %b, %s : bf16\n%d = arith.extf %v : bf16 to f32\n%e = arith.extf %w : bf16 to f32\n"
        "%t = arith.mulf %d, %e : f32\n%u = arith.addf %o, %t : f32\nlinalg.yield %u : f32\n} -> " +
        y + "\nreturn %r : " + y + "\n}\n"));
    ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    product_ = Product::of(*kernel_, *shape_);
    ASSERT_TRUE(product_);
  }
  static SkinnyShape shapeOf(uint32_t few) {
    return {.fewAreRows = true, .few = few, .positions = 4, .depthWarps = 8, .turns = 2};
  }
  bool mayUse(uint32_t few = 8) { return mayUseRing(*product_, *shape_, shapeOf(few)); }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
  std::optional<Product> product_;
};

TEST_F(SkinnyShapeTest, WarpsHaveWholeRounds) {
  read("1", 64, 16, 128, 2); // 16 steps of 128: one round of two for each of eight warps
  EXPECT_TRUE(mayUse());
  read("1", 64, 24, 128, 2);
  EXPECT_FALSE(mayUse());
  read("1", 64, 8, 128, 1); // steps of 64
  EXPECT_TRUE(mayUse());
  read("1", 64, 8, 128, 2);
  EXPECT_FALSE(mayUse());
}

TEST_F(SkinnyShapeTest, RowsAreNoMoreThanABlockHas) {
  read("9", 64, 16, 128, 2);
  EXPECT_FALSE(mayUse());
  EXPECT_TRUE(mayUse(16));
  read("?", 64, 16, 128, 2); // the plan's guard says how many
  EXPECT_TRUE(mayUse());
}

TEST_F(SkinnyShapeTest, ScalesOfARoundAreOneVector) {
  auto areBeside = [&](uint32_t turns) {
    SkinnyShape how = shapeOf(8);
    how.turns = turns;
    return llvm::map_to_vector(product_->right.inputs,
                               [&](const OperandInput &input) { return isBesideNext(*product_, *shape_, how, input); });
  };
  using Flags = llvm::SmallVector<bool>;
  read("1", 64, 36, 128, 2); // packed integers, scales
  EXPECT_EQ(areBeside(4), (Flags{false, true}));
  EXPECT_EQ(areBeside(8), (Flags{false, false})) << "a row begins inside of a vector";
  read("1", 64, 32, 64, 2);
  EXPECT_EQ(areBeside(4), (Flags{false, false})) << "a step has two of them";
}

TEST_F(SkinnyShapeTest, TwoBlocksFitAMultiprocessor) {
  read("8", 8192, 224, 128, 2);
  EXPECT_LE(2 * (skinnyRingBytes(*product_, *shape_, shapeOf(8), 256) + 1024), 228u << 10);
}

} // namespace
} // namespace tenon::compiler::codegen
