// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/sliced_forms.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon::compiler::dispatch {
namespace {

using Shape = std::vector<int64_t>;

class SlicedFormsTest : public KernelTextTest {
protected:
  /// A slice of a tensor of 2x16x96 elements along its last dimension, divided as `divided` says.
  mlir::func::FuncOp sliced(const std::string &from, const std::string &size, const std::string &divided) {
    const std::string type = "tensor<2x16x" + size + "xf16>";
    std::string body = "^bb0(%x: f16, %o: f16):\nlinalg.yield %x : f16\n", maps = "affine_map<(i, j, k) -> (i, j, k";
    std::string ins = " ins(%a : tensor<2x16x96xf16>)";
    if (from == "0") { // as the input's lowering writes what begins at the first element
      body = "^bb0(%o: f16):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%k = linalg.index 2 : index\n"
             "%x = tensor.extract %a[%i, %j, %k] : tensor<2x16x96xf16>\nlinalg.yield %x : f16\n";
      maps = ins = "";
    } else {
      maps += " + " + from + ")>, ";
    }
    auto function = parseFunction(
        "func.func @f(%a: tensor<2x16x96xf16>) -> tensor<" + divided + "xf16> {\n%e = tensor.empty() : " + type +
        "\n%s = linalg.generic {indexing_maps = [" + maps +
        "affine_map<(i, j, k) -> (i, j, k)>], iterator_types = [\"parallel\", \"parallel\", "
        "\"parallel\"]}" +
        ins + " outs(%e : " + type + ") {\n" + body + "} -> " + type +
        "\n%r = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [" + commas(divided) + "] : " + type +
        " into tensor<" + divided + "xf16>\nreturn %r : tensor<" + divided + "xf16>\n}\n");
    mlir::RewritePatternSet patterns(function.getContext());
    addSlicedForms(patterns);
    (void)mlir::applyPatternsGreedily(function, std::move(patterns));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return function;
  }
  /// What is returned reads: the shape of its source, and where it lies there.
  static std::pair<Shape, std::string> sourceOf(mlir::func::FuncOp function) {
    mlir::Value result = (*function.getOps<mlir::func::ReturnOp>().begin())->getOperand(0);
    auto copy = result.getDefiningOp<mlir::linalg::GenericOp>();
    if (!copy)
      return {};
    auto type = mlir::cast<mlir::RankedTensorType>(copy.getDpsInputs()[0].getType());
    std::string text;
    llvm::raw_string_ostream(text) << copy.getIndexingMapsArray().front();
    return {Shape(type.getShape().begin(), type.getShape().end()), text};
  }

private:
  static std::string commas(std::string divided) {
    for (size_t at = divided.find('x'); at != std::string::npos; at = divided.find('x', at))
      divided.replace(at, 1, ", ");
    return divided;
  }
};

TEST_F(SlicedFormsTest, TheTensorIsDividedAndThenSliced) {
  const auto [shape, place] = sourceOf(sliced("32", "32", "2x16x4x8"));
  EXPECT_EQ(shape, (Shape{2, 16, 3, 4, 8}));
  EXPECT_EQ(place, "(d0, d1, d2, d3) -> (d0, d1, 1, d2, d3)");
}

TEST_F(SlicedFormsTest, ASliceThatIsNoneOfAWholeNumberBeginsAtAPart) {
  const auto [shape, place] = sourceOf(sliced("48", "32", "2x16x4x8"));
  EXPECT_EQ(shape, (Shape{2, 16, 12, 8}));
  EXPECT_EQ(place, "(d0, d1, d2, d3) -> (d0, d1, d2 + 6, d3)");
}

TEST_F(SlicedFormsTest, TheFirstSliceIsReadByTheBody) {
  const auto [shape, place] = sourceOf(sliced("0", "32", "2x16x4x8"));
  EXPECT_EQ(shape, (Shape{2, 16, 3, 4, 8}));
  EXPECT_EQ(place, "(d0, d1, d2, d3) -> (d0, d1, 0, d2, d3)");
}

TEST_F(SlicedFormsTest, OneThatBeginsInsideOfAPartStays) {
  auto function = sliced("12", "32", "2x16x4x8");
  EXPECT_EQ(llvm::range_size(function.getOps<mlir::tensor::ExpandShapeOp>()), 1u);
  EXPECT_TRUE(sourceOf(function).first.empty());
}

TEST_F(SlicedFormsTest, AMapThatWouldEndBeforeTheTensorStays) {
  EXPECT_TRUE(sourceOf(sliced("0", "40", "2x16x5x8")).first.empty()) << "96 are not whole slices of 40";
}

// As many sequences as a call has: of the size of the tensor, or of another one that only the call knows.
TEST_F(SlicedFormsTest, ADimensionOfUnknownSizeIsTakenWhole) {
  for (const bool isWhole : {true, false}) {
    auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<?x96xf16>, %given: index) -> tensor<?x4x8xf16> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %a, %c0 : tensor<?x96xf16>
      %e = tensor.empty()mlir" + std::string(isWhole ? "%n" : "%given") +
                                  R"mlir() : tensor<?x32xf16>
      %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
          outs(%e : tensor<?x32xf16>) {
        ^bb0(%o: f16):
          %i = linalg.index 0 : index
          %k = linalg.index 1 : index
          %x = tensor.extract %a[%i, %k] : tensor<?x96xf16>
          linalg.yield %x : f16
      } -> tensor<?x32xf16>
      %r = tensor.expand_shape %s [[0], [1, 2]] output_shape [%n, 4, 8] : tensor<?x32xf16> into tensor<?x4x8xf16>
      return %r : tensor<?x4x8xf16>
    })mlir");
    mlir::RewritePatternSet patterns(function.getContext());
    addSlicedForms(patterns);
    (void)mlir::applyPatternsGreedily(function, std::move(patterns));
    ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    const auto [shape, place] = sourceOf(function);
    if (isWhole) {
      EXPECT_EQ(shape, (Shape{mlir::ShapedType::kDynamic, 3, 4, 8}));
      EXPECT_EQ(place, "(d0, d1, d2) -> (d0, 0, d1, d2)");
    } else {
      EXPECT_TRUE(shape.empty());
    }
  }
}

// Two slices of an argument, whose sizes are asked behind each other; and a reshape between that may have made other
// sizes of two that are unknown.
TEST_F(SlicedFormsTest, SizesStandInFrontOfWhoReadsThem) {
  for (const bool isSame : {true, false}) {
    const std::string sizes = isSame ? "%m, %n" : "%p, %q";
    std::string text = R"mlir(
    func.func @f(%a: tensor<?x?x96xf16>, %p: index, %q: index) -> (tensor<?x?x4x8xf16>, tensor<?x?x4x8xf16>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.dim %a, %c0 : tensor<?x?x96xf16>
      %n = tensor.dim %a, %c1 : tensor<?x?x96xf16>
)mlir";
    for (const char *slice : {"1", "2"})
      text +=
          "      %e" + std::string(slice) + " = tensor.empty(%m, %n) : tensor<?x?x32xf16>\n      %s" + slice +
          " = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k + " + slice +
          " * 32)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} "
          "ins(%a : tensor<?x?x96xf16>) outs(%e" +
          slice +
          " : tensor<?x?x32xf16>) {\n^bb0(%x: f16, %o: f16):\nlinalg.yield %x : f16\n} -> tensor<?x?x32xf16>\n"
          "      %t" +
          slice + " = tensor.collapse_shape %s" + slice +
          " [[0, 1], [2]] : tensor<?x?x32xf16> into tensor<?x32xf16>\n      %r" + slice + " = tensor.expand_shape %t" +
          slice + " [[0, 1], [2, 3]] output_shape [" + sizes + ", 4, 8] : tensor<?x32xf16> into tensor<?x?x4x8xf16>\n";
    auto function = parseFunction(text + "return %r1, %r2 : tensor<?x?x4x8xf16>, tensor<?x?x4x8xf16>\n}\n");
    mlir::RewritePatternSet patterns(function.getContext());
    addSlicedForms(patterns);
    (void)mlir::applyPatternsGreedily(function, std::move(patterns));
    ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    EXPECT_EQ(sourceOf(function).first.empty(), !isSame);
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
