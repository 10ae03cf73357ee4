// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/few_queries_attention.h"

#include "compiler/codegen/attention/few_queries/cluster_sums.h"
#include "compiler/codegen/attention/few_queries/key_block.h"
#include "compiler/codegen/attention/few_queries/key_ring.h"
#include "compiler/codegen/attention/few_queries/slice_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Shape = FewQueriesShape;
constexpr uint32_t kRows = Shape::kRows, kEight = Shape::kEight, kKeys = Shape::kKeys;
constexpr uint32_t kVector = Shape::kVector;
constexpr uint32_t kQuad = PartialSum::kQuad;

class FewQueriesAttention {
public:
  FewQueriesAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, uint32_t blocks)
      : kernel_(kernel), shape_(shape), k_(kernel.k), core_(k_, kernel.attention.tensorCoreElement()),
        scores_(kernel.product(kernel.attention.scores, kRows, kKeys, shape.wholeDepth())),
        output_(kernel.product(kernel.attention.output, kRows, shape.wholeColumns(), kKeys)), keyBlock_(kernel, shape_),
        blocks_(blocks) {}

  void run();
  void runParts(const KeyParts &parts);

private:
  using Values = SmallVector<Value>;
  KeyRange keyRange();
  Values steps(const KeyRange &range, bool isFast);
  Values sharedSteps(const KeyRange &range);
  Value columnOf(uint32_t number);
  void leave(ArrayRef<PartialSum> sums);
  void placeThread(Value tile, Value group, Value rank);
  void computeAlone(const FewQueriesAttention &of);
  void sumKeys(const KeyRange &range);
  void forEachQuad(Value first, Value last, llvm::function_ref<void(Value, Value)> body);
  void compute();

  const AttentionKernel &kernel_;
  const FewQueriesShape shape_;
  KernelBuilder &k_;
  TensorCore core_;
  const ProductKernel scores_, output_;
  KeyBlock keyBlock_;
  const uint32_t blocks_; // that share the keys of a tile
  std::optional<FewQueriesReader> reader_;
  AttentionTile tile_;
  Value arena_; // of keys in shared memory, and then of sums; null: there are none
  std::optional<SliceSums> inSlices_;
  Value rank_;                   // of the block among them
  Value warp_, slice_, warpRow_; // the first of the warp's rows in the block
  Value inWarp_, group_, lane_;  // of the warp's 32 lanes: eight groups of four
};

/// Keys that all warps read from shared memory.
FewQueriesAttention::Values FewQueriesAttention::sharedSteps(const KeyRange &range) {
  KeyRing ring(kernel_, shape_, core_, tile_, arena_, inWarp_);
  Value keys = k_.number(shape_.stepKeys());
  ring.begin(k_.add(range.first(), k_.mul(rank_, keys)), range.last(), k_.mul(keys, k_.number(blocks_)));
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  SmallVector<Type> words(4 * shape_.depthSteps() * shape_.eights(), k_.b.getI32Type()),
      types = keyBlock_.carriedTypes();
  auto read = [&](bool isFast) {
    Bodies::Scope scope(kernel_.bodies);
    return reader_->queryPairs(isFast);
  };
  const Values queries = k_.choose(
      space.isAligned(scores_.product.left, kVector), words, [&] { return read(true); }, [&] { return read(false); });
  Value firstSixteen = k_.mul(slice_, k_.number(shape_.sixteens));
  auto sixteenOf = [&](uint32_t number) { return k_.add(firstSixteen, k_.number(number)); };
  return ring.forEachStep(keyBlock_.start(), [&](Value ofStep, Value stage, ValueRange carried) {
    Value key = k_.add(ofStep, k_.mul(slice_, k_.number(shape_.sliceKeys())));
    auto compute = [&] {
      Bodies::Scope scope(kernel_.bodies);
      return keyBlock_.add(
          range, queries, key,
          KeyBlock::Factors{[&](uint32_t sixteen, uint32_t part) { return ring.keys(stage, sixteenOf(sixteen), part); },
                            [&](uint32_t sixteen, uint32_t part) {
                              return ring.values(stage, sixteenOf(sixteen), k_.number(int64_t(kKeys) * part));
                            },
                            {}},
          carried);
    };
    return k_.choose(k_.less(key, range.last()), types, compute, [&] { return llvm::to_vector(carried); });
  });
}

/// The warp's keys, the next ones of which are on their way while these are computed, as many as registers hold.
FewQueriesAttention::Values FewQueriesAttention::steps(const KeyRange &range, bool isFast) {
  Bodies::Scope scope(kernel_.bodies);
  const Values all = reader_->queries(isFast);
  Value keys = k_.number(kKeys), warps = k_.number(int64_t(shape_.warps) * blocks_);
  Value number = k_.add(k_.mul(rank_, k_.number(shape_.warps)), warp_);
  Value stride = k_.mul(keys, warps), begin = k_.add(range.first(), k_.mul(number, keys));
  // Blocks of keys that are whole, but for the last key.
  Value count = TileSpace(scores_, tile_.inBatch, tile_.firstRow, k_.number(0)).columns();
  Value lastWhole = k_.mul(k_.div(k_.min(range.last(), count), keys), keys);
  Values carried = keyBlock_.start();
  const SmallVector<Type> types = keyBlock_.carriedTypes();
  const uint32_t ahead = isFast ? shape_.ahead(reader_->registers(isFast)) : 0;
  // Steps behind the last are not read: even what is in a cache passes the first level once more. Of integers with
  // scales, whose loop has all registers, the first one is read again instead.
  SmallVector<Type> loadedTypes;
  auto read = [&](Value key, bool isThere) -> Values {
    if (reader_->hasScales())
      return reader_->load(k_.select(k_.less(key, lastWhole), key, begin), isFast, /*mayEnd=*/false);
    auto load = [&] {
      Bodies::Scope scope(kernel_.bodies);
      return reader_->load(key, isFast, /*mayEnd=*/false);
    };
    if (isThere) {
      Values loaded = load();
      loadedTypes.assign(ValueRange(loaded).getTypes().begin(), ValueRange(loaded).getTypes().end());
      return loaded;
    }
    return k_.choose(k_.less(key, lastWhole), loadedTypes, load, [&] {
      return llvm::map_to_vector(loadedTypes, [&](Type type) -> Value {
        return arith::ConstantOp::create(k_.b, k_.loc, cast<TypedAttr>(k_.b.getZeroAttr(type)));
      });
    });
  };
  auto later = [&](Value key, uint32_t steps) { return k_.add(key, k_.mul(stride, k_.number(steps))); };
  auto computed = [&](Value key, ArrayRef<Value> loaded, ValueRange sums) {
    return keyBlock_.add(range, all, key, reader_->blockOf(loaded, key, isFast, /*mayEnd=*/false), sums);
  };
  carried = k_.choose(
      k_.less(begin, lastWhole), types,
      [&] {
        Bodies::Scope here(kernel_.bodies);
        Values inside = carried;
        for (uint32_t step = 0; step < ahead; ++step)
          llvm::append_range(inside, read(later(begin, step), step == 0));
        // As many steps as are in registers: each has registers of its own, and nobody moves what is on its way, which
        // would wait for it.
        const Values after =
            k_.loop(begin, lastWhole, later(k_.number(0), ahead + 1), inside, [&](Value first, ValueRange given) {
              Bodies::Scope scope(kernel_.bodies);
              Values sums = llvm::to_vector(given.take_front(types.size())),
                     onTheirWay = llvm::to_vector(given.drop_front(types.size()));
              for (uint32_t step = 0; step <= ahead; ++step) {
                Value key = later(first, step);
                const Values next = read(later(key, ahead), ahead == 0);
                llvm::append_range(onTheirWay, next);
                auto compute = [&] {
                  Bodies::Scope inside(kernel_.bodies);
                  return computed(key, ArrayRef<Value>(onTheirWay).take_front(next.size()), sums);
                };
                sums = step == 0 ? compute() : k_.choose(k_.less(key, lastWhole), types, compute, [&] { return sums; });
                onTheirWay.erase(onTheirWay.begin(), onTheirWay.begin() + next.size());
              }
              sums.append(onTheirWay);
              return sums;
            });
        return Values(after.begin(), after.begin() + types.size());
      },
      [&] { return carried; });
  // What is left is one block of keys, of the warp whose turn it is.
  Value turn = k_.rem(k_.div(k_.sub(lastWhole, k_.min(range.first(), lastWhole)), keys), warps);
  Value isLeft = k_.both(k_.less(lastWhole, range.last()), k_.equal(turn, number));
  return k_.choose(
      isLeft, types,
      [&] {
        Bodies::Scope here(kernel_.bodies);
        const Values loaded = reader_->load(lastWhole, isFast, /*mayEnd=*/true);
        return keyBlock_.add(range, all, lastWhole, reader_->blockOf(loaded, lastWhole, isFast, /*mayEnd=*/true),
                             carried);
      },
      [&] { return carried; });
}

/// That of the lane's values which has this number.
Value FewQueriesAttention::columnOf(uint32_t number) {
  if (shape_.isShared())
    return k_.add(group_, k_.number(int64_t(kEight) * number));
  return k_.add(reader_->offset(output_, number / kVector), k_.number(number % kVector));
}

/// What the warp has, in shared memory; of rows that are there.
void FewQueriesAttention::leave(ArrayRef<PartialSum> sums) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value row = keyBlock_.rowOf(i / 2, i % 2);
    k_.when(k_.less(row, k_.number(shape_.rowsOfBlock())), [&, &sum = sum] {
      k_.when(k_.equal(group_, k_.number(0)), [&] { inSlices_->storeState(slice_, row, sum); });
      const ArrayRef<Value> values = sum.values;
      if (shape_.isShared())
        for (uint32_t number = 0; number < values.size(); ++number)
          k_.store(values[number], inSlices_->at(slice_, row, columnOf(number)), 4);
      else
        for (uint32_t number = 0; number < values.size(); number += kQuad)
          storeVector(k_, values.slice(number, kQuad), inSlices_->at(slice_, row, columnOf(number)));
    });
  }
}

/// All keys of the block: each slice leaves its sums in shared memory.
void FewQueriesAttention::sumKeys(const KeyRange &range) {
  AttentionTile ofWarp = tile_;
  if (shape_.isShared())
    ofWarp.firstRow = k_.add(tile_.firstRow, warpRow_);
  reader_.emplace(scores_, output_, shape_, ofWarp, group_, lane_);
  keyBlock_.place(tile_, warpRow_, group_, lane_);
  if (shape_.isShared()) {
    leave(keyBlock_.sumsOf(sharedSteps(range)));
    return k_.barrier();
  }
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  Value isFast = k_.both(space.isAligned(scores_.product.left, kVector),
                         k_.both(space.isAligned(scores_.product.right, reader_->width(scores_)),
                                 result.isAligned(output_.product.right, reader_->width(output_))));
  const SmallVector<PartialSum> rows = keyBlock_.sumsOf(k_.choose(
      isFast, keyBlock_.carriedTypes(), [&] { return steps(range, true); }, [&] { return steps(range, false); }));
  leave(rows);
  k_.barrier();
}

/// Of all rows, and of columns from `first` to `last`, four by four.
void FewQueriesAttention::forEachQuad(Value first, Value last, llvm::function_ref<void(Value, Value)> body) {
  Value wide = k_.div(k_.sub(last, first), k_.number(kQuad));
  k_.loop(k_.thread(), k_.mul(k_.number(shape_.rowsOfBlock()), wide), k_.number(k_.threads), {},
          [&](Value number, ValueRange) {
            Bodies::Scope scope(kernel_.bodies);
            body(k_.div(number, wide), k_.add(first, k_.mul(k_.rem(number, wide), k_.number(kQuad))));
            return Values();
          });
}

KeyRange FewQueriesAttention::keyRange() {
  return shape_.isShared() ? KeyRange(kernel_, scores_, tile_, shape_.blockRows(), shape_.stepKeys())
                           : KeyRange(kernel_, scores_, tile_, kRows, kKeys);
}

void FewQueriesAttention::compute() {
  const KeyRange range = keyRange();
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  std::optional<ClusterSums> shared;
  if (blocks_ > 1) {
    shared.emplace(k_, blocks_, shape_.rowsOfBlock(), shape_.wholeColumns());
    shared->begin();
  }
  sumKeys(range);
  auto store = [&](Value row, Value column, const PartialSum &sum) {
    Value ofAll = k_.add(tile_.firstRow, row);
    Value isColumn = k_.less(column, k_.number(shape_.columns));
    k_.when(k_.both(isColumn, k_.less(ofAll, result.rows())), [&] {
      for (uint32_t i = 0; i < kQuad; ++i)
        storeResult(kernel_, output_, result, ofAll, k_.add(column, k_.number(i)),
                    {sum.largest, sum.weights, {sum.values[i]}}, [&](Value x) { return range.orNothing(x); });
    });
  };
  Value none = k_.number(0), all = k_.number(shape_.wholeColumns());
  if (blocks_ == 1)
    return forEachQuad(none, all, [&](Value row, Value column) { store(row, column, inSlices_->sumOf(row, column)); });

  shared->meet();
  forEachQuad(none, all,
              [&](Value row, Value column) { shared->tell(rank_, row, column, inSlices_->sumOf(row, column)); });
  shared->wait();
  Value own = k_.number(shared->ownColumns()), first = k_.mul(rank_, own);
  forEachQuad(none, own,
              [&](Value row, Value column) { store(row, k_.add(first, column), shared->sumOf(row, column)); });
}

/// In a tile of all rows, of which the block has some.
void FewQueriesAttention::placeThread(Value tile, Value group, Value rank) {
  k_.wantResident(shape_.resident());
  if (shape_.isShared())
    arena_ = k_.dynamicShared();
  inSlices_.emplace(k_, shape_, arena_);
  inWarp_ = k_.rem(k_.thread(), k_.number(32));
  warp_ = k_.div(k_.thread(), k_.number(32));
  group_ = k_.div(inWarp_, k_.number(4));
  lane_ = k_.rem(inWarp_, k_.number(4));
  Value sharing = k_.number(std::max(shape_.sharing, 1u));
  slice_ = k_.div(warp_, sharing);
  warpRow_ = k_.mul(k_.rem(warp_, sharing), k_.number(shape_.groupRows()));
  tile_ = tileOf(kernel_, tile);
  tile_.firstRow = k_.mul(group, k_.number(shape_.blockRows()));
  rank_ = rank;
}

/// The whole tile of a cluster, where there are none.
void FewQueriesAttention::computeAlone(const FewQueriesAttention &of) {
  arena_ = of.arena_;
  inSlices_.emplace(*of.inSlices_);
  warp_ = of.warp_;
  slice_ = of.slice_;
  warpRow_ = of.warpRow_;
  inWarp_ = of.inWarp_;
  group_ = of.group_;
  lane_ = of.lane_;
  tile_ = of.tile_;
  rank_ = k_.number(0);
  compute();
}

void FewQueriesAttention::run() {
  Value blocks = k_.number(blocks_), groups = k_.number(shape_.groups());
  Value number = k_.div(k_.block(), blocks);
  placeThread(k_.div(number, groups), k_.rem(number, groups), k_.rem(k_.block(), blocks));
  if (blocks_ == 1)
    return compute();
  k_.requireClusters(blocks_);
  k_.branch(
      k_.hasClusters(), [&] { compute(); },
      [&] {
        k_.when(k_.equal(rank_, k_.number(0)), [&] { FewQueriesAttention(kernel_, shape_, 1).computeAlone(*this); });
      });
}

/// What the block has summed, for the kernel behind.
void FewQueriesAttention::runParts(const KeyParts &parts) {
  const BlockPlace place(k_, shape_, blocks_);
  placeThread(place.tile, place.group, place.rank);
  sumKeys(keyRange());
  Value number = place.number(k_);
  forEachQuad(k_.number(0), k_.number(shape_.wholeColumns()), [&](Value row, Value column) {
    parts.store(k_, number, rank_, row, column, inSlices_->sumOf(row, column));
  });
}

} // namespace

void writeFewQueriesAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, uint32_t cluster) {
  FewQueriesAttention(kernel, shape, cluster).run();
}

void writeFewQueriesParts(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts &parts) {
  FewQueriesAttention(kernel, shape, parts.count).runParts(parts);
}

} // namespace tenon::compiler::codegen
