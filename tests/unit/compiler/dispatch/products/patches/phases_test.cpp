// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/phases.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/patches/dilation.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class SeparatePhases : public KernelTextTest {
protected:
  /// result[n, x, c] = sum of wide[n, x + s, k] * filters[s, k, c]; element i of the image is wide[step * i + before].
  mlir::linalg::GenericOp separate(int64_t results, int64_t window, int64_t step, int64_t before, int64_t elements) {
    auto number = [](int64_t value) { return std::to_string(value); };
    const std::string image = "tensor<8x" + number(elements) + "x128xbf16>",
                      wide = "tensor<8x" + number(results + window - 1) + "x128xbf16>",
                      filters = "tensor<" + number(window) + "x128x64xbf16>",
                      result = "tensor<8x" + number(results) + "x64xf32>";
    function_ = parseFunction("func.func @f(%image: " + image + ", %f: " + filters + ") -> " + result + R"( {
  %n0 = arith.constant 0 : index
  %before = arith.constant )" +
                              number(before) + " : index\n%step = arith.constant " + number(step) +
                              " : index\n%count = arith.constant " + number(elements) +
                              " : index\n%last = arith.constant " + number(elements - 1) + R"( : index
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %w = tensor.empty() : )" + wide +
                              R"(
  %z = linalg.generic {indexing_maps = [affine_map<(n, x, k) -> (n, x, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%w : )" + wide + R"() {
  ^bb0(%o: bf16):
    %n = linalg.index 0 : index
    %x = linalg.index 1 : index
    %k = linalg.index 2 : index
    %p = arith.subi %x, %before : index
    %d = arith.divui %p, %step : index
    %c = arith.cmpi ult, %d, %count : index
    %m = arith.remui %p, %step : index
    %g = arith.cmpi eq, %m, %n0 : index
    %both = arith.andi %c, %g : i1
    %l = arith.minsi %d, %last : index
    %q = arith.maxsi %l, %n0 : index
    %e = tensor.extract %image[%n, %q, %k] : )" +
                              image + R"(
    %v = arith.select %both, %e, %zero : bf16
    linalg.yield %v : bf16
  } -> )" + wide +
                              "\n%e = tensor.empty() : " + result +
                              "\n%s = linalg.fill ins(%none : f32) outs(%e : " + result + ") -> " + result + R"(
  %r = linalg.generic {indexing_maps = [affine_map<(n, x, c, s, k) -> (n, x + s, k)>, affine_map<(n, x, c, s, k) -> (s, k, c)>,
      affine_map<(n, x, c, s, k) -> (n, x, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%z, %f : )" + wide + ", " +
                              filters + ") outs(%s : " + result + R"() {
  ^bb0(%x: bf16, %y: bf16, %t: f32):
    %g = arith.extf %x : bf16 to f32
    %h = arith.extf %y : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %u = arith.addf %t, %m : f32
    linalg.yield %u : f32
  } -> )" + result +
                              "\nreturn %r : " + result + "\n}");
    mlir::linalg::GenericOp last;
    for (auto op : function_.getOps<mlir::linalg::GenericOp>())
      last = op;
    const std::optional<Convolution> found = Convolution::of(last);
    EXPECT_TRUE(found);
    mlir::linalg::GenericOp apart = found ? separatePhases(*found) : mlir::linalg::GenericOp();
    EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
    return apart;
  }

  mlir::func::FuncOp function_;
};

// Even results meet one element, odd ones two.
TEST_F(SeparatePhases, APhaseSumsWhatItMeets) {
  auto apart = separate(1024, 3, 2, 1, 512);
  ASSERT_TRUE(apart);
  const auto product = contractionOf(apart);
  ASSERT_TRUE(product);
  ASSERT_EQ(product->places.size(), 1u);
  EXPECT_EQ(product->batch.size(), 1u);
  EXPECT_EQ(product->places[0].of, product->batch[0]);
  ASSERT_EQ(product->places[0].runs.size(), 2u);
  EXPECT_EQ(product->places[0].runs[0].count, 1);
  EXPECT_EQ(product->places[0].runs[1].count, 2);
  EXPECT_FALSE(product->isSummedByAll(product->places[0].along));
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(apart.getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{8, 512, 2, 64}));
}

// Each of them meets as many elements at the same places: they are columns of a product as any other.
TEST_F(SeparatePhases, PhasesThatMeetTheSameElementsAreColumns) {
  auto apart = separate(1024, 4, 2, 2, 512);
  ASSERT_TRUE(apart) << "phases meet two of three elements";
  EXPECT_EQ(contractionOf(apart)->places.size(), 1u);
  apart = separate(2048, 2, 2, 1, 1024);
  ASSERT_TRUE(apart);
  EXPECT_FALSE(apart.hasIndexSemantics());
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(apart.getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{8, 1024, 128}));
}

// The last group of 1023 results has one that nobody reads. A copy of the others takes longer than few products.
TEST_F(SeparatePhases, GroupsThatAreNotWholeAreCutBehind) {
  auto apart = separate(1023, 7, 2, 3, 512);
  ASSERT_TRUE(apart);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(apart.getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{8, 512, 2, 64}));
  auto returned = llvm::cast<mlir::func::ReturnOp>(function_.front().getTerminator()).getOperand(0);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(returned.getType()).getShape(), (llvm::ArrayRef<int64_t>{8, 1023, 64}));
  EXPECT_FALSE(separate(1023, 3, 2, 1, 512));
}

// Of windows that are smaller than steps some phases have nothing to sum: what they were is chosen behind.
TEST_F(SeparatePhases, PhasesOfNoElementAreChosenBehind) {
  auto apart = separate(1023, 2, 3, 1, 341);
  ASSERT_TRUE(apart);
  EXPECT_FALSE(apart.hasIndexSemantics());
  auto reader = llvm::dyn_cast<mlir::linalg::GenericOp>(*apart.getResult(0).user_begin());
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader.hasIndexSemantics());
}

} // namespace
} // namespace tenon::compiler::dispatch
