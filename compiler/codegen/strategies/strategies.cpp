// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/attention.h"
#include "compiler/codegen/strategies/columns.h"
#include "compiler/codegen/strategies/contraction.h"
#include "compiler/codegen/strategies/elementwise.h"
#include "compiler/codegen/strategies/grouped.h"
#include "compiler/codegen/strategies/rows.h"
#include "compiler/codegen/strategies/skinny.h"
#include "compiler/codegen/strategies/strategy.h"
#include "compiler/codegen/strategies/transpose.h"
#include "compiler/codegen/strategies/windows.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {

ArrayRef<const Strategy *> strategies() {
  static const AttentionStrategy attention;
  static const Skinny skinny;
  static const Grouped grouped;
  static const Contraction contraction;
  static const Transpose transpose;
  static const Elementwise elementwise;
  static const Rows rows;
  static const Columns columns;
  static const Windows windows;
  static const Strategy *const all[] = {&attention,   &skinny,  &grouped, &contraction, &transpose,
                                        &elementwise, &columns, &rows,    &windows};
  return all;
}

const Strategy *strategyNamed(StringRef name) {
  for (const Strategy *strategy : strategies())
    if (strategy->name() == name)
      return strategy;
  return nullptr;
}

DictionaryAttr Plan::attribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries = {b.getNamedAttr("name", b.getStringAttr(strategy)),
                                         b.getNamedAttr("threads", b.getI64IntegerAttr(threads))};
  for (auto [name, value] : choices)
    entries.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  return b.getDictionaryAttr(entries);
}

int64_t Plan::choice(StringRef name) const {
  for (auto [each, value] : choices)
    if (each == name)
      return value;
  return 0;
}

int64_t Writer::choice(StringRef name) const {
  return kernel.strategy.getAs<IntegerAttr>(name).getInt();
}

namespace {

/// Calls `visit` for every tensor in memory that has an element for each of the group's, or for each row.
void eachTensor(const KernelFunction &kernel,
                llvm::function_ref<void(const KernelOp &, const KernelTensor &, bool)> visit) {
  for (const KernelOp &op : kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        visit(op, input.tensor, false);
    for (const KernelOutput &output : op.outputs)
      if (output.isStored)
        visit(op, output.tensor, true);
  }
}

} // namespace

uint32_t fullInputs(const KernelFunction &kernel, const GroupShape &shape) {
  llvm::SmallDenseSet<uint32_t> seen;
  eachTensor(kernel, [&](const KernelOp &op, const KernelTensor &tensor, bool isResult) {
    if (!isResult && shape.group.coversAllAxes(op.op) &&
        tensor.map.getNumResults() == linalg::GenericOp(op.op).getNumLoops())
      seen.insert(tensor.binding);
  });
  return seen.size();
}

uint32_t workOf(const KernelFunction &kernel) {
  constexpr uint32_t kLibraryCallWork = 16;
  // Places are mostly computed once for all lanes.
  auto isPlace = [](Operation &inner) {
    return llvm::any_of(inner.getResultTypes(), [](Type type) { return type.isIndex(); });
  };
  uint32_t work = 0;
  for (const KernelOp &op : kernel.ops)
    for (Operation &inner : linalg::GenericOp(op.op).getBody()->without_terminator())
      if (!isPlace(inner))
        work += isa<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(inner)
                    ? kLibraryCallWork
                    : 1;
  return work;
}

bool hasCombiners(const KernelFunction &kernel, const GroupShape &shape) {
  return shape.group.hasReduction() && llvm::all_of(kernel.ops, [](const KernelOp &op) {
           return linalg::GenericOp(op.op).getNumReductionLoops() == 0 || dispatch::isTreeReduction(op.op);
         });
}

bool readsAgain(const KernelFunction &kernel, const GroupShape &shape) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    linalg::GenericOp generic = op.op;
    if (!shape.group.coversAllAxes(generic) && generic.getNumReductionLoops() == 0)
      return false;
    return llvm::any_of(generic->getOperands(), [&](Value operand) { return shape.group.knowsReduction(operand); });
  });
}

bool storesElements(const KernelFunction &kernel, const GroupShape &shape) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    return linalg::GenericOp(op.op).getNumReductionLoops() == 0 && shape.group.coversAllAxes(op.op) &&
           llvm::any_of(op.outputs, [](const KernelOutput &output) { return output.isStored; });
  });
}

SmallVector<Extent> extentsOf(ArrayRef<SpaceAxis> axes) {
  SmallVector<Extent> extents;
  for (const SpaceAxis &axis : axes)
    llvm::append_range(extents, axis.extents);
  return extents;
}

} // namespace tenon::compiler::codegen
