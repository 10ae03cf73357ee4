// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/key_ranges.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class KeyRangesTest : public KernelTextTest {
protected:
  /// @param body from %score, the numbers %x of the row and %y of the key and the index %n to %logit
  /// @return how many conditions say which keys are seen
  unsigned ranges(const std::string &body, const std::string &keys = "300", bool isChain = false) {
    std::string text = R"mlir(
func.func @f(%s: tensor<2x100xKEYSxf32>, %rows: tensor<2x100xi32>, %keys: tensor<2xKEYSxi32>) -> tensor<2x100xKEYSxf32> {
  %e = tensor.empty() : tensor<2x100xKEYSxf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, n)>, affine_map<(b, m, n) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %rows, %keys : tensor<2x100xKEYSxf32>, tensor<2x100xi32>, tensor<2xKEYSxi32>) outs(%e : tensor<2x100xKEYSxf32>) {
    ^bb0(%score: f32, %x: i32, %y: i32, %o: f32):
      %hidden = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %large = arith.constant -1.0e30 : f32
      %i = linalg.index 2 : index
      %n = arith.index_cast %i : index to i32
      BODY
      linalg.yield %logit : f32
  } -> tensor<2x100xKEYSxf32>
  return %l : tensor<2x100xKEYSxf32>
}
)mlir";
    for (const auto &[what, with] : {std::pair<std::string, std::string>{"BODY", body}, {"KEYS", keys}})
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    function_ = parseFunction(text);
    mlir::linalg::GenericOp logits = *function_.front().getOps<mlir::linalg::GenericOp>().begin();
    KeyRanges made;
    made.addTo(logits, {1}, isChain);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    unsigned count = 0;
    logits.walk([&](mlir::Operation *op) { count += op->hasAttr(kKeyRange); });
    return count;
  }
  unsigned operations() { return llvm::range_size(function_.front().getOps<mlir::linalg::GenericOp>()) - 1; }

  mlir::func::FuncOp function_;
};

TEST_F(KeyRangesTest, ComparesDocuments) {
  EXPECT_EQ(ranges("%c = arith.cmpi eq, %x, %y : i32\n%logit = arith.select %c, %score, %hidden : f32"), 1u);
  // Extents of rows and of keys, each of them gathered and reduced twice; the bounds, and the end of one of them.
  EXPECT_EQ(operations(), 8u);
  EXPECT_EQ(ranges("%c = arith.cmpi ne, %y, %x : i32\n%logit = arith.select %c, %hidden, %score : f32"), 1u);
  EXPECT_EQ(ranges("%a = arith.cmpi sle, %n, %x : i32\n%c = arith.cmpi eq, %x, %y : i32\n%b = arith.andi %a, %c : i1\n"
                   "%logit = arith.select %b, %score, %hidden : f32"),
            2u);
}

TEST_F(KeyRangesTest, ComparesKeysWithLimitsOfRows) {
  EXPECT_EQ(ranges("%c = arith.cmpi sgt, %x, %n : i32\n%logit = arith.select %c, %score, %hidden : f32"), 1u);
  EXPECT_EQ(operations(), 3u);
  EXPECT_EQ(ranges("%c = arith.cmpi slt, %n, %x : i32\n%logit = arith.select %c, %hidden, %score : f32"), 1u);
  // Weights are hidden by 0.
  const std::string weights = "%c = arith.cmpi slt, %n, %x : i32\n%logit = arith.select %c, %score, %zero : f32";
  EXPECT_EQ(ranges(weights, "300", true), 1u);
  EXPECT_EQ(ranges(weights, "300", false), 0u);
}

TEST_F(KeyRangesTest, LeavesOtherConditions) {
  const std::string plain = "%c = arith.cmpi eq, %x, %y : i32\n%logit = arith.select %c, %score, %hidden : f32";
  EXPECT_EQ(ranges(plain, "100"), 0u) << "few keys";
  EXPECT_EQ(ranges("%c = arith.cmpi eq, %x, %y : i32\n%logit = arith.select %c, %hidden, %score : f32"), 0u)
      << "others than its own document";
  EXPECT_EQ(ranges("%c = arith.cmpi eq, %x, %y : i32\n%logit = arith.select %c, %score, %large : f32"), 0u)
      << "a finite number";
  EXPECT_EQ(ranges("%c = arith.cmpi eq, %x, %y : i32\n%d = arith.cmpi eq, %x, %n : i32\n%b = arith.ori %c, %d : i1\n"
                   "%logit = arith.select %b, %score, %hidden : f32"),
            0u)
      << "one of two";
  EXPECT_EQ(ranges("%c = arith.cmpi ult, %n, %x : i32\n%logit = arith.select %c, %score, %hidden : f32"), 0u)
      << "numbers without a sign";
}

} // namespace
} // namespace tenon::compiler::dispatch
