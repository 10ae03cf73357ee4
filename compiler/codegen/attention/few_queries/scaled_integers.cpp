// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/scaled_integers.h"

#include "compiler/codegen/kernel/narrow/scaled_numbers.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<ScaledIntegers> ScaledIntegers::of(const GroupShape &shape, const Product &output) {
  const Operand &side = output.right;
  auto narrow = side.value.getDefiningOp<arith::TruncFOp>();
  auto multiplied = narrow ? narrow.getIn().getDefiningOp<arith::MulFOp>() : nullptr;
  if (!multiplied || !narrow.getType().isBF16() || !multiplied.getType().isF32() || side.inputs.size() != 2)
    return std::nullopt;
  auto numberOf = [&](Value argument) -> std::optional<size_t> {
    for (auto [number, each] : llvm::enumerate(side.inputs))
      if (each.input->bodyArgument == argument)
        return number;
    return std::nullopt;
  };
  for (auto [x, y] :
       {std::pair(multiplied.getLhs(), multiplied.getRhs()), {multiplied.getRhs(), multiplied.getLhs()}}) {
    auto converted = x.getDefiningOp<arith::SIToFPOp>();
    if (!converted || !converted.getIn().getType().isInteger(8))
      continue;
    const auto integers = numberOf(converted.getIn()), scale = numberOf(y);
    if (!integers || !scale)
      continue;
    const OperandInput &ofScale = side.inputs[*scale];
    if (llvm::all_of(output.columns, [&](unsigned axis) {
          return shape.along(ofScale.input->tensor, ofScale.op->op, axis) == GroupShape::Along::Same;
        }))
      return ScaledIntegers{*integers, *scale};
  }
  return std::nullopt;
}

SmallVector<Value> ScaledIntegers::pairs(KernelBuilder &k, Value words) {
  OpBuilder &b = k.b;
  Type i32 = b.getI32Type();
  auto constant = [&](uint32_t bits) { return arith::ConstantIntOp::create(b, k.loc, i32, int32_t(bits)).getResult(); };
  constexpr uint32_t kSign = 0x80;
  ScaledNumbers numbers(k, /*areApart=*/false);
  SmallVector<Value> pairs;
  for (int64_t number = 0; number < cast<VectorType>(words.getType()).getNumElements(); ++number) {
    Value word = LLVM::ExtractElementOp::create(b, k.loc, words, k.number(number));
    // Without signs: 128 more.
    Value positive = arith::XOrIOp::create(b, k.loc, word, constant(kSign * 0x01010101));
    for (uint32_t bytes : {0x4140u, 0x4342u}) { // two of them, each in front of a zero
      Value both = LLVM::CallIntrinsicOp::create(b, k.loc, i32, b.getStringAttr("llvm.nvvm.prmt"),
                                                 ValueRange{positive, constant(0), constant(bytes)})
                       .getResult(0);
      pairs.push_back(LLVM::BitcastOp::create(b, k.loc, i32, numbers.numbers(both, 0, 0, kSign)));
    }
  }
  return pairs;
}

Value ScaledIntegers::scaled(KernelBuilder &k, Value weight, Value scale) {
  Value whole = arith::ConstantOp::create(k.b, k.loc, k.b.getF32FloatAttr(float(ScaledNumbers::kScale)));
  return arith::MulFOp::create(k.b, k.loc, arith::MulFOp::create(k.b, k.loc, weight, whole), scale);
}

} // namespace tenon::compiler::codegen
