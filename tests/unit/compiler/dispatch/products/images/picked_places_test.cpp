// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/picked_places.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class PickedPlaces : public KernelTextTest {
protected:
  /// A convolution of one place, or its gradient by the filters.
  std::optional<Convolution> convolution(const std::string &image, const std::string &other, const std::string &result,
                                         const std::string &element, const std::string &maps) {
    auto tensor = [](const std::string &shape, const std::string &type) {
      return "tensor<" + shape + "x" + type + ">";
    };
    const std::string x = tensor(image, element), y = tensor(other, element), z = tensor(result, "f32"),
                      parallel = "\"parallel\", ", reduced = "\"reduction\"";
    const std::string types = parallel + parallel + parallel + parallel + reduced + ", " + reduced + ", " + reduced;
    const bool isWide = element == "f32";
    function_ = parseFunction(
        "func.func @f(%i: " + x + ", %w: " + y + ", %s: " + z + ") -> " + z +
        " {\n%p = linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" + types + "]} ins(%i, %w : " + x +
        ", " + y + ") outs(%s : " + z + ") {\n^bb0(%a: " + element + ", %b: " + element + ", %t: f32):\n" +
        (isWide ? "%m = arith.mulf %a, %b : f32\n"
                : "%u = arith.extf %a : " + element + " to f32\n%v = arith.extf %b : " + element +
                      " to f32\n%m = arith.mulf %u, %v : f32\n") +
        "%r = arith.addf %t, %m : f32\nlinalg.yield %r : f32\n} -> " + z + "\nreturn %p : " + z + "\n}");
    if (isWide)
      for (llvm::StringRef attribute : {kTf32Attr, kHopperOnlyAttr})
        module_->getOperation()->setAttr(attribute, mlir::UnitAttr::get(function_.getContext()));
    return Convolution::ofUnknownImages(*function_.getOps<mlir::linalg::GenericOp>().begin());
  }
  std::optional<Convolution> forward(const std::string &image, const std::string &result, const std::string &element,
                                     int step, bool isLast = false, int window = 1) {
    const std::string s = std::to_string(step), w = std::to_string(window);
    const std::string read = "h * " + s + " + r, w * " + s + " + q";
    const std::string loops = "affine_map<(n, f, h, w, c, r, q) -> ";
    return convolution(image, "128x64x" + w + "x" + w, result, element,
                       loops + (isLast ? "(n, " + read + ", c)>, " : "(n, c, " + read + ")>, ") + loops +
                           "(f, c, r, q)>, " + loops + "(n, f, h, w)>");
  }
  std::optional<Convolution> gradient(const std::string &element) {
    const std::string loops = "affine_map<(f, r, q, c, n, h, w) -> ";
    return convolution("32x28x28x64", "32x14x14x128", "128x1x1x64", element,
                       loops + "(n, h * 2 + r, w * 2 + q, c)>, " + loops + "(n, h, w, f)>, " + loops + "(f, r, q, c)>");
  }
  /// The copy that the convolution reads, and its shape.
  llvm::ArrayRef<int64_t> picked() {
    for (auto op : function_.getOps<mlir::linalg::GenericOp>())
      if (op->hasAttr(kOwnKernelAttr))
        return llvm::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getShape();
    return {};
  }

  mlir::func::FuncOp function_;
};

TEST_F(PickedPlaces, OfChannelsThatAreNotLast) {
  for (const char *element : {"bf16", "f32"}) {
    const std::optional<Convolution> convolution = forward("32x64x32x31", "32x128x16x16", element, 2);
    ASSERT_TRUE(convolution);
    mlir::linalg::GenericOp op = convolution->op;
    EXPECT_TRUE(pickPlaces(*convolution));
    EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
    EXPECT_EQ(picked(), (llvm::ArrayRef<int64_t>{32, 64, 16, 16}));
    // It is a convolution in steps of one.
    const std::optional<Convolution> made = Convolution::of(op);
    ASSERT_TRUE(made);
    EXPECT_FALSE(pickPlaces(*made));
  }
}

// They are turned behind: of few bytes, or of images of which nobody knows how many there are, that takes longer.
TEST_F(PickedPlaces, OfPlacesThatAreNoRows) {
  const std::optional<Convolution> many = forward("256x64x28x43", "256x128x10x15", "bf16", 3);
  ASSERT_TRUE(many);
  EXPECT_TRUE(pickPlaces(*many));
  EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
  EXPECT_EQ(picked(), (llvm::ArrayRef<int64_t>{256, 64, 10, 15}));
  EXPECT_FALSE(pickPlaces(*forward("32x64x28x43", "32x128x10x15", "bf16", 3)));
  EXPECT_FALSE(pickPlaces(*forward("?x64x31x31", "?x128x16x16", "bf16", 2)));
}

TEST_F(PickedPlaces, OfGradientsThatTensorCoresDoNotTurn) {
  std::optional<Convolution> convolution = gradient("f32");
  ASSERT_TRUE(convolution && convolution->isOfFilters);
  EXPECT_TRUE(pickPlaces(*convolution));
  EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
  EXPECT_EQ(picked(), (llvm::ArrayRef<int64_t>{32, 14, 14, 64}));
  // Boxes have every other place.
  convolution = gradient("bf16");
  ASSERT_TRUE(convolution);
  EXPECT_FALSE(pickPlaces(*convolution));
}

TEST_F(PickedPlaces, OthersStay) {
  EXPECT_FALSE(pickPlaces(*forward("32x64x14x14", "32x128x14x14", "bf16", 1)));
  EXPECT_FALSE(pickPlaces(*forward("32x28x28x64", "32x128x14x14", "bf16", 2, /*isLast=*/true)));
  EXPECT_FALSE(pickPlaces(*forward("32x64x29x29", "32x128x14x14", "bf16", 2, /*isLast=*/false, /*window=*/3)));
}

} // namespace
} // namespace tenon::compiler::dispatch
