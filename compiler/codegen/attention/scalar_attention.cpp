// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/scalar_attention.h"

#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/attention/online_softmax.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kSide = 16, kGroup = 4; // threads across, elements of each that are adjacent
constexpr uint32_t kRows = kSide * kGroup, kKeys = kSide * kGroup;
constexpr uint32_t kPadding = 4; // elements behind each row in shared memory: vectors stay aligned to 16 bytes

class ScalarAttention {
public:
  ScalarAttention(const AttentionKernel &kernel)
      : kernel_(kernel), k_(kernel.k), type_(kernel.attention.output.sum.sum.type),
        bytes_(dispatch::elementBytes(type_)), depth_(bytes_ == 8 ? 8 : 16),
        columns_(bytes_ == 8 || kernel.columns % 128 != 0 ? 64 : 128), isChain_(kernel.attention.isChain),
        output_(kernel.product(kernel.attention.output, kRows, columns_, kKeys)),
        softmax_(k_, type_, kGroup, {1, 2, 4, 8}, /*isFast=*/false) {}

  void run(Value number);

private:
  using Values = SmallVector<Value>;

  uint32_t widthOf(const Operand &operand, uint32_t side) const;
  void bring(TileSpace &space, const Operand &operand, uint32_t side, Value firstAcross, Value firstReduced, Value to);
  void bringBy(TileSpace &space, const Operand &operand, uint32_t side, Value firstAcross, Value firstReduced, Value to,
               uint32_t width);
  Values loadGroup(Value from, uint32_t stride, Value row, Value first);
  Values multiply(Value left, uint32_t leftStride, Value leftRow, Value right, uint32_t rightStride, uint32_t depth,
                  uint32_t columnGroups, Values sums);
  size_t states() const { return isChain_ ? 0 : 2 * kGroup; }
  Values scoresOf(const AttentionTile &tile, const Product &product, Value firstKey);
  Value asFactor(Value weight);
  void part(const AttentionTile &tile);
  Values block(const AttentionTile &tile, const KeyRange &range, Value firstKey, ValueRange carried);

  const AttentionKernel &kernel_;
  KernelBuilder &k_;
  const Type type_;
  const uint32_t bytes_, depth_, columns_;
  const bool isChain_;
  const ProductKernel output_;
  OnlineSoftmax softmax_;
  Value arena_, weights_; // shared: tiles of both operands, or results; weights, [key][row]
  Value down_, across_;   // of the thread
};

uint32_t ScalarAttention::widthOf(const Operand &operand, uint32_t side) const {
  return std::min(
      {vectorWidth(kernel_.kernel, kernel_.shape, operand.vectorAxis), 16 / bytes_, side * depth_ / k_.threads});
}

/// Elements of an operand, [depth][side], in the type of the sums.
void ScalarAttention::bring(TileSpace &space, const Operand &operand, uint32_t side, Value firstAcross,
                            Value firstReduced, Value to) {
  const uint32_t width = widthOf(operand, side);
  if (width == 1)
    return bringBy(space, operand, side, firstAcross, firstReduced, to, 1);
  k_.branch(
      space.isAligned(operand, width), [&] { bringBy(space, operand, side, firstAcross, firstReduced, to, width); },
      [&] { bringBy(space, operand, side, firstAcross, firstReduced, to, 1); });
}

void ScalarAttention::bringBy(TileSpace &space, const Operand &operand, uint32_t side, Value firstAcross,
                              Value firstReduced, Value to, uint32_t width) {
  Bodies::Scope scope(kernel_.bodies);
  const uint32_t inRow = (operand.isAlongReduced ? depth_ : side) / width;
  SmallVector<std::pair<Value, Value>> places;
  SmallVector<Values> values;
  for (uint32_t number = 0; number < side * depth_ / (width * k_.threads); ++number) {
    Value vector = k_.add(k_.thread(), k_.number(int64_t(number) * k_.threads));
    Value row = k_.div(vector, k_.number(inRow)), column = k_.mul(k_.rem(vector, k_.number(inRow)), k_.number(width));
    const auto place = operand.isAlongReduced ? std::pair(row, column) : std::pair(column, row);
    places.push_back(place);
    values.push_back(space.read(operand, k_.add(firstAcross, place.first), k_.add(firstReduced, place.second), width,
                                /*mayEnd=*/true));
  }
  for (auto [place, vector] : llvm::zip_equal(places, values))
    for (auto [lane, value] : llvm::enumerate(vector)) {
      Value across = place.first, reduced = place.second;
      (operand.isAlongReduced ? reduced : across) =
          k_.add(operand.isAlongReduced ? reduced : across, k_.number(int64_t(lane)));
      Value element = k_.add(k_.mul(reduced, k_.number(side + kPadding)), across);
      k_.store(extended(k_, operand, value, type_), k_.at(to, type_, element), bytes_);
    }
}

/// Four adjacent elements.
ScalarAttention::Values ScalarAttention::loadGroup(Value from, uint32_t stride, Value row, Value first) {
  Value at = k_.at(from, type_, k_.add(k_.mul(row, k_.number(stride)), first));
  const uint32_t width = std::min(kGroup, 16 / bytes_);
  Values values;
  for (uint32_t lane = 0; lane < kGroup; lane += width) {
    Value all = k_.load(VectorType::get(width, type_), k_.at(at, type_, k_.number(lane)), 16);
    for (uint32_t each = 0; each < width; ++each)
      values.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(each)));
  }
  return values;
}

/// sums[row][group][column] += left[depth][row] * right[depth][64 group + column]
ScalarAttention::Values ScalarAttention::multiply(Value left, uint32_t leftStride, Value leftRow, Value right,
                                                  uint32_t rightStride, uint32_t depth, uint32_t columnGroups,
                                                  Values sums) {
  for (uint32_t step = 0; step < depth; ++step) {
    const Values x = loadGroup(left, leftStride, k_.add(leftRow, k_.number(step)), k_.mul(down_, k_.number(kGroup)));
    Values y;
    for (uint32_t group = 0; group < columnGroups; ++group)
      llvm::append_range(y, loadGroup(right, rightStride, k_.number(step),
                                      k_.add(k_.mul(across_, k_.number(kGroup)), k_.number(group * kSide * kGroup))));
    Value *sum = sums.begin();
    for (Value a : x)
      for (Value b : y) {
        *sum = combine(k_, kernel_.attention.output.sum.sum, *sum, arith::MulFOp::create(k_.b, k_.loc, a, b));
        ++sum;
      }
  }
  return sums;
}

ScalarAttention::Values ScalarAttention::scoresOf(const AttentionTile &tile, const Product &product, Value firstKey) {
  const ProductKernel kernel = kernel_.product(product, kRows, kKeys, depth_);
  TileSpace space(kernel, tile.inBatch, tile.firstRow, firstKey);
  Value keys = k_.at(arena_, type_, k_.number(int64_t(depth_) * (kRows + kPadding)));
  const Values start(kGroup * kGroup, neutral(k_, product.sum.sum));
  return k_.loop(k_.number(0), space.reduced(), k_.number(depth_), start, [&](Value depth, ValueRange sums) {
    k_.barrier(); // everybody has read what was there
    bring(space, product.left, kRows, space.firstRow(), depth, arena_);
    bring(space, product.right, kKeys, firstKey, depth, keys);
    k_.barrier();
    return multiply(arena_, kRows + kPadding, k_.number(0), keys, kKeys + kPadding, depth_, 1, llvm::to_vector(sums));
  });
}

/// Rounded to the type in which the program multiplies it.
Value ScalarAttention::asFactor(Value weight) {
  Type factor = kernel_.attention.output.left.value.getType();
  if (factor.getIntOrFloatBitWidth() >= type_.getIntOrFloatBitWidth())
    return weight;
  Value narrow = arith::TruncFOp::create(k_.b, k_.loc, factor, weight);
  return arith::ExtFOp::create(k_.b, k_.loc, type_, narrow);
}

/// Carried: what softmax does, then sums of the result, [row][group][column].
ScalarAttention::Values ScalarAttention::block(const AttentionTile &tile, const KeyRange &range, Value firstKey,
                                               ValueRange carried) {
  Bodies::Scope scope(kernel_.bodies);
  const ProductKernel scoresKernel = kernel_.product(kernel_.attention.scores, kRows, kKeys, depth_);
  TileSpace scoresSpace(scoresKernel, tile.inBatch, tile.firstRow, firstKey),
      outputSpace(output_, tile.inBatch, tile.firstRow, tile.firstColumn);
  k_.barrier(); // everybody has multiplied by the weights of the block before
  SmallVector<LogitRun> runs;
  for (uint32_t row = 0; row < kGroup; ++row)
    runs.push_back({k_.add(tile.firstRow, k_.add(k_.mul(down_, k_.number(kGroup)), k_.number(row))),
                    k_.add(firstKey, k_.mul(across_, k_.number(kGroup))),
                    {}});
  for (const Product *product : kernel_.attention.inner()) {
    const Values scores = scoresOf(tile, *product, firstKey);
    for (auto [row, run] : llvm::enumerate(runs))
      (product == &kernel_.attention.scores ? run.scores : run.seconds)
          .assign(scores.begin() + row * kGroup, scores.begin() + (row + 1) * kGroup);
  }
  range.computeLogits(scoresSpace, firstKey, runs);
  storeWeights(kernel_, scoresSpace, runs);
  SmallVector<Values> weights;
  for (LogitRun &run : runs)
    weights.push_back(run.scores);
  OnlineSoftmax::Step step;
  if (!isChain_)
    step = softmax_.step(carried.take_front(states()), weights);
  for (uint32_t key = 0; key < kKeys / kSide; ++key)
    for (uint32_t row = 0; row < kGroup; ++row) {
      Value factor = asFactor(weights[row][key]);
      Value at = k_.add(k_.mul(k_.add(k_.mul(across_, k_.number(kGroup)), k_.number(key)), k_.number(kRows + kPadding)),
                        k_.add(k_.mul(down_, k_.number(kGroup)), k_.number(row)));
      k_.store(factor, k_.at(weights_, type_, at), bytes_);
    }
  const uint32_t groups = columns_ / (kSide * kGroup);
  Values sums = llvm::to_vector(carried.drop_front(states()));
  if (!isChain_)
    sums =
        softmax_.scaled(step, carried.drop_front(states()), [&](size_t i) { return uint32_t(i / (groups * kGroup)); });
  sums = k_.loop(k_.number(0), k_.number(kKeys), k_.number(depth_), sums, [&](Value depth, ValueRange inside) {
    k_.barrier(); // weights are there, and everybody has read what was in the arena
    bring(outputSpace, kernel_.attention.output.right, columns_, tile.firstColumn, k_.add(firstKey, depth), arena_);
    k_.barrier();
    return multiply(weights_, kRows + kPadding, depth, arena_, columns_ + kPadding, depth_, groups,
                    llvm::to_vector(inside));
  });
  Values next = step.carried;
  llvm::append_range(next, sums);
  return next;
}

/// 64 rows, up to 128 columns.
void ScalarAttention::part(const AttentionTile &tile) {
  Bodies::Scope scope(kernel_.bodies);
  const uint32_t groups = columns_ / (kSide * kGroup);
  TileSpace space(output_, tile.inBatch, tile.firstRow, tile.firstColumn);
  const ProductKernel scores = kernel_.product(kernel_.attention.scores, kRows, kKeys, depth_);
  const KeyRange range(kernel_, scores, tile, kRows, kKeys);
  Values start = isChain_ ? Values() : softmax_.start();
  start.append(kGroup * groups * kGroup, neutral(k_, kernel_.attention.output.sum.sum));
  const Values carried =
      k_.loop(range.first(), range.last(), k_.number(kKeys), start,
              [&](Value firstKey, ValueRange inside) { return block(tile, range, firstKey, inside); });
  const RowTotals totals = isChain_ ? RowTotals() : softmax_.totals(ArrayRef(carried).take_front(states()));
  const Values inverses = totals.inverses(k_, kernel_.attention.hiddenIsZero);
  ResultPart result;
  result.rows = kRows;
  result.columns = columns_;
  result.rowOf = [](Value row) { return row; };
  const Value *next = carried.begin() + states();
  for (uint32_t row = 0; row < kGroup; ++row)
    for (uint32_t group = 0; group < groups; ++group) {
      Values values;
      for (uint32_t column = 0; column < kGroup; ++column) {
        Value sum = *next++;
        values.push_back(isChain_ ? sum : range.orNothing(arith::MulFOp::create(k_.b, k_.loc, sum, inverses[row])));
      }
      result.runs.push_back({k_.add(k_.mul(down_, k_.number(kGroup)), k_.number(row)),
                             k_.add(k_.mul(across_, k_.number(kGroup)), k_.number(group * kSide * kGroup)), values});
    }
  writeResult(output_, space, arena_, result);
  k_.when(k_.equal(across_, k_.number(0)), [&] {
    for (auto [row, sum] : llvm::enumerate(totals.sums))
      storeLogSum(kernel_, space, k_.add(tile.firstRow, k_.add(k_.mul(down_, k_.number(kGroup)), k_.number(row))),
                  totals.references[row], sum);
  });
  k_.barrier();
}

void ScalarAttention::run(Value number) {
  const uint32_t operands = depth_ * std::max(kRows + kKeys + 2 * kPadding, columns_ + kPadding);
  const uint32_t weights = kKeys * (kRows + kPadding);
  // Results take the place of everything.
  const uint32_t staged = stagedBytes(kRows, columns_, bytes_) / bytes_;
  arena_ = k_.shared(type_, std::max(operands + weights, staged), 16);
  weights_ = k_.at(arena_, type_, k_.number(operands));
  down_ = k_.div(k_.thread(), k_.number(kSide));
  across_ = k_.rem(k_.thread(), k_.number(kSide));
  const AttentionTile tile = tileOf(kernel_, number);
  const uint32_t across = kernel_.columns / columns_, parts = kernel_.rows / kRows * across;
  k_.loop(k_.number(0), k_.number(parts), k_.number(1), {}, [&](Value part, ValueRange) {
    AttentionTile each = tile;
    each.firstRow = k_.add(each.firstRow, k_.mul(k_.div(part, k_.number(across)), k_.number(kRows)));
    each.firstColumn = k_.add(each.firstColumn, k_.mul(k_.rem(part, k_.number(across)), k_.number(columns_)));
    TileSpace space(output_, each.inBatch, each.firstRow, each.firstColumn);
    k_.when(k_.both(k_.less(each.firstRow, space.rows()), k_.less(each.firstColumn, space.columns())),
            [&] { this->part(each); });
    return Values();
  });
}

} // namespace

void writeScalarAttention(const AttentionKernel &kernel, Value tile) {
  ScalarAttention(kernel).run(tile);
}

} // namespace tenon::compiler::codegen
