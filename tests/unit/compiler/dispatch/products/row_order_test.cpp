// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/row_order.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

using Shape = std::vector<int64_t>;

class RowOrderTest : public KernelTextTest {
protected:
  /// y(t, b, n) = bf16 of the sum over k of x(b, t, k) * w(n, k); then `behind`, which ends in %r.
  mlir::func::FuncOp product(const std::string &behind, const std::string &type, const std::string &columns = "96",
                             const std::string &tokens = "7") {
    const std::string b = "?", y = tokens + "x" + b + "x" + columns;
    auto function =
        parseFunction("#x = affine_map<(t, b, n, k) -> (b, t, k)>\n#w = affine_map<(t, b, n, k) -> (n, k)>\n"
                      "#y = affine_map<(t, b, n, k) -> (t, b, n)>\n#i = affine_map<(t, b, n) -> (t, b, n)>\n"
                      "func.func @f(%x: tensor<?x" +
                      tokens + "x64xbf16>, %w: tensor<" + columns + "x64xbf16>, %s: index) -> " + type +
                      " {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty(%s) : tensor<" + y +
                      "xf32>\n%f = linalg.fill ins(%z : f32) outs(%e : tensor<" + y + "xf32>) -> tensor<" + y +
                      "xf32>\n%p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = "
                      "[\"parallel\", \"parallel\", \"parallel\", \"reduction\"]} ins(%x, %w : tensor<?x" +
                      tokens + "x64xbf16>, tensor<" + columns + "x64xbf16>) outs(%f : tensor<" + y +
                      R"(xf32>) {
        ^bb0(%a: bf16, %b: bf16, %o: f32):
          %c = arith.extf %a : bf16 to f32
          %d = arith.extf %b : bf16 to f32
          %m = arith.mulf %c, %d : f32
          %n = arith.addf %o, %m : f32
          linalg.yield %n : f32
      } -> tensor<)" + y +
                      "xf32>\n%g = tensor.empty(%s) : tensor<" + y +
                      "xbf16>\n%y = linalg.generic {indexing_maps = [#i, #i], iterator_types = "
                      "[\"parallel\", \"parallel\", \"parallel\"]} ins(%p : tensor<" +
                      y + "xf32>) outs(%g : tensor<" + y + R"(xbf16>) {
        ^bb0(%a: f32, %o: bf16):
          %c = arith.truncf %a : f32 to bf16
          linalg.yield %c : bf16
      } -> tensor<)" + y +
                      "xbf16>\n" + behind + "\nreturn %r : " + type + "\n}\n");
    orderRows(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return function;
  }
  static Shape shapeOf(mlir::Value value) {
    auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
    return Shape(type.getShape().begin(), type.getShape().end());
  }
  static mlir::linalg::GenericOp sumOf(mlir::func::FuncOp function) {
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      if (op.getNumReductionLoops() != 0)
        return op;
    return {};
  }
  static std::string textOf(mlir::AffineMap map) {
    std::string text;
    llvm::raw_string_ostream(text) << map;
    return text;
  }
};

constexpr int64_t kAny = mlir::ShapedType::kDynamic;

/// Twice as much, in the order (b, t, n); read twice, so that it is stored.
std::string reader(const std::string &source, const std::string &type) {
  return "%h = tensor.empty(%s) : tensor<?x7x96xbf16>\n%r = linalg.generic {indexing_maps = [affine_map<(b, t, n) -> "
         "(t, "
         "b, n)>, affine_map<(b, t, n) -> (t, b, n)>, affine_map<(b, t, n) -> (b, t, n)>], iterator_types = "
         "[\"parallel\", \"parallel\", \"parallel\"]} ins(" +
         source + ", " + source + " : " + type + ", " + type +
         R"() outs(%h : tensor<?x7x96xbf16>) {
        ^bb0(%a: bf16, %b: bf16, %o: bf16):
          %c = arith.addf %a, %b : bf16
          linalg.yield %c : bf16
      } -> tensor<?x7x96xbf16>)";
}

TEST_F(RowOrderTest, LiesAsTheLeftSideDoes) {
  auto function =
      product(reader("%y", "tensor<7x?x96xbf16>") + "\n%v = tensor.extract %y[%s, %s, %s] : tensor<7x?x96xbf16>\n",
              "tensor<?x7x96xbf16>");
  // Read outside of a body, where nobody turns the place: it stays.
  EXPECT_EQ(shapeOf(sumOf(function)->getResult(0)), (Shape{7, kAny, 96}));

  function = product(reader("%y", "tensor<7x?x96xbf16>"), "tensor<?x7x96xbf16>");
  mlir::linalg::GenericOp sum = sumOf(function);
  EXPECT_EQ(shapeOf(sum->getResult(0)), (Shape{kAny, 7, 96}));
  EXPECT_EQ(textOf(sum.getIndexingMapsArray()[0]), "(d0, d1, d2, d3) -> (d0, d1, d3)");
  EXPECT_EQ(textOf(sum.getIndexingMapsArray()[2]), "(d0, d1, d2, d3) -> (d0, d1, d2)");
  auto last = function.getBody().front().getTerminator()->getOperand(0).getDefiningOp<mlir::linalg::GenericOp>();
  EXPECT_EQ(textOf(last.getIndexingMapsArray()[0]), "(d0, d1, d2) -> (d0, d1, d2)");
  EXPECT_EQ(textOf(last.getIndexingMapsArray()[1]), "(d0, d1, d2) -> (d0, d1, d2)");
}

TEST_F(RowOrderTest, ThroughReshapesOfItsColumns) {
  const std::string divided = "%q = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [7, %s, 3, 32] : "
                              "tensor<7x?x96xbf16> into tensor<7x?x3x32xbf16>\n";
  const std::string body = R"( {
        ^bb0(%a: bf16, %c: bf16, %o: bf16):
          %d = arith.addf %a, %c : bf16
          linalg.yield %d : bf16
      } -> tensor<7x?x32xbf16>)";
  auto function = product(
      divided +
          "%h = tensor.empty(%s) : tensor<7x?x32xbf16>\n%r = linalg.generic {indexing_maps = [affine_map<(t, b, d) "
          "-> (t, b, 0, d)>, affine_map<(t, b, d) -> (t, b, 2, d)>, affine_map<(t, b, d) -> (t, b, d)>], "
          "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%q, %q : tensor<7x?x3x32xbf16>, "
          "tensor<7x?x3x32xbf16>) outs(%h : tensor<7x?x32xbf16>)" +
          body,
      "tensor<7x?x32xbf16>");
  EXPECT_EQ(shapeOf(sumOf(function)->getResult(0)), (Shape{kAny, 7, 96}));
  auto last = function.getBody().front().getTerminator()->getOperand(0).getDefiningOp<mlir::linalg::GenericOp>();
  EXPECT_EQ(shapeOf(last.getDpsInputs()[0]), (Shape{kAny, 7, 3, 32}));
  EXPECT_EQ(textOf(last.getIndexingMapsArray()[1]), "(d0, d1, d2) -> (d1, d0, 2, d2)");
}

TEST_F(RowOrderTest, WhatACallerSeesStays) {
  auto function = product("%r = tensor.cast %y : tensor<7x?x96xbf16> to tensor<7x?x96xbf16>", "tensor<7x?x96xbf16>");
  EXPECT_EQ(shapeOf(sumOf(function)->getResult(0)), (Shape{7, kAny, 96}));
  EXPECT_EQ(textOf(sumOf(function).getIndexingMapsArray()[0]), "(d0, d1, d2, d3) -> (d1, d0, d3)");
}

TEST_F(RowOrderTest, AReshapeThatTakesRowsTogetherStops) {
  auto function = product("%r = tensor.collapse_shape %y [[0, 1], [2]] : tensor<7x?x96xbf16> into tensor<?x96xbf16>",
                          "tensor<?x96xbf16>");
  EXPECT_EQ(shapeOf(sumOf(function)->getResult(0)), (Shape{7, kAny, 96}));
}

} // namespace
} // namespace tenon::compiler::dispatch
