// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/linalg_ext/attention_builder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::input {

Value convertFloat(OpBuilder &b, Location loc, Value value, Type type) {
  const unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from == to) // f16 and bf16
    return convertFloat(b, loc, arith::ExtFOp::create(b, loc, b.getF32Type(), value), type);
  return from < to ? arith::ExtFOp::create(b, loc, type, value).getResult()
                   : arith::TruncFOp::create(b, loc, type, value).getResult();
}

AttentionBuilder::AttentionBuilder(Location loc, OperandRange inputs, OperandRange outputs, ArrayAttr maps,
                                   Region &region, OpBuilder &b)
    : loc_(loc), inputs_(inputs), outputs_(outputs), maps_(maps), region_(region), b_(b) {
  bool isDouble = false;
  for (unsigned number = 0; number < 3; ++number) {
    isDouble |= getElementTypeOrSelf(inputs[number].getType()).isF64();
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc_, inputs[number]);
    for (auto [loop, size] : llvm::zip_equal(loopsOf(number), sizes))
      if (OpFoldResult &known = size_[loop]; !known || isa<Attribute>(size))
        known = size;
  }
  wide_ = isDouble ? Type(b.getF64Type()) : Type(b.getF32Type());
  const Loops values = loopsOf(2), result = loopsOf(inputs.size());
  for (unsigned loop : loopsOf(1))
    if (values.contains(loop) && !result.contains(loop))
      keys_.insert(loop);
}

AffineMap AttentionBuilder::map(unsigned operand) {
  return cast<AffineMapAttr>(maps_[operand]).getValue();
}

Loops AttentionBuilder::loopsOf(unsigned operand) {
  Loops loops;
  for (AffineExpr expr : map(operand).getResults())
    loops.insert(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

AffineMap AttentionBuilder::mapOf(const Loops &loops, const Loops &all) {
  SmallVector<AffineExpr> results;
  for (unsigned loop : loops)
    results.push_back(b_.getAffineDimExpr(llvm::find(all, loop) - all.begin()));
  return AffineMap::get(all.size(), 0, results, b_.getContext());
}

Value AttentionBuilder::empty(const Loops &loops, Type element) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned loop : loops)
    sizes.push_back(size_.lookup(loop));
  return tensor::EmptyOp::create(b_, loc_, sizes, element);
}

Value AttentionBuilder::number(OpBuilder &b, double value) {
  return arith::ConstantOp::create(b, loc_, b.getFloatAttr(wide_, value));
}

Value AttentionBuilder::guarded(OpBuilder &b, Value value, double from, double to) {
  Value bad = number(b, from);
  Value good = number(b, to);
  Value isBad = arith::CmpFOp::create(b, loc_, arith::CmpFPredicate::OEQ, value, bad);
  return arith::SelectOp::create(b, loc_, isBad, good, value);
}

AttentionBuilder::Operand AttentionBuilder::each(const Loops &loops, ArrayRef<Operand> operands, Type element,
                                                 Body body) {
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const Operand &operand : operands) {
    tensors.push_back(operand.tensor);
    maps.push_back(mapOf(operand.loops, loops));
  }
  maps.push_back(mapOf(loops, loops));
  Value start = empty(loops, element);
  SmallVector<utils::IteratorType> types(loops.size(), utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      b_, loc_, start.getType(), tensors, start, maps, types,
      [&](OpBuilder &b, Location, ValueRange x) { linalg::YieldOp::create(b, loc_, body(b, x)); });
  return {made.getResult(0), loops};
}

Value AttentionBuilder::product(Value left, const Loops &ofLeft, Value right, const Loops &ofRight, const Loops &result,
                                const Loops &reduced) {
  Loops all = result;
  all.insert(reduced.begin(), reduced.end());
  SmallVector<utils::IteratorType> types(result.size(), utils::IteratorType::parallel);
  types.append(reduced.size(), utils::IteratorType::reduction);
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(wide_));
  Value start = linalg::FillOp::create(b_, loc_, zero, empty(result, wide_)).getResult(0);
  return linalg::GenericOp::create(
             b_, loc_, start.getType(), ValueRange{left, right}, start,
             ArrayRef<AffineMap>{mapOf(ofLeft, all), mapOf(ofRight, all), mapOf(result, all)}, types,
             [&](OpBuilder &b, Location, ValueRange x) {
               Value product = arith::MulFOp::create(b, loc_, convertFloat(b, loc_, x[0], wide_),
                                                     convertFloat(b, loc_, x[1], wide_));
               linalg::YieldOp::create(b, loc_, arith::AddFOp::create(b, loc_, x[2], product).getResult());
             })
      .getResult(0);
}

/// The operand, or 1 / sqrt(depth).
Value AttentionBuilder::scaleOf(const Loops &depth) {
  if (std::optional<unsigned> number = linalg_ext::scaleOfAttention(inputs_))
    return inputs_[*number];
  Value product = arith::ConstantIndexOp::create(b_, loc_, 1);
  for (unsigned loop : depth)
    product = b_.createOrFold<arith::MulIOp>(loc_, product, getValueOrCreateConstantIndexOp(b_, loc_, size_[loop]));
  if (APInt known; matchPattern(product, m_ConstantInt(&known)))
    return number(b_, 1 / std::sqrt(double(known.getSExtValue())));
  Value whole = arith::IndexCastOp::create(b_, loc_, b_.getI64Type(), product);
  Value root = math::SqrtOp::create(b_, loc_, arith::SIToFPOp::create(b_, loc_, wide_, whole));
  return arith::DivFOp::create(b_, loc_, number(b_, 1), root);
}

AttentionBuilder::Operand AttentionBuilder::masked(const Operand &scores, Value factor) {
  SmallVector<Operand> operands = {scores};
  const std::optional<unsigned> mask = linalg_ext::maskOfAttention(inputs_);
  if (mask)
    operands.push_back({inputs_[*mask], loopsOf(*mask)});
  return each(scores.loops, operands, wide_, [&](OpBuilder &b, ValueRange x) {
    Value scale = convertFloat(b, loc_, factor, wide_);
    Value score = arith::MulFOp::create(b, loc_, x[0], scale);
    Block &body = region_.front();
    IRMapping mapping;
    mapping.map(body.getArgument(0), convertFloat(b, loc_, score, body.getArgument(0).getType()));
    for (Operation &inner : body.without_terminator())
      if (auto index = dyn_cast<linalg_ext::IndexOp>(inner)) {
        const int64_t place = llvm::find(scores.loops, unsigned(index.getDim())) - scores.loops.begin();
        mapping.map(index.getResult(), linalg::IndexOp::create(b, index.getLoc(), place).getResult());
      } else {
        b.clone(inner, mapping);
      }
    score = convertFloat(b, loc_, mapping.lookupOrDefault(body.getTerminator()->getOperand(0)), wide_);
    if (!mask)
      return score;
    if (!x[1].getType().isInteger(1))
      return arith::AddFOp::create(b, loc_, score, convertFloat(b, loc_, x[1], wide_)).getResult();
    return arith::SelectOp::create(b, loc_, x[1], score, number(b, -INFINITY)).getResult();
  });
}

AttentionBuilder::Operand AttentionBuilder::scores() {
  const Loops queries = loopsOf(0), keys = loopsOf(1), result = loopsOf(inputs_.size());
  Loops loops, depth;
  for (unsigned loop = 0; loop < map(0).getNumDims(); ++loop)
    if ((queries.contains(loop) || keys.contains(loop)) && !keys_.contains(loop))
      (result.contains(loop) ? loops : depth).insert(loop);
  for (unsigned loop = 0; loop < map(0).getNumDims(); ++loop) // the last
    if (keys_.contains(loop))
      loops.insert(loop);
  Value sums = product(inputs_[0], queries, inputs_[1], keys, loops, depth);
  return masked({sums, loops}, scaleOf(depth));
}

template <typename Combine> AttentionBuilder::Operand AttentionBuilder::reduce(const Operand &scores, double start) {
  Loops rows;
  SmallVector<utils::IteratorType> types;
  for (unsigned loop : scores.loops) {
    const bool isRow = !keys_.contains(loop);
    if (isRow)
      rows.insert(loop);
    types.push_back(isRow ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  }
  Value init = linalg::FillOp::create(b_, loc_, number(b_, start), empty(rows, wide_)).getResult(0);
  auto made =
      linalg::GenericOp::create(b_, loc_, init.getType(), scores.tensor, init,
                                ArrayRef<AffineMap>{mapOf(scores.loops, scores.loops), mapOf(rows, scores.loops)},
                                types, [&](OpBuilder &b, Location, ValueRange x) {
                                  linalg::YieldOp::create(b, loc_, Combine::create(b, loc_, x[0], x[1]).getResult());
                                });
  return {made.getResult(0), rows};
}

AttentionBuilder::Operand AttentionBuilder::largest(const Operand &scores) {
  return reduce<arith::MaxNumFOp>(scores, -INFINITY);
}

AttentionBuilder::Operand AttentionBuilder::sum(const Operand &powers) {
  return reduce<arith::AddFOp>(powers, 0);
}

AttentionBuilder::Operand AttentionBuilder::powers(const Operand &scores, const Operand &largest) {
  return each(scores.loops, {scores, largest}, wide_, [&](OpBuilder &b, ValueRange x) -> Value {
    return math::ExpOp::create(b, loc_, arith::SubFOp::create(b, loc_, x[0], guarded(b, x[1], -INFINITY, 0)));
  });
}

AttentionBuilder::Operand AttentionBuilder::sums(const Operand &weights) {
  Operand factors = weights;
  if (Type element = getElementTypeOrSelf(inputs_[2].getType()); element != wide_)
    factors = each(weights.loops, {weights}, element,
                   [&](OpBuilder &b, ValueRange x) { return convertFloat(b, loc_, x[0], element); });
  const Loops result = loopsOf(inputs_.size());
  return {product(factors.tensor, factors.loops, inputs_[2], loopsOf(2), result, keys_), result};
}

Value AttentionBuilder::narrowed(const Operand &result, unsigned out) {
  const Type type = outputs_[out].getType(), element = getElementTypeOrSelf(type);
  const Loops loops = loopsOf(inputs_.size() + out);
  Value narrow = result.tensor;
  const bool isTurned = !llvm::equal(loops, result.loops);
  if (isTurned || element != getElementTypeOrSelf(narrow.getType()))
    narrow = each(loops, {result}, element, [&](OpBuilder &b, ValueRange x) {
               return convertFloat(b, loc_, x[0], element);
             }).tensor;
  return narrow.getType() == type ? narrow : tensor::CastOp::create(b_, loc_, type, narrow).getResult();
}

} // namespace tenon::compiler::input
