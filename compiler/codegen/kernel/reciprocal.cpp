// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/reciprocal.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<unsigned> argumentOf(Value size) {
  while (auto cast = size.getDefiningOp<arith::IndexCastOp>())
    size = cast.getIn();
  auto argument = dyn_cast<BlockArgument>(size);
  return argument ? std::optional(argument.getArgNumber()) : std::nullopt;
}

DenseI64ArrayAttr reciprocalKey(Builder &b, ArrayRef<Extent> extents) {
  SmallVector<int64_t> key = {1};
  for (const Extent &extent : extents) {
    if (!extent.value) {
      key.front() *= extent.size;
      continue;
    }
    const std::optional<unsigned> argument = argumentOf(extent.value);
    if (!argument)
      return {};
    key.push_back(*argument);
  }
  return key.size() == 1 ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(key);
}

Quotient divide(KernelBuilder &k, Value x, Value size, Value reciprocal) {
  if (!reciprocal)
    return {k.div(x, size), k.rem(x, size)};
  Value doubled = k.add(reciprocal, reciprocal); // the upper half is then divided by 2^63, not 2^64
  // Not arith.mului_extended: LLVM has numbers of 128 bits for it, and not everywhere an instruction for these.
  Value quotient = LLVM::CallIntrinsicOp::create(k.b, k.loc, k.b.getI64Type(), k.b.getStringAttr("llvm.nvvm.mulhi.ull"),
                                                 ValueRange{x, doubled})
                       .getResult(0);
  Value rest = k.sub(x, k.mul(quotient, size));
  Value isLess = k.less(rest, size); // than what is left may be
  return {k.select(isLess, quotient, k.add(quotient, k.number(1))), k.select(isLess, rest, k.sub(rest, size))};
}

Value reciprocalOf(OpBuilder &b, Location loc, Value size) {
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
  auto number = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  return arith::DivSIOp::create(b, loc, number(INT64_MAX), arith::MaxSIOp::create(b, loc, wide, number(1)));
}

} // namespace tenon::compiler::codegen
