// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/planes.h"
#include "compiler/codegen/strategies/windows/window_planes.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class WindowPlanes : public KernelTest {
protected:
  struct Sizes {
    int64_t batch = 32, channels = 576, lines = 14, columns = 14, step = 1;
    std::string element = "bf16", image = "n, c", start = "fill", pin;
    int64_t images = 32, more = 0; // images of the tensor, and columns that no window meets
  };

  /// Windows of 3 x 3 of each channel; channels come first.
  void read(const Sizes &sizes) {
    auto number = [](int64_t value) { return std::to_string(value); };
    const std::string &type = sizes.element;
    const int64_t wide = (sizes.columns - 1) * sizes.step + 3 + sizes.more, high = (sizes.lines - 1) * sizes.step + 3;
    const std::string image = tensorText({sizes.images, sizes.channels, high, wide}, type),
                      weights = tensorText({sizes.channels, 3, 3}, type),
                      result = tensorText({sizes.batch, sizes.channels, sizes.lines, sizes.columns}, type),
                      loops = "affine_map<(n, c, h, w, r, s) -> ", step = number(sizes.step);
    const std::string start = sizes.start == "fill"
                                  ? "%z = arith.constant 0.0 : " + type + "\n%e = tensor.empty() : " + result +
                                        "\n%f = linalg.fill ins(%z : " + type + ") outs(%e : " + result + ") -> " +
                                        result + "\n"
                                  : "";
    const std::string from = sizes.start == "fill" ? "%f" : "%o";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%i: " + image + ", %w: " + weights + ", %o: " + result + ") -> " + result + " {\n" + start +
        "%v = linalg.generic {indexing_maps = [" + loops + "(" + sizes.image + ", h * " + step + " + r, w * " + step +
        " + s)>, " + loops + "(c, r, s)>, " + loops +
        "(n, c, h, w)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", "
        "\"reduction\"]} ins(%i, %w : " +
        image + ", " + weights + ") outs(" + from + " : " + result + ") {\n^bb0(%x: " + type + ", %y: " + type +
        ", %t: " + type + "):\n%p = arith.mulf %x, %y : " + type + "\n%u = arith.addf %t, %p " + sizes.pin + ": " +
        type + "\nlinalg.yield %u : " + type + "\n} -> " + result + "\nreturn %v : " + result + "\n}"));
    ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    form_ = PlaneForm::of(*kernel_, *shape_);
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
  std::optional<PlaneForm> form_;
};

TEST_F(WindowPlanes, KnowWhatAPlaneIs) {
  read({.step = 2});
  ASSERT_TRUE(form_);
  EXPECT_EQ(form_->imageLines, 29);
  EXPECT_EQ(form_->imagePlane(), 29 * 29 * 2);
  EXPECT_EQ(form_->resultPlane(), 14 * 14 * 2);
  EXPECT_EQ(form_->slide.step, 2);
  EXPECT_EQ(form_->slide.axis, 4u);
  EXPECT_EQ(form_->imageVector({7, 14, 64}), 2) << "rows of 58 bytes";
  EXPECT_EQ(form_->resultVector({7, 14, 64}), 4);
}

// Planes of the results lie as those of the image do.
TEST_F(WindowPlanes, AreNoneOfOtherOrders) {
  read({.image = "n + 1, c", .images = 33});
  EXPECT_FALSE(form_) << "images from the second one on";
  read({.batch = 32, .channels = 32, .image = "c, n"});
  EXPECT_FALSE(form_);
  read({.start = "tensor"});
  EXPECT_FALSE(form_) << "sums start from something else at each place";
  read({.more = 20});
  EXPECT_FALSE(form_) << "much would be copied that nobody reads";
}

TEST_F(WindowPlanes, ABlockBeginsAtAVector) {
  read({.lines = 5, .columns = 5}); // planes of 98 and of 50 bytes
  EXPECT_FALSE(form_->fits({5, 5, 4}));
  EXPECT_TRUE(form_->fits({5, 5, 8}));
  EXPECT_FALSE(form_->fits({6, 5, 32})) << "no such line";
  EXPECT_FALSE(form_->fits({5, 3, 32})) << "columns are no multiple";
  read({.lines = 56, .columns = 56, .element = "f32"});
  EXPECT_FALSE(form_->fits({7, 8, 128})) << "two planes are more than a block's shared memory";
}

TEST_F(WindowPlanes, ThreadsHaveRowsWhereRegistersHoldThem) {
  read({});
  const auto tile = tileOfPlanes(*form_, 32 * 576);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->columns, 14);
  EXPECT_TRUE(form_->fits(*tile));
  const auto ofFew = tileOfPlanes(*form_, 576);
  ASSERT_TRUE(ofFew);
  EXPECT_LE(ofFew->lines * ofFew->columns, tile->lines * tile->columns) << "threads are few";
}

TEST_F(WindowPlanes, AreWorthItWhereWindowsOverlapInShortRows) {
  read({});
  EXPECT_TRUE(isWorthPlanes(*form_));
  read({.lines = 56, .columns = 56});
  EXPECT_FALSE(isWorthPlanes(*form_));
  read({.step = 3});
  ASSERT_TRUE(form_);
  EXPECT_FALSE(isWorthPlanes(*form_));
}

TEST_F(WindowPlanes, ATileThatDoesNotFitIsRefused) {
  read({});
  mlir::Builder b(&context_);
  auto isTaken = [&](int64_t lines, int64_t run) {
    kernel_->strategy = b.getDictionaryAttr(
        {b.getNamedAttr("lines", b.getI64IntegerAttr(lines)), b.getNamedAttr("run", b.getI64IntegerAttr(run))});
    kernel_->threads = 64;
    return Planes().whyNot(*kernel_).empty();
  };
  EXPECT_TRUE(isTaken(7, 14));
  EXPECT_FALSE(isTaken(7, 3)) << "columns are no multiple";
  EXPECT_FALSE(isTaken(15, 14));
}

TEST_F(WindowPlanes, APinIsObeyed) {
  auto isTaken = [&](const Sizes &sizes) {
    read(sizes);
    return !Planes().plans(*kernel_, *shape_).empty();
  };
  EXPECT_TRUE(isTaken({}));
  EXPECT_FALSE(isTaken({.pin = "{tenon.tile = {by = \"windows\"}} "}));
  EXPECT_TRUE(isTaken({.lines = 38, .columns = 38}));
  EXPECT_FALSE(isTaken({.lines = 40, .columns = 40}));
  EXPECT_TRUE(isTaken({.lines = 40, .columns = 40, .pin = "{tenon.tile = {by = \"planes\"}} "}));
}

} // namespace
} // namespace tenon::compiler::codegen
