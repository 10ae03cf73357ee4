// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/inline_reads.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

class InlineReads : public KernelTextTest {
protected:
  /// A vector, two elements more in front, of what `text` makes of %x and %y: reads %v, of %n elements.
  static std::string padded(const std::string &result, const std::string &vector, const std::string &sizes) {
    return sizes + "%p" + result + " = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = " +
           "[\"parallel\"]} outs(%e" + result + " : tensor<?xf32>) {\n^bb0(%o: f32):\n" +
           "%i = linalg.index 0 : index\n%j = arith.subi %i, %c2 : index\n" + "%in = arith.cmpi ult, %j, %n" + result +
           " : index\n%last = arith.subi %n" + result +
           ", %c1 : index\n%low = arith.minsi %j, %last : index\n%at = arith.maxsi %low, %c0 : index\n" +
           "%q = tensor.extract " + vector + "[%at] : tensor<?xf32>\n%s = arith.select %in, %q, %zero : f32\n" +
           "linalg.yield %s : f32\n} -> tensor<?xf32>\n";
  }
  static std::string sizesOf(const std::string &result, const std::string &before) {
    return "%n" + result + " = " + before + "\n%m" + result + " = arith.addi %n" + result + ", %c2 : index\n%e" +
           result + " = tensor.empty(%m" + result + ") : tensor<?xf32>\n";
  }
  size_t kernelsOf(const std::string &body) {
    auto function = parseFunction("func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {\n"
                                  "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
                                  "%c2 = arith.constant 2 : index\n%zero = arith.constant 0.0 : f32\n" +
                                  body + "}");
    inlineReads(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    return llvm::range_size(function.getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(InlineReads, APadComputesWhatIsMadeOfTwoTensors) {
  const std::string sum = "%d = tensor.dim %x, %c0 : tensor<?xf32>\n%e = tensor.empty(%d) : tensor<?xf32>\n"
                          "%v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, "
                          "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x, %y : tensor<?xf32>, "
                          "tensor<?xf32>) outs(%e : tensor<?xf32>) {\n^bb0(%a: f32, %b: f32, %o: f32):\n"
                          "%s = arith.addf %a, %b : f32\nlinalg.yield %s : f32\n} -> tensor<?xf32>\n";
  EXPECT_EQ(kernelsOf(sum + padded("0", "%v", sizesOf("0", "tensor.dim %x, %c0 : tensor<?xf32>")) +
                      "return %p0 : tensor<?xf32>\n"),
            1u);
}

TEST_F(InlineReads, APadOfAPadIsOne) {
  EXPECT_EQ(kernelsOf(padded("0", "%x", sizesOf("0", "tensor.dim %x, %c0 : tensor<?xf32>")) +
                      padded("1", "%p0", sizesOf("1", "arith.addi %n0, %c2 : index")) + "return %p1 : tensor<?xf32>\n"),
            1u);
}

TEST_F(InlineReads, WhatIsReducedHasOneBoundary) {
  const std::string sum =
      "%se = tensor.empty() : tensor<f32>\n%sf = linalg.fill ins(%zero : f32) outs(%se : tensor<f32>) "
      "-> tensor<f32>\n%sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
      "affine_map<(i) -> ()>], iterator_types = [\"reduction\"]} ins(%p1 : tensor<?xf32>) outs(%sf : "
      "tensor<f32>) {\n^bb0(%a: f32, %s: f32):\n%t = arith.addf %s, %a : f32\nlinalg.yield %t : f32\n} "
      "-> tensor<f32>\n%keep = tensor.expand_shape %sum [] output_shape [1] : tensor<f32> into "
      "tensor<1xf32>\n%last = tensor.cast %keep : tensor<1xf32> to tensor<?xf32>\n";
  EXPECT_EQ(kernelsOf(padded("0", "%x", sizesOf("0", "tensor.dim %x, %c0 : tensor<?xf32>")) +
                      padded("1", "%p0", sizesOf("1", "arith.addi %n0, %c2 : index")) + sum +
                      "return %last : tensor<?xf32>\n"),
            3u);
}

// Of a slice that is empty the start may lie behind the tensor's end.
TEST_F(InlineReads, ASliceThatMayBeEmptyIsStored) {
  const std::string slice =
      "%d = tensor.dim %x, %c0 : tensor<?xf32>\n%h = arith.subi %d, %c2 : index\n%e = tensor.empty(%h) : "
      "tensor<?xf32>\n"
      "%v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} outs(%e : "
      "tensor<?xf32>) {\n^bb0(%o: f32):\n%i = linalg.index 0 : index\n%k = arith.addi %i, %c2 : index\n"
      "%q = tensor.extract %x[%k] : tensor<?xf32>\nlinalg.yield %q : f32\n} -> tensor<?xf32>\n";
  EXPECT_EQ(
      kernelsOf(slice + padded("0", "%v", sizesOf("0", "arith.addi %h, %c0 : index")) + "return %p0 : tensor<?xf32>\n"),
      2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
