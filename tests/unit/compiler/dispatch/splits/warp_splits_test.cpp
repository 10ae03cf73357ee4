// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/warp_splits.h"

#include "compiler/dispatch/analysis/products/warp_tiles.h"
#include "compiler/dispatch/splits/product_splits.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class WarpSplits : public KernelTextTest {
protected:
  static std::string tensor(int64_t first, int64_t second, const std::string &type) {
    return "tensor<" + std::to_string(first) + "x" + std::to_string(second) + "x" + type + ">";
  }
  /// A product of two sides of these types, summed in i32 or f32. `ofRight`: how the right side is indexed.
  mlir::linalg::GenericOp product(const std::string &left, const std::string &right, const std::string &ofRight,
                                  int64_t rows, int64_t columns, const std::string &element,
                                  const std::string &device) {
    const bool isByte = element == "i8";
    const std::string sum = isByte ? "i32" : "f32", result = tensor(rows, columns, sum),
                      extend = isByte ? "arith.extsi" : "arith.extf", to = " : " + element + " to " + sum + "\n",
                      last = isByte ? "i " : "f ";
    return firstGeneric(
        "module attributes {tenon.warp_device = array<i64: " + device + ">} {\nfunc.func @f(%a: " + left +
        ", %b: " + right + ", %s: " + result + ") -> " + result +
        " {\n%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (" +
        ofRight +
        ")>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
        "ins(%a, %b : " +
        left + ", " + right + ") outs(%s : " + result + ") {\n^bb0(%x: " + element + ", %y: " + element +
        ", %z: " + sum + "):\n%u = " + extend + " %x" + to + "%v = " + extend + " %y" + to + "%p = arith.mul" + last +
        "%u, %v : " + sum + "\n%t = arith.add" + last + "%z, %p : " + sum + "\nlinalg.yield %t : " + sum + "\n} -> " +
        result + "\nreturn %r : " + result + "\n}\n}");
  }
  /// Parts of the sums of a product of bf16 whose sides both lie along, in f32; 1: it stays whole.
  int64_t parts(int64_t rows, int64_t columns, int64_t reduced, const std::string &device = "80, 108, 167936") {
    mlir::linalg::GenericOp op =
        product(tensor(rows, reduced, "bf16"), tensor(columns, reduced, "bf16"), "j, k", rows, columns, "bf16", device);
    const std::optional<ProductSplit> found = productSplitOf(op);
    if (!found || found->splits.empty())
      return 1;
    EXPECT_EQ(found->splits.front().loop, 2u);
    EXPECT_EQ(found->splits.front().size, reduced);
    EXPECT_EQ(reduced % (found->splits.front().parts * 8), 0) << "rows of parts stay aligned";
    return found->splits.front().parts;
  }
};

TEST_F(WarpSplits, LongSumsOfFewTilesAreParts) {
  EXPECT_GT(parts(64, 4096, 14336), 1);
  EXPECT_GT(parts(128, 128, 65536), 4);
  EXPECT_GT(parts(64, 4096, 14336, "89, 128, 102400"), 1);
}

TEST_F(WarpSplits, OneRoundOfTilesStaysWhole) {
  EXPECT_EQ(parts(64, 6144, 4096), 1);
  EXPECT_EQ(parts(4096, 4096, 4096), 1);
  EXPECT_EQ(parts(512, 512, 512), 1);
}

TEST_F(WarpSplits, BytesThatLieAcrossAreOfOtherTiles) {
  auto isOfThem = [&](const std::string &element, const std::string &ofRight) {
    const std::string side = tensor(512, 512, element);
    mlir::linalg::GenericOp op = product(side, side, ofRight, 512, 512, element, "80, 108, 167936");
    const std::optional<Contraction> found = contractionOf(op);
    return found && isSplitByWarpModel(op, *found);
  };
  EXPECT_TRUE(isOfThem("i8", "j, k"));
  EXPECT_FALSE(isOfThem("i8", "k, j"));
  EXPECT_TRUE(isOfThem("f16", "k, j"));
}

TEST_F(WarpSplits, NoPartBeginsBetweenVectors) {
  EXPECT_EQ(parts(64, 64, 7001), 1);
}

} // namespace
} // namespace tenon::compiler::dispatch
