// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/group_measures.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class GroupMeasures : public KernelTest {
protected:
  /// A sum of what `body`, with "T" for the type, computes of %x.
  KernelFunction sumOf(const std::string &element, const std::string &body) {
    std::string text =
        "func.func @k(%a: tensor<4x64xT>, %o: tensor<4xT>) -> tensor<4xT> {\n%v = linalg.generic {indexing_maps = "
        "[affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} "
        "ins(%a : tensor<4x64xT>) outs(%o : tensor<4xT>) {\n^bb0(%x: T, %s: T):\n" +
        body + "\n%t = arith.addf %y, %s : T\nlinalg.yield %t : T\n} -> tensor<4xT>\nreturn %v : tensor<4xT>\n}";
    for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at + element.size()))
      text.replace(at, 1, element);
    mlir::FailureOr<KernelFunction> kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return *kernel;
  }
};

TEST_F(GroupMeasures, LongCallsNarrowVectors) {
  EXPECT_EQ(narrowedByCalls(sumOf("f16", "%y = math.exp %x : T"), 8), 8u);
  EXPECT_EQ(narrowedByCalls(sumOf("f16", "%y = math.powf %x, %x : T"), 8), 2u);
  EXPECT_EQ(narrowedByCalls(sumOf("f32", "%y = math.cos %x : T"), 4), 2u);
  EXPECT_EQ(narrowedByCalls(sumOf("f64", "%y = math.powf %x, %x : T"), 2), 1u);
  EXPECT_EQ(narrowedByCalls(sumOf("f32", "%c = math.cos %x : T\n%y = math.powf %c, %x : T"), 4), 1u);
}

TEST_F(GroupMeasures, WorkIsThatOfOneElement) {
  EXPECT_EQ(workOf(sumOf("f32", "%y = arith.negf %x : T")), 2u);
  EXPECT_EQ(workOf(sumOf("f32", "%y = math.exp %x : T")), 17u);
}

} // namespace
} // namespace tenon::compiler::codegen
