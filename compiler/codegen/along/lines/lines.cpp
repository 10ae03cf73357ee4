// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/lines/lines.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {

LineShape::LineShape(const KernelTensor &tensor, int64_t dimension)
    : outer(llvm::ArrayRef(tensor.shape).take_front(dimension)),
      inner(llvm::ArrayRef(tensor.shape).drop_front(dimension + 1)), length(tensor.shape[dimension]) {}

SmallVector<Extent> LineShape::lines() const {
  SmallVector<Extent> all(outer);
  llvm::append_range(all, inner);
  return all;
}

std::optional<int64_t> LineShape::knownLines() const {
  return knownProduct(lines());
}

std::optional<int64_t> LineShape::knownLength() const {
  return knownProduct(length);
}

bool LineShape::isAdjacent() const {
  return knownProduct(inner) == 1;
}

Lines::Lines(AlongWriter &w, const LineShape &shape) {
  auto product = [&](ArrayRef<Extent> extents) {
    Value size = w.k.number(1);
    for (const Extent &extent : extents)
      size = w.k.mul(size, w.arguments.sizeOf(w.k.b, w.k.loc, extent));
    return size;
  };
  inner = product(shape.inner);
  count = w.k.mul(product(shape.outer), inner);
  length = product(shape.length);
}

Value Lines::first(KernelBuilder &k, Value line) const {
  APInt known;
  if (matchPattern(inner, m_ConstantInt(&known)) && known.isOne())
    return k.mul(line, length);
  Value outer = k.div(line, inner);
  return k.add(k.mul(k.mul(outer, length), inner), k.rem(line, inner));
}

Value Lines::element(KernelBuilder &k, Value line, Value position) const {
  return k.add(first(k, line), k.mul(position, inner));
}

} // namespace tenon::compiler::codegen
