// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/OtherYears.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// The text with its marks, or itself.
std::string marked(llvm::StringRef text) {
  return markOtherYears(text).value_or(text.str());
}

TEST(OtherYears, MarksTheFirstLetterAndNothingElse) {
  EXPECT_EQ(marked("%0 = tosa.reduce_sum %x axis(1) : (tensor<2x3xf32>) -> tensor<2x1xf32>"),
            "%0 = tosa.Reduce_sum %x axis(1) : (tensor<2x3xf32>) -> tensor<2x1xf32>");
  EXPECT_EQ(marked("%0 = tensor.expand_shape %x [[0, 1]] : tensor<4xf32> into tensor<2x2xf32>"),
            "%0 = tensor.Expand_shape %x [[0, 1]] : tensor<4xf32> into tensor<2x2xf32>");
  EXPECT_EQ(marked("%0 = tosa.maximum %x, %y nan_mode<IGNORE> : (f) -> f"),
            "%0 = tosa.Maximum %x, %y nan_mode<IGNORE> : (f) -> f");
  EXPECT_EQ(marked("%0 = tosa.max_pool2d %x {kernel = [2, 2], pad = [0, 0, 0, 0], stride = [1, 1]} : (f) -> f"),
            "%0 = tosa.Max_pool2d %x {kernel = [2, 2], pad = [0, 0, 0, 0], stride = [1, 1]} : (f) -> f");
}

TEST(OtherYears, LeavesTheTextOfToday) {
  for (llvm::StringRef text :
       {"%0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>",
        "%0 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, nan_mode = IGNORE} : (f) -> f",
        "%0 = tosa.mul %x, %y, %s : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>",
        "%0 = \"tosa.mul\"(%x, %y, %s) : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>",
        "%0 = tosa.pad %x, %p, %c : (tensor<2xi32>, !tosa.shape<2>, tensor<1xi32>) -> tensor<4xi32>",
        "%0 = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>",
        "%0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>"})
    EXPECT_FALSE(markOtherYears(text)) << text.str();
}

TEST(OtherYears, LooksIntoNoCommentsStringsAndOtherNames) {
  for (llvm::StringRef text :
       {"// tosa.mul %x, %y : old", "loc(\"tosa.mul\")", "\"a \\\" tosa.mul %x : \"", "#tosa.mul<a>", "%tosa.mul = f",
        "@tosa.mul", "my.tosa.mul %x : f32", "tosa.mulled %x : a"})
    EXPECT_FALSE(markOtherYears(text)) << text.str();
}

TEST(OtherYears, PropertiesBecomeAttributesInTheGenericForm) {
  EXPECT_EQ(marked("\"tosa.const\"() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2xi8>"),
            "\"tosa.Const\"()  {value = dense<[1, 2]> : tensor<2xi8>}  : () -> tensor<2xi8>");
}

TEST(OtherYears, TextThatEndsEarlyIsLeftToTheParser) {
  for (llvm::StringRef text : {"tosa.mul", "tosa.mul %", "\"tosa.mul\"(", "tosa.mul \"", "tosa.clamp %x {min_fp = <",
                               "tensor.expand_shape", "linalg.elementwise", ")]}> tosa.mul )"})
    EXPECT_EQ(unmarkOtherYears(marked(text)), text.str());
}

TEST(OtherYears, MessagesHaveTheNameOfTheFile) {
  EXPECT_EQ(unmarkOtherYears("custom op 'tosa.Reduce_sum' expected ':'"), "custom op 'tosa.reduce_sum' expected ':'");
  EXPECT_EQ(unmarkOtherYears("'tensor.Expand_shape' and 'linalg.Elementwise'"),
            "'tensor.expand_shape' and 'linalg.elementwise'");
  EXPECT_EQ(unmarkOtherYears("at the end: tosa."), "at the end: tosa.");
}

} // namespace
} // namespace tenon::compiler
