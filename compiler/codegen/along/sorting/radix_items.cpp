// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_items.h"

#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

using namespace mlir;

namespace tenon::compiler::codegen {

RadixCargo RadixCargo::of(const KernelFunction &kernel, unsigned key, Type position) {
  SmallVector<unsigned> others;
  for (auto [which, output] : llvm::enumerate(kernel.along.outputs))
    if (output.isStored && which != key)
      others.push_back(unsigned(which));
  if (others.empty())
    return {};
  if (others.size() > 1)
    return {std::nullopt, position};
  return {others.front(), kernel.along.outputs[others.front()].tensor.element};
}

RadixItems::RadixItems(AlongWriter &w)
    : key(*Comparison::of(w.kernel.along.op->getRegion(0).front())),
      position(w.k.b.getIntegerType(unsigned(w.choice("position")))),
      cargo(RadixCargo::of(w.kernel, key.operand(), position)),
      lines(w, LineShape(w.kernel.along.outputs[0].tensor, cast<linalg_ext::SortOp>(w.kernel.along.op).getDimension())),
      w_(w), k_(w.k), along_(w.kernel.along) {}

Value RadixItems::operand(unsigned which, Value line, Value place) {
  return w_.unsorted(which, lines.element(k_, line, place), place);
}

Value RadixItems::readKey(Value line, Value place) {
  return operand(key.operand(), line, place);
}

Value RadixItems::readCargo(Value line, Value place) {
  return cargo.operand ? operand(*cargo.operand, line, place) : toPosition(place);
}

void RadixItems::give(Value line, Value place, const RadixItem &item) {
  Value at = lines.element(k_, line, place);
  for (auto [which, output] : llvm::enumerate(along_.outputs)) {
    if (!output.isStored)
      continue;
    w_.store(output.tensor, at,
             which == key.operand()   ? item.key
             : cargo.operand == which ? item.cargo
                                      : operand(unsigned(which), line, toNumber(item.cargo)));
  }
}

Value RadixItems::toPosition(Value number) {
  return number.getType() == position ? number : k_.b.createOrFold<arith::TruncIOp>(k_.loc, position, number);
}

Value RadixItems::toNumber(Value place) {
  Type i64 = k_.b.getI64Type();
  return place.getType() == i64 ? place : k_.b.createOrFold<arith::ExtUIOp>(k_.loc, i64, place);
}

SharedItems::SharedItems(KernelBuilder &k, const RadixItems &items, uint64_t capacity)
    : k_(k), key_(items.key.type()), cargo_(items.cargo.type), keys_(k.shared(storedType(key_), capacity)) {
  if (cargo_)
    cargoes_ = k.shared(storedType(cargo_), capacity);
}

void SharedItems::storeKey(Value place, Value key) {
  storeShared(k_, key, k_.at(keys_, storedType(key_), place));
}

void SharedItems::storeCargo(Value place, Value cargo) {
  storeShared(k_, cargo, k_.at(cargoes_, storedType(cargo_), place));
}

RadixItem SharedItems::load(Value place) {
  RadixItem item;
  item.key = loadShared(k_, key_, k_.at(keys_, storedType(key_), place));
  if (cargo_)
    item.cargo = loadShared(k_, cargo_, k_.at(cargoes_, storedType(cargo_), place));
  return item;
}

} // namespace tenon::compiler::codegen
