// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/structure.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class StructureTest : public KernelTest {
protected:
  static std::string kernel(const std::string &body) {
    return "llvm.func @k(%p: !llvm.ptr<1>, %n: i64) {\n" + body + "\nllvm.return\n}\n";
  }
  Structure read(const std::string &body) {
    parse(kernel(body));
    return Structure(std::move(module_));
  }
  bool areAlike(const std::string &one, const std::string &other) { return read(one).isLike(read(other)); }

  static std::string add(const std::string &number, const std::string &operation = "arith.addi") {
    return "%c = arith.constant " + number + " : i64\n%x = " + operation +
           " %n, %c : i64\nllvm.store %x, %p : i64, !llvm.ptr<1>";
  }
  static std::string count(int rounds, const std::string &first = "%z") {
    return "%z = arith.constant 0 : i64\n%o = arith.constant 1 : i64\n%c = arith.constant " + std::to_string(rounds) +
           " : i64\nscf.for %i = " + first + " to %c step %o : i64 {\nllvm.store %i, %p : i64, !llvm.ptr<1>\n}";
  }
  static std::string divide(const std::string &register_, int by) {
    return "%b = nvvm.read.ptx.sreg." + register_ + " : i32\n%w = arith.extui %b : i32 to i64\n%c = arith.constant " +
           std::to_string(by) + " : i64\n%x = arith.divui %w, %c : i64\nllvm.store %x, %p : i64, !llvm.ptr<1>";
  }
};

TEST_F(StructureTest, NumbersMayDifferAndNothingElse) {
  EXPECT_TRUE(areAlike(add("100"), add("200")));
  EXPECT_FALSE(areAlike(add("100"), add("100", "arith.subi")));
  EXPECT_FALSE(areAlike(add("100"), add("100") + "\nllvm.store %n, %p : i64, !llvm.ptr<1>"));
  EXPECT_FALSE(areAlike(add("100"), "%c = arith.constant 100 : i64\n%x = arith.addi %c, %n : i64\n"
                                    "llvm.store %x, %p : i64, !llvm.ptr<1>"))
      << "another operand";
  EXPECT_EQ(read(add("-7")).numbers(), (std::vector<int64_t>{-7}));
}

TEST_F(StructureTest, ShiftsAndMasksAreNoNumbers) {
  EXPECT_FALSE(areAlike(add("100", "arith.shli"), add("101", "arith.shli")));
  EXPECT_FALSE(areAlike(add("100", "arith.andi"), add("101", "arith.andi")));
}

TEST_F(StructureTest, OnlyABlockDividesByNumbers) {
  EXPECT_TRUE(areAlike(divide("ctaid.x", 100), divide("ctaid.x", 200)));
  EXPECT_FALSE(areAlike(divide("tid.x", 100), divide("tid.x", 200)));
}

TEST_F(StructureTest, FewRoundsAreNoNumber) {
  EXPECT_TRUE(areAlike(count(100), count(200)));
  EXPECT_FALSE(areAlike(count(5), count(6)));
  EXPECT_FALSE(areAlike(count(5), count(100)));
  EXPECT_FALSE(areAlike(divide("ctaid.x", 5), divide("ctaid.x", 6)));
}

TEST_F(StructureTest, ANumberIsACallOfItsNameWhereTheKernelBegins) {
  Structure structure = read(add("100"));
  structure.name(0, "a_name");
  auto named = structure.module().lookupSymbol<mlir::LLVM::LLVMFuncOp>("a_name");
  auto kernel = structure.module().lookupSymbol<mlir::LLVM::LLVMFuncOp>("k");
  ASSERT_TRUE(named && kernel);
  auto call = mlir::dyn_cast<mlir::LLVM::CallOp>(kernel.getBody().front().front());
  ASSERT_TRUE(call);
  EXPECT_EQ(call.getCallee(), mlir::StringRef("a_name"));
  EXPECT_FALSE(call.getResult().use_empty());
}

TEST_F(StructureTest, BlocksDivideInThirtyTwoBitsWhatHasNoMore) {
  auto narrowed = [&](int64_t most) {
    Structure structure = read(divide("ctaid.x", 100));
    structure.narrowDivisions({most});
    bool is32 = false;
    structure.module().walk([&](mlir::arith::DivUIOp op) { is32 |= op.getType().isInteger(32); });
    return is32;
  };
  EXPECT_TRUE(narrowed(200));
  EXPECT_FALSE(narrowed(int64_t(1) << 33));
}

} // namespace
} // namespace tenon::compiler::codegen
