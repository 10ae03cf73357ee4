// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/ordered_patches.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

struct Sizes {
  int images = 2, channels = 64, filters = 256, size = 8, window = 3, step = 1;
  std::string layout = "fchw", type = "f16";
};

class OrderedPatches : public KernelTextTest {
protected:
  /// A convolution of channels first; of `layout` chwf, the filters come last.
  mlir::linalg::GenericOp patchesOf(const Sizes &sizes) {
    auto tensor = [](std::initializer_list<int> shape, const std::string &type) {
      std::string text = "tensor<";
      for (int size : shape)
        text += std::to_string(size) + "x";
      return text + type + ">";
    };
    const int image = (sizes.size - 1) * sizes.step + sizes.window;
    const bool isFirst = sizes.layout == "fchw";
    const std::string x = tensor({sizes.images, sizes.channels, image, image}, sizes.type);
    const std::string w = isFirst ? tensor({sizes.filters, sizes.channels, sizes.window, sizes.window}, sizes.type)
                                  : tensor({sizes.channels, sizes.window, sizes.window, sizes.filters}, sizes.type);
    const std::string o = tensor({sizes.images, sizes.filters, sizes.size, sizes.size}, "f32");
    const std::string step = std::to_string(sizes.step), wide = sizes.type == "f32" ? "" : " to f32\n";
    const std::string a = wide.empty() ? "%a" : "%c", b = wide.empty() ? "%b" : "%d";
    auto function = parseFunction(
        "func.func @f(%x: " + x + ", %w: " + w + ", %o: " + o + ") -> " + o +
        " {\n%p = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c, i, j) -> (n, c, y * " + step +
        " + i, x * " + step + " + j)>, affine_map<(n, f, y, x, c, i, j) -> (" +
        (isFirst ? "f, c, i, j" : "c, i, j, f") +
        ")>, affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>], iterator_types = [\"parallel\", \"parallel\", "
        "\"parallel\", \"parallel\", \"reduction\", \"reduction\", \"reduction\"]} ins(%x, %w : " +
        x + ", " + w + ") outs(%o : " + o + ") {\n^bb0(%a: " + sizes.type + ", %b: " + sizes.type + ", %s: f32):\n" +
        (wide.empty() ? ""
                      : "%c = arith.extf %a : " + sizes.type + wide + "%d = arith.extf %b : " + sizes.type + wide) +
        "%m = arith.mulf " + a + ", " + b + " : f32\n%t = arith.addf %s, %m : f32\nlinalg.yield %t : f32\n} -> " + o +
        "\nreturn %p : " + o + "\n}\n");
    const std::optional<Convolution> found = Convolution::of(*function.getOps<mlir::linalg::GenericOp>().begin());
    mlir::linalg::GenericOp op = found ? multiplyOrderedPatches(*found) : mlir::linalg::GenericOp();
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return op;
  }
};

TEST_F(OrderedPatches, LieAsTheFiltersDo) {
  mlir::linalg::GenericOp op = patchesOf(Sizes());
  ASSERT_TRUE(op);
  auto patches = op.getDpsInputs()[0].getDefiningOp<mlir::tensor::CollapseShapeOp>(),
       filters = op.getDpsInputs()[1].getDefiningOp<mlir::tensor::CollapseShapeOp>();
  ASSERT_TRUE(patches && filters);
  EXPECT_EQ(patches.getSrcType().getShape(), (llvm::ArrayRef<int64_t>{2, 8, 8, 64, 3, 3}));
  EXPECT_EQ(patches.getType().getShape(), (llvm::ArrayRef<int64_t>{2, 8, 8, 576}));
  EXPECT_TRUE(mlir::isa<mlir::BlockArgument>(filters.getSrc())) << "filters are read as they come";
  for (mlir::AffineMap map : op.getIndexingMapsArray())
    EXPECT_TRUE(map.isProjectedPermutation());
  std::string text;
  llvm::raw_string_ostream(text) << op.getIndexingMapsArray()[0];
  EXPECT_EQ(text, "(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)");
  Sizes steps;
  steps.step = 2;
  EXPECT_TRUE(patchesOf(steps));
}

// Clusters take sums apart where places are one dimension of the product, or several outermost ones.
TEST_F(OrderedPatches, OfOneImageAreItsPlaces) {
  Sizes sizes;
  sizes.images = 1;
  sizes.channels = 72; // which fill no line
  EXPECT_EQ(patchesOf(sizes).getNumLoops(), 5u) << "a box of 64";
  sizes.size = 7;
  mlir::linalg::GenericOp op = patchesOf(sizes);
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getNumLoops(), 4u);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(op.getDpsInputs()[0].getType()).getShape(),
            (llvm::ArrayRef<int64_t>{7, 7, 648}));
  std::string text;
  llvm::raw_string_ostream(text) << op.getIndexingMapsArray()[2];
  EXPECT_EQ(text, "(d0, d1, d2, d3) -> (0, d0, d1, d2)");
  sizes.channels = 20;
  EXPECT_FALSE(patchesOf(sizes)) << "their rows begin at no vectors";
}

TEST_F(OrderedPatches, AreLessThanTheFilters) {
  Sizes sizes;
  sizes.filters = 255;
  EXPECT_FALSE(patchesOf(sizes)) << "two times 128 places";
  sizes = {};
  sizes.images = 3;
  EXPECT_FALSE(patchesOf(sizes));
}

TEST_F(OrderedPatches, AreOfFiltersThatWouldBeTurned) {
  Sizes sizes;
  sizes.layout = "chwf";
  EXPECT_FALSE(patchesOf(sizes)) << "tensor cores read these as they lie";
  sizes = {};
  sizes.window = 1;
  EXPECT_FALSE(patchesOf(sizes));
  sizes.window = 5;
  EXPECT_FALSE(patchesOf(sizes)) << "no thread has so many places";
  sizes = {};
  sizes.type = "f32";
  EXPECT_FALSE(patchesOf(sizes)) << "exact arithmetic reads filters in any order";
}

} // namespace
} // namespace tenon::compiler::dispatch
