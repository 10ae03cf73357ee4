// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/reciprocal.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tenon::compiler::codegen {
namespace {

class ReciprocalTest : public KernelWriterTest {
protected:
  /// Quotient and remainder, as the kernel's arithmetic gives them.
  std::pair<uint64_t, uint64_t> divided(int64_t x, int64_t size) {
    KernelBuilder &k = begin();
    const mlir::Value index = mlir::arith::ConstantIndexOp::create(k.b, k.loc, size);
    const mlir::Value reciprocal = reciprocalOf(k.b, k.loc, index);
    const Quotient found = areWordsOf(k, x, size) ? divideWords(k, k.number(x), k.number(size), reciprocal)
                                                  : divide(k, k.number(x), k.number(size), reciprocal);
    return {valueOf(found.quotient), valueOf(found.remainder)};
  }
  static bool areWordsOf(KernelBuilder &k, int64_t x, int64_t size) {
    return valueOf(areWords(k, {k.number(x), k.number(size)})) != 0;
  }
  /// What the arithmetic comes to.
  static uint64_t valueOf(mlir::Value value) {
    namespace arith = mlir::arith;
    mlir::Operation *op = value.getDefiningOp();
    auto operand = [&](unsigned number) { return valueOf(op->getOperand(number)); };
    const unsigned bits = op->getResult(0).getType().isInteger(32) ? 32 : 64;
    auto wrapped = [&](uint64_t number) { return bits == 32 ? uint64_t(uint32_t(number)) : number; };
    return llvm::TypeSwitch<mlir::Operation *, uint64_t>(op)
        .Case([&](arith::ConstantOp constant) {
          return uint64_t(llvm::cast<mlir::IntegerAttr>(constant.getValue()).getInt());
        })
        .Case([&](arith::IndexCastOp) { return operand(0); })
        .Case([&](arith::AddIOp) { return wrapped(operand(0) + operand(1)); })
        .Case([&](arith::SubIOp) { return wrapped(operand(0) - operand(1)); })
        .Case([&](arith::MulIOp) { return wrapped(operand(0) * operand(1)); })
        .Case([&](arith::DivSIOp) { return operand(0) / operand(1); })
        .Case([&](arith::MaxSIOp) { return std::max(operand(0), operand(1)); })
        .Case([&](arith::CmpIOp compare) {
          const bool isEqual = compare.getPredicate() == arith::CmpIPredicate::eq;
          return uint64_t(isEqual ? operand(0) == operand(1) : operand(0) < operand(1));
        })
        .Case([&](arith::OrIOp) { return operand(0) | operand(1); })
        .Case([&](arith::ShRUIOp) { return operand(0) >> operand(1); })
        .Case([&](arith::TruncIOp) { return wrapped(operand(0)); })
        .Case([&](arith::ExtUIOp) { return operand(0); })
        .Case([&](arith::SelectOp) { return operand(0) != 0 ? operand(1) : operand(2); })
        .Case([&](mlir::LLVM::CallIntrinsicOp) {
          return (llvm::APInt(128, operand(0)) * llvm::APInt(128, operand(1))).lshr(bits).getZExtValue();
        });
  }
};

TEST_F(ReciprocalTest, QuotientsAreExact) {
  for (int64_t size : {int64_t(1), int64_t(2), int64_t(3), int64_t(7), int64_t(100), int64_t(4097), int64_t(65536),
                       (int64_t(1) << 31) - 1, (int64_t(1) << 32) + 1, (int64_t(1) << 40) - 3, INT64_MAX})
    for (int64_t near : {int64_t(0), int64_t(1), size - 1, size, INT64_MAX / size * size - 1, INT64_MAX / size * size,
                         INT64_MAX, (int64_t(1) << 32) - 1, int64_t(1) << 32}) {
      const auto [quotient, remainder] = divided(near, size);
      EXPECT_EQ(quotient, uint64_t(near / size)) << near << " / " << size;
      EXPECT_EQ(remainder, uint64_t(near % size)) << near << " / " << size;
    }
}

TEST_F(ReciprocalTest, WordsAreNumbersBelowTwoToThe32) {
  KernelBuilder &k = begin();
  const int64_t limit = int64_t(1) << 32;
  EXPECT_TRUE(areWordsOf(k, limit - 1, limit - 1));
  EXPECT_FALSE(areWordsOf(k, limit, 1));
  EXPECT_FALSE(areWordsOf(k, 1, limit));
}

TEST_F(ReciprocalTest, ASizeOfNothingDividesNothing) {
  KernelBuilder &k = begin();
  EXPECT_EQ(valueOf(reciprocalOf(k.b, k.loc, mlir::arith::ConstantIndexOp::create(k.b, k.loc, 0))),
            uint64_t(INT64_MAX));
}

TEST_F(ReciprocalTest, OfAProductItIsNamedByItsFactors) {
  mlir::func::FuncOp function = parseFunction("func.func @k(%m: i64, %n: i64) { return }");
  mlir::Builder b(&context_);
  const Extent m{0, function.getArgument(0)}, n{0, function.getArgument(1)}, four{4, {}};
  EXPECT_EQ(reciprocalKey(b, {n, four, m}), b.getDenseI64ArrayAttr({4, 1, 0}));
  EXPECT_EQ(reciprocalKey(b, {n}), b.getDenseI64ArrayAttr({1, 1}));
  EXPECT_FALSE(reciprocalKey(b, {four, four})) << "what is known is divided by when it is compiled";
}

} // namespace
} // namespace tenon::compiler::codegen
