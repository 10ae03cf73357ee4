// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/tuning/contraction_key.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

using ContractionKey = ProductTest;

TEST_F(ContractionKey, SaysSizesTypesAndHowOperandsLie) {
  EXPECT_EQ(contractionKey(read("mk", "kn", {{'m', "64"}, {'n', "128"}, {'k', "256"}})),
            "64x128x256 ppr: bf16(d0, d2), bf16(d2, d1), extf, extf, mulf, addf -> f32(d0, d1) from memory");
  EXPECT_EQ(contractionKey(read("mk", "nk", {{'m', "64"}, {'n', "128"}, {'k', "256"}}, "f32", "f32")),
            "64x128x256 ppr: f32(d0, d2), f32(d1, d2), mulf, addf -> f32(d0, d1) from memory");
}

TEST_F(ContractionKey, SaysWhichSizesAreNotKnown) {
  EXPECT_EQ(contractionKey(read("mk", "kn", {{'m', "?"}, {'n', "128"}, {'k', "?"}}, "i8", "i32")),
            "?x128x? ppr: i8(d0, d2), i8(d2, d1), extsi, extsi, muli, addi -> i32(d0, d1) from memory");
}

TEST_F(ContractionKey, TellsKindsOfBytesApart) {
  const Sizes sizes = {{'m', "64"}, {'n', "128"}, {'k', "256"}};
  EXPECT_EQ(contractionKey(read("mk", "kn", sizes, "f8E4M3FN")),
            "64x128x256 ppr: i8(d0, d2), i8(d2, d1), bitcast to f8E4M3FN, extf, bitcast to f8E4M3FN, extf, mulf, addf "
            "-> f32(d0, d1) from memory");
  EXPECT_NE(contractionKey(read("mk", "kn", sizes, "f8E5M2")), contractionKey(read("mk", "kn", sizes, "f8E4M3FN")));
}

TEST_F(ContractionKey, SaysWhatFlagsAllow) {
  const KernelFunction &kernel = read("mk", "kn", {{'m', "64"}, {'n', "128"}, {'k', "256"}}, "f32", "f32");
  mlir::func::FuncOp function = kernel.function;
  function->setAttr(dispatch::kTf32Attr, mlir::UnitAttr::get(&context_));
  EXPECT_EQ(contractionKey(kernel),
            "tf32; 64x128x256 ppr: f32(d0, d2), f32(d2, d1), mulf, addf -> f32(d0, d1) from memory");
}

} // namespace
} // namespace tenon::compiler::codegen
