// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/scalar_product.h"

#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/kernels/shared_words.h"
#include "compiler/codegen/contraction/kernels/window_vectors.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Threads are 16 x 16, or 16 x 8 where each computes more, of tiles that are wider than high 8 x 16, or 8 x 8; each has
// groups of 4 x 4 adjacent elements, one for each 64 or 32 rows, and one for each 64 or 32 columns of the tile.
constexpr uint32_t kSide = 16, kHalfSide = 8;
constexpr uint32_t kGroup = 4;
constexpr uint32_t kWarpDown = 4, kWarpAcross = 8; // threads of a warp
/// Large tiles of which both sides lie along the reduced elements, of known sizes.
bool isLargeAlong(const ProductKernel &kernel) {
  const Product &product = kernel.product;
  return std::min(kernel.rows, kernel.columns) > 64 && product.left.isAlongReduced && product.right.isAlongReduced &&
         !product.left.border && !product.right.border && kernel.shape.sizeOf(product.rows) &&
         kernel.shape.sizeOf(product.columns) && kernel.shape.sizeOf(product.reduced);
}

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
// Elements behind each row in shared memory: vectors stay aligned to 16 bytes.
constexpr uint32_t kPadding = 4;

class ScalarProduct {
public:
  explicit ScalarProduct(const ProductKernel &kernel)
      : kernel_(kernel), product_(kernel.product), k_(kernel.k), bodies_(kernel.bodies), space_(kernel_),
        type_(kernel.product.sum.sum.type), stored_(storedType(type_)), bytes_(dispatch::elementBytes(stored_)),
        threadsDown_((kernel.rows < kernel.columns && kernel.k.threads < kSide * kSide) ||
                             kernel.k.threads == kFewestProductThreads
                         ? kHalfSide
                         : kSide),
        threadsAcross_(kernel.k.threads / threadsDown_), rowGroups_(kernel.rows / (threadsDown_ * kGroup)),
        columnGroups_(kernel.columns / (threadsAcross_ * kGroup)) {}

  void run();

private:
  using Values = SmallVector<Value>;

  /// The tile of an operand: elements of a step, [depth][side], the type in which they are multiplied.
  struct Buffer {
    const Operand *operand;
    uint32_t side;
    Value first;    // row or column of the tensor
    uint32_t begin; // elements behind the arena's, in each of two halves
    uint32_t stride() const { return side + kPadding; }
    uint32_t depth;
    uint32_t elements() const { return depth * stride(); }
  };

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
    if (k_.threads > 128 || bytes_ > 4 || elements > 128 * 64)
      return 2;
    return elements > 128 * 32 ? 3 : 5;
  }
  uint32_t widthOf(const Operand &operand) const;
  uint32_t countOf(const Buffer &buffer, uint32_t width) const {
    return buffer.side * kernel_.depth / (width * k_.threads);
  }
  std::pair<Value, Value> positionOf(const Buffer &buffer, uint32_t width, uint32_t number);
  bool isWholeInBorder(const Operand &operand, uint32_t width) const;

  void findWindows(ArrayRef<uint32_t> widths);
  Values fetch(Value step, ArrayRef<uint32_t> widths, bool mayEnd = true);
  /// How a step that is whole is told from the last one.
  enum class Steps { Ask, Apart, Branch };
  Steps kindOfSteps(ArrayRef<uint32_t> widths) const;
  void put(const Values &values, Value half, ArrayRef<uint32_t> widths);
  Values loadFactors(Value half, uint32_t depth);
  void multiply(ArrayRef<Value> factors, MutableArrayRef<Value> accumulators);
  Values steps(ArrayRef<uint32_t> widths);
  void addAndWrite(ArrayRef<Value> accumulators);
  Value slot(const Buffer &buffer, Value half, Value depth, Value across);
  Values loadGroup(const Buffer &buffer, Value half, uint32_t depth, Value thread, uint32_t first);

  ProductKernel kernel_;
  const Product &product_;
  KernelBuilder &k_;
  Bodies &bodies_;
  TileSpace space_;
  const Type type_, stored_;
  const uint32_t bytes_, threadsDown_, threadsAcross_, rowGroups_, columnGroups_;
  SmallVector<Buffer, 2> buffers_;
  SmallVector<std::optional<WindowVectors>, 2> windows_; // of each buffer
  Value arena_;
  Value down_, across_; // of the thread, among all
};

uint32_t ScalarProduct::widthOf(const Operand &operand) const {
  // Every thread brings a vector.
  const uint32_t each = std::min(kernel_.rows, kernel_.columns) * kernel_.depth / k_.threads;
  const uint32_t ofAxis = operand.border ? 16 / dispatch::elementBytes(operand.border->tensor.element)
                                         : vectorWidth(kernel_.kernel, kernel_.shape, operand.vectorAxis);
  return std::min({ofAxis, 16 / bytes_, each});
}

/// Position of vector `number` of the thread in the tile: across, along the reduced elements. Neighbouring threads read
/// side by side.
std::pair<Value, Value> ScalarProduct::positionOf(const Buffer &buffer, uint32_t width, uint32_t number) {
  Value vector = k_.add(k_.thread(), k_.number(int64_t(number) * k_.threads));
  const uint32_t inRow = (buffer.operand->isAlongReduced ? kernel_.depth : buffer.side) / width;
  Value row = k_.div(vector, k_.number(inRow));
  Value column = k_.mul(k_.rem(vector, k_.number(inRow)), k_.number(width));
  return buffer.operand->isAlongReduced ? std::pair(row, column) : std::pair(column, row);
}

/// Whether a vector of f32 lies inside of the image or outside: what is outside is a load that is not made.
bool ScalarProduct::isWholeInBorder(const Operand &operand, uint32_t width) const {
  return operand.border && !operand.border->expert && type_.isF32() && operand.value.getType() == type_ &&
         width * bytes_ == 16;
}

void ScalarProduct::findWindows(ArrayRef<uint32_t> widths) {
  for (auto [buffer, width, window] : llvm::zip_equal(buffers_, widths, windows_)) {
    window.reset();
    if (!isWholeInBorder(*buffer.operand, width) ||
        !WindowVectors::areThere(kernel_.shape, product_, *buffer.operand, kernel_.depth))
      continue;
    window.emplace(kernel_, space_, *buffer.operand, buffer.first, width);
    for (uint32_t number = 0; number < countOf(buffer, width); ++number) {
      auto [across, reduced] = positionOf(buffer, width, number);
      window->add(k_.add(buffer.first, across), reduced);
    }
  }
}

/// What the thread brings of a step.
/// @param mayEnd whether the step may have fewer reduced elements than others
ScalarProduct::Values ScalarProduct::fetch(Value step, ArrayRef<uint32_t> widths, bool mayEnd) {
  Bodies::Scope scope(bodies_);
  Values values;
  auto load = [&](const TileSpace::Source &source) {
    for (Value word : k_.loadWordsWhere(source.exists, source.address))
      values.push_back(arith::BitcastOp::create(k_.b, k_.loc, type_, word));
  };
  for (auto [buffer, width, window] : llvm::zip_equal(buffers_, widths, windows_)) {
    if (window) {
      llvm::for_each(window->at(step), load);
      continue;
    }
    for (uint32_t number = 0; number < countOf(buffer, width); ++number) {
      auto [across, reduced] = positionOf(buffer, width, number);
      across = k_.add(buffer.first, across);
      reduced = k_.add(k_.mul(step, k_.number(kernel_.depth)), reduced);
      if (isWholeInBorder(*buffer.operand, width)) {
        load(space_.sourceWhere(*buffer.operand, across, reduced, width, mayEnd));
        continue;
      }
      for (Value value : space_.read(*buffer.operand, across, reduced, width, mayEnd))
        values.push_back(extended(k_, *buffer.operand, value, type_));
    }
  }
  return values;
}

Value ScalarProduct::slot(const Buffer &buffer, Value half, Value depth, Value across) {
  const uint32_t both = buffers_[0].elements() + buffers_[1].elements();
  Value element = k_.add(k_.mul(depth, k_.number(buffer.stride())), across);
  element = k_.add(element, k_.add(k_.mul(half, k_.number(both)), k_.number(buffer.begin)));
  return k_.at(arena_, stored_, element);
}

void ScalarProduct::put(const Values &values, Value half, ArrayRef<uint32_t> widths) {
  const Value *next = values.begin();
  for (auto [buffer, width] : llvm::zip_equal(buffers_, widths))
    for (uint32_t number = 0; number < countOf(buffer, width); ++number) {
      auto [across, reduced] = positionOf(buffer, width, number);
      if (!buffer.operand->isAlongReduced && width > 1) {
        Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(width, stored_));
        for (uint32_t lane = 0; lane < width; ++lane)
          all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, *next++, k_.number(lane));
        // Rows begin at multiples of the padding.
        k_.store(all, slot(buffer, half, reduced, across), std::min(width, kPadding) * bytes_);
        continue;
      }
      for (uint32_t lane = 0; lane < width; ++lane) {
        Value along = k_.add(reduced, k_.number(lane));
        storeShared(k_, *next++, slot(buffer, half, along, across));
      }
    }
}

/// Four adjacent elements of a row of the operand's tile, in the part that begins at `first`.
ScalarProduct::Values ScalarProduct::loadGroup(const Buffer &buffer, Value half, uint32_t depth, Value thread,
                                               uint32_t first) {
  Value across = k_.add(k_.mul(thread, k_.number(kGroup)), k_.number(first));
  Value from = slot(buffer, half, k_.number(depth), across);
  if (depth == 0 && isLargeAlong(kernel_) && stored_.isF32())
    return readInPlace(k_, from);
  Values values;
  const uint32_t width = std::min(kGroup, 16 / bytes_);
  for (uint32_t lane = 0; lane < kGroup; lane += width) {
    Value all =
        k_.load(VectorType::get(width, stored_), k_.at(from, stored_, k_.number(lane)), std::min(16u, width * bytes_));
    for (uint32_t each = 0; each < width; ++each)
      values.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(each)));
  }
  return values;
}

/// What a thread multiplies at a reduced element: its rows, then its columns.
ScalarProduct::Values ScalarProduct::loadFactors(Value half, uint32_t depth) {
  Values factors;
  for (uint32_t group = 0; group < rowGroups_; ++group)
    llvm::append_range(factors, loadGroup(buffers_[0], half, depth, down_, group * threadsDown_ * kGroup));
  for (uint32_t group = 0; group < columnGroups_; ++group)
    llvm::append_range(factors, loadGroup(buffers_[1], half, depth, across_, group * threadsAcross_ * kGroup));
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
ScalarProduct::Steps ScalarProduct::kindOfSteps(ArrayRef<uint32_t> widths) const {
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
ScalarProduct::Values ScalarProduct::steps(ArrayRef<uint32_t> widths) {
  Value count = k_.div(k_.add(space_.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
  const StepRange range = stepsOfBlock(kernel_, count, rankInDepth(kernel_));
  Value isAny = k_.less(range.begin, range.end), firstHalf = k_.rem(range.begin, k_.number(2));
  findWindows(widths);
  k_.when(isAny, [&] { put(fetch(range.begin, widths), firstHalf, widths); });
  k_.barrier();
  const size_t factorCount = (rowGroups_ + columnGroups_) * kGroup;
  Value zero = neutral(k_, product_.sum.sum);
  Values carried = k_.choose(
      isAny, SmallVector<Type>(factorCount, type_), [&] { return loadFactors(firstHalf, 0); },
      [&] { return Values(factorCount, zero); });
  carried.append(rowGroups_ * columnGroups_ * kGroup * kGroup, zero);
  const Steps kind = kindOfSteps(widths);
  Value whole = kind == Steps::Ask ? Value() : k_.div(space_.reduced(), k_.number(kernel_.depth));
  auto fetchNext = [&](Value next, bool isWhole) {
    if (isWhole)
      return fetch(next, widths, /*mayEnd=*/false);
    // The last step reads itself again; nobody multiplies that.
    next = k_.min(next, k_.sub(range.end, k_.number(1)));
    if (kind != Steps::Branch)
      return fetch(next, widths);
    size_t count = 0;
    for (auto [buffer, width] : llvm::zip_equal(buffers_, widths))
      count += size_t(countOf(buffer, width)) * width;
    return k_.choose(
        k_.less(next, whole), SmallVector<Type>(count, type_), [&] { return fetch(next, widths, /*mayEnd=*/false); },
        [&] { return fetch(next, widths); });
  };
  auto loop = [&](Value first, Value last, bool isNextWhole) {
    carried = k_.loop(first, last, k_.number(1), carried, [&](Value step, ValueRange previous) {
      Value next = k_.add(step, k_.number(1)), half = k_.rem(step, k_.number(2)), other = k_.rem(next, k_.number(2));
      const Values values = fetchNext(next, isNextWhole);
      Values factors(previous.take_front(factorCount)), accumulators(previous.drop_front(factorCount));
      for (uint32_t depth = 0; depth < kernel_.depth; ++depth) {
        const bool isLast = depth + 1 == kernel_.depth;
        if (isLast) {
          put(values, other, widths);
          k_.barrier();
        }
        Values following = isLast ? loadFactors(other, 0) : loadFactors(half, depth + 1);
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
  buffers_.push_back({&product_.left, kernel_.rows, space_.firstRow(), 0, kernel_.depth});
  buffers_.push_back({&product_.right, kernel_.columns, space_.firstColumn(), buffers_[0].elements(), kernel_.depth});
  windows_.resize(buffers_.size());
  const uint32_t partRows = threadsDown_ * kGroup;
  const uint32_t staged =
      std::max(2 * (buffers_[0].elements() + buffers_[1].elements()), isDivided() ? kernel_.rows * kernel_.columns : 0);
  if (isDivided())
    k_.requireClusters(kernel_.deep);
  arena_ = k_.shared(stored_, std::max(staged, stagedBytes(partRows, kernel_.columns, 1)), 16);
  // A warp is 4 x 8 threads, so that it reads few different vectors of both operands at once.
  Value lane = k_.rem(k_.thread(), k_.number(32)), warp = k_.div(k_.thread(), k_.number(32));
  Value warpsAcross = k_.number(threadsAcross_ / kWarpAcross), inWarp = k_.number(kWarpAcross);
  down_ = k_.add(k_.mul(k_.div(warp, warpsAcross), k_.number(kWarpDown)), k_.div(lane, inWarp));
  across_ = k_.add(k_.mul(k_.rem(warp, warpsAcross), inWarp), k_.rem(lane, inWarp));

  const SmallVector<uint32_t, 2> wide = {widthOf(product_.left), widthOf(product_.right)}, single = {1, 1};
  Value aligned = k_.both(space_.isAligned(product_.left, wide[0]), space_.isAligned(product_.right, wide[1]));
  Values accumulators = k_.choose(
      aligned, SmallVector<Type>(rowGroups_ * columnGroups_ * kGroup * kGroup, type_), [&] { return steps(wide); },
      [&] { return steps(single); });

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
