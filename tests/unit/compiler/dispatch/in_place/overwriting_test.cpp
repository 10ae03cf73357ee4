// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/in_place/overwriting.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class OverwritingTest : public KernelTextTest {
protected:
  /// Of result 0 over argument 0 of a loop over 8 x 4 elements.
  Overwriting loop(const std::string &mapOfX, const std::string &mapOfResult = "(i, j) -> (i, j)",
                   const std::string &iterators = "\"parallel\", \"parallel\"", const std::string &element = "%a",
                   const std::string &result = "8x4xf32", const std::string &x = "8x4xf32") {
    return overwrites(
        parseFunction("func.func @k(%x: tensor<" + x + ">, %y: tensor<8x4xf32>) -> tensor<" + result +
                      "> {\n%e = tensor.empty() : tensor<" + result +
                      ">\n%c = arith.constant 1 : index\n"
                      "%0 = linalg.generic {indexing_maps = [affine_map<" +
                      mapOfX + ">, affine_map<(i, j) -> (i, j)>, affine_map<" + mapOfResult + ">], iterator_types = [" +
                      iterators + "]} ins(%x, %y : tensor<" + x + ">, tensor<8x4xf32>) outs(%e : tensor<" + result +
                      ">) {\n^bb0(%a: f32, %b: f32, %o: f32):\n%other = tensor.extract %x[%c, %c] : tensor<" + x +
                      ">\n%r = arith.addf " + element + ", %b : f32\nlinalg.yield %r : f32\n} -> tensor<" + result +
                      ">\nreturn %0 : tensor<" + result + ">\n}\n"),
        0, 0);
  }
  Overwriting plain(const std::string &mapOfX, const std::string &result = "8x4xf32") {
    std::string text = "func.func @k(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<" + result +
                       "> {\n%e = tensor.empty() : tensor<" + result +
                       ">\n%0 = linalg.generic {indexing_maps = [affine_map<" + mapOfX +
                       ">, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
                       "iterator_types = [\"parallel\", \"parallel\"]} ins(%x, %y : tensor<8x4xf32>, tensor<8x4xf32>) "
                       "outs(%e : tensor<" +
                       result + ">) {\n^bb0(%a: f32, %b: f32, %o: f32):\n%r = arith.addf %a, %b : f32\n" +
                       "linalg.yield %r : f32\n} -> tensor<" + result + ">\nreturn %0 : tensor<" + result + ">\n}\n";
    return overwrites(parseFunction(text), 0, 0);
  }
};

TEST_F(OverwritingTest, EachElementIsReadWhereItIsWritten) {
  EXPECT_EQ(plain("(i, j) -> (i, j)"), Overwriting::IfItKnows);
}

TEST_F(OverwritingTest, OthersAreReadBeforeOrAfter) {
  EXPECT_EQ(loop("(i, j) -> (i, j)"), Overwriting::No) << "the body reads the argument at another place";
  EXPECT_EQ(overwrites(parseFunction("func.func @k(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
                                     "%e = tensor.empty() : tensor<4x4xf32>\n"
                                     "%0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, "
                                     "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} "
                                     "ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {\n"
                                     "^bb0(%a: f32, %o: f32):\nlinalg.yield %a : f32\n} -> tensor<4x4xf32>\n"
                                     "return %0 : tensor<4x4xf32>\n}\n"),
                       0, 0),
            Overwriting::No)
      << "turned";
}

TEST_F(OverwritingTest, SumsReadElementsThatOthersWrite) {
  EXPECT_EQ(overwrites(parseFunction("func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                                     "%e = tensor.empty() : tensor<4xf32>\n%z = arith.constant 0.0 : f32\n"
                                     "%f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>\n"
                                     "%0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, "
                                     "affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} "
                                     "ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {\n"
                                     "^bb0(%a: f32, %o: f32):\n%s = arith.addf %a, %o : f32\nlinalg.yield %s : f32\n"
                                     "} -> tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n"),
                       0, 0),
            Overwriting::No);
}

TEST_F(OverwritingTest, AScatterCopiesWhatItPutsElementsInto) {
  const std::string text =
      "func.func @k(%u: tensor<2x4xf32>, %at: tensor<2x1xi32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
      "%0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %at : tensor<2x4xf32>, "
      "tensor<2x1xi32>) outs(%x : tensor<8x4xf32>) {\n^bb0(%a: f32, %b: f32):\niree_linalg_ext.yield %a : f32\n"
      "} -> tensor<8x4xf32>\nreturn %0 : tensor<8x4xf32>\n}\n";
  EXPECT_EQ(overwrites(parseFunction(text), 0, 2), Overwriting::AsItIs);
  EXPECT_EQ(overwrites(parseFunction(text), 0, 0), Overwriting::No) << "another type";
}

} // namespace
} // namespace tenon::compiler::dispatch
