// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/slice_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kPadding = 4; // elements behind each line
constexpr uint32_t kState = 2;   // numbers that a row has beside its columns

/// Rows that have a place: of groups that share keys all, with those that are not there.
uint32_t rowsOf(const FewQueriesShape &shape) {
  return shape.isShared() ? shape.blockRows() : FewQueriesShape::kEight * shape.eights();
}

uint32_t elementsOf(const FewQueriesShape &shape) {
  return shape.slices() * rowsOf(shape) * (shape.wholeColumns() + kPadding);
}

} // namespace

SliceSums::SliceSums(KernelBuilder &k, const FewQueriesShape &shape, Value lines)
    : k_(k), slices_(shape.slices()), rows_(rowsOf(shape)), columns_(shape.wholeColumns()),
      lines_(lines ? lines : k.shared(k.b.getF32Type(), elementsOf(shape))),
      states_(k.shared(k.b.getF32Type(), kState * slices_ * rows_)) {}

uint32_t SliceSums::bytes(const FewQueriesShape &shape) {
  return elementsOf(shape) * uint32_t(sizeof(float));
}

Value SliceSums::at(Value slice, Value row, Value column) {
  Value line = k_.add(k_.mul(slice, k_.number(rows_)), row);
  return k_.at(lines_, k_.b.getF32Type(), k_.add(k_.mul(line, k_.number(columns_ + kPadding)), column));
}

Value SliceSums::stateAt(Value slice, Value row, uint32_t number) {
  Value pair = k_.add(k_.mul(slice, k_.number(rows_)), row);
  return k_.at(states_, k_.b.getF32Type(), k_.add(k_.mul(pair, k_.number(kState)), k_.number(number)));
}

void SliceSums::storeState(Value slice, Value row, const PartialSum &sum) {
  k_.store(sum.largest, stateAt(slice, row, 0), 4);
  k_.store(sum.weights, stateAt(slice, row, 1), 4);
}

PartialSum SliceSums::sumOf(Value row, Value column) {
  auto read = [&](Value from) { return k_.load(k_.b.getF32Type(), from, 4); };
  SmallVector<PartialSum> each;
  for (uint32_t number = 0; number < slices_; ++number) {
    Value slice = k_.number(number);
    each.push_back({read(stateAt(slice, row, 0)), read(stateAt(slice, row, 1)), loadQuad(k_, at(slice, row, column))});
  }
  return combine(k_, each);
}

} // namespace tenon::compiler::codegen
