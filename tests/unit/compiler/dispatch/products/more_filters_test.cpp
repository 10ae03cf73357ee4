// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/more_filters.h"

#include "tests/unit/compiler/dispatch/convolutions.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

class MoreFilters : public ConvolutionTest {
protected:
  /// The gradient by `filters` of a convolution with windows of 3 x 3 of an image of so many channels, channels last.
  std::optional<Convolution> gradient(int64_t filters, int64_t channels, const std::string &start = "") {
    const std::string loops = "affine_map<(f, r, s, c, n, y, x) -> ", c = std::to_string(channels),
                      f = std::to_string(filters), image = "tensor<2x66x66x" + c + "xbf16>",
                      given = "tensor<2x64x64x" + f + "xbf16>", result = "tensor<" + f + "x3x3x" + c + "xf32>";
    const std::string filled = "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + result +
                               "\n%s = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " + result + "\n";
    auto function = parseFunction(
        "func.func @f(%x: " + image + ", %d: " + given + ", %o: " + result + ") -> " + result + " {\n" +
        (start.empty() ? filled : "") + "%r = linalg.generic {indexing_maps = [" + loops + "(n, y + r, x + s, c)>, " +
        loops + "(n, y, x, f)>, " + loops +
        "(f, r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", "
        "\"reduction\", \"reduction\"]} ins(%x, %d : " +
        image + ", " + given + ") outs(" + (start.empty() ? "%s" : start) + " : " + result +
        ") {\n^bb0(%a: bf16, %b: bf16, %t: f32):\n%g = arith.extf %a : bf16 to f32\n%h = arith.extf %b : bf16 to f32\n"
        "%p = arith.mulf %g, %h : f32\n%u = arith.addf %t, %p : f32\nlinalg.yield %u : f32\n} -> " +
        result + "\nreturn %r : " + result + "\n}");
    return Convolution::of(*function.getOps<mlir::linalg::GenericOp>().begin());
  }
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
};

TEST_F(MoreFilters, AreZerosBesideFewOnes) {
  for (const auto [filters, more] : {std::pair<int64_t, int64_t>(1, 16), {3, 16}, {15, 16}, {17, 24}, {30, 32}}) {
    std::optional<Convolution> found = gradient(filters, 64);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->hasManyChannels());
    addFilters(*found);
    ASSERT_TRUE(succeeded(mlir::verify(*module_))) << messages_;
    EXPECT_TRUE(found->hasManyChannels());
    EXPECT_EQ(shapeOf(found->filters->get()), (llvm::ArrayRef<int64_t>{2, 64, 64, more})) << filters;
    EXPECT_EQ(shapeOf(found->op.getResult(0)), (llvm::ArrayRef<int64_t>{more, 3, 3, 64}));
    EXPECT_EQ(shapeOf(result().getResult(0)), (llvm::ArrayRef<int64_t>{filters, 3, 3, 64})) << "the first ones";
  }
}

TEST_F(MoreFilters, AreNoneBesideWholeVectors) {
  std::optional<Convolution> found = gradient(40, 64);
  ASSERT_TRUE(found);
  addFilters(*found);
  EXPECT_EQ(shapeOf(result().getResult(0)), (llvm::ArrayRef<int64_t>{40, 3, 3, 64}));
  EXPECT_EQ(result(), found->op);
  found = gradient(3, 64, "%o");
  ASSERT_TRUE(found);
  addFilters(*found);
  EXPECT_EQ(result(), found->op) << "what sums start from has no more";
}

TEST_F(MoreFilters, ChannelsThatNearlyFillLinesDo) {
  std::optional<Convolution> found = gradient(40, 96);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->hasManyChannels());
  ASSERT_TRUE(addChannels(*found));
  ASSERT_TRUE(succeeded(mlir::verify(*module_))) << messages_;
  EXPECT_TRUE(found->hasManyChannels());
  EXPECT_EQ(shapeOf(found->image->get()), (llvm::ArrayRef<int64_t>{2, 66, 66, 128}));
  EXPECT_EQ(shapeOf(result().getResult(0)), (llvm::ArrayRef<int64_t>{40, 3, 3, 96})) << "the first ones";
  for (const int64_t channels : {72, 128}) {
    found = gradient(40, channels);
    ASSERT_TRUE(found);
    EXPECT_FALSE(addChannels(*found)) << channels;
  }
}

class OneFilter : public ConvolutionTest {
protected:
  /// How many filters there are then, of a convolution that starts from zeros.
  int64_t filtersOf(const Shape &shape) {
    std::string whole = text(shape);
    const std::string out = "%o: ";
    const size_t begin = whole.find(out) + out.size();
    const std::string type = whole.substr(begin, whole.find(')', begin) - begin);
    const size_t body = whole.find("{\n") + 2;
    whole.insert(body, "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + type +
                           "\n%s = linalg.fill ins(%z : f32) outs(%e : " + type + ") -> " + type + "\n");
    whole.replace(whole.find("outs(%o", body), 7, "outs(%s");
    std::optional<Convolution> found =
        Convolution::of(genericWindowOf(*++parseFunction(whole).getOps<mlir::linalg::LinalgOp>().begin()));
    EXPECT_TRUE(found);
    addFilters(*found);
    EXPECT_TRUE(succeeded(mlir::verify(*module_))) << messages_;
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(result().getResult(0).getType()).getShape().back(), shape.results);
    return llvm::cast<mlir::RankedTensorType>(found->filters->get().getType()).getShape().back();
  }
};

TEST_F(OneFilter, IsAVectorOfThem) {
  EXPECT_EQ(filtersOf({.results = 1}), 8);
  EXPECT_EQ(filtersOf({.results = 3}), 3) << "a matrix";
  EXPECT_EQ(filtersOf({.batch = 64, .channels = 8, .results = 1}), 1) << "few channels";
}

} // namespace
} // namespace tenon::compiler::dispatch
