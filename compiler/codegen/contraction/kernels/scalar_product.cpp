// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/scalar_product.h"

#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/kernels/scalar_operands.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Threads are 16 x 16, or 16 x 8 where each computes more, of tiles that are wider than high 8 x 16, or 8 x 8; each has
// groups of 4 x 4 adjacent elements, one for each 64 or 32 rows, and one for each 64 or 32 columns of the tile.
constexpr uint32_t kSide = 16, kHalfSide = 8;
constexpr uint32_t kGroup = ScalarOperands::kGroup;
constexpr uint32_t kWarpDown = 4, kWarpAcross = 8; // threads of a warp

// Reduced elements of a step; a thread brings one vector of each operand, or more. Of large tiles the instructions of
// 16 are 35 KB, more than a multiprocessor's cache of them holds. Of f64 16 would take more shared memory than there
// is.
uint32_t depthOf(const ProductKernel &kernel) {
  if (kernel.product.isOfDoubles() && kernel.rows > 64)
    return 8;
  const bool areAlong = kernel.product.left.isAlongReduced && kernel.product.right.isAlongReduced;
  const bool isLong = std::min(kernel.rows, kernel.columns) <= 64 || (areAlong && !isLargeAlong(kernel));
  return isLong ? 16 : 8;
}

class ScalarProduct {
public:
  explicit ScalarProduct(const ProductKernel &kernel)
      : kernel_(kernel), product_(kernel.product), k_(kernel.k), space_(kernel_), type_(kernel.product.sum.sum.type),
        threadsDown_((kernel.rows < kernel.columns && kernel.k.threads < kSide * kSide) ||
                             kernel.k.threads == kFewestProductThreads
                         ? kHalfSide
                         : kSide),
        threadsAcross_(kernel.k.threads / threadsDown_), rowGroups_(kernel.rows / (threadsDown_ * kGroup)),
        columnGroups_(kernel.columns / (threadsAcross_ * kGroup)) {}

  void run();

private:
  using Values = ScalarOperands::Values;
  using Widths = ScalarOperands::Widths;

  /// In which a thread's products are made: row by row, the same with every other one backwards, or column by column.
  /// What is fastest ptxas decides (an H200, exact f32, us: nt 1000 x 3000 x 7000 1034, 971 in turning rows; nt 4095 x
  /// 4097 x 4096 3086 and 2885 in columns; nn 4096 x 4096 x 4096 2761 and 2865).
  enum class Order { Rows, TurningRows, Columns };
  Order orderOfProducts() const {
    if (isLargeAlong(kernel_))
      return Order::Columns;
    const bool isLarge = std::min(kernel_.rows, kernel_.columns) > 64,
               hasBorder = product_.left.border || product_.right.border;
    return rowGroups_ * columnGroups_ >= 4 && (!isLarge || hasBorder) ? Order::TurningRows : Order::Rows;
  }
  bool isDivided() const { return kernel_.deep > 1; }
  /// Blocks that share a multiprocessor: as many as have registers for their sums.
  uint32_t resident() const {
    if (k_.threads == kFewestProductThreads)
      return 6;
    const uint32_t elements = kernel_.rows * kernel_.columns;
    if (k_.threads > 128 || dispatch::elementBytes(storedType(type_)) > 4 || elements > 128 * 64)
      return 2;
    return elements > 128 * 32 ? 3 : 5;
  }
  /// How a step that is whole is told from the last one.
  enum class Steps { Ask, Apart, Branch };
  Steps kindOfSteps(const Widths &widths) const;
  Values loadFactors(Value half, Value depth, bool isFirst = false);
  void multiply(ArrayRef<Value> factors, MutableArrayRef<Value> accumulators);
  Values steps(const Widths &widths, bool isRare);
  void addAndWrite(ArrayRef<Value> accumulators);

  ProductKernel kernel_;
  const Product &product_;
  KernelBuilder &k_;
  TileSpace space_;
  const Type type_;
  const uint32_t threadsDown_, threadsAcross_, rowGroups_, columnGroups_;
  std::optional<ScalarOperands> operands_;
  Value arena_;
  Value down_, across_; // of the thread, among all
};

/// What a thread multiplies at a reduced element: its rows, then its columns.
ScalarProduct::Values ScalarProduct::loadFactors(Value half, Value depth, bool isFirst) {
  Values factors;
  for (uint32_t group = 0; group < rowGroups_; ++group)
    llvm::append_range(factors, operands_->load(0, half, depth, isFirst, down_, group * threadsDown_ * kGroup));
  for (uint32_t group = 0; group < columnGroups_; ++group)
    llvm::append_range(factors, operands_->load(1, half, depth, isFirst, across_, group * threadsAcross_ * kGroup));
  return factors;
}

/// Accumulators: [row group][row][column group][column]. A product that shares a factor with the one before does not
/// read it again, and registers of one bank that an instruction reads cost time. So every other row is multiplied
/// backwards, or every other column.
void ScalarProduct::multiply(ArrayRef<Value> factors, MutableArrayRef<Value> accumulators) {
  const bool isFloat = isa<FloatType>(type_);
  const ArrayRef<Value> left = factors.take_front(rowGroups_ * kGroup), right = factors.drop_front(left.size());
  auto add = [&](size_t row, size_t column) {
    Value product = isFloat ? arith::MulFOp::create(k_.b, k_.loc, left[row], right[column]).getResult()
                            : arith::MulIOp::create(k_.b, k_.loc, left[row], right[column]).getResult();
    Value &accumulator = accumulators[row * right.size() + column];
    accumulator = combine(k_, product_.sum.sum, accumulator, product);
  };
  const Order order = orderOfProducts();
  if (order == Order::Columns) {
    for (size_t column = 0; column < right.size(); ++column)
      for (size_t row = 0; row < left.size(); ++row)
        add(column % 2 == 0 ? row : left.size() - 1 - row, column);
    return;
  }
  for (size_t row = 0; row < left.size(); ++row)
    for (size_t column = 0; column < right.size(); ++column)
      add(row, order == Order::Rows || row % 2 == 0 ? column : right.size() - 1 - column);
}

/// Where each element is asked whether it is there, and its place is computed anew, that takes a third as many
/// instructions as the products do (of rows that are not aligned: 24 elements for 1,024 products). Long sums have a
/// loop for steps that are whole; short ones, which would wait for its instructions, a branch (an H200: tt 1606 x 365 x
/// 131 18.2 us, with a loop 17.2, with a branch 16.2; nt 126 x 12228 x 9223 680, 658, 674). Of known sizes whole
/// vectors are so few that they ask.
ScalarProduct::Steps ScalarProduct::kindOfSteps(const Widths &widths) const {
  constexpr int64_t kLongSteps = 64;
  const bool isPlain = !product_.routes && product_.places.empty() && product_.reduced.size() == 1 &&
                       !product_.left.border && !product_.right.border && !kernel_.reducedPatches;
  if (space_.reducedIsWhole() || !isPlain)
    return Steps::Ask;
  const std::optional<int64_t> reduced = space_.knownSize(product_.reduced);
  if (!reduced)
    return Steps::Branch;
  if (llvm::none_of(widths, [](uint32_t width) { return width == 1; }))
    return Steps::Ask;
  return *reduced >= kLongSteps * kernel_.depth * kernel_.deep ? Steps::Apart : Steps::Branch;
}

/// While a step is multiplied, the elements of the next one are read from memory, and the factors of the next reduced
/// element from shared memory. The barrier stands before the last reduced element of a step: behind it the first
/// factors of the next step are read while the last ones of this step are multiplied.
/// @param isRare of what hardly ever runs the reduced elements of a step are a loop, not each of them written out: most
/// of the time that a program of products compiles for is LLVM's with these instructions
ScalarProduct::Values ScalarProduct::steps(const Widths &widths, bool isRare) {
  Value count = k_.div(k_.add(space_.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
  const StepRange range = stepsOfBlock(kernel_, count, rankInDepth(kernel_));
  Value isAny = k_.less(range.begin, range.end), firstHalf = k_.rem(range.begin, k_.number(2));
  operands_->findWindows(widths);
  k_.when(isAny, [&] { operands_->put(operands_->fetch(range.begin, widths), firstHalf, widths); });
  k_.barrier();
  const size_t factorCount = (rowGroups_ + columnGroups_) * kGroup;
  Value zero = neutral(k_, product_.sum.sum);
  Values carried = k_.choose(
      isAny, SmallVector<Type>(factorCount, type_), [&] { return loadFactors(firstHalf, k_.number(0), true); },
      [&] { return Values(factorCount, zero); });
  carried.append(rowGroups_ * columnGroups_ * kGroup * kGroup, zero);
  const Steps kind = isRare ? Steps::Ask : kindOfSteps(widths);
  Value whole = kind == Steps::Ask ? Value() : k_.div(space_.reduced(), k_.number(kernel_.depth));
  auto fetchNext = [&](Value next, bool isWhole) {
    if (isWhole)
      return operands_->fetch(next, widths, /*mayEnd=*/false);
    // The last step reads itself again; nobody multiplies that.
    next = k_.min(next, k_.sub(range.end, k_.number(1)));
    if (kind != Steps::Branch)
      return operands_->fetch(next, widths);
    return k_.choose(
        k_.less(next, whole), SmallVector<Type>(operands_->fetched(widths), type_),
        [&] { return operands_->fetch(next, widths, /*mayEnd=*/false); },
        [&] { return operands_->fetch(next, widths); });
  };
  auto loop = [&](Value first, Value last, bool isNextWhole) {
    carried = k_.loop(first, last, k_.number(1), carried, [&](Value step, ValueRange previous) {
      Value next = k_.add(step, k_.number(1)), half = k_.rem(step, k_.number(2)), other = k_.rem(next, k_.number(2));
      const Values values = fetchNext(next, isNextWhole);
      Values factors(previous.take_front(factorCount)), accumulators(previous.drop_front(factorCount));
      uint32_t first = 0;
      if (isRare) {
        first = kernel_.depth - 1;
        Values both = factors;
        both.append(accumulators);
        both = k_.loop(k_.number(0), k_.number(first), k_.number(1), both, [&](Value depth, ValueRange before) {
          Values now(before.take_front(factorCount)), sums(before.drop_front(factorCount));
          Values following = loadFactors(half, k_.add(depth, k_.number(1)));
          multiply(now, sums);
          following.append(sums);
          return following;
        });
        factors.assign(both.begin(), both.begin() + factorCount);
        accumulators.assign(both.begin() + factorCount, both.end());
      }
      for (uint32_t depth = first; depth < kernel_.depth; ++depth) {
        const bool isLast = depth + 1 == kernel_.depth;
        if (isLast) {
          operands_->put(values, other, widths);
          k_.barrier();
        }
        Values following = isLast ? loadFactors(other, k_.number(0), true) : loadFactors(half, k_.number(depth + 1));
        multiply(factors, accumulators);
        factors = std::move(following);
      }
      factors.append(accumulators);
      return factors;
    });
  };
  Value begin = range.begin;
  if (kind == Steps::Apart) {
    // Steps with another one behind them that is whole.
    Value one = k_.number(1), least = k_.add(begin, one), most = k_.min(whole, range.end);
    Value wholes = k_.sub(k_.select(k_.less(least, most), most, least), one);
    loop(begin, wholes, /*isNextWhole=*/true);
    begin = wholes;
  }
  loop(begin, range.end, /*isNextWhole=*/false);
  return Values(ArrayRef<Value>(carried).drop_front(factorCount));
}

void ScalarProduct::run() {
  // Several blocks share a multiprocessor, so that one computes while another waits; they share its registers, too.
  k_.wantResident(resident());
  operands_.emplace(kernel_, space_);
  const uint32_t partRows = threadsDown_ * kGroup;
  const uint32_t staged = std::max(operands_->elements(), isDivided() ? kernel_.rows * kernel_.columns : 0);
  if (isDivided())
    k_.requireClusters(kernel_.deep);
  arena_ = k_.shared(operands_->stored(), std::max(staged, stagedBytes(partRows, kernel_.columns, 1)), 16);
  operands_->place(arena_);
  // A warp is 4 x 8 threads, so that it reads few different vectors of both operands at once.
  Value lane = k_.rem(k_.thread(), k_.number(32)), warp = k_.div(k_.thread(), k_.number(32));
  Value warpsAcross = k_.number(threadsAcross_ / kWarpAcross), inWarp = k_.number(kWarpAcross);
  down_ = k_.add(k_.mul(k_.div(warp, warpsAcross), k_.number(kWarpDown)), k_.div(lane, inWarp));
  across_ = k_.add(k_.mul(k_.rem(warp, warpsAcross), inWarp), k_.rem(lane, inWarp));

  const Widths wide = operands_->widestVectors(), single = {1, 1};
  Value aligned = operands_->isAligned(wide);
  // Beside a loop, ptxas gives the instructions of large tiles registers of one bank (an H200: nt 2048 x 2048 x 2048
  // 388 us instead of 360, 4096 x 4096 x 4096 2889 and 2804; of small tiles nothing is slower). Where five blocks share
  // the registers, the loop would need more than there are.
  constexpr uint32_t kMostBlocks = 5;
  const bool mayBeRare = std::min(kernel_.rows, kernel_.columns) <= 64 && resident() != kMostBlocks;
  Values accumulators = k_.choose(
      aligned, SmallVector<Type>(rowGroups_ * columnGroups_ * kGroup * kGroup, type_),
      [&] { return steps(wide, /*isRare=*/false); },
      [&] { return steps(single, mayBeRare && operands_->areAligned(wide)); });

  if (isDivided())
    return addAndWrite(accumulators);
  SmallVector<ResultPart> parts;
  const Value *next = accumulators.begin();
  for (uint32_t group = 0; group < rowGroups_; ++group) {
    ResultPart &part = parts.emplace_back();
    part.rows = partRows;
    part.rowOf = [&, group](Value row) { return k_.add(row, k_.number(int64_t(group) * partRows)); };
    for (uint32_t row = 0; row < kGroup; ++row)
      for (uint32_t columns = 0; columns < columnGroups_; ++columns) {
        Value column =
            k_.add(k_.mul(across_, k_.number(kGroup)), k_.number(int64_t(columns) * threadsAcross_ * kGroup));
        part.runs.push_back(
            {k_.add(k_.mul(down_, k_.number(kGroup)), k_.number(row)), column, Values(next, next + kGroup)});
        next += kGroup;
      }
  }
  writeResult(kernel_, space_, arena_, parts);
}

/// A unit is one row of each thread.
void ScalarProduct::addAndWrite(ArrayRef<Value> accumulators) {
  const size_t ofUnit = size_t(columnGroups_) * kGroup;
  SmallVector<Values> units;
  for (size_t first = 0; first < accumulators.size(); first += ofUnit)
    units.emplace_back(accumulators.slice(first, ofUnit));
  k_.barrier(); // nobody reads operands any more
  DividedSums sums(kernel_, arena_, rankInDepth(kernel_), k_.thread(), k_.threads);
  sums.add(units, [&](Value first, ArrayRef<Values> added) {
    SmallVector<ResultPart> parts;
    for (auto [number, values] : llvm::enumerate(added)) {
      Value unit = k_.add(first, k_.number(int64_t(number)));
      Value firstRow = k_.add(k_.mul(k_.div(unit, k_.number(kGroup)), k_.number(int64_t(threadsDown_) * kGroup)),
                              k_.rem(unit, k_.number(kGroup)));
      ResultPart &part = parts.emplace_back();
      part.rows = threadsDown_;
      part.rowOf = [this, firstRow](Value row) { return k_.add(firstRow, k_.mul(row, k_.number(kGroup))); };
      for (uint32_t columns = 0; columns < columnGroups_; ++columns) {
        Value column =
            k_.add(k_.mul(across_, k_.number(kGroup)), k_.number(int64_t(columns) * threadsAcross_ * kGroup));
        part.runs.push_back({down_, column, Values(ArrayRef(values).slice(size_t(columns) * kGroup, kGroup))});
      }
    }
    writeResult(kernel_, space_, arena_, parts);
  });
}

} // namespace

void writeScalarProduct(ProductKernel kernel) {
  kernel.depth = depthOf(kernel);
  // Of a tile that lies inside, vectors of a thread have constant distances. With a position for each that is clamped,
  // registers of one bank meet in 104 of 2,048 multiplications, and these stall (exact f32 on an H200: 8 %).
  if (!kernel.product.routes)
    kernel.pulledBack = {1, 1};
  ScalarProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
