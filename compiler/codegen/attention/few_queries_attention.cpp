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
constexpr uint32_t kRows = Shape::kRows, kEight = Shape::kEight, kKeys = Shape::kKeys;
constexpr uint32_t kVector = Shape::kVector;
constexpr uint32_t kPadding = 4; // elements behind each row in shared memory
constexpr uint32_t kQuad = PartialSum::kQuad;

class FewQueriesAttention {
public:
  FewQueriesAttention(const AttentionKernel &kernel, const FewQueriesShape &shape, uint32_t blocks)
      : kernel_(kernel), shape_(shape), eights_(shape.eights()), k_(kernel.k),
        element_(kernel.attention.tensorCoreElement()), core_(k_, element_),
        scores_(kernel.product(kernel.attention.scores, kRows, kKeys, shape.wholeDepth())),
        output_(kernel.product(kernel.attention.output, kRows, shape.wholeColumns(), kKeys)),
        softmax_(k_, k_.b.getF32Type(), 2 * eights_, {4, 8, 16}, /*isFast=*/true), blocks_(blocks) {}

  void run();
  void runParts(const KeyParts &parts);

private:
  using Values = SmallVector<Value>;
  Type f32() { return k_.b.getF32Type(); }
  uint32_t states() const { return 4 * eights_; }                       // of softmax
  uint32_t sums() const { return shape_.wholeColumns() / 4 * eights_; } // of a lane
  uint32_t rows() const { return kEight * eights_; }                    // with a place in shared memory
  uint32_t keyWords() const { return 2 * shape_.depthSteps() * 4; }
  Values block(const KeyRange &range, ArrayRef<Value> queries, Value key, const FewQueriesReader::Block &read,
               ValueRange carried);
  Values steps(const KeyRange &range, bool isFast);
  Value place(Value warp, Value row, Value column);
  Value state(Value warp, Value row, bool isSum);
  Value rowOf(uint32_t eight, uint32_t of);
  Value columnOf(uint32_t quad);
  SmallVector<PartialSum> sumsOf(ArrayRef<Value> carried);
  void leave(ArrayRef<PartialSum> sums);
  void placeThread(Value tile, Value group, Value rank);
  void computeAlone(const FewQueriesAttention &of);
  void sumKeys(const KeyRange &range);
  PartialSum ofWarps(Value row, Value column);
  void forEachQuad(Value first, Value last, llvm::function_ref<void(Value, Value)> body);
  void compute();

  const AttentionKernel &kernel_;
  const FewQueriesShape shape_;
  const uint32_t eights_; // of rows
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

/// Carried: what softmax does, of rows [eight rows][2]; then the sums, [column step][two columns][eight rows][4].
FewQueriesAttention::Values FewQueriesAttention::block(const KeyRange &range, ArrayRef<Value> queries, Value key,
                                                       const FewQueriesReader::Block &read, ValueRange carried) {
  const ArrayRef<Value> words = read.words;
  Bodies::Scope scope(kernel_.bodies);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, key);
  SmallVector<LogitRun> runs; // [eight rows][eight keys][row of the lane]
  for (uint32_t eight = 0; eight < eights_; ++eight) {
    // Two chains: products of one wait for each other.
    SmallVector<Values, 2> chains(std::min(shape_.depthSteps(), 2u), Values(4, neutral(k_, scores_.product.sum.sum)));
    for (uint32_t step = 0; step < shape_.depthSteps(); ++step) {
      const ArrayRef<Value> first = words.slice(4 * step, 4), second = words.slice(4 * (shape_.depthSteps() + step), 4),
                            rows = queries.slice(4 * (eights_ * step + eight), 4);
      Values &scores = chains[step % 2];
      for (uint32_t part = 0; part < 4; part += 2)
        scores = core_.multiply(ValueRange{first[part], second[part], first[part + 1], second[part + 1]},
                                rows.slice(part, 2), scores);
    }
    Values &scores = chains.front();
    for (const Values &chain : llvm::drop_begin(chains))
      for (auto [score, other] : llvm::zip_equal(scores, chain))
        score = arith::AddFOp::create(k_.b, k_.loc, score, other);
    for (auto [number, score] : llvm::enumerate(scores))
      runs.push_back({k_.add(tile_.firstRow, rowOf(eight, number % 2)),
                      k_.add(key, k_.add(group_, k_.number(number / 2 * kEight))),
                      {score}});
  }
  range.computeLogits(space, key, runs);
  SmallVector<Values> weights(states() / 2);
  for (auto [number, run] : llvm::enumerate(runs))
    weights[number / 4 * 2 + number % 2].push_back(run.scores.front());
  const OnlineSoftmax::Step step = softmax_.step(carried.take_front(states()), weights);
  for (Values &ofRow : weights)
    for (size_t eight = 0; eight < read.scales.size(); ++eight)
      ofRow[eight] = ScaledIntegers::scaled(k_, ofRow[eight], read.scales[eight]);
  // A lane has two rows of a key: what multiplies values is two keys of a row.
  Values factors;
  for (uint32_t eight = 0; eight < eights_; ++eight)
    for (uint32_t of = 0; of < 2; ++of)
      factors.push_back(core_.transposed(core_.pair(weights[2 * eight][of], weights[2 * eight + 1][of])));
  Values result = softmax_.scaled(step, carried.drop_front(states()),
                                  [&](size_t i) { return uint32_t(i / 4 % eights_ * 2 + i % 2); });
  const ArrayRef<Value> values = words.drop_front(keyWords());
  for (uint32_t column = 0; column < shape_.columnSteps(); ++column)
    for (uint32_t two = 0; two < kVector / 2; ++two) {
      auto wordOf = [&](uint32_t key) { return values[4 * (key * shape_.columnSteps() + column) + two]; };
      const Values left = {core_.halves(wordOf(0), wordOf(1), false), core_.halves(wordOf(0), wordOf(1), true),
                           core_.halves(wordOf(2), wordOf(3), false), core_.halves(wordOf(2), wordOf(3), true)};
      for (uint32_t eight = 0; eight < eights_; ++eight) {
        Value *first = result.begin() + 4 * (eights_ * (column * kVector / 2 + two) + eight);
        llvm::copy(core_.multiply(left, ArrayRef<Value>(factors).slice(2 * eight, 2), ArrayRef<Value>(first, 4)),
                   first);
      }
    }
  Values after = step.carried;
  llvm::append_range(after, result);
  return after;
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
  Values carried = softmax_.start();
  carried.append(sums(), neutral(k_, output_.product.sum.sum));
  SmallVector<Type> types(carried.size(), f32());
  const uint32_t ahead = isFast ? shape_.ahead(reader_->registers(isFast)) : 0;
  auto read = [&](Value key, Value otherwise) {
    // Behind the last there is nothing to read; what is read again is in a cache.
    return reader_->load(k_.select(k_.less(key, lastWhole), key, otherwise), isFast, /*mayEnd=*/false);
  };
  auto later = [&](Value key, uint32_t steps) { return k_.add(key, k_.mul(stride, k_.number(steps))); };
  auto computed = [&](Value key, ArrayRef<Value> loaded, ValueRange sums) {
    return block(range, all, key, reader_->blockOf(loaded, key, isFast, /*mayEnd=*/false), sums);
  };
  carried = k_.choose(
      k_.less(begin, lastWhole), types,
      [&] {
        Bodies::Scope here(kernel_.bodies);
        Values inside = carried;
        for (uint32_t step = 0; step < ahead; ++step)
          llvm::append_range(inside, read(later(begin, step), begin));
        // As many steps as are in registers: each has registers of its own, and nobody moves what is on its way, which
        // would wait for it.
        const Values after =
            k_.loop(begin, lastWhole, later(k_.number(0), ahead + 1), inside, [&](Value first, ValueRange given) {
              Bodies::Scope scope(kernel_.bodies);
              Values sums = llvm::to_vector(given.take_front(types.size())),
                     onTheirWay = llvm::to_vector(given.drop_front(types.size()));
              for (uint32_t step = 0; step <= ahead; ++step) {
                Value key = later(first, step);
                const Values next = read(later(key, ahead), first);
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
        return block(range, all, lastWhole, reader_->blockOf(loaded, lastWhole, isFast, /*mayEnd=*/true), carried);
      },
      [&] { return carried; });
}

/// Of the group of rows, the one that the lane's sums are of.
Value FewQueriesAttention::rowOf(uint32_t eight, uint32_t of) {
  return k_.add(k_.mul(lane_, k_.number(2)), k_.number(int64_t(kEight) * eight + of));
}

Value FewQueriesAttention::place(Value warp, Value row, Value column) {
  Value line = k_.add(k_.mul(warp, k_.number(rows())), row);
  return k_.at(arena_, f32(), k_.add(k_.mul(line, k_.number(shape_.wholeColumns() + kPadding)), column));
}

Value FewQueriesAttention::state(Value warp, Value row, bool isSum) {
  Value pair = k_.add(k_.mul(warp, k_.number(rows())), row);
  return k_.at(states_, f32(), k_.add(k_.mul(pair, k_.number(2)), k_.number(isSum ? 1 : 0)));
}

/// The first of four columns of the lane.
Value FewQueriesAttention::columnOf(uint32_t quad) {
  const uint32_t column = quad * kQuad;
  return k_.add(reader_->offset(output_, column / kVector), k_.number(column % kVector));
}

/// Of each of the lane's rows, which other lanes have other columns of.
SmallVector<PartialSum> FewQueriesAttention::sumsOf(ArrayRef<Value> carried) {
  const RowTotals totals = softmax_.totals(carried.take_front(states()));
  const ArrayRef<Value> sums = carried.drop_front(states());
  SmallVector<PartialSum> rows;
  for (uint32_t row = 0; row < states() / 2; ++row) {
    PartialSum &sum = rows.emplace_back(PartialSum{totals.references[row], totals.sums[row], {}});
    for (uint32_t column = 0; column < shape_.columnSteps() * kVector; ++column)
      sum.values.push_back(sums[4 * (eights_ * (column / 2) + row / 2) + column % 2 * 2 + row % 2]);
  }
  return rows;
}

/// What the warp has, in shared memory; of rows that are there.
void FewQueriesAttention::leave(ArrayRef<PartialSum> sums) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value row = rowOf(i / 2, i % 2);
    k_.when(k_.less(row, k_.number(shape_.rowsOfGroup())), [&, &sum = sum] {
      k_.when(k_.equal(group_, k_.number(0)), [&] {
        k_.store(sum.largest, state(warp_, row, false), 4);
        k_.store(sum.weights, state(warp_, row, true), 4);
      });
      for (uint32_t quad = 0; quad < sum.values.size() / kQuad; ++quad)
        storeQuad(k_, ArrayRef<Value>(sum.values).slice(quad * kQuad, kQuad), place(warp_, row, columnOf(quad)));
    });
  }
}

/// All keys of the block: each warp leaves its sums in shared memory.
void FewQueriesAttention::sumKeys(const KeyRange &range) {
  reader_.emplace(scores_, output_, shape_, tile_, group_, lane_);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, k_.number(0));
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  Value isFast = k_.both(space.isAligned(scores_.product.left, kVector),
                         k_.both(space.isAligned(scores_.product.right, reader_->width(scores_)),
                                 result.isAligned(output_.product.right, reader_->width(output_))));
  SmallVector<Type> types(states() + sums(), f32());
  const SmallVector<PartialSum> rows =
      sumsOf(k_.choose(isFast, types, [&] { return steps(range, true); }, [&] { return steps(range, false); }));
  leave(rows);
  k_.barrier();
}

/// Of four columns.
PartialSum FewQueriesAttention::ofWarps(Value row, Value column) {
  auto read = [&](Value from) { return k_.load(f32(), from, 4); };
  SmallVector<PartialSum> each;
  for (uint32_t number = 0; number < shape_.warps; ++number) {
    Value warp = k_.number(number);
    each.push_back(
        {read(state(warp, row, false)), read(state(warp, row, true)), loadQuad(k_, place(warp, row, column))});
  }
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
    shared.emplace(k_, blocks_, shape_.rowsOfGroup(), shape_.wholeColumns());
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
  arena_ = k_.shared(f32(), uint64_t(shape_.warps) * rows() * (shape_.wholeColumns() + kPadding));
  states_ = k_.shared(f32(), 2 * shape_.warps * rows());
  Value inWarp = k_.rem(k_.thread(), k_.number(32));
  warp_ = k_.div(k_.thread(), k_.number(32));
  group_ = k_.div(inWarp, k_.number(4));
  lane_ = k_.rem(inWarp, k_.number(4));
  tile_ = tileOf(kernel_, tile);
  tile_.firstRow = k_.mul(group, k_.number(shape_.groupRows()));
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
  forEachQuad(k_.number(0), k_.number(shape_.wholeColumns()),
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
