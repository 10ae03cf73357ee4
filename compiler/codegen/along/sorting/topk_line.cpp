// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk_line.h"

using namespace mlir;

namespace tenon::compiler::codegen {

TopkLine::TopkLine(AlongWriter &w)
    : op(cast<linalg_ext::TopkOp>(w.kernel.along.op)), order(w, w.k.b.getIntegerType(unsigned(w.choice("position")))),
      source(w, LineShape(w.kernel.along.inputs[0], op.getDimension())),
      result(w, LineShape(w.kernel.along.outputs[0].tensor, op.getDimension())), w_(w), k_(w.k),
      along_(w.kernel.along) {}

Value TopkLine::toPosition(Value number) {
  return number.getType() == order.positionType()
             ? number
             : arith::TruncIOp::create(k_.b, k_.loc, order.positionType(), number).getResult();
}

Value TopkLine::toNumber(Value position) {
  Type i64 = k_.b.getI64Type();
  return position.getType() == i64 ? position : arith::ExtUIOp::create(k_.b, k_.loc, i64, position).getResult();
}

Entry TopkLine::startAt(Value place) {
  return {{w_.start(along_.outputs[0], result.element(k_, line, place))}, toPosition(place)};
}

Value TopkLine::indexOf(Value at) {
  Type type = along_.outputs[1].tensor.element;
  Value isStart = k_.less(at, result.length), place = k_.sub(at, result.length);
  return k_
      .choose(
          isStart, type, [&] { return SmallVector<Value>{w_.start(along_.outputs[1], result.element(k_, line, at))}; },
          [&] {
            if (along_.inputs.size() == 2)
              return SmallVector<Value>{w_.load(along_.inputs[1], source.element(k_, line, place))};
            return SmallVector<Value>{
                type == place.getType() ? place : arith::TruncIOp::create(k_.b, k_.loc, type, place).getResult()};
          })
      .front();
}

void TopkLine::give(Value place, const Entry &entry) {
  Value at = result.element(k_, line, place);
  if (along_.outputs[0].isStored)
    w_.store(along_.outputs[0].tensor, at, entry.keys[0]);
  if (along_.outputs.size() == 2 && along_.outputs[1].isStored)
    w_.store(along_.outputs[1].tensor, at, indexOf(toNumber(entry.position)));
}

} // namespace tenon::compiler::codegen
