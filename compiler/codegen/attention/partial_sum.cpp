// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/partial_sum.h"

#include "compiler/codegen/attention/online_softmax.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr uint32_t kQuadBytes = 4 * PartialSum::kQuad;

SmallVector<Value, 4> loadQuad(KernelBuilder &k, Value from) {
  Value vector = k.load(VectorType::get(PartialSum::kQuad, k.b.getF32Type()), from, kQuadBytes);
  SmallVector<Value, 4> values;
  for (uint32_t i = 0; i < PartialSum::kQuad; ++i)
    values.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, vector, k.number(i)));
  return values;
}

void storeVector(KernelBuilder &k, ValueRange values, Value to) {
  Value vector = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(int64_t(values.size()), k.b.getF32Type()));
  for (size_t i = 0; i < values.size(); ++i)
    vector = LLVM::InsertElementOp::create(k.b, k.loc, vector, values[i], k.number(i));
  k.store(vector, to, uint32_t(sizeof(float) * values.size()));
}

PartialSum combine(KernelBuilder &k, ArrayRef<PartialSum> parts) {
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(k.b, k.loc, k.b.getF32FloatAttr(float(value)));
  };
  PartialSum sum{parts.front().largest, {}, SmallVector<Value, 4>(parts.front().values.size())};
  for (const PartialSum &part : parts.drop_front())
    sum.largest = arith::MaxNumFOp::create(k.b, k.loc, sum.largest, part.largest);
  // Where all keys are hidden, weights are 0: -inf is no reference.
  Value isHidden = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, sum.largest, constant(-INFINITY));
  Value reference = k.select(isHidden, constant(0), sum.largest);
  for (const PartialSum &part : parts) {
    Value factor = math::ExpOp::create(k.b, k.loc, arith::SubFOp::create(k.b, k.loc, part.largest, reference));
    auto add = [&](Value &total, Value value) {
      Value scaled = arith::MulFOp::create(k.b, k.loc, value, factor);
      total = total ? arith::AddFOp::create(k.b, k.loc, total, scaled).getResult() : scaled;
    };
    add(sum.weights, part.weights);
    for (auto [total, value] : llvm::zip_equal(sum.values, part.values))
      add(total, value);
  }
  return sum;
}

void storeResult(const AttentionKernel &kernel, const ProductKernel &output, TileSpace &result, Value row, Value column,
                 const PartialSum &sum, llvm::function_ref<Value(Value)> finish) {
  KernelBuilder &k = kernel.k;
  Bodies::Scope scope(kernel.bodies);
  kernel.bodies.setWidth(1);
  const Point point = result.resultAt(row, column);
  Value divisor = divisorOf(k, sum.weights, kernel.attention.hiddenIsZero);
  Value quotient = finish(arith::DivFOp::create(k.b, k.loc, sum.values.front(), divisor));
  const RowSum &total = output.product.sum;
  kernel.bodies.setRow(total, kernel.bodies.finish(total, point, 0, quotient));
  for (const KernelOp &op : kernel.kernel.ops)
    if (kernel.shape.group.isPerRow(op.op))
      kernel.bodies.storeRow(op, point);
  k.when(k.equal(column, k.number(0)), [&] { storeLogSum(kernel, result, row, sum.largest, sum.weights); });
}

} // namespace tenon::compiler::codegen
