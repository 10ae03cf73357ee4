// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/equal_values.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class EqualValues : public KernelTextTest {
protected:
  /// `%name`: the elements of `read`, which the body reads at their places.
  static std::string copyOf(const std::string &read, const std::string &name) {
    return "%" + name +
           " = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} "
           "outs(%e : tensor<4xf32>) {\n^bb0(%o: f32):\n%i = linalg.index 0 : index\n%x = tensor.extract %" +
           read + "[%i] : tensor<4xf32>\nlinalg.yield %x : f32\n} -> tensor<4xf32>\n";
  }
  /// How many operations are left of `body`, whose results are all returned.
  long left(const std::string &body, const std::vector<std::string> &results) {
    std::string types, values;
    for (const std::string &result : results) {
      types += (types.empty() ? "" : ", ") + std::string("tensor<4xf32>");
      values += (values.empty() ? "%" : ", %") + result;
    }
    auto function =
        parseFunction("func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (" + types +
                      ") {\n%e = tensor.empty() : tensor<4xf32>\n" + body + "return " + values + " : " + types + "\n}");
    shareEqualValues(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    long count = 0;
    for (auto generic : function.getOps<mlir::linalg::GenericOp>()) {
      ++count;
      EXPECT_TRUE(generic->getDiscardableAttrDictionary().empty());
    }
    return count;
  }
};

TEST_F(EqualValues, BodiesThatReadTheSameAreOne) {
  EXPECT_EQ(left(copyOf("a", "r") + copyOf("a", "s"), {"r", "s"}), 1);
}

TEST_F(EqualValues, BodiesThatReadOthersAreNot) {
  EXPECT_EQ(left(copyOf("a", "r") + copyOf("b", "s"), {"r", "s"}), 2);
}

/// What the second body reads becomes what the first one reads, only then they are equal.
TEST_F(EqualValues, ChainsAreOne) {
  EXPECT_EQ(left(copyOf("a", "r") + copyOf("a", "s") + copyOf("r", "t") + copyOf("s", "u") + copyOf("t", "v") +
                     copyOf("u", "w"),
                 {"v", "w"}),
            3);
}

TEST_F(EqualValues, AChainOfManyStays) {
  std::string body, last = "a";
  for (int i = 0; i < 300; ++i) {
    const std::string next = "r" + std::to_string(i);
    body += copyOf(last, next);
    last = next;
  }
  EXPECT_EQ(left(body, {last}), 300);
}

} // namespace
} // namespace tenon::compiler::dispatch
