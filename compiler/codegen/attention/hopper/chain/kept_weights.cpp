// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/kept_weights.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A box has 64 keys of a warp's rows; those of four warps lie behind each other, and then those of the next 64 keys.
constexpr uint32_t kRows = kKeptRows, kKeys = kKeptKeys, kRowBytes = ChainBlock::kRowBytes;
constexpr uint32_t kBoxBytes = kRows * kRowBytes, kBoxesBytes = kGroupRows * kRowBytes;
constexpr uint32_t kLanes = 32, kChunkBytes = 16, kEight = 8, kPlaces = 2, kMapAlignment = 16;

} // namespace

KeptWeights::KeptWeights(ChainBlock &block)
    : block_(block), k_(block.k), lane_(k_.rem(block.thread, k_.number(kLanes))),
      warp_(k_.div(block.thread, k_.number(kLanes))) {
  if (!block.tensorMaps.empty())
    isFast_ = block.kernel.bodies.isAligned(block.kernel.attention.kept->outputs.front().tensor, kMapAlignment);
}

Value KeptWeights::firstRow() {
  return k_.add(block_.rows(), k_.mul(warp_, k_.number(kRows)));
}

/// Behind the last key of a head those of the next one begin.
Value KeptWeights::isKey(Value inHead) {
  return k_.less(inHead, block_.kernel.space.size(block_.kernel.attention.keys()));
}

/// Of the warp.
Value KeptWeights::placeOf(Value key) {
  Value turn = k_.rem(block_.numberOf(key), k_.number(kPlaces));
  Value number = k_.add(k_.mul(block_.group, k_.number(kPlaces)), turn);
  return k_.add(k_.add(k_.number(block_.exchange()), k_.mul(number, k_.number(block_.shape.keptBytes()))),
                k_.mul(warp_, k_.number(kBoxBytes)));
}

/// Swizzled. Lane l tells where row l % 8 of matrix l / 8 goes: rows below each other, then the next eight keys.
void KeptWeights::put(Value key, ArrayRef<Value> factors) {
  Value lane = k_.opaque(lane_); // addresses are computed anew for each block: they take few registers
  Value row = k_.rem(lane, k_.number(kRows)), chunk = k_.div(lane, k_.number(kRows));
  Value turn = k_.mul(k_.exclusiveOr(k_.rem(row, k_.number(kEight)), chunk), k_.number(kChunkBytes));
  Value base = k_.add(placeOf(key), k_.mul(row, k_.number(kRowBytes)));
  MLIRContext *context = k_.b.getContext();
  constexpr uint32_t kSteps = kKeys / 16;
  for (uint32_t step = 0; step < factors.size() / 4; ++step) {
    Value inRow = k_.exclusiveOr(turn, k_.number(int64_t(step % kSteps) * 2 * kChunkBytes));
    Value at = k_.add(k_.add(base, inRow), k_.number(int64_t(step / kSteps) * kBoxesBytes));
    NVVM::StMatrixOp::create(k_.b, k_.loc, block_.inArena(at), factors.slice(4 * step, 4), NVVM::MMALayout::row,
                             NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
  }
}

/// One lane. Rows and keys that are not there are left out by the map.
void KeptWeights::storeBoxes(Value place, Value key) {
  Value map = block_.tensorMaps[block_.shape.copies()];
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.rows(), k_.number(0));
  for (uint32_t box = 0; box < block_.shape.keys / kKeys; ++box) {
    Value inHead = k_.add(key, k_.number(int64_t(box) * kKeys));
    k_.when(isKey(inHead), [&] {
      const Point point = space.resultAt(firstRow(), block_.inAllHeads(inHead));
      const SmallVector<Value> begin = block_.shape.keptMap->beginAt(k_, point);
      storeBox(k_, map, begin, block_.inArena(k_.add(place, k_.number(int64_t(box) * kBoxesBytes))));
    });
  }
  k_.assembly("cp.async.bulk.commit_group;", {}, "");
}

/// All lanes of the warp, where copies cannot.
void KeptWeights::storeElements(Value place, Value key) {
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.rows(), k_.number(0));
  const KernelOp &op = *block_.kernel.attention.kept;
  const KernelTensor &kept = op.outputs.front().tensor;
  const uint32_t bytes = dispatch::elementBytes(kept.element);
  Value keys = k_.number(block_.shape.keys), ofBox = k_.number(kKeys);
  k_.loop(k_.opaque(lane_), k_.number(int64_t(kRows) * block_.shape.keys), k_.number(kLanes), {},
          [&](Value number, ValueRange) {
            Bodies::Scope scope(block_.kernel.bodies);
            Value inRow = k_.rem(number, keys), down = k_.div(number, keys);
            Value row = k_.add(firstRow(), down), inHead = k_.add(key, inRow), at = block_.inAllHeads(inHead);
            k_.when(k_.both(k_.less(row, space.rows()), isKey(inHead)), [&] {
              Value inBox = k_.exclusiveOr(k_.mul(k_.rem(inRow, ofBox), k_.number(bytes)),
                                           k_.mul(k_.rem(down, k_.number(kEight)), k_.number(kChunkBytes)));
              Value from = k_.add(k_.add(place, k_.mul(k_.div(inRow, ofBox), k_.number(kBoxesBytes))),
                                  k_.add(k_.mul(down, k_.number(kRowBytes)), inBox));
              Value weight = k_.load(kept.element, block_.inArena(from), bytes);
              k_.store(weight, block_.kernel.bodies.address(op, kept, space.resultAt(row, at)), bytes);
            });
            return SmallVector<Value>();
          });
}

/// By the lane that asked for them: they have left shared memory.
void KeptWeights::awaitBoxes() {
  k_.when(k_.equal(lane_, k_.number(0)), [&] { k_.assembly("cp.async.bulk.wait_group.read 0;", {}, ""); });
}

void KeptWeights::store(Value key) {
  Bodies::Scope scope(block_.kernel.bodies);
  Value place = placeOf(key);
  block_.core.publish();
  awaitBoxes();
  k_.syncWarp();
  auto byLanes = [&] { storeElements(place, key); };
  if (!isFast_)
    return byLanes();
  k_.branch(isFast_, [&] { k_.when(k_.equal(lane_, k_.number(0)), [&] { storeBoxes(place, key); }); }, byLanes);
}

void KeptWeights::finish() {
  awaitBoxes();
  block_.meetConsumers(); // results are written through the same memory
}

} // namespace tenon::compiler::codegen
