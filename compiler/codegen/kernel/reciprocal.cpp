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

namespace {

Value word(KernelBuilder &k, Value number, int64_t from = 0) {
  if (from != 0)
    number = arith::ShRUIOp::create(k.b, k.loc, number, k.number(from));
  return arith::TruncIOp::create(k.b, k.loc, k.b.getI32Type(), number);
}

/// By the upper half of the product with the reciprocal, of as many bits as the number has: one less, at most.
Quotient divideBy(KernelBuilder &k, Value x, Value size, Value reciprocal, StringRef upperHalf) {
  // Not arith.mului_extended: LLVM has numbers of 128 bits for it, and not everywhere an instruction for these.
  Value quotient =
      LLVM::CallIntrinsicOp::create(k.b, k.loc, x.getType(), k.b.getStringAttr(upperHalf), ValueRange{x, reciprocal})
          .getResult(0);
  Value rest = arith::SubIOp::create(k.b, k.loc, x, arith::MulIOp::create(k.b, k.loc, quotient, size));
  Value isLess = k.less(rest, size); // than what is left may be
  Value one = arith::ConstantOp::create(k.b, k.loc, k.b.getIntegerAttr(x.getType(), 1));
  return {k.select(isLess, quotient, arith::AddIOp::create(k.b, k.loc, quotient, one)),
          k.select(isLess, rest, arith::SubIOp::create(k.b, k.loc, rest, size))};
}

} // namespace

Quotient divide(KernelBuilder &k, Value x, Value size, Value reciprocal) {
  if (!reciprocal)
    return {k.div(x, size), k.rem(x, size)};
  // The upper half of a product with twice the reciprocal is divided by 2^63, not 2^64.
  return divideBy(k, x, size, k.add(reciprocal, reciprocal), "llvm.nvvm.mulhi.ull");
}

Value areWords(KernelBuilder &k, ArrayRef<Value> numbers) {
  Value all = numbers.front();
  for (Value number : numbers.drop_front())
    all = arith::OrIOp::create(k.b, k.loc, all, number);
  Value none = arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(0));
  return k.equal(word(k, all, 32), none);
}

Quotient divideWords(KernelBuilder &k, Value x, Value size, Value reciprocal) {
  Value of = word(k, x), by = word(k, size);
  const Quotient found = reciprocal ? divideBy(k, of, by, word(k, reciprocal, 31), "llvm.nvvm.mulhi.ui")
                                    : Quotient{k.div(of, by), k.rem(of, by)};
  auto wide = [&](Value value) -> Value { return arith::ExtUIOp::create(k.b, k.loc, k.b.getI64Type(), value); };
  return {wide(found.quotient), wide(found.remainder)};
}

Value reciprocalOf(OpBuilder &b, Location loc, Value size) {
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
  auto number = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  return arith::DivSIOp::create(b, loc, number(INT64_MAX), arith::MaxSIOp::create(b, loc, wide, number(1)));
}

} // namespace tenon::compiler::codegen
