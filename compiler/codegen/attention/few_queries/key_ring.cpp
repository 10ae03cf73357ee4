// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/key_ring.h"

#include "compiler/codegen/attention/few_queries/slice_sums.h"
#include "compiler/codegen/attention/hopper/group_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kTileDepth = FewQueriesShape::kTileDepth, kFragment = 16, kRowBytes = 128; // of a tile

uint32_t keyTileBytes(const FewQueriesShape &shape) {
  return shape.stepKeys() * kTileDepth * 2;
}

} // namespace

KeyRing::KeyRing(const AttentionKernel &kernel, const FewQueriesShape &shape, TensorCore &core,
                 const AttentionTile &tile, Value arena, Value lane)
    : k_(kernel.k), kernel_(kernel), shape_(shape), core_(core), tile_(tile),
      scores_(kernel.product(kernel.attention.scores, shape.blockRows(), shape.stepKeys(), kTileDepth)),
      output_(kernel.product(kernel.attention.output, shape.blockRows(), shape.wholeColumns(), shape.stepKeys())),
      arena_(arena), lane_(lane) {}

uint32_t KeyRing::bytes(const FewQueriesShape &shape) {
  const uint32_t ofStages = shape.stages() * shape.stageBytes();
  return shape.isWide ? ofStages + shape.queryBytes() : std::max(ofStages, SliceSums::bytes(shape));
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
    if (shape_.valuesAreKeys)
      return;
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
  isFast_ = OperandTile(scores_, space, core_, scores_.product.right).isAligned();
  if (!shape_.valuesAreKeys)
    isFast_ = k_.both(isFast_, OperandTile(output_, result, core_, output_.product.right).isAligned());
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
    if (shape_.isInGroups)
      core_.publish();
    k_.barrier(); // the step is there, and everybody has read the one before
    ask(k_.add(key, k_.mul(stride_, k_.number(stages - 1))),
        k_.select(isFirst, lastStage(), k_.sub(stage, k_.number(bytes))));
    Values after = compute(key, stage, given.drop_back());
    after.push_back(k_.select(k_.equal(stage, lastStage()), k_.number(0), k_.add(stage, k_.number(bytes))));
    return after;
  });
  sums.pop_back();
  core_.waitForGroups(0);
  k_.barrier();
  return sums;
}

KeyRing::Values KeyRing::keys(Value stage, Value sixteen, uint32_t part) {
  constexpr uint32_t kParts = kTileDepth / kFragment; // of a tile
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  return OperandTile(scores_, space, core_, scores_.product.right)
      .leftFragment(lane_, keysAt(stage, part / kParts), k_.mul(sixteen, k_.number(kFragment)),
                    k_.number(part % kParts));
}

KeyRing::Values KeyRing::values(Value stage, Value sixteen, Value column) {
  if (shape_.valuesAreKeys) {
    Value tile = k_.div(column, k_.number(kTileDepth));
    Value ofTile = k_.add(stage, k_.mul(tile, k_.number(keyTileBytes(shape_))));
    TileSpace keys(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
    return OperandTile(scores_, keys, core_, scores_.product.right)
        .turnedFragment(lane_, keysAt(ofTile, 0), k_.rem(column, k_.number(kTileDepth)), sixteen);
  }
  TileSpace space(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  return OperandTile(output_, space, core_, output_.product.right)
      .leftFragment(lane_, valuesAt(stage), column, sixteen);
}

void KeyRing::askForQueries() {
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  OperandTile queries(scores_, space, core_, scores_.product.left);
  auto bring = [&](bool isFast) {
    Bodies::Scope scope(kernel_.bodies);
    for (uint32_t tile = 0; tile < shape_.depthTiles(); ++tile)
      queries.bring(k_.at(arena_, k_.b.getI8Type(), k_.number(int64_t(queriesBegin()) + tile * kGroupRows * kRowBytes)),
                    k_.number(tile), isFast);
  };
  k_.branch(queries.isAligned(), [&] { bring(true); }, [&] { bring(false); });
  core_.closeGroup();
}

KeyRing::Values KeyRing::groupScores(Value stage) {
  return core_.multiplyTiles(tileDescriptor(k_, arena_, k_.number(queriesBegin()), 16),
                             tileDescriptor(k_, arena_, stage, 16), shape_.depthTiles() * kTileDepth,
                             kGroupRows * kRowBytes, keyTileBytes(shape_), shape_.stepKeys());
}

KeyRing::Values KeyRing::groupWeighted(ArrayRef<Value> factors, Value stage, Value half, ValueRange sums) {
  const uint32_t columns = shape_.wholeColumns() / 2, tileBytes = shape_.stepKeys() * kRowBytes;
  const uint32_t behindKeys = shape_.valuesAreKeys ? 0 : shape_.depthTiles() * keyTileBytes(shape_);
  Value begin = k_.add(stage, k_.add(k_.number(behindKeys), k_.mul(half, k_.number(columns / kTileDepth * tileBytes))));
  return core_.multiplyRegisters(factors, tileDescriptor(k_, arena_, begin, tileBytes), kFragment * kRowBytes, columns,
                                 sums);
}

} // namespace tenon::compiler::codegen
