// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/outline_along.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

class OutlineAlong : public KernelTextTest {
protected:
  mlir::Operation *scan(const std::string &body) {
    auto function = parseFunction(R"mlir(
      func.func @f(%x: tensor<?x8xf32>, %s: f32, %n: index, %old: tensor<?x8xf32>) -> tensor<?x8xf32> {
        %e = tensor.empty(%n) : tensor<?xf32>
        %acc = linalg.fill ins(%s : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
        %r:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%x : tensor<?x8xf32>)
            outs(%old, %acc : tensor<?x8xf32>, tensor<?xf32>) {
          ^bb0(%a: f32, %b: f32):
            )mlir" + body + R"mlir(
            iree_linalg_ext.yield %v : f32
        } -> tensor<?x8xf32>, tensor<?xf32>
        return %r#0 : tensor<?x8xf32>
      })mlir");
    return *function.getOps<linalg_ext::ScanOp>().begin();
  }
};

TEST_F(OutlineAlong, PassesWhatIsReadAndReturnsWhatIsUsed) {
  auto kernel = outlineAlong(scan("%v = arith.addf %a, %b : f32"), "scan");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->results.size(), 1u);
  EXPECT_EQ(kernel->tensors.size(), 1u);  // %old is written over
  EXPECT_EQ(kernel->workload.size(), 1u); // every tensor has the rows of %x
  EXPECT_EQ(kernel->scalars.size(), 2u);  // the size and what the accumulator is filled with
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

TEST_F(OutlineAlong, WhatARegionReadsFromOutsideIsPassed) {
  auto kernel = outlineAlong(scan("%m = arith.mulf %a, %s : f32\n%v = arith.addf %m, %b : f32"), "scan");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->scalars.size(), 2u); // once
}

TEST_F(OutlineAlong, ARegionThatNoKernelRunsIsRefusedByName) {
  auto kernel = outlineAlong(scan("%c = arith.constant 2 : i32\n%i = math.fpowi %a, %c : f32, i32\n"
                                  "%v = arith.addf %i, %b : f32"),
                             "scan");
  EXPECT_TRUE(mlir::failed(kernel));
  EXPECT_NE(messages_.find("'math.fpowi' is not supported"), std::string::npos) << messages_;
}

} // namespace
} // namespace tenon::compiler::dispatch
