// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/integer_products.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class IntegerProductsTest : public KernelTextTest {
protected:
  /// The type of sums of a product of dequantised matrices [m, k] and [k, n]; `scaled`: the loop that has scales, of
  /// the second one; `left` and `right`: what the scales are, of the second one as a constant if it is not empty.
  std::string sums(const std::string &m, const std::string &k, const std::string &n, const std::string &scaled = "j",
                   const std::string &left = "0.25", const std::string &right = "") {
    const std::string x = m + "x" + k, w = k + "x" + n, out = m + "x" + n, scales = scaled == "j" ? n : k;
    std::string text = R"mlir(
func.func @f(%a: tensor<Xxi8>, %b: tensor<Wxi8>, %s: tensor<Sxf32>, %ex: tensor<Xxf32>, %ew: tensor<Wxf32>, %eo: tensor<Oxf32>) -> tensor<Oxf32> {
  %known = arith.constant LEFT : f32
  RIGHT
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %known : tensor<Xxi8>, f32) outs(%ex : tensor<Xxf32>) {
    ^bb0(%q: i8, %k: f32, %o: f32):
      %e = arith.extui %q : i8 to i32
      %z = arith.constant 3 : i32
      %d = arith.subi %e, %z : i32
      %c = arith.sitofp %d : i32 to f32
      %r = arith.mulf %c, %k : f32
      linalg.yield %r : f32
  } -> tensor<Xxf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (SCALED)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%b, %t : tensor<Wxi8>, tensor<Sxf32>) outs(%ew : tensor<Wxf32>) {
    ^bb0(%q: i8, %k: f32, %o: f32):
      %c = arith.sitofp %q : i8 to f32
      %r = arith.mulf %c, %k : f32
      linalg.yield %r : f32
  } -> tensor<Wxf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%eo : tensor<Oxf32>) -> tensor<Oxf32>
  %p = linalg.matmul ins(%x, %w : tensor<Xxf32>, tensor<Wxf32>) outs(%f : tensor<Oxf32>) -> tensor<Oxf32>
  return %p : tensor<Oxf32>
})mlir";
    for (const auto &[from, to] :
         {std::pair<std::string, std::string>{"<Xx", "<" + x + "x"},
          {"<Wx", "<" + w + "x"},
          {"<Ox", "<" + out + "x"},
          {"RIGHT", "%t = " + (right.empty() ? "tensor.cast %s : tensor<Sxf32> to" : "arith.constant " + right + " :") +
                        " tensor<Sxf32>"},
          {"LEFT", left},
          {"<Sx", "<" + scales + "x"},
          {"SCALED", scaled}})
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    auto function = parseFunction(text);
    multiplyIntegers(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    std::string type;
    function.walk([&](mlir::linalg::LinalgOp op) {
      if (op.getNumReductionLoops() != 0 && !op->use_empty())
        llvm::raw_string_ostream(type) << mlir::getElementTypeOrSelf(op->getResult(0));
    });
    return type;
  }
};

TEST_F(IntegerProductsTest, ScalesOfColumnsAreBehindTheSums) {
  EXPECT_EQ(sums("128", "128", "128"), "i32");
  EXPECT_EQ(sums("?", "128", "128"), "i32");
  EXPECT_EQ(sums("128", "128", "128", "i"), "f32"); // a scale for each term
}

TEST_F(IntegerProductsTest, KnownScalesHaveAProduct) {
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e20"), "i32");
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e20", "dense<1.0e18>"), "i32");
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e20", "dense<1.0e20>"), "f32");
  EXPECT_EQ(sums("128", "128", "128", "j", "-1.0e-20", "dense<1.0e-20>"), "f32");
  EXPECT_EQ(sums("1024", "512", "2", "j", "1.0e20", "dense<[1.0, 2.0]>"), "i32");
  EXPECT_EQ(sums("1024", "512", "2", "j", "1.0e20", "dense<[1.0, -1.0e20]>"), "f32");
  EXPECT_EQ(sums("1024", "512", "2", "j", "1.0e20", "dense<[1.0, 0.0]>"), "i32");
}

TEST_F(IntegerProductsTest, KnownScalesLeaveElementsFinite) {
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e37", "dense<1.0e-30>"), "f32");
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e37"), "f32");
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e-30", "dense<1.0e37>"), "f32");
  EXPECT_EQ(sums("128", "128", "128", "j", "1.0e36", "dense<1.0e-30>"), "i32");
}

TEST_F(IntegerProductsTest, SumsFitInto32Bits) {
  // 252 and 128 are the largest factors.
  EXPECT_EQ(sums("16", "66576", "8"), "i32");
  EXPECT_EQ(sums("16", "66577", "8"), "f32");
  EXPECT_EQ(sums("128", "?", "128"), "f32");
}

TEST_F(IntegerProductsTest, WhatBothSidesRepeatAlongASumStays) {
  auto function = parseFunction(R"mlir(
func.func @f(%a: tensor<256xi8>, %b: tensor<256xi8>, %ev: tensor<256xf32>, %ex: tensor<256x128xf32>, %ew: tensor<128x256xf32>, %eo: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<256xi8>) outs(%ev : tensor<256xf32>) {
    ^bb0(%q: i8, %o: f32):
      %c = arith.sitofp %q : i8 to f32
      linalg.yield %c : f32
  } -> tensor<256xf32>
  %x = linalg.broadcast ins(%v : tensor<256xf32>) outs(%ex : tensor<256x128xf32>) dimensions = [1]
  %w = linalg.broadcast ins(%v : tensor<256xf32>) outs(%ew : tensor<128x256xf32>) dimensions = [0]
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%eo : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul ins(%x, %w : tensor<256x128xf32>, tensor<128x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %p : tensor<256x256xf32>
})mlir");
  multiplyIntegers(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  function.walk([](mlir::linalg::LinalgOp op) {
    EXPECT_TRUE(op.getNumReductionLoops() == 0 || mlir::getElementTypeOrSelf(op->getResult(0)).isF32());
  });
}

TEST_F(IntegerProductsTest, SmallProductsStay) {
  EXPECT_EQ(sums("64", "64", "64"), "f32");
}

} // namespace
} // namespace tenon::compiler::dispatch
