// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_key.h"

#include "mlir/IR/Matchers.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

class RadixKeyTest : public KernelWriterTest {
protected:
  /// What becomes of the value when all that it is computed from is known.
  mlir::Attribute evaluated(mlir::Value value) {
    mlir::Attribute known;
    if (matchPattern(value, mlir::m_Constant(&known)))
      return known;
    mlir::Operation *op = value.getDefiningOp();
    llvm::SmallVector<mlir::Attribute> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(evaluated(operand));
    llvm::SmallVector<mlir::OpFoldResult> results;
    EXPECT_TRUE(mlir::succeeded(op->fold(operands, results))) << op->getName().getStringRef().str();
    if (results.empty())
      return {};
    if (auto attribute = llvm::dyn_cast<mlir::Attribute>(results.front()))
      return attribute;
    return evaluated(llvm::cast<mlir::Value>(results.front()));
  }
  /// All digits of a key as one number.
  uint64_t code(const RadixKey &key, mlir::TypedAttr value) {
    KernelBuilder &k = *writer_;
    mlir::Value constant = mlir::arith::ConstantOp::create(k.b, k.loc, value);
    uint64_t all = 0;
    for (unsigned number = key.digits(); number-- > 0;) {
      auto digit = llvm::dyn_cast_or_null<mlir::IntegerAttr>(evaluated(key.digit(k, constant, k.number(number))));
      EXPECT_TRUE(digit);
      all = all << 8 | (digit ? uint64_t(digit.getInt()) : 0);
    }
    return all;
  }
  uint64_t lastCode(const RadixKey &key) {
    return code(key, llvm::cast<mlir::TypedAttr>(evaluated(key.last(*writer_))));
  }
};

TEST_F(RadixKeyTest, FloatsAreInOrderAndNaNsLast) {
  KernelBuilder &k = begin();
  for (mlir::FloatType type : {mlir::FloatType(k.b.getF32Type()), mlir::FloatType(k.b.getF64Type()),
                               mlir::FloatType(k.b.getF16Type()), mlir::FloatType(k.b.getBF16Type())})
    for (bool isDescending : {false, true}) {
      const RadixKey key({.operand = 0, .type = type, .isDescending = isDescending});
      EXPECT_EQ(key.digits(), type.getWidth() / 8);
      const llvm::fltSemantics &semantics = type.getFloatSemantics();
      std::vector<llvm::APFloat> rising;
      for (bool isNegative : {true, false}) {
        std::vector<llvm::APFloat> some = {llvm::APFloat::getSmallest(semantics), llvm::APFloat(semantics, 1),
                                           llvm::APFloat::getLargest(semantics), llvm::APFloat::getInf(semantics)};
        if (isNegative)
          for (llvm::APFloat &value : some)
            value.changeSign();
        if (isNegative)
          std::reverse(some.begin(), some.end());
        rising.insert(rising.end(), some.begin(), some.end());
      }
      auto codeOf = [&](const llvm::APFloat &value) { return code(key, mlir::FloatAttr::get(type, value)); };
      if (isDescending)
        std::reverse(rising.begin(), rising.end());
      for (size_t i = 1; i < rising.size(); ++i)
        EXPECT_LT(codeOf(rising[i - 1]), codeOf(rising[i])) << i;
      const uint64_t zero = codeOf(llvm::APFloat::getZero(semantics));
      EXPECT_EQ(zero, codeOf(llvm::APFloat::getZero(semantics, /*Negative=*/true)));
      EXPECT_LT(codeOf(rising[3]), zero);
      EXPECT_LT(zero, codeOf(rising[4]));
      const uint64_t nan = codeOf(llvm::APFloat::getNaN(semantics));
      EXPECT_LT(codeOf(rising.back()), nan);
      EXPECT_EQ(nan, codeOf(llvm::APFloat::getNaN(semantics, /*Negative=*/true)));
      EXPECT_EQ(nan, lastCode(key));
    }
}

TEST_F(RadixKeyTest, IntegersAreInOrder) {
  KernelBuilder &k = begin();
  for (bool isSigned : {false, true})
    for (bool isDescending : {false, true}) {
      const RadixKey key({.operand = 0, .type = k.b.getI8Type(), .isDescending = isDescending, .isSigned = isSigned});
      EXPECT_EQ(key.digits(), 1u);
      uint64_t largest = 0;
      for (int i = 0; i < 256; ++i) {
        const int value = isSigned ? i - 128 : i;
        const uint64_t found = code(key, k.b.getIntegerAttr(k.b.getI8Type(), llvm::APInt(8, uint64_t(value) & 255)));
        EXPECT_EQ(found, uint64_t(isDescending ? 255 - i : i));
        largest = std::max(largest, found);
      }
      EXPECT_EQ(lastCode(key), largest);
    }
  const RadixKey wide({.operand = 0, .type = k.b.getI64Type(), .isSigned = true});
  EXPECT_EQ(wide.digits(), 8u);
  EXPECT_LT(code(wide, k.b.getI64IntegerAttr(-1)), code(wide, k.b.getI64IntegerAttr(1)));
  const RadixKey truth({.operand = 0, .type = k.b.getI1Type()});
  EXPECT_EQ(truth.digits(), 1u);
  EXPECT_LT(code(truth, k.b.getBoolAttr(false)), code(truth, k.b.getBoolAttr(true)));
}

} // namespace
} // namespace tenon::compiler::codegen
