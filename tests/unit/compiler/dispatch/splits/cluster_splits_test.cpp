// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/cluster_splits.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class ClusterSplits : public KernelTextTest {
protected:
  /// Parts of the sums of a product of bf16 whose sides both lie across, in f32; 1: it stays whole.
  int64_t parts(int64_t rows, int64_t columns, int64_t reduced) {
    auto tensor = [](int64_t first, int64_t second, const std::string &type) {
      return "tensor<" + std::to_string(first) + "x" + std::to_string(second) + "x" + type + ">";
    };
    const std::string left = tensor(reduced, rows, "bf16"), right = tensor(reduced, columns, "bf16"),
                      result = tensor(rows, columns, "f32");
    mlir::linalg::GenericOp op = firstGeneric(
        "module attributes {tenon.hopper_only} {\nfunc.func @f(%a: " + left + ", %b: " + right + ", %s: " + result +
        ") -> " + result +
        " {\n%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, "
        "affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b "
        ": " +
        left + ", " + right + ") outs(%s : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %z: f32):\n%u = arith.extf %x : bf16 to f32\n"
        "%v = arith.extf %y : bf16 to f32\n%p = arith.mulf %u, %v : f32\n%t = arith.addf %z, %p : f32\n"
        "linalg.yield %t : f32\n} -> " +
        result + "\nreturn %r : " + result + "\n}\n}");
    const std::optional<Contraction> product = productOf(op);
    EXPECT_TRUE(product);
    const std::optional<Split> split = clusterSplitOf(op, *product);
    if (!split)
      return 1;
    EXPECT_EQ(split->loop, 2u);
    EXPECT_EQ(split->size, reduced);
    EXPECT_EQ(reduced % (split->parts * 8), 0) << "parts begin at vectors";
    return split->parts;
  }
};

// The gradient by the filters of a convolution of one place, 28 x 28, 32 images.
TEST_F(ClusterSplits, LongSumsOfFewTilesAreParts) {
  EXPECT_GT(parts(512, 128, 25088), 1);
  EXPECT_EQ(parts(128, 256, 100352), 32);
}

// In parts that are no whole steps, where rows are whole lines.
TEST_F(ClusterSplits, ShorterSumsOfWholeLinesAreParts) {
  EXPECT_EQ(parts(1024, 256, 6272), 4);
  EXPECT_EQ(parts(512, 1024, 6272), 2);
  EXPECT_EQ(parts(256, 256, 12544), 14);
}

TEST_F(ClusterSplits, WhatClustersTakeApartStaysWhole) {
  EXPECT_EQ(parts(2048, 512, 1568), 1);
  EXPECT_EQ(parts(512, 512, 2352), 1);
  EXPECT_EQ(parts(216, 304, 12736), 1); // rows begin in lines
}

TEST_F(ClusterSplits, EnoughTilesStayWhole) {
  EXPECT_EQ(parts(4096, 4096, 4096), 1);
}

} // namespace
} // namespace tenon::compiler::dispatch
