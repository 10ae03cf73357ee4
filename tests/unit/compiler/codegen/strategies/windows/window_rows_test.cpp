// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/window_rows.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class WindowRows : public KernelTest {
protected:
  struct Sizes {
    int batch = 32, channels = 144, height = 56, width = 56, step = 1;
    std::string element = "f16", column = "w * STEP + s";
  };

  /// Windows of 3 x 3 of each channel; channels come first.
  void read(const Sizes &sizes) {
    auto number = [](int value) { return std::to_string(value); };
    std::string column = sizes.column;
    if (const size_t at = column.find("STEP"); at != std::string::npos)
      column.replace(at, 4, number(sizes.step));
    auto places = [&](int height, int width) {
      return "tensor<" + number(sizes.batch) + "x" + number(sizes.channels) + "x" + number(height) + "x" +
             number(width) + "x" + sizes.element + ">";
    };
    const std::string image = places((sizes.height - 1) * sizes.step + 3, (sizes.width - 1) * sizes.step + 3),
                      weights = "tensor<" + number(sizes.channels) + "x3x3x" + sizes.element + ">",
                      result = places(sizes.height, sizes.width), loops = "affine_map<(n, c, h, w, r, s) -> ";
    kernel_ = KernelFunction::read(
        parseFunction("func.func @k(%i: " + image + ", %w: " + weights + ", %o: " + result + ") -> " + result +
                      " {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, c, h * " + number(sizes.step) +
                      " + r, " + column + ")>, " + loops + "(c, r, s)>, " + loops +
                      "(n, c, h, w)>], iterator_types = [\"parallel\", \"parallel\", "
                      "\"parallel\", \"parallel\", \"reduction\", \"reduction\"]} ins(%i, %w : " +
                      image + ", " + weights + ") outs(%o : " + result + ") {\n^bb0(%x: " + sizes.element +
                      ", %y: " + sizes.element + ", %z: " + sizes.element +
                      "):\n%p = arith.mulf %x, %y : " + sizes.element + "\n%t = arith.addf %z, %p : " + sizes.element +
                      "\nlinalg.yield %t : " + sizes.element + "\n} -> " + result + "\nreturn %v : " + result + "\n}"));
    ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

TEST_F(WindowRows, KnowHowWindowsSlideAlongThem) {
  read({.step = 2});
  const auto rows = ImageRows::of(*kernel_, *shape_);
  ASSERT_TRUE(rows);
  EXPECT_FALSE(rows->border);
  EXPECT_EQ(rows->step, 2);
  EXPECT_EQ(rows->length, 3);
  EXPECT_EQ(rows->apart, 1);
  EXPECT_EQ(rows->axis, 5u);
  EXPECT_TRUE(slidesDownColumns(*kernel_, *shape_, 1));
  EXPECT_FALSE(slidesDownColumns(*kernel_, *shape_, 2));
}

// Words of narrow elements are whole in every row.
TEST_F(WindowRows, LanesAreAsManyAsRowsAllow) {
  auto lanes = [&](const Sizes &sizes) {
    read(sizes);
    return ImageRows::of(*kernel_, *shape_)->lanes(*shape_);
  };
  EXPECT_EQ(lanes({.width = 56}), 8u);
  EXPECT_EQ(lanes({.width = 28}), 4u);
  EXPECT_EQ(lanes({.width = 14}), 2u);
  EXPECT_EQ(lanes({.width = 7}), 1u);
  EXPECT_EQ(lanes({.width = 56, .step = 2}), 1u) << "rows of 113";
  EXPECT_EQ(lanes({.width = 56, .step = 2, .element = "f32"}), 4u);
}

// Vectors where rows are a multiple of them, words at the ends and elsewhere.
TEST_F(WindowRows, AreReadInPieces) {
  read({});
  ImageRows rows = *ImageRows::of(*kernel_, *shape_);
  auto pieces = [&](int64_t inRow, uint32_t lanes) {
    rows.image.shape.back().size = inRow;
    std::vector<std::pair<int64_t, int64_t>> found;
    for (const ImageRows::Piece &piece : rows.pieces(lanes))
      found.push_back({piece.first, piece.elements});
    return found;
  };
  using Pieces = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(pieces(58, 8), (Pieces{{0, 2}, {2, 2}, {4, 2}, {6, 2}, {8, 2}}));
  EXPECT_EQ(rows.alignment(8), 4);
  rows.offset = -1;
  EXPECT_EQ(pieces(56, 8), (Pieces{{-2, 2}, {0, 8}, {8, 2}}));
  EXPECT_EQ(rows.alignment(8), 16);
  EXPECT_EQ(pieces(56, 4), (Pieces{{-2, 2}, {0, 4}, {4, 2}}));
  EXPECT_EQ(pieces(28, 8), (Pieces{{-2, 2}, {0, 4}, {4, 4}, {8, 2}}));
  EXPECT_EQ(pieces(7, 1), (Pieces{{-1, 1}, {0, 1}, {1, 1}}));
  rows.step = 2;
  EXPECT_EQ(pieces(56, 4), (Pieces{{-2, 2}, {0, 8}})) << "the window of the last lane ends at 7";
}

TEST_F(WindowRows, AreNoneWhereWindowsDoNotSlide) {
  read({.column = "55 - w + s"});
  EXPECT_FALSE(ImageRows::of(*kernel_, *shape_));
  EXPECT_FALSE(tileOfRows(*kernel_, *shape_, 1));
}

TEST_F(WindowRows, AThreadTakesAColumnWhereThatKeepsADeviceBusy) {
  read({});
  const auto tile = tileOfRows(*kernel_, *shape_, 1);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->lines, 1);
  EXPECT_EQ(tile->run, 4);
  EXPECT_EQ(tile->width, 8u);
  read({.batch = 1, .channels = 8});
  EXPECT_FALSE(tileOfRows(*kernel_, *shape_, 1));
}

} // namespace
} // namespace tenon::compiler::codegen
