// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries_attention.h"

#include "compiler/codegen/attention/cluster_sums.h"
#include "compiler/codegen/attention/few_queries_reader.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/codegen/kernel/tensor_core.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Shape = FewQueriesShape;
constexpr uint32_t kRows = Shape::kRows, kHalf = Shape::kHalf, kKeys = Shape::kKeys;
constexpr uint32_t kVector = Shape::kVector, kColumnStep = Shape::kColumnStep;
constexpr uint32_t kPadding = 4; // elements behind each row in shared memory
constexpr uint32_t kQuad = PartialSum::kQuad;

class FewQueriesAttention {
public:
  FewQueriesAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, uint32_t blocks)
      : kernel_(kernel), shape_(shape), warps_(shape.warps), halves_(shape.halves()), k_(kernel.k),
        element_(kernel.attention.tensorCoreElement()), core_(k_, element_),
        scores_(kernel.product(kernel.attention.scores, kRows, kKeys, shape.depth)),
        output_(kernel.product(kernel.attention.output, kRows, shape.columns, kKeys)),
        softmax_(k_, k_.b.getF32Type(), halves_, {1, 2}, /*isFast=*/true), blocks_(blocks) {}

  void run();
  void runParts(const KeyParts &parts);

private:
  using Values = SmallVector<Value>;
  Type f32() { return k_.b.getF32Type(); }
  uint32_t states() const { return 2 * halves_; }                // of softmax
  uint32_t sums() const { return shape_.columns / 4 * halves_; } // of a lane
  uint32_t rows() const { return kHalf * halves_; }              // with a place in shared memory
  uint32_t keyWords() const { return 2 * shape_.depthSteps() * 4; }
  Values block(const KeyRange &range, ArrayRef<Value> queries, Value key, ArrayRef<Value> words, ValueRange carried);
  Values steps(const KeyRange &range, bool isFast);
  Value place(Value warp, Value row, Value column);
  Value state(Value warp, Value row, bool isSum);
  Value isRow(uint32_t half);
  void leave(ArrayRef<Value> carried);
  void placeThread(Value tile, Value group, Value rank);
  void computeAlone(const FewQueriesAttention &of);
  void sumKeys(const KeyRange &range);
  PartialSum ofWarps(Value row, Value column);
  void forEachQuad(Value first, Value last, llvm::function_ref<void(Value, Value)> body);
  void compute();

  const AttentionKernel &kernel_;
  const FewQueriesShape shape_;
  const uint32_t warps_;
  const uint32_t halves_; // of the 16 rows of a product: the upper one alone, where no query is in the lower one
  KernelBuilder &k_;
  Type element_;
  TensorCore core_;
  const ProductKernel scores_, output_;
  OnlineSoftmax softmax_;
  const uint32_t blocks_; // that share the keys of a tile
  std::optional<FewQueriesReader> reader_;
  AttentionTile tile_;
  Value arena_, states_;      // shared: sums of each warp; largest logits and sums of weights
  Value rank_;                // of the block among them
  Value warp_, group_, lane_; // of the warp's 32 lanes: eight groups of four
};

/// Carried: what softmax does, then the sums, [column step][column of eight][half][2].
FewQueriesAttention::Values FewQueriesAttention::block(const KeyRange &range, ArrayRef<Value> queries, Value key,
                                                       ArrayRef<Value> words, ValueRange carried) {
  Bodies::Scope scope(kernel_.bodies);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, key);
  SmallVector<LogitRun> runs(2 * halves_); // row of the group: keys of either eight; then the eighth row behind it
  // Rows that are not there are 0: what becomes of them, nobody reads.
  Value nothing = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0));
  Value zero = neutral(k_, output_.product.sum.sum);
  for (uint32_t tile = 0; tile < 2; ++tile) {
    Values scores(4, neutral(k_, scores_.product.sum.sum));
    for (uint32_t step = 0; step < shape_.depthSteps(); ++step) {
      const ArrayRef<Value> upper = queries.slice(4 * halves_ * step, 4);
      const Values lower =
          halves_ == 1 ? Values(4, nothing) : llvm::to_vector(queries.slice(4 * halves_ * step + 4, 4));
      const ArrayRef<Value> keys = words.slice(4 * (tile * shape_.depthSteps() + step), 4);
      for (uint32_t part = 0; part < 4; part += 2)
        scores = core_.multiply(ValueRange{upper[part], lower[part], upper[part + 1], lower[part + 1]},
                                keys.slice(part, 2), scores);
    }
    for (uint32_t half = 0; half < halves_; ++half)
      runs[2 * half + tile] = {reader_->rowOf(half),
                               k_.add(key, k_.add(k_.mul(lane_, k_.number(2)), k_.number(8 * tile))),
                               Values(scores.begin() + 2 * half, scores.begin() + 2 * half + 2)};
  }
  range.computeLogits(space, key, runs);
  SmallVector<Values> weights(halves_);
  for (auto [number, run] : llvm::enumerate(runs))
    llvm::append_range(weights[number / 2], run.scores);
  const OnlineSoftmax::Step step = softmax_.step(carried.take_front(states()), weights);
  auto factor = [&](uint32_t half, uint32_t key) {
    return half < halves_ ? core_.pair(weights[half][key], weights[half][key + 1]) : nothing;
  };
  const Values factors = {factor(0, 0), factor(1, 0), factor(0, 2), factor(1, 2)};
  const uint32_t ofColumn = 2 * halves_;
  Values result =
      softmax_.scaled(step, carried.drop_front(states()), [&](size_t i) { return uint32_t(i % ofColumn / 2); });
  const ArrayRef<Value> values = words.drop_front(keyWords());
  for (uint32_t column = 0; column < shape_.columnSteps(); ++column)
    for (uint32_t each = 0; each < kVector; ++each) {
      auto wordOf = [&](uint32_t key) { return values[4 * (key * shape_.columnSteps() + column) + each / 2]; };
      const Values right = {reader_->pairOf(wordOf(0), wordOf(1), each % 2 == 1),
                            reader_->pairOf(wordOf(2), wordOf(3), each % 2 == 1)};
      Value *first = result.begin() + ofColumn * (column * kVector + each);
      Values sums(first, first + ofColumn);
      sums.resize(4, zero);
      llvm::copy(ArrayRef<Value>(core_.multiply(factors, right, sums)).take_front(ofColumn), first);
    }
  Values after = step.carried;
  llvm::append_range(after, result);
  return after;
}

/// The warp's keys, the next ones of which are on their way while these are computed.
FewQueriesAttention::Values FewQueriesAttention::steps(const KeyRange &range, bool isFast) {
  Bodies::Scope scope(kernel_.bodies);
  const Values all = reader_->queries(isFast);
  Value keys = k_.number(kKeys), warps = k_.number(int64_t(warps_) * blocks_);
  Value number = k_.add(k_.mul(rank_, k_.number(warps_)), warp_);
  Value stride = k_.mul(keys, warps), begin = k_.add(range.first(), k_.mul(number, keys));
  // Blocks of keys that are whole, but for the last key.
  Value count = TileSpace(scores_, tile_.inBatch, tile_.firstRow, k_.number(0)).columns();
  Value lastWhole = k_.mul(k_.div(k_.min(range.last(), count), keys), keys);
  Values carried = softmax_.start();
  carried.append(sums(), neutral(k_, output_.product.sum.sum));
  SmallVector<Type> types(carried.size(), f32());
  carried = k_.choose(
      k_.less(begin, lastWhole), types,
      [&] {
        Bodies::Scope here(kernel_.bodies);
        Values inside = carried;
        llvm::append_range(inside, reader_->load(begin, isFast, /*mayEnd=*/false));
        const Values after = k_.loop(begin, lastWhole, stride, inside, [&](Value key, ValueRange each) {
          Bodies::Scope scope(kernel_.bodies);
          Value next = k_.add(key, stride);
          // Behind the last there is nothing to read; what is read again is in a cache.
          const Values loaded = reader_->load(k_.select(k_.less(next, lastWhole), next, key), isFast, /*mayEnd=*/false);
          Values result =
              block(range, all, key, reader_->wordsOf(each.drop_front(types.size()), key, isFast, /*mayEnd=*/false),
                    each.take_front(types.size()));
          llvm::append_range(result, loaded);
          return result;
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
        return block(range, all, lastWhole, reader_->wordsOf(loaded, lastWhole, isFast, /*mayEnd=*/true), carried);
      },
      [&] { return carried; });
}

Value FewQueriesAttention::place(Value warp, Value row, Value column) {
  Value line = k_.add(k_.mul(warp, k_.number(rows())), row);
  return k_.at(arena_, f32(), k_.add(k_.mul(line, k_.number(shape_.columns + kPadding)), column));
}

Value FewQueriesAttention::state(Value warp, Value row, bool isSum) {
  Value pair = k_.add(k_.mul(warp, k_.number(rows())), row);
  return k_.at(states_, f32(), k_.add(k_.mul(pair, k_.number(2)), k_.number(isSum ? 1 : 0)));
}

/// What the warp has, in shared memory, of rows that are there.
void FewQueriesAttention::leave(ArrayRef<Value> carried) {
  for (uint32_t half = 0; half < halves_; ++half) {
    Value row = k_.add(group_, k_.number(kHalf * half)), weights = carried[halves_ + half];
    for (uint32_t partner : {1, 2})
      weights = arith::AddFOp::create(k_.b, k_.loc, weights, k_.shuffleXor(weights, partner));
    k_.when(k_.both(k_.equal(lane_, k_.number(0)), isRow(half)), [&] {
      k_.store(carried[half], state(warp_, row, false), 4);
      k_.store(weights, state(warp_, row, true), 4);
    });
  }
  const ArrayRef<Value> sums = carried.drop_front(states());
  for (uint32_t half = 0; half < halves_; ++half)
    k_.when(isRow(half), [&] {
      for (uint32_t column = 0; column < shape_.columnSteps(); ++column)
        for (uint32_t each = 0; each < kVector; ++each)
          for (uint32_t i = 0; i < 2; ++i) {
            Value inStep = k_.add(k_.mul(k_.add(k_.mul(lane_, k_.number(2)), k_.number(i)), k_.number(kVector)),
                                  k_.number(column * kColumnStep + each));
            k_.store(sums[2 * (halves_ * (column * kVector + each) + half) + i],
                     place(warp_, k_.add(group_, k_.number(kHalf * half)), inStep), 4);
          }
    });
}

/// Whether the lane's row has a place in shared memory that somebody reads.
Value FewQueriesAttention::isRow(uint32_t half) {
  return k_.less(k_.add(group_, k_.number(int64_t(kHalf) * half)), k_.number(shape_.rowsOfGroup()));
}

/// All keys of the block: each warp leaves its sums in shared memory.
void FewQueriesAttention::sumKeys(const KeyRange &range) {
  reader_.emplace(scores_, output_, shape_, tile_, group_, lane_);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  Value isFast = k_.both(
      space.isAligned(scores_.product.left, kVector),
      k_.both(space.isAligned(scores_.product.right, kVector), result.isAligned(output_.product.right, kVector)));
  SmallVector<Type> types(states() + sums(), f32());
  leave(k_.choose(isFast, types, [&] { return steps(range, true); }, [&] { return steps(range, false); }));
  k_.barrier();
}

/// Of four columns.
PartialSum FewQueriesAttention::ofWarps(Value row, Value column) {
  auto read = [&](Value from) { return k_.load(f32(), from, 4); };
  SmallVector<PartialSum> each;
  for (uint32_t warp = 0; warp < warps_; ++warp)
    each.push_back({read(state(k_.number(warp), row, false)), read(state(k_.number(warp), row, true)),
                    loadQuad(k_, place(k_.number(warp), row, column))});
  return combine(k_, each);
}

/// Of all rows, and of columns from `first` to `last`, four by four.
void FewQueriesAttention::forEachQuad(Value first, Value last, llvm::function_ref<void(Value, Value)> body) {
  Value wide = k_.div(k_.sub(last, first), k_.number(kQuad));
  k_.loop(k_.thread(), k_.mul(k_.number(shape_.rowsOfGroup()), wide), k_.number(k_.threads), {},
          [&](Value number, ValueRange) {
            Bodies::Scope scope(kernel_.bodies);
            body(k_.div(number, wide), k_.add(first, k_.mul(k_.rem(number, wide), k_.number(kQuad))));
            return Values();
          });
}

void FewQueriesAttention::compute() {
  const KeyRange range(kernel_, scores_, tile_, kRows, kKeys);
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  std::optional<ClusterSums> shared;
  if (blocks_ > 1) {
    shared.emplace(k_, blocks_, shape_.rowsOfGroup(), shape_.columns);
    shared->begin();
  }
  sumKeys(range);
  auto store = [&](Value row, Value column, const PartialSum &sum) {
    Value ofAll = k_.add(tile_.firstRow, row);
    k_.when(k_.less(ofAll, result.rows()), [&] {
      for (uint32_t i = 0; i < kQuad; ++i)
        storeResult(kernel_, output_, result, ofAll, k_.add(column, k_.number(i)),
                    {sum.largest, sum.weights, {sum.values[i]}}, [&](Value x) { return range.orNothing(x); });
    });
  };
  Value none = k_.number(0), all = k_.number(shape_.columns);
  if (blocks_ == 1)
    return forEachQuad(none, all, [&](Value row, Value column) { store(row, column, ofWarps(row, column)); });

  shared->meet();
  forEachQuad(none, all, [&](Value row, Value column) { shared->tell(rank_, row, column, ofWarps(row, column)); });
  shared->wait();
  Value own = k_.number(shared->ownColumns()), first = k_.mul(rank_, own);
  forEachQuad(none, own,
              [&](Value row, Value column) { store(row, k_.add(first, column), shared->sumOf(row, column)); });
}

/// In a tile of all rows, of which the block has those of one group.
void FewQueriesAttention::placeThread(Value tile, Value group, Value rank) {
  k_.wantResident(shape_.resident());
  arena_ = k_.shared(f32(), uint64_t(warps_) * rows() * (shape_.columns + kPadding));
  states_ = k_.shared(f32(), 2 * warps_ * rows());
  Value inWarp = k_.rem(k_.thread(), k_.number(32));
  warp_ = k_.div(k_.thread(), k_.number(32));
  group_ = k_.div(inWarp, k_.number(4));
  lane_ = k_.rem(inWarp, k_.number(4));
  tile_ = tileOf(kernel_, tile);
  tile_.firstRow = k_.mul(group, k_.number(kRows));
  rank_ = rank;
}

/// The whole tile of a cluster, where there are none.
void FewQueriesAttention::computeAlone(const FewQueriesAttention &of) {
  arena_ = of.arena_;
  states_ = of.states_;
  warp_ = of.warp_;
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
  // Groups of rows that read the same keys run side by side.
  Value groups = k_.number(shape_.groups()), number = k_.div(k_.block(), groups), group = k_.rem(k_.block(), groups);
  Value tile = k_.div(number, k_.number(blocks_));
  placeThread(tile, group, k_.rem(number, k_.number(blocks_)));
  sumKeys(KeyRange(kernel_, scores_, tile_, kRows, kKeys));
  tile = k_.add(k_.mul(tile, groups), group);
  forEachQuad(k_.number(0), k_.number(shape_.columns),
              [&](Value row, Value column) { parts.store(k_, tile, rank_, row, column, ofWarps(row, column)); });
}

} // namespace

void writeFewQueriesAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, uint32_t cluster) {
  FewQueriesAttention(kernel, shape, cluster).run();
}

void writeFewQueriesParts(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts &parts) {
  FewQueriesAttention(kernel, shape, parts.count).runParts(parts);
}

} // namespace tenon::compiler::codegen
