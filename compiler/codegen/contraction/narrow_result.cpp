// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/narrow_result.h"

#include "compiler/codegen/contraction/result_ops.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarpRows = 16, kLanes = 32, kThreads = 128;
constexpr uint32_t kVector = 8; // columns of 16 bytes
constexpr unsigned kNarrowBits = 16;
constexpr uint32_t kMostLoaded = 16; // words that a thread keeps beside its sums
constexpr uint32_t kLineBytes = NarrowResult::kColumns * 2;

/// Whether the operation reads elements that differ along rows and columns: there are as many as results.
bool readsMatrix(const GroupShape &shape, const KernelOp &op, const Product &product) {
  auto differsAlong = [&](const KernelTensor &tensor, ArrayRef<unsigned> axes) {
    return llvm::any_of(axes,
                        [&](unsigned axis) { return shape.along(tensor, op.op, axis) != GroupShape::Along::Same; });
  };
  auto isMatrix = [&](const KernelTensor &tensor) {
    return differsAlong(tensor, product.rows) && differsAlong(tensor, product.columns);
  };
  return llvm::any_of(op.inputs, [&](const KernelInput &each) { return each.isMemory() && isMatrix(each.tensor); }) ||
         llvm::any_of(op.outputs,
                      [&](const KernelOutput &each) { return each.startTensor && isMatrix(*each.startTensor); });
}

struct NarrowOutput {
  const KernelOp *op;
  unsigned number;
  bool isTurned; // neighbours in memory are results of neighbouring rows
  const KernelTensor &tensor() const { return op->outputs[number].tensor; }
};

/// Whether what an operation reads beside the sums is the same for all columns.
bool isSameForColumns(const GroupShape &shape, const KernelOp &op, const Product &product) {
  return llvm::all_of(op.inputs, [&](const KernelInput &each) {
    return !each.isMemory() || shape.along(each.tensor, op.op, product.columns.back()) == GroupShape::Along::Same;
  });
}

/// The matrix whose rows are the columns of this one.
Product turned(const Product &product) {
  Product exchanged = product;
  exchanged.exchangeSides();
  return exchanged;
}

std::optional<NarrowOutput> outputOf(const KernelFunction &kernel, const GroupShape &shape, const Product &product) {
  // Of a left side from registers, the rows that lanes have are others (Product::isReadAcross).
  if (product.columns.empty() || product.isReadAcross(product.left))
    return std::nullopt;
  const bool mayBeTurned = product.rows.size() == 1 && product.columns.size() == 1 && !product.routes &&
                           !hasTwoResults(shape) && !shape.group.logSum && !shape.group.across;
  std::optional<NarrowOutput> found;
  for (const KernelOp &op : kernel.ops) {
    if (op.op == shape.group.logSum || op.op == shape.group.across) // stored row by row, or block by block
      continue;
    if (hasTwoResults(shape) && shape.group.isPerRow(op.op) && !isOfResult(kernel, shape, product, op))
      continue; // of a twin
    if (&op == product.op ? op.outputs.front().startTensor.has_value() : readsMatrix(shape, op, product))
      return std::nullopt;
    for (auto [number, output] : llvm::enumerate(op.outputs)) {
      if (!output.isStored)
        continue;
      auto isAdjacent = [&](ArrayRef<unsigned> axes) {
        return shape.along(output.tensor, op.op, axes.back()) == GroupShape::Along::Adjacent;
      };
      const bool isTurned = mayBeTurned && isAdjacent(product.rows);
      const bool fits =
          !found && isa<Float16Type, BFloat16Type>(output.tensor.element) && (isTurned || isAdjacent(product.columns));
      if (!fits)
        return std::nullopt;
      found = NarrowOutput{&op, unsigned(number), isTurned};
    }
  }
  if (found && found->isTurned)
    for (const KernelOp &op : kernel.ops)
      if (&op != product.op && !isSameForColumns(shape, op, product))
        return std::nullopt;
  return found;
}

} // namespace

NarrowResult::NarrowResult(const ProductKernel &kernel, const KernelOp &op, unsigned output, bool isTurned)
    : kernel_(&kernel), op_(&op), output_(output), isTurned_(isTurned) {
  const GroupShape &shape = kernel.shape;
  for (const KernelOp &each : kernel.kernel.ops)
    for (const KernelInput &input : each.inputs) {
      if (&each == kernel.product.op || !input.isMemory() || !input.tensor.element.isIntOrFloat() ||
          input.tensor.element.getIntOrFloatBitWidth() != kNarrowBits)
        continue;
      auto isSame = [&](unsigned axis) { return shape.along(input.tensor, each.op, axis) == GroupShape::Along::Same; };
      if (llvm::all_of(kernel.product.rows, isSame) &&
          shape.along(input.tensor, each.op, kernel.product.columns.back()) == GroupShape::Along::Adjacent)
        alongColumns_.push_back({&each, &input.tensor});
    }
}

std::optional<NarrowResult> NarrowResult::of(const ProductKernel &kernel) {
  const std::optional<NarrowOutput> output = outputOf(kernel.kernel, kernel.shape, kernel.product);
  return output ? std::optional(NarrowResult(kernel, *output->op, output->number, output->isTurned)) : std::nullopt;
}

std::optional<TileMap> NarrowResult::mapOf(const KernelFunction &kernel, const GroupShape &shape,
                                           const Product &product) {
  const std::optional<NarrowOutput> output = outputOf(kernel, shape, product);
  return output ? resultMapOf(shape, output->isTurned ? turned(product) : product, *output->op, output->tensor(),
                              kWarpRows, kColumns)
                : std::nullopt;
}

Value NarrowResult::isAligned() {
  KernelBuilder &k = kernel_->k;
  const unsigned axis = adjacentAxis();
  kernel_->space.vectorAxis = axis;
  Value isWhole = k.equal(k.rem(kernel_->space.size(axis), k.number(kVector)), k.number(0));
  return k.both(k.both(isWhole, kernel_->bodies.areBasesAligned(2)), kernel_->bodies.isAligned(tensor(), 16));
}

SmallVector<Value> NarrowResult::load(TileSpace &space, Value firstColumn, uint32_t columns, Value isNarrow) {
  SmallVector<Value> loaded;
  if (alongColumns_.empty())
    return loaded;
  KernelBuilder &k = kernel_->k;
  Bodies::Scope scope(kernel_->bodies);
  kernel_->space.vectorAxis = kernel_->product.columns.back();
  Type word = k.b.getI32Type();
  Value loads = arith::ExtUIOp::create(k.b, k.loc, word, isNarrow);
  Value column = k.add(k.add(space.firstColumn(), firstColumn), columnOfLane());
  const uint32_t most = std::min<uint32_t>(eighthsOf(columns), kMostLoaded / uint32_t(alongColumns_.size()));
  for (uint32_t eighth = 0; eighth < most; ++eighth)
    for (const AlongColumns &each : alongColumns_) {
      Value at = kernel_->bodies.address(*each.op, *each.tensor,
                                         space.resultNear(space.firstRow(), k.add(column, k.number(8 * eighth)), 2));
      // Volatile, so that it stays in front of the products.
      loaded.push_back(LLVM::InlineAsmOp::create(
                           k.b, k.loc, word, ValueRange{at, loads},
                           "{\n.reg .pred loads;\nsetp.ne.b32 loads, $2, 0;\nmov.b32 $0, 0;\n"
                           "@loads ld.global.nc.b32 $0, [$1];\n}",
                           "=&r,l,r", /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                           LLVM::AsmDialectAttr::get(k.b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
                           .getResult(0));
    }
  return loaded;
}

unsigned NarrowResult::adjacentAxis() const {
  return (isTurned_ ? kernel_->product.rows : kernel_->product.columns).back();
}

/// Of a part of so many columns, how many eights there are results of: a matrix that is narrower than a tile has one
/// tile of columns, and what is behind it is no result.
uint32_t NarrowResult::eighthsOf(uint32_t columns) const {
  const std::optional<int64_t> known = kernel_->shape.sizeOf(kernel_->product.columns);
  if (!known || *known > columns || columns != kernel_->columns)
    return columns / 8;
  return uint32_t(llvm::divideCeil(*known, 8));
}

/// Of each eight columns, the first of the two whose sums a lane has.
Value NarrowResult::columnOfLane() {
  KernelBuilder &k = kernel_->k;
  return k.mul(k.rem(k.thread(), k.number(4)), k.number(2));
}

/// The same of one result.
Value NarrowResult::value(TileSpace &space, Value row, Value column, Value total) {
  Bodies &bodies = kernel_->bodies;
  Bodies::Scope scope(bodies);
  bodies.setWidth(1);
  const Point point = space.resultNear(row, column, 1);
  const RowSum &sum = kernel_->product.sum;
  bodies.setRow(sum, {bodies.finish(sum, point, 0, total)});
  return bodies.rowValues(*op_, output_, point).front();
}

Value NarrowResult::pair(TileSpace &space, Value row, Value column, ArrayRef<Value> sums, ArrayRef<Value> loaded) {
  KernelBuilder &k = kernel_->k;
  Bodies &bodies = kernel_->bodies;
  if (isTurned_) {
    Value both = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(2, tensor().element));
    for (uint32_t lane = 0; lane < 2; ++lane)
      both = LLVM::InsertElementOp::create(
          k.b, k.loc, both, value(space, row, k.add(column, k.number(lane)), sums[lane]), k.number(lane));
    return LLVM::BitcastOp::create(k.b, k.loc, k.b.getI32Type(), both);
  }
  Bodies::Scope scope(bodies);
  bodies.setWidth(2);
  for (size_t number = 0; number < loaded.size(); ++number) {
    const auto [op, tensor] = alongColumns_[number];
    Value both = LLVM::BitcastOp::create(k.b, k.loc, VectorType::get(2, tensor->element), loaded[number]);
    const SmallVector<Value> lanes = {LLVM::ExtractElementOp::create(k.b, k.loc, both, k.number(0)),
                                      LLVM::ExtractElementOp::create(k.b, k.loc, both, k.number(1))};
    bodies.stage(*op, *tensor, [lanes](const Point &) { return lanes; });
  }
  // What lies outside is not stored, but what it is computed from is read.
  const Point point = space.resultNear(row, column, 2);
  const RowSum &sum = kernel_->product.sum;
  SmallVector<Value> totals(sums);
  for (auto [lane, total] : llvm::enumerate(totals))
    total = bodies.finish(sum, point, lane, total);
  bodies.setRow(sum, totals);
  const SmallVector<Value> values = bodies.rowValues(*op_, output_, point);
  if (!loaded.empty())
    bodies.unstage();
  Value both = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(2, tensor().element));
  for (auto [lane, value] : llvm::enumerate(values))
    both = LLVM::InsertElementOp::create(k.b, k.loc, both, value, k.number(lane));
  return LLVM::BitcastOp::create(k.b, k.loc, k.b.getI32Type(), both);
}

void NarrowResult::store(TileSpace &space, Value from, Value row, Value column) {
  KernelBuilder &k = kernel_->k;
  k.when(space.isResult(row, column), [&] {
    Bodies::Scope scope(kernel_->bodies);
    kernel_->bodies.setWidth(kVector);
    Value vector = k.load(VectorType::get(4, k.b.getI32Type()), from, 16);
    k.store(vector, kernel_->bodies.address(*op_, tensor(), space.resultAt(row, column)), 16);
  });
}

/// By one lane, for its warp. What lies outside of the result is not written.
void NarrowResult::storeBox(TileSpace &space, Value tensorMap, Value from, Value row, Value column) {
  KernelBuilder &k = kernel_->k;
  const std::optional<TileMap> map = mapOf(kernel_->kernel, kernel_->shape, kernel_->product);
  codegen::storeBox(k, tensorMap, map->beginAt(k, space.resultAt(row, column)), from);
}

/// Of a thread's own boxes, all but the last so many have left shared memory.
void NarrowResult::waitForBoxes(unsigned pending) {
  kernel_->k.assembly("cp.async.bulk.wait_group.read " + std::to_string(pending) + ";", {}, "");
}

void NarrowResult::finish() {
  waitForBoxes(0);
}

void NarrowResult::write(TileSpace &space, Value firstRow, Value firstColumn, Value arena, ArrayRef<Value> sums,
                         ArrayRef<Value> loaded, Value tensorMap) {
  if (isTurned_)
    return writeTurned(space, firstRow, firstColumn, arena, sums, tensorMap);
  KernelBuilder &k = kernel_->k;
  kernel_->space.vectorAxis = kernel_->product.columns.back();
  MLIRContext *context = k.b.getContext();
  Value lane = k.rem(k.thread(), k.number(kLanes)), warp = k.div(k.thread(), k.number(kLanes));
  Value warpRow = k.mul(warp, k.number(kWarpRows)), top = k.add(k.add(space.firstRow(), firstRow), warpRow);
  Value row = k.add(top, k.div(lane, k.number(4)));
  Value left = k.add(space.firstColumn(), firstColumn);
  Value column = k.add(left, columnOfLane());
  const size_t ofEighth = alongColumns_.size();
  auto loadedOf = [&](uint32_t eighth) {
    return (eighth + 1) * ofEighth <= loaded.size() ? loaded.slice(eighth * ofEighth, ofEighth) : ArrayRef<Value>();
  };
  auto at = [&](Value half, Value line, Value vector) {
    Value turned = k.exclusiveOr(vector, k.rem(line, k.number(8))); // lines meet different banks
    Value bytes = k.add(k.mul(line, k.number(kLineBytes)), k.mul(turned, k.number(16)));
    return k.at(half, k.b.getI8Type(), bytes);
  };
  arena = k.at(arena, k.b.getI8Type(), k.mul(warpRow, k.number(kLineBytes)));
  const uint32_t columns = uint32_t(sums.size()) * kThreads / kRows, eighths = eighthsOf(columns);
  // Of boxes that fill one half after the other, the last may still be on its way.
  const unsigned pending = columns % (2 * kColumns) == 0 ? 1 : 0;
  for (uint32_t first = 0; first < columns; first += kColumns) {
    // Two halves: one is filled while lanes may still read the other.
    Value half = k.at(arena, k.b.getI8Type(), k.number(first / kColumns % 2 * (bytes() / 2)));
    const uint32_t width = std::min(kColumns, columns - first); // a multiple of 8
    // A box is as wide as a half: what is narrower is stored by lanes.
    const bool isBox = tensorMap && width == kColumns;
    Value isFirstLane = k.equal(lane, k.number(0));
    if (isBox) {
      k.when(isFirstLane, [&] { waitForBoxes(pending); });
      k.syncWarp();
    }
    for (uint32_t group = 0; group < width / 8; group += 2) {
      SmallVector<Value> pairs;
      const uint32_t matrices = 2 * std::min(2u, width / 8 - group);
      for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
        const uint32_t eighth = first / 8 + group + matrix / 2;
        if (eighth >= eighths) { // goes nowhere
          pairs.push_back(k.word(k.number(0)));
          continue;
        }
        pairs.push_back(pair(space, k.add(row, k.number(8 * (matrix % 2))), k.add(column, k.number(8 * eighth)),
                             sums.slice(4 * eighth + 2 * (matrix % 2), 2), loadedOf(eighth)));
      }
      // Lane l tells where row l % 8 of matrix l / 8 goes: rows below each other, then the next eight columns.
      Value to = at(half, k.rem(lane, k.number(16)), k.add(k.div(lane, k.number(16)), k.number(group)));
      NVVM::StMatrixOp::create(k.b, k.loc, to, pairs, NVVM::MMALayout::row,
                               NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
    }
    if (isBox) {
      // The copy looks at shared memory in another way than threads.
      k.assembly("fence.proxy.async.shared::cta;", {}, "");
      k.syncWarp();
      Value boxColumn = k.add(left, k.number(first));
      k.when(isFirstLane, [&] {
        k.when(space.isOwn(top, boxColumn), [&] { storeBox(space, tensorMap, half, top, boxColumn); });
        k.assembly("cp.async.bulk.commit_group;", {}, ""); // of no box, too: they are counted
      });
      continue;
    }
    k.syncWarp();
    for (uint32_t line = 0; line < kWarpRows; line += kLanes / 8) {
      Value inWarp = k.add(k.div(lane, k.number(8)), k.number(line)), vector = k.rem(lane, k.number(8));
      auto storeVector = [&] {
        store(space, at(half, inWarp, vector), k.add(top, inWarp),
              k.add(k.add(left, k.number(first)), k.mul(vector, k.number(kVector))));
      };
      width == kColumns ? storeVector() : k.when(k.less(vector, k.number(width / kVector)), storeVector);
    }
    k.syncWarp();
  }
}

/// Lines of shared memory are columns then, of the 64 rows that all warps have together, so that what is stored of each
/// is 128 bytes: warps wait for each other.
void NarrowResult::writeTurned(TileSpace &space, Value firstRow, Value firstColumn, Value arena, ArrayRef<Value> sums,
                               Value tensorMap) {
  KernelBuilder &k = kernel_->k;
  kernel_->space.vectorAxis = adjacentAxis();
  Value lane = k.rem(k.thread(), k.number(kLanes)), warp = k.div(k.thread(), k.number(kLanes));
  Value top = k.add(space.firstRow(), firstRow), left = k.add(space.firstColumn(), firstColumn);
  Value row = k.add(k.add(top, k.mul(warp, k.number(kWarpRows))), k.div(lane, k.number(4)));
  Value column = k.add(left, columnOfLane());
  auto at = [&](Value half, Value line, Value vector) {
    Value exchanged = k.exclusiveOr(vector, k.rem(line, k.number(8)));
    return k.at(half, k.b.getI8Type(), k.add(k.mul(line, k.number(kLineBytes)), k.mul(exchanged, k.number(16))));
  };
  constexpr uint32_t kBoxColumns = kWarpRows; // of each warp
  const uint32_t columns = uint32_t(sums.size()) * kThreads / kRows, eighths = eighthsOf(columns),
                 halves = uint32_t(llvm::divideCeil(columns, kColumns));
  const bool areBoxes = tensorMap && columns % kBoxColumns == 0;
  Value isFirstLane = k.equal(lane, k.number(0));
  for (uint32_t first = 0; first < columns; first += kColumns) {
    Value half = k.at(arena, k.b.getI8Type(), k.number(first / kColumns % 2 * (bytes() / 2)));
    const uint32_t width = std::min(kColumns, columns - first); // a multiple of 8
    // The half that was filled before this one may be on its way, unless it is the same one.
    if (areBoxes)
      k.when(isFirstLane, [&] { waitForBoxes(first == 0 && halves % 2 != 0 ? 0 : 1); });
    k.barrier();
    for (uint32_t group = 0; group < width / 8; group += 2) {
      SmallVector<Value> pairs;
      const uint32_t matrices = 2 * std::min(2u, width / 8 - group);
      for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
        const uint32_t eighth = first / 8 + group + matrix / 2;
        pairs.push_back(eighth >= eighths // goes nowhere
                            ? k.word(k.number(0))
                            : pair(space, k.add(row, k.number(8 * (matrix % 2))), k.add(column, k.number(8 * eighth)),
                                   sums.slice(4 * eighth + 2 * (matrix % 2), 2), {}));
      }
      // Lane l tells where column l % 8 of matrix l / 8 goes: rows below each other, then the next eight columns.
      Value matrix = k.div(lane, k.number(8));
      Value line = k.add(k.mul(k.div(matrix, k.number(2)), k.number(8)), k.rem(lane, k.number(8)));
      Value to =
          at(half, k.add(line, k.number(8 * group)), k.add(k.mul(warp, k.number(2)), k.rem(matrix, k.number(2))));
      NVVM::StMatrixOp::create(k.b, k.loc, to, pairs, NVVM::MMALayout::col,
                               NVVM::LdStMatrixShapeAttr::get(k.b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    }
    if (areBoxes)
      k.assembly("fence.proxy.async.shared::cta;", {}, "");
    k.barrier();
    if (areBoxes) {
      Value behind = k.mul(warp, k.number(kBoxColumns)), boxColumn = k.add(left, k.add(behind, k.number(first)));
      Value from = k.at(half, k.b.getI8Type(), k.mul(behind, k.number(kLineBytes)));
      k.when(isFirstLane, [&] {
        k.when(k.less(behind, k.number(width)), [&] { storeBox(space, tensorMap, from, top, boxColumn); });
        k.assembly("cp.async.bulk.commit_group;", {}, ""); // of no box, too: they are counted
      });
      continue;
    }
    k.loop(k.div(k.thread(), k.number(8)), k.number(width), k.number(kThreads / 8), {}, [&](Value line, ValueRange) {
      Bodies::Scope scope(kernel_->bodies);
      Value vector = k.rem(lane, k.number(8));
      store(space, at(half, line, vector), k.add(top, k.mul(vector, k.number(kVector))),
            k.add(left, k.add(line, k.number(first))));
      return SmallVector<Value>();
    });
  }
}

} // namespace tenon::compiler::codegen
