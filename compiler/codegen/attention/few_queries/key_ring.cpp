// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/key_ring.h"

#include "compiler/codegen/attention/few_queries/slice_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kTileDepth = FewQueriesShape::kTileDepth, kFragment = 16;

uint32_t keyTileBytes(const FewQueriesShape &shape) {
  return shape.stepKeys() * kTileDepth * 2;
}

} // namespace

KeyRing::KeyRing(const AttentionKernel &kernel, const FewQueriesShape &shape, TensorCore &core,
                 const AttentionTile &tile, Value arena, Value lane, Value slice)
    : k_(kernel.k), kernel_(kernel), shape_(shape), core_(core), tile_(tile),
      scores_(kernel.product(kernel.attention.scores, shape.blockRows(), shape.stepKeys(), kTileDepth)),
      output_(kernel.product(kernel.attention.output, shape.blockRows(), shape.wholeColumns(), shape.stepKeys())),
      arena_(arena), lane_(lane), slice_(slice) {}

uint32_t KeyRing::bytes(const FewQueriesShape &shape) {
  return std::max(shape.stages() * shape.stageBytes(), SliceSums::bytes(shape));
}

Value KeyRing::keysAt(Value stage, uint32_t tile) {
  return k_.at(arena_, k_.b.getI8Type(), k_.add(stage, k_.number(int64_t(tile) * keyTileBytes(shape_))));
}

Value KeyRing::valuesAt(Value stage) {
  return keysAt(stage, shape_.depthTiles());
}

void KeyRing::bring(Value key, Value stage) {
  auto bringAll = [&](bool isFast) {
    Bodies::Scope scope(kernel_.bodies);
    TileSpace space(scores_, tile_.inBatch, tile_.firstRow, key);
    OperandTile keys(scores_, space, core_, scores_.product.right);
    for (uint32_t tile = 0; tile < shape_.depthTiles(); ++tile)
      keys.bring(keysAt(stage, tile), k_.number(tile), isFast);
    TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
    OperandTile(output_, result, core_, output_.product.right)
        .bring(valuesAt(stage), k_.div(key, k_.number(shape_.stepKeys())), isFast);
  };
  k_.branch(isFast_, [&] { bringAll(true); }, [&] { bringAll(false); });
}

void KeyRing::ask(Value key, Value stage) {
  k_.when(k_.less(key, last_), [&] { bring(key, stage); });
  core_.closeGroup();
}

void KeyRing::begin(Value first, Value last, Value stride) {
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  isFast_ = k_.both(OperandTile(scores_, space, core_, scores_.product.right).isAligned(),
                    OperandTile(output_, result, core_, output_.product.right).isAligned());
  first_ = first;
  last_ = last;
  stride_ = stride;
  k_.loop(k_.number(0), lastStage(), k_.number(shape_.stageBytes()), first, [&](Value stage, ValueRange key) {
    Bodies::Scope scope(kernel_.bodies);
    ask(key[0], stage);
    return Values{k_.add(key[0], stride)};
  });
}

KeyRing::Values KeyRing::forEachStep(ValueRange carried, llvm::function_ref<Values(Value, Value, ValueRange)> compute) {
  const uint32_t stages = shape_.stages(), bytes = shape_.stageBytes();
  Values inside = llvm::to_vector(carried);
  inside.push_back(k_.number(0));
  Values sums = k_.loop(first_, last_, stride_, inside, [&](Value key, ValueRange given) {
    Bodies::Scope scope(kernel_.bodies);
    Value stage = given.back(), isFirst = k_.equal(stage, k_.number(0));
    core_.waitForGroups(stages - 2);
    k_.barrier(); // the step is there, and everybody has read the one before
    ask(k_.add(key, k_.mul(stride_, k_.number(stages - 1))),
        k_.select(isFirst, lastStage(), k_.sub(stage, k_.number(bytes))));
    Value own = k_.add(key, k_.mul(slice_, k_.number(shape_.sliceKeys())));
    Values after = compute(own, stage, given.drop_back());
    after.push_back(k_.select(k_.equal(stage, lastStage()), k_.number(0), k_.add(stage, k_.number(bytes))));
    return after;
  });
  sums.pop_back();
  core_.waitForGroups(0);
  k_.barrier();
  return sums;
}

/// Of the stage, in its keys.
Value KeyRing::numberOf(uint32_t sixteen) {
  return k_.add(k_.mul(slice_, k_.number(shape_.sixteens)), k_.number(sixteen));
}

KeyRing::Values KeyRing::keys(Value stage, uint32_t sixteen, uint32_t part) {
  constexpr uint32_t kParts = kTileDepth / kFragment; // of a tile
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  return OperandTile(scores_, space, core_, scores_.product.right)
      .leftFragment(lane_, keysAt(stage, part / kParts), k_.mul(numberOf(sixteen), k_.number(kFragment)),
                    k_.number(part % kParts));
}

KeyRing::Values KeyRing::values(Value stage, uint32_t sixteen, uint32_t part) {
  TileSpace space(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  return OperandTile(output_, space, core_, output_.product.right)
      .leftFragment(lane_, valuesAt(stage), k_.number(int64_t(part) * kFragment), numberOf(sixteen));
}

} // namespace tenon::compiler::codegen
