// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/few_channels.h"

#include "tests/unit/compiler/dispatch/convolutions.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

class JoinWindow : public ConvolutionTest {
protected:
  /// Shapes of the image and the filters that are read afterwards.
  std::array<llvm::ArrayRef<int64_t>, 2> join(const Shape &shape) {
    std::optional<Convolution> found = convolution(shape);
    if (!found)
      found = Convolution::ofUnknownImages(result());
    EXPECT_TRUE(found);
    joinWindowWithChannels(*found);
    EXPECT_TRUE(succeeded(mlir::verify(*module_))) << messages_;
    auto shapeOf = [&](unsigned input) {
      return llvm::cast<mlir::RankedTensorType>(result().getDpsInputs()[input].getType()).getShape();
    };
    return {shapeOf(0), shapeOf(1)};
  }
};

TEST_F(JoinWindow, ColumnsOfTheWindowAndChannelsAreOneDimension) {
  const auto [image, filters] = join({.size = 64, .channels = 3, .results = 64, .window = 7, .stride = 2});
  EXPECT_EQ(image, (llvm::ArrayRef<int64_t>{8, 133, 64, 32})) << "21 elements, and zeros: half of a step";
  EXPECT_EQ(filters, (llvm::ArrayRef<int64_t>{7, 64, 32}));
}

TEST_F(JoinWindow, RowsJoinThemWhereThatTakesNoMoreMemory) {
  const auto [image, filters] = join({.size = 64, .channels = 3, .results = 128});
  EXPECT_EQ(image, (llvm::ArrayRef<int64_t>{8, 64, 64, 32})) << "27 elements";
  EXPECT_EQ(filters, (llvm::ArrayRef<int64_t>{128, 32}));
  EXPECT_TRUE(llvm::all_of(result().getIndexingMapsArray(), [](mlir::AffineMap map) {
    return map.isProjectedPermutation();
  })) << "a product of matrices";
}

TEST_F(JoinWindow, ImagesMayBeOfAnyNumberAndSize) {
  constexpr int64_t kUnknown = mlir::ShapedType::kDynamic;
  EXPECT_EQ(join({.batch = -1, .size = 64, .channels = 3, .results = 64, .window = 7, .stride = 2})[0],
            (llvm::ArrayRef<int64_t>{kUnknown, 133, 64, 32}));
  EXPECT_EQ(join({.batch = -1, .channels = 3, .results = 64, .window = 7, .stride = 2, .isOfAnySize = true})[0],
            (llvm::ArrayRef<int64_t>{kUnknown, kUnknown, kUnknown, 32}));
  EXPECT_EQ(join({.batch = 2, .channels = 3, .results = 128, .isOfAnySize = true})[0],
            (llvm::ArrayRef<int64_t>{2, kUnknown, kUnknown, 32}))
      << "rows, too";
}

TEST_F(JoinWindow, NoStepIsMoreThanHalfZeros) {
  const auto [image, filters] = join({.channels = 23, .results = 128});
  EXPECT_EQ(image.back(), 96) << "69 elements: 5 in the second step of 64";
}

} // namespace
} // namespace tenon::compiler::dispatch
