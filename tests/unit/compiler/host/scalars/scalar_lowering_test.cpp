// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation at every width against MLIR's own folder: the register program of `op(%a, %b)` is evaluated on sample
// values and must give what `op` folds to on the same constants.
#include "compiler/host/scalars/scalar_lowering.h"

#include "abi/format/arithmetic.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

namespace arith = mlir::arith;

/// Evaluates a register program on scalar arguments. Nothing: an operation fails.
std::optional<int64_t> evaluate(const RegisterProgram &program, Register wanted, llvm::ArrayRef<int64_t> arguments) {
  std::vector<int64_t> values;
  for (const RegisterOperation &op : program.operations()) {
    int64_t operands[3] = {};
    const Register registers[3] = {op.a, op.b, op.c};
    for (uint32_t n = 0; n < abi::operandCount(op.opcode); ++n)
      operands[n] = values[registers[n]];
    const abi::ArithmeticResult result = op.opcode == Opcode::Arg
                                             ? abi::ArithmeticResult{arguments[op.a]}
                                             : abi::evaluate(op.opcode, operands[0], operands[1], operands[2], op.imm);
    if (!result.ok())
      return std::nullopt;
    values.push_back(result.value);
  }
  return values[wanted];
}

class ScalarLoweringTest : public ::testing::Test {
protected:
  ScalarLoweringTest() : builder_(&context_) {
    context_.loadDialect<arith::ArithDialect, mlir::math::MathDialect, mlir::affine::AffineDialect>();
    module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    builder_.setInsertionPointToEnd(module_->getBody());
  }

  mlir::Location loc() { return builder_.getUnknownLoc(); }

  /// How a register holds `value` of a type.
  static int64_t canonical(const llvm::APInt &value) {
    return value.getBitWidth() == 1 ? int64_t(value.getZExtValue()) : value.getSExtValue();
  }

  /// Lowers the operation that `make` builds on two arguments of `type`, and compares with folding on `values`.
  void compare(mlir::Type type, llvm::ArrayRef<int64_t> values,
               llvm::function_ref<mlir::Operation *(mlir::Value, mlir::Value)> make) {
    uint32_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    mlir::Operation *holder = mlir::ModuleOp::create(loc());
    mlir::Block &block = holder->getRegion(0).front();
    mlir::Value a = block.addArgument(type, loc()), b = block.addArgument(type, loc());
    builder_.setInsertionPointToEnd(&block);
    mlir::Operation *op = make(a, b);
    Function function;
    ScalarLowering lowering(function);
    lowering.defineArgument(a, 0);
    lowering.defineArgument(b, 1);
    ASSERT_TRUE(mlir::succeeded(lowering.lower(op)));
    Register result = lowering.lookup(op->getResult(0));
    for (int64_t left : values)
      for (int64_t right : values) {
        llvm::APInt x(bits, uint64_t(left), false, true), y(bits, uint64_t(right), false, true);
        llvm::SmallVector<mlir::OpFoldResult> folded;
        mlir::Attribute operands[] = {builder_.getIntegerAttr(type, x), builder_.getIntegerAttr(type, y)};
        if (mlir::failed(op->fold(llvm::ArrayRef(operands, op->getNumOperands()), folded)) || folded.empty())
          continue; // division by zero and the like
        const auto attribute = llvm::dyn_cast<mlir::Attribute>(folded[0]);
        int64_t wanted = 0;
        if (auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(attribute))
          wanted = canonical(integer.getValue());
        else if (auto real = mlir::dyn_cast_or_null<mlir::FloatAttr>(attribute))
          wanted = int64_t(real.getValue().bitcastToAPInt().getZExtValue());
        else
          continue;
        // Arguments arrive sign-extended whatever their width.
        std::optional<int64_t> found = evaluate(function.registers, result, {x.getSExtValue(), y.getSExtValue()});
        if (!found && type.isIndex())
          continue; // sizes do not wrap: the call fails
        bool checked = llvm::any_of(function.checks, [&](const Check &check) {
          return evaluate(function.registers, check.condition, {x.getSExtValue(), y.getSExtValue()}) == 0;
        });
        if (checked && type.isIndex())
          continue; // the call fails before the value is used
        EXPECT_FALSE(checked) << op->getName().getStringRef().str() << " on " << left << ", " << right;
        EXPECT_EQ(found, wanted) << op->getName().getStringRef().str() << " of " << bits << " bits on " << left << ", "
                                 << right;
        ++compared_;
      }
    holder->destroy();
  }

  /// The same of an operation on floats of `type`, on samples rounded to it.
  void compareReals(mlir::FloatType type, llvm::function_ref<mlir::Operation *(mlir::Value, mlir::Value)> make) {
    mlir::Operation *holder = mlir::ModuleOp::create(loc());
    mlir::Block &block = holder->getRegion(0).front();
    mlir::Value a = block.addArgument(type, loc()), b = block.addArgument(type, loc());
    builder_.setInsertionPointToEnd(&block);
    mlir::Operation *op = make(a, b);
    Function function;
    ScalarLowering lowering(function);
    lowering.defineArgument(a, 0);
    lowering.defineArgument(b, 1);
    ASSERT_TRUE(mlir::succeeded(lowering.lower(op)));
    const Register result = lowering.lookup(op->getResult(0));
    auto rounded = [&](double value) {
      llvm::APFloat real(value);
      bool isInexact = false;
      real.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
      return real;
    };
    auto bits = [](const llvm::APFloat &value) { return int64_t(value.bitcastToAPInt().getZExtValue()); };
    for (double left : kReals)
      for (double right : kReals) {
        const llvm::APFloat x = rounded(left), y = rounded(right);
        llvm::SmallVector<mlir::OpFoldResult> folded;
        mlir::Attribute operands[] = {builder_.getFloatAttr(type, x), builder_.getFloatAttr(type, y)};
        if (mlir::failed(op->fold(llvm::ArrayRef(operands, op->getNumOperands()), folded)) || folded.empty())
          continue;
        const auto wanted = llvm::dyn_cast<mlir::Attribute>(folded[0]);
        const std::optional<int64_t> found = evaluate(function.registers, result, {bits(x), bits(y)});
        if (auto real = mlir::dyn_cast_or_null<mlir::FloatAttr>(wanted)) {
          ASSERT_TRUE(found);
          const llvm::fltSemantics &semantics = mlir::cast<mlir::FloatType>(real.getType()).getFloatSemantics();
          const llvm::APFloat value(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), uint64_t(*found)));
          EXPECT_TRUE(value.bitwiseIsEqual(real.getValue()) || (value.isNaN() && real.getValue().isNaN()))
              << op->getName().getStringRef().str() << " on " << left << ", " << right;
          ++compared_;
        } else if (auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(wanted)) {
          EXPECT_EQ(found, canonical(integer.getValue()))
              << op->getName().getStringRef().str() << " on " << left << ", " << right;
          ++compared_;
        }
      }
    holder->destroy();
  }
  static constexpr double kReals[] = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.5,
                                      2.5,
                                      -2.5,
                                      0.1,
                                      3.0,
                                      1e-30,
                                      -1e-6,
                                      6.1e-5,
                                      65504.0,
                                      -70000.0,
                                      2047.0,
                                      9223372036854775808.0,
                                      1.5e19,
                                      1e30,
                                      1e300,
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};

  mlir::MLIRContext context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  int compared_ = 0;
};

constexpr int64_t kSamples[] = {0,
                                1,
                                2,
                                3,
                                7,
                                64,
                                100,
                                127,
                                128,
                                255,
                                32768,
                                -1,
                                -2,
                                -7,
                                -128,
                                1 << 20,
                                std::numeric_limits<int32_t>::max(),
                                std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::max() - 1,
                                std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::min() + 1,
                                0x5555555555555555,
                                -0x2468ace013579bdf};

template <typename... Ops> struct OpList {};

TEST_F(ScalarLoweringTest, BinaryOperationsAgreeWithMlir) {
  auto run = [&]<typename... Ops>(OpList<Ops...>) {
    for (mlir::Type type :
         {mlir::Type(builder_.getI1Type()), mlir::Type(builder_.getI8Type()), mlir::Type(builder_.getI16Type()),
          mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getI64Type()), mlir::Type(builder_.getIndexType())})
      (compare(type, kSamples,
               [&](mlir::Value a, mlir::Value b) { return Ops::create(builder_, loc(), a, b).getOperation(); }),
       ...);
  };
  run(OpList<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp, arith::MinUIOp,
             arith::MaxSIOp, arith::MaxUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>());
  EXPECT_GT(compared_, 20000);
}

TEST_F(ScalarLoweringTest, ComparisonsAgreeWithMlir) {
  for (mlir::Type type : {mlir::Type(builder_.getI1Type()), mlir::Type(builder_.getI8Type()),
                          mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getI64Type())})
    for (uint64_t predicate = 0; predicate <= uint64_t(arith::CmpIPredicate::uge); ++predicate)
      compare(type, kSamples, [&](mlir::Value a, mlir::Value b) {
        return arith::CmpIOp::create(builder_, loc(), arith::CmpIPredicate(predicate), a, b).getOperation();
      });
  EXPECT_GT(compared_, 10000);
}

TEST_F(ScalarLoweringTest, ConversionsAgreeWithMlir) {
  auto to = [&](mlir::Type from, mlir::Type result, auto create) {
    compare(from, kSamples, [&](mlir::Value a, mlir::Value) { return create(result, a); });
  };
  auto extsi = [&](mlir::Type t, mlir::Value a) {
    return arith::ExtSIOp::create(builder_, loc(), t, a).getOperation();
  };
  auto extui = [&](mlir::Type t, mlir::Value a) {
    return arith::ExtUIOp::create(builder_, loc(), t, a).getOperation();
  };
  auto trunci = [&](mlir::Type t, mlir::Value a) {
    return arith::TruncIOp::create(builder_, loc(), t, a).getOperation();
  };
  auto cast = [&](mlir::Type t, mlir::Value a) {
    return arith::IndexCastOp::create(builder_, loc(), t, a).getOperation();
  };
  auto castui = [&](mlir::Type t, mlir::Value a) {
    return arith::IndexCastUIOp::create(builder_, loc(), t, a).getOperation();
  };
  mlir::Type i1 = builder_.getI1Type(), i8 = builder_.getI8Type(), i32 = builder_.getI32Type(),
             i64 = builder_.getI64Type(), index = builder_.getIndexType();
  to(i1, i32, extsi);
  to(i1, i32, extui);
  to(i8, i64, extsi);
  to(i8, i64, extui);
  to(i32, i1, trunci);
  to(i64, i8, trunci);
  to(index, i32, cast);
  to(i32, index, cast);
  to(index, i8, castui);
  to(i32, index, castui);
  EXPECT_GT(compared_, 1000);
}

TEST_F(ScalarLoweringTest, FloatsOfIntegersAgreeWithMlir) {
  llvm::SmallVector<int64_t> values{llvm::ArrayRef<int64_t>(kSamples)};
  // Beside ties of 8, 11, 24 and 53 bits.
  for (int64_t top : {int64_t(1) << 61, std::numeric_limits<int64_t>::min(), int64_t(-1) << 60})
    for (int bits : {8, 11, 24, 53})
      for (int64_t beside : {-1, 0, 1})
        values.push_back(top + (int64_t(1) << (61 - bits)) + (int64_t(1) << (62 - bits)) + beside);
  for (mlir::Type from : {mlir::Type(builder_.getI1Type()), mlir::Type(builder_.getI8Type()),
                          mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getI64Type())})
    for (mlir::Type to : {mlir::Type(builder_.getF16Type()), mlir::Type(builder_.getBF16Type()),
                          mlir::Type(builder_.getF32Type()), mlir::Type(builder_.getF64Type())}) {
      compared_ = 0;
      compare(from, values, [&](mlir::Value a, mlir::Value) {
        return arith::SIToFPOp::create(builder_, loc(), to, a).getOperation();
      });
      compare(from, values, [&](mlir::Value a, mlir::Value) {
        return arith::UIToFPOp::create(builder_, loc(), to, a).getOperation();
      });
      EXPECT_EQ(compared_, int(2 * values.size() * values.size()));
    }
}

TEST_F(ScalarLoweringTest, IntegersOfFloatsAgreeWithMlir) {
  for (mlir::FloatType type : {mlir::FloatType(builder_.getF32Type()), mlir::FloatType(builder_.getF64Type())})
    for (mlir::Type to : {mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getI64Type())}) {
      compareReals(type, [&](mlir::Value a, mlir::Value) {
        return arith::FPToSIOp::create(builder_, loc(), to, a).getOperation();
      });
      compareReals(type, [&](mlir::Value a, mlir::Value) {
        return arith::FPToUIOp::create(builder_, loc(), to, a).getOperation();
      });
    }
  EXPECT_GT(compared_, 500);
}

TEST_F(ScalarLoweringTest, ShiftsByConstantsAgreeWithMlir) {
  for (mlir::Type type :
       {mlir::Type(builder_.getI8Type()), mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getI64Type())})
    for (int64_t amount : {0, 1, 5, 7, 31, 62, 63}) {
      if (amount >= type.getIntOrFloatBitWidth())
        continue;
      for (int kind = 0; kind < 3; ++kind) {
        Function function;
        ScalarLowering lowering(function);
        mlir::Operation *by = arith::ConstantOp::create(builder_, loc(), builder_.getIntegerAttr(type, amount));
        mlir::Block block;
        mlir::Value a = block.addArgument(type, loc());
        mlir::Value b = by->getResult(0);
        mlir::Operation *op = kind == 0   ? arith::ShLIOp::create(builder_, loc(), a, b).getOperation()
                              : kind == 1 ? arith::ShRSIOp::create(builder_, loc(), a, b).getOperation()
                                          : arith::ShRUIOp::create(builder_, loc(), a, b).getOperation();
        lowering.defineArgument(a, 0);
        ASSERT_TRUE(mlir::succeeded(lowering.lower(by)));
        ASSERT_TRUE(mlir::succeeded(lowering.lower(op)));
        for (int64_t value : kSamples) {
          llvm::APInt x(type.getIntOrFloatBitWidth(), uint64_t(value), false, true);
          llvm::APInt wanted = kind == 0   ? x.shl(unsigned(amount))
                               : kind == 1 ? x.ashr(unsigned(amount))
                                           : x.lshr(unsigned(amount));
          std::optional<int64_t> found =
              evaluate(function.registers, lowering.lookup(op->getResult(0)), {x.getSExtValue()});
          if (found) // a 64-bit shift to the left fails where bits are lost
            EXPECT_EQ(*found, wanted.getSExtValue()) << op->getName().getStringRef().str() << " " << value << " by "
                                                     << amount << " of " << type.getIntOrFloatBitWidth();
        }
        op->erase();
      }
    }
}

TEST_F(ScalarLoweringTest, ShiftsAgreeWithMlir) {
  for (mlir::Type type : {mlir::Type(builder_.getI8Type()), mlir::Type(builder_.getIntegerType(24)),
                          mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getIntegerType(33)),
                          mlir::Type(builder_.getI64Type()), mlir::Type(builder_.getIndexType())}) {
    compared_ = 0;
    const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    llvm::SmallVector<int64_t> values{llvm::ArrayRef<int64_t>(kSamples)};
    for (unsigned amount = 0; amount < width; ++amount)
      values.push_back(amount);
    auto shift = [&]<typename Op>(Op) {
      compare(type, values,
              [&](mlir::Value a, mlir::Value b) { return Op::create(builder_, loc(), a, b).getOperation(); });
    };
    shift(arith::ShLIOp());
    shift(arith::ShRSIOp());
    shift(arith::ShRUIOp());
    EXPECT_GT(compared_, 2 * width * values.size()) << width; // left shifts of 64 bits fail where bits are lost
  }
}

// What a shift by more than the type has bits for makes is nobody's value, and does not fail the call.
TEST_F(ScalarLoweringTest, ShiftsByTooMuchAreValues) {
  Function function;
  ScalarLowering lowering(function);
  mlir::Block block;
  mlir::Value a = block.addArgument(builder_.getI32Type(), loc()), b = block.addArgument(builder_.getI32Type(), loc());
  lowering.defineArgument(a, 0);
  lowering.defineArgument(b, 1);
  mlir::Operation *op = arith::ShLIOp::create(builder_, loc(), a, b);
  ASSERT_TRUE(mlir::succeeded(lowering.lower(op)));
  for (int64_t amount : {-1, 32, 33, 64, 1 << 30})
    EXPECT_TRUE(evaluate(function.registers, lowering.lookup(op->getResult(0)), {-7, amount})) << amount;
  EXPECT_TRUE(function.checks.empty());
  op->erase();
}

TEST_F(ScalarLoweringTest, CountsOfBitsAgreeWithMlir) {
  for (mlir::Type type : {mlir::Type(builder_.getI1Type()), mlir::Type(builder_.getI8Type()),
                          mlir::Type(builder_.getI32Type()), mlir::Type(builder_.getIntegerType(33)),
                          mlir::Type(builder_.getI64Type()), mlir::Type(builder_.getIndexType())}) {
    compared_ = 0;
    llvm::SmallVector<int64_t> values{llvm::ArrayRef<int64_t>(kSamples)};
    for (unsigned bit = 0; bit < 64; ++bit)
      values.append({int64_t(uint64_t(1) << bit), int64_t(uint64_t(0x9e3779b97f4a7c15) >> bit)});
    auto count = [&]<typename Op>(Op) {
      compare(type, values, [&](mlir::Value a, mlir::Value) { return Op::create(builder_, loc(), a).getOperation(); });
    };
    count(mlir::math::CtPopOp());
    count(mlir::math::CountLeadingZerosOp());
    count(mlir::math::CountTrailingZerosOp());
    EXPECT_EQ(compared_, 3 * values.size() * values.size());
  }
}

TEST_F(ScalarLoweringTest, FloatsAgreeWithMlir) {
  const mlir::FloatType types[] = {builder_.getF16Type(), builder_.getBF16Type(), builder_.getF32Type(),
                                   builder_.getF64Type()};
  auto binary = [&]<typename... Ops>(OpList<Ops...>) {
    for (mlir::FloatType type : types)
      (compareReals(type,
                    [&](mlir::Value a, mlir::Value b) { return Ops::create(builder_, loc(), a, b).getOperation(); }),
       ...);
  };
  binary(OpList<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::MinimumFOp,
                arith::MaximumFOp, arith::MinNumFOp, arith::MaxNumFOp, mlir::math::CopySignOp>());
  auto unary = [&]<typename... Ops>(OpList<Ops...>) {
    for (mlir::FloatType type : types)
      (compareReals(type, [&](mlir::Value a, mlir::Value) { return Ops::create(builder_, loc(), a).getOperation(); }),
       ...);
  };
  unary(OpList<arith::NegFOp, mlir::math::AbsFOp, mlir::math::SqrtOp, mlir::math::FloorOp, mlir::math::CeilOp,
               mlir::math::TruncOp, mlir::math::RoundOp, mlir::math::RoundEvenOp>());
  for (mlir::FloatType type : types)
    for (uint64_t predicate = 0; predicate <= uint64_t(arith::CmpFPredicate::AlwaysTrue); ++predicate)
      compareReals(type, [&](mlir::Value a, mlir::Value b) {
        return arith::CmpFOp::create(builder_, loc(), arith::CmpFPredicate(predicate), a, b).getOperation();
      });
  EXPECT_GT(compared_, 20000);
}

TEST_F(ScalarLoweringTest, FloatConversionsAgreeWithMlir) {
  const mlir::FloatType f16 = builder_.getF16Type(), bf16 = builder_.getBF16Type(), f32 = builder_.getF32Type(),
                        f64 = builder_.getF64Type();
  for (auto [from, to] : {std::pair(f64, f32), {f64, f16}, {f64, bf16}, {f32, f16}, {f32, bf16}})
    compareReals(from, [&, to = to](mlir::Value a, mlir::Value) {
      return arith::TruncFOp::create(builder_, loc(), to, a).getOperation();
    });
  for (auto [from, to] : {std::pair(f16, f32), {f16, f64}, {bf16, f32}, {bf16, f64}, {f32, f64}})
    compareReals(from, [&, to = to](mlir::Value a, mlir::Value) {
      return arith::ExtFOp::create(builder_, loc(), to, a).getOperation();
    });
  for (mlir::FloatType from : {f16, bf16, f32, f64})
    compareReals(from, [&](mlir::Value a, mlir::Value) {
      return arith::FPToSIOp::create(builder_, loc(), builder_.getI64Type(), a).getOperation();
    });
  EXPECT_GT(compared_, 2000);
}

TEST_F(ScalarLoweringTest, UnsignedDivisionOfSizesIsChecked) {
  Function function;
  ScalarLowering lowering(function);
  mlir::Block block;
  mlir::Value a = block.addArgument(builder_.getIndexType(), loc());
  mlir::Operation *op = arith::DivUIOp::create(builder_, loc(), a, a);
  lowering.defineArgument(a, 0);
  ASSERT_TRUE(mlir::succeeded(lowering.lower(op)));
  ASSERT_EQ(function.checks.size(), 1u);
  EXPECT_EQ(evaluate(function.registers, function.checks[0].condition, {-1}), 0);
  EXPECT_EQ(evaluate(function.registers, function.checks[0].condition, {5}), 1);
  op->erase();
}

TEST_F(ScalarLoweringTest, LocationsNameTheFileWithoutItsFolders) {
  EXPECT_EQ(locationText(mlir::FileLineColLoc::get(&context_, "/a/b/example.mlir", 31, 5)), "example.mlir:31:5");
  EXPECT_EQ(locationText(mlir::UnknownLoc::get(&context_)), "");
}

} // namespace
} // namespace tenon::compiler::host
