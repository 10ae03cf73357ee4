// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/family.h"

#include "compiler/codegen/ptx/rewrites/named_numbers.h"
#include "compiler/codegen/written_kernels.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class FamilyTest : public KernelTest {
protected:
  Structure sum(int x, int y) {
    parse("llvm.func @k(%p: !llvm.ptr<1>, %n: i64) {\n%c = arith.constant " + std::to_string(x) +
          " : i64\n%d = arith.constant " + std::to_string(y) +
          " : i64\n%a = arith.addi %n, %c : i64\n%b = arith.muli %a, %d : i64\n"
          "llvm.store %b, %p : i64, !llvm.ptr<1>\nllvm.return\n}\n");
    return Structure(std::move(module_));
  }
  /// PTX of the family, with names.
  std::string ptx(Family &family) {
    auto written = family.written();
    EXPECT_TRUE(mlir::succeeded(lowerWritten(*written, {}))) << messages_;
    auto text = emitPtx(*written, {80}, {});
    EXPECT_TRUE(mlir::succeeded(text)) << messages_;
    return mlir::succeeded(text) ? *text : std::string();
  }
};

TEST_F(FamilyTest, MembersAreCountedOnce) {
  Family family(sum(100, 7));
  EXPECT_EQ(family.add(sum(200, 7)), 1u);
  EXPECT_EQ(family.add(sum(100, 7)), 0u);
  EXPECT_EQ(family.size(), 2u);
  parse("llvm.func @k(%p: !llvm.ptr<1>) {\nllvm.return\n}\n");
  EXPECT_EQ(family.add(Structure(std::move(module_))), std::nullopt);
}

TEST_F(FamilyTest, OnlyWhatDiffersHasAName) {
  Family family(sum(100, 7));
  family.add(sum(200, 7));
  family.nameNumbers();
  EXPECT_EQ(family.numbersOf(0), (std::vector<std::string>{"100"}));
  EXPECT_EQ(family.numbersOf(1), (std::vector<std::string>{"200"}));
  const std::string named = ptx(family);
  EXPECT_NE(named.find("mov.b64 %rd"), std::string::npos) << named;
  EXPECT_NE(named.find("__tenon_number_0_100_200__;"), std::string::npos) << named;
  const std::string second = withNumbers(named, family.numbersOf(1));
  EXPECT_EQ(second.find(std::string(kNumberPrefix)), std::string::npos) << second;
  EXPECT_NE(second.find(", 200;"), std::string::npos) << second;
}

TEST_F(FamilyTest, NumbersThatAreAlwaysTheSameHaveOneName) {
  Family family(sum(100, 100));
  family.add(sum(200, 200));
  family.nameNumbers();
  EXPECT_EQ(family.numbersOf(1), (std::vector<std::string>{"200"}));
}

} // namespace
} // namespace tenon::compiler::codegen
