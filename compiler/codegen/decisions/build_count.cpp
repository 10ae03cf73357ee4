// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/build_count.h"

#include "compiler/codegen/kernel/bodies/small_tensors.h"
#include "compiler/codegen/kernel/reciprocal.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class CountBuilder {
public:
  CountBuilder(Region &region, Location loc) : block_(region.front()), loc_(loc), b_(region.getContext()) {
    block_.clear();
    b_.setInsertionPointToEnd(&block_);
  }

  /// @param isConditional the last size says whether there are any
  void run(ArrayRef<GridFactor> grid, ArrayRef<Guard> guards, bool isConditional) {
    Value blocks = isConditional ? Value(block_.getArguments().back()) : number(1);
    blocks = times(blocks, grid);
    for (const Guard &guard : guards)
      blocks = guarded(guard, blocks);
    hal::ReturnOp::create(b_, loc_, ValueRange{blocks, number(1), number(1)});
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block_)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  Value number(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }

  Value product(ArrayRef<Extent> extents) {
    Value size = number(1);
    for (const Extent &extent : extents)
      size = b_.createOrFold<arith::MulIOp>(
          loc_, size, extent.value ? block_.getArgument(1 + *argumentOf(extent.value)) : number(extent.size));
    return size;
  }

  /// As many, times the pieces of each factor.
  Value times(Value blocks, ArrayRef<GridFactor> grid) {
    for (const GridFactor &factor : grid) {
      Value pieces = divided(product(factor.extents), factor.perBlock);
      if (factor.more != 0)
        pieces = b_.createOrFold<arith::AddIOp>(loc_, pieces, number(factor.more));
      blocks = b_.createOrFold<arith::MulIOp>(loc_, blocks, pieces);
    }
    return blocks;
  }

  Value divided(Value size, int64_t perBlock) {
    APInt known;
    if (matchPattern(size, m_ConstantInt(&known)))
      return number(int64_t(llvm::divideCeil(known.getZExtValue(), uint64_t(perBlock))));
    if (perBlock == 1)
      return size;
    AffineMap map = AffineMap::get(1, 0, b_.getAffineDimExpr(0).ceilDiv(perBlock));
    return affine::AffineApplyOp::create(b_, loc_, map, size);
  }

  /// No block where the guard says that another kernel runs.
  Value guarded(const Guard &guard, Value blocks) {
    if (!guard.unless.empty()) {
      Value others = blocks;
      for (const Guard &each : guard.unless)
        others = guarded(each, others);
      Value none = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, others, number(0));
      return arith::SelectOp::create(b_, loc_, none, blocks, number(0));
    }
    Value length = guard.tiles.empty() ? product(guard.length) : times(number(1), guard.tiles);
    auto chooseBy = [&](Value value, arith::CmpIPredicate predicate, int64_t limit, Value yes, Value no) -> Value {
      Value condition = arith::CmpIOp::create(b_, loc_, predicate, value, number(limit));
      return arith::SelectOp::create(b_, loc_, condition, yes, no);
    };
    auto choose = [&](arith::CmpIPredicate predicate, int64_t limit, Value yes, Value no) {
      return chooseBy(length, predicate, limit, yes, no);
    };
    auto rest = [&](int64_t divisor) -> Value { return arith::AndIOp::create(b_, loc_, length, number(divisor - 1)); };
    Value within = blocks;
    if (guard.most)
      within = choose(arith::CmpIPredicate::ule, *guard.most, within, number(0));
    within = choose(arith::CmpIPredicate::ugt, guard.above, within, number(0));
    for (auto [above, most] : guard.gaps)
      within =
          choose(arith::CmpIPredicate::ugt, above, choose(arith::CmpIPredicate::ugt, most, within, number(0)), within);
    if (guard.multipleOf > 1)
      within = chooseBy(rest(guard.multipleOf), arith::CmpIPredicate::eq, 0, within, number(0));
    if (guard.noMultipleOf)
      within = chooseBy(rest(*guard.noMultipleOf), arith::CmpIPredicate::ne, 0, within, number(0));
    return guard.orEmpty ? choose(arith::CmpIPredicate::eq, 0, blocks, within) : within;
  }

  Block &block_;
  Location loc_;
  OpBuilder b_;
};

/// The same dispatch with more scalars.
flow::DispatchOp withScalars(flow::DispatchOp before, ValueRange scalars) {
  OpBuilder b(before);
  SmallVector<Value> arguments = llvm::to_vector(before.getArguments());
  arguments.insert(arguments.begin() + ownArguments(before), scalars.begin(), scalars.end());
  SmallVector<int64_t> tied(before.getTiedOperands().value_or(ArrayRef<int64_t>()));
  for (int64_t &argument : tied)
    argument += argument < 0 ? 0 : int64_t(scalars.size());
  auto after =
      flow::DispatchOp::create(b, before.getLoc(), before.entryPoint(), before.getWorkload(), before.getResultTypes(),
                               before.getResultDims(), arguments, before.getArgumentDims(), tied);
  after->setDiscardableAttrs(before->getDiscardableAttrDictionary());
  before->replaceAllUsesWith(after.getResults());
  before.erase();
  return after;
}

/// Sizes that positions are divided by: all but the outermost ones, of what is parallel and of what is reduced; and
/// what lies behind the part of an axis that some tensor has.
SmallVector<ArrayRef<Extent>> divisorsOf(const GroupShape &shape) {
  SmallVector<ArrayRef<Extent>> divisors;
  for (ArrayRef<SpaceAxis> axes : {shape.parallelAxes(), shape.reducedAxes()})
    for (const SpaceAxis &axis : axes.empty() ? axes : axes.drop_front())
      if (!axis.size)
        divisors.push_back(axis.extents);
  for (const SpaceAxis &axis : shape.axes)
    for (unsigned prefix : axis.prefixes)
      divisors.push_back(axis.behind(prefix));
  return divisors;
}

} // namespace

size_t ownArguments(flow::DispatchOp dispatch) {
  size_t own = dispatch.getArguments().size();
  while (own != 0 && dispatch.isTied(unsigned(own - 1)))
    --own;
  return own;
}

void buildCount(hal::ExecutableExportOp exported, func::FuncOp function, ArrayRef<GridFactor> grid,
                ArrayRef<Guard> guards) {
  CountBuilder(exported.getWorkgroupCount(), exported.getLoc())
      .run(grid, guards, function->hasAttr(dispatch::kConditionalAttr));
}

void addReciprocals(hal::ExecutableExportOp exported, const KernelFunction &kernel, const GroupShape &shape,
                    bool asksForSmall, MutableArrayRef<flow::DispatchOp> dispatches) {
  func::FuncOp function = kernel.function;
  Builder b(function.getContext());
  llvm::SmallSetVector<Attribute, 4> keys;
  for (ArrayRef<Extent> extents : divisorsOf(shape))
    if (DenseI64ArrayAttr key = reciprocalKey(b, extents))
      keys.insert(key);
  if (asksForSmall)
    if (std::optional<SmallVector<DenseI64ArrayAttr>> all = elementKeys(b, kernel, shape))
      keys.insert(all->begin(), all->end());
  if (keys.empty())
    return;
  for (Attribute key : keys)
    (void)function.insertArgument(function.getNumArguments(), b.getI64Type(),
                                  b.getDictionaryAttr(b.getNamedAttr(kReciprocalAttr, key)), function.getLoc());
  auto layout = exported.getLayout();
  SmallVector<Type> constants(layout.getConstantTypes());
  constants.append(keys.size(), b.getI64Type());
  exported.setLayoutAttr(hal::PipelineLayoutAttr::get(b.getContext(), constants.size(), constants, layout.getBindings(),
                                                      /*indirect=*/false, {}));
  for (flow::DispatchOp &dispatch : dispatches) {
    OpBuilder host(dispatch);
    const Location loc = dispatch.getLoc();
    SmallVector<Value> scalars;
    for (Attribute key : keys) {
      ArrayRef<int64_t> factors = cast<DenseI64ArrayAttr>(key).asArrayRef();
      Value size = arith::ConstantIndexOp::create(host, loc, factors.front());
      for (int64_t argument : factors.drop_front())
        size = host.createOrFold<arith::MulIOp>(loc, size, dispatch.getWorkload()[argument]);
      scalars.push_back(reciprocalOf(host, loc, size));
    }
    dispatch = withScalars(dispatch, scalars);
  }
}

} // namespace tenon::compiler::codegen
