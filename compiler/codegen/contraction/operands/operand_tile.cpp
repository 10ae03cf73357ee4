// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/operand_tile.h"

#include "compiler/codegen/contraction/operands/any_runs.h"
#include "compiler/codegen/kernel/straddling.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Rows of a tile of which there may be none begin behind so many.
static constexpr uint32_t kOptionalRows = 128;
// Vectors of a thread that are on their way at once; of runs that begin anywhere, of which each is two of them.
static constexpr uint32_t kAtOnce = 8, kRunsAtOnce = 4;
static constexpr uint32_t kVectorBytes = 16;

OperandTile::OperandTile(const ProductKernel &kernel, TileSpace &space, TensorCore &core, const Operand &operand,
                         bool isRounded, uint32_t acrossBytes, bool isReadSingly)
    : kernel_(kernel), space_(space), core_(core), operand_(operand), k_(kernel.k),
      element_(kernel.product.tileElement(operand)),
      side_(&operand == &kernel.product.left ? kernel.rows : kernel.columns),
      elementBytes_(dispatch::elementBytes(element_)), isRounded_(isRounded && operand.value.getType().isF32()),
      staysAcross_(element_.isF64() || (isRounded && kernel.product.isReadAcross(operand)) ||
                   (isReadSingly && elementBytes_ == sizeof(float) && operand.isCopied())),
      acrossBytes_(acrossBytes),
      width_(liesAsInMemory() ? chunk()
                              : std::min(chunk(), vectorWidth(kernel.kernel, kernel.shape, operand.vectorAxis))) {}

Value OperandTile::isAligned() {
  return space_.isAligned(operand_, width_);
}

Value OperandTile::offsetOf(Value row, Value chunk) {
  constexpr uint32_t kBytes = 16;
  auto turnOf = [&](uint32_t rowBytes) {
    return rowBytes == 128 ? k_.rem(row, k_.number(8)) : k_.rem(k_.div(row, k_.number(2)), k_.number(4));
  };
  if (!liesAlongReduced()) {
    const uint32_t inRow = acrossBytes_ / kBytes;
    Value block = k_.mul(k_.div(chunk, k_.number(inRow)), k_.number(int64_t(kernel_.depth) * acrossBytes_));
    Value turn = element_.isF64() ? k_.mul(k_.rem(row, k_.number(4)), k_.number(2)) : turnOf(acrossBytes_);
    Value place = k_.exclusiveOr(k_.rem(chunk, k_.number(inRow)), turn);
    return k_.add(k_.add(block, k_.mul(row, k_.number(acrossBytes_))), k_.mul(place, k_.number(kBytes)));
  }
  const uint32_t rowBytes = kernel_.depth * elementBytes_;
  Value turn =
      element_.isF64() ? k_.mul(k_.rem(k_.div(row, k_.number(2)), k_.number(2)), k_.number(2)) : turnOf(rowBytes);
  return k_.add(k_.mul(row, k_.number(rowBytes)), k_.mul(k_.exclusiveOr(chunk, turn), k_.number(kBytes)));
}

std::pair<Value, Value> OperandTile::turnedPlace(Value lane, Value first, Value part) {
  Value two = k_.number(2), eight = k_.number(8), sixteen = k_.number(16);
  return {k_.add(k_.mul(part, sixteen), k_.add(k_.mul(k_.div(lane, sixteen), eight), k_.rem(lane, eight))),
          k_.add(k_.div(first, eight), k_.rem(k_.div(lane, eight), two))};
}

SmallVector<Value> OperandTile::turnedFragment(Value lane, Value arena, Value first, Value part) {
  auto [row, chunk] = turnedPlace(lane, first, part);
  return core_.loadMatrices(k_.at(arena, k_.b.getI8Type(), offsetOf(row, chunk)), /*isTransposed=*/true);
}

SmallVector<Value> OperandTile::leftFragment(Value lane, Value arena, Value first, Value part) {
  Value two = k_.number(2), sixteen = k_.number(16), row, chunk;
  if (liesAlongReduced()) {
    row = k_.add(first, k_.rem(lane, sixteen));
    chunk = k_.add(k_.mul(part, two), k_.div(lane, sixteen));
  } else {
    std::tie(row, chunk) = turnedPlace(lane, first, part);
  }
  return core_.loadMatrices(k_.at(arena, k_.b.getI8Type(), offsetOf(row, chunk)), !liesAlongReduced());
}

/// Of vectors that follow each other for a thread.
SmallVector<OperandTile::Position> OperandTile::positionsFrom(Value first, uint32_t width, uint32_t count) {
  const uint32_t inRow = rowLength() / width;
  SmallVector<Position> positions;
  for (uint32_t number = 0; number < count; ++number) {
    Value vector = k_.add(first, k_.number(int64_t(number) * k_.threads));
    positions.push_back({k_.div(vector, k_.number(inRow)), k_.mul(k_.rem(vector, k_.number(inRow)), k_.number(width))});
  }
  return positions;
}

/// Calls `body` for every vector of the thread: its row, and where in the row it begins. At most so many at a time, so
/// that loads do not wait for each other.
void OperandTile::forEach(uint32_t width, uint32_t most, llvm::function_ref<void(ArrayRef<Position>)> body) {
  // One by one: addresses are computed in each step anew. LLVM would compute those of all elements before the loop of
  // steps, or even add to each of them from step to step, in more registers than there are.
  Value thread = width == 1 || most != kAtOnce ? k_.opaque(k_.thread()) : k_.thread();
  const uint32_t count = vectors(width);
  uint32_t atOnce = std::min(count, most);
  while (count % atOnce != 0) // a tile of 192 columns has twelve
    --atOnce;
  auto visit = [&](Value first) { body(positionsFrom(first, width, atOnce)); };
  if (count == atOnce)
    return visit(thread);
  k_.loop(thread, k_.number(int64_t(count) * k_.threads), k_.number(int64_t(atOnce) * k_.threads), {},
          [&](Value first, ValueRange) {
            visit(first);
            return SmallVector<Value>();
          });
}

void OperandTile::put(Value arena, Value row, Value inRow, ArrayRef<Value> values) {
  Type element = k_.b.getIntegerType(elementBytes_ * 8);
  Value at = k_.at(arena, k_.b.getI8Type(), offsetOf(row, k_.div(inRow, k_.number(chunk()))));
  at = k_.at(at, element, k_.rem(inRow, k_.number(chunk())));
  auto bits = [&](Value value) -> Value {
    if (isRounded_)
      value = core_.toTf32(value);
    if (element_.isF64())
      value = extended(k_, operand_, value, element_);
    return value.getType() == element ? value : arith::BitcastOp::create(k_.b, k_.loc, element, value).getResult();
  };
  if (values.size() == 1)
    return k_.store(bits(values[0]), at, elementBytes_);
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(values.size(), element));
  for (auto [lane, value] : llvm::enumerate(values))
    all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, bits(value), k_.number(lane));
  k_.store(all, at, values.size() * elementBytes_);
}

bool OperandTile::hasRuns() const {
  // Few enough that a thread has all of its vectors at once.
  constexpr uint32_t kMostVectors = 16, kThreads = 128;
  return isCopied() && operand_.plain && operand_.isAlongReduced && kernel_.product.reduced.size() == 1 &&
         !kernel_.reducedPatches && side_ * kernel_.depth <= kMostVectors * kThreads * width_;
}

OperandTile::Runs OperandTile::findRuns() {
  Runs runs;
  for (auto [row, inRow] : positionsFrom(k_.thread(), width_, vectors(width_)))
    runs.sources.push_back(space_.source(operand_, k_.add(space_.firstRow(), row), inRow, width_, /*mayEnd=*/false));
  return runs;
}

void OperandTile::bringRuns(Value arena, Value step, const Runs &runs) {
  Type element = operand_.value.getType();
  Value first = k_.mul(step, k_.number(kernel_.depth));
  const SmallVector<Position> positions = positionsFrom(k_.thread(), width_, uint32_t(runs.sources.size()));
  auto bringSome = [&](size_t begin, size_t count) {
    for (auto [position, run] :
         llvm::zip_equal(ArrayRef(positions).slice(begin, count), ArrayRef(runs.sources).slice(begin, count))) {
      Value exists = run.exists;
      if (!space_.reducedIsWhole()) {
        Value isBelow = k_.less(k_.add(first, position.inRow), space_.reduced());
        exists = exists ? k_.both(exists, isBelow) : isBelow;
      }
      Value to = offsetOf(position.row, k_.div(position.inRow, k_.number(chunk())));
      core_.copyAsync(k_.at(arena, k_.b.getI8Type(), to), k_.at(run.address, element, first), exists);
    }
  };
  // Of more than 128 rows, those behind them are brought where there are some: else nobody reads their places.
  const size_t firstRows =
      std::min<size_t>(positions.size(), size_t(kOptionalRows) * kernel_.depth / width_ / k_.threads);
  bringSome(0, firstRows);
  if (firstRows < positions.size())
    k_.when(space_.isRow(k_.add(space_.firstRow(), k_.number(kOptionalRows))),
            [&] { bringSome(firstRows, positions.size() - firstRows); });
}

void OperandTile::bring(Value arena, Value step, bool isFast) {
  Value first = k_.mul(step, k_.number(kernel_.depth)), end = k_.add(first, k_.number(kernel_.depth));
  if ((!isFast && !mayStraddle()) || space_.reducedIsWhole() || kernel_.reducedPatches)
    return bringFrom(arena, first, isFast, /*mayEnd=*/true);
  // Only the last step may end before its depth.
  k_.branch(
      k_.less(space_.reduced(), end), [&] { bringFrom(arena, first, isFast, /*mayEnd=*/true); },
      [&] { bringFrom(arena, first, isFast, /*mayEnd=*/false); });
}

void OperandTile::bringWhole(Value arena, Value step, bool isFast) {
  bringFrom(arena, k_.mul(step, k_.number(kernel_.depth)), isFast, /*mayEnd=*/bool(kernel_.reducedPatches));
}

void OperandTile::bringWhere(Value isThere, Value arena, Value step) {
  assert(isCopied());
  const bool mayEnd = !space_.reducedIsWhole(); // then an element behind the last one is not there
  bringFrom(arena, k_.mul(step, k_.number(kernel_.depth)), /*isFast=*/true, mayEnd, mayEnd ? Value() : isThere);
}

bool OperandTile::mayStraddle() const {
  return !isCopiedSingly() && haveRuns(kernel_, operand_, chunk()) &&
         dispatch::elementBytes(operand_.tensor().element) == elementBytes_;
}

/// Runs of a row that begin anywhere in memory, a chunk of the tile each. Behind the end of a row they hold the next
/// one's first elements: of columns, results that nobody stores; reduced elements have to be zeros.
void OperandTile::bringStraddling(Value arena, Value firstReduced, bool mayEnd) {
  Value firstAcross = &operand_ == &kernel_.product.left ? space_.firstRow() : space_.firstColumn();
  forEach(chunk(), kRunsAtOnce, [&](ArrayRef<Position> positions) {
    Bodies::Scope scope(kernel_.bodies);
    SmallVector<Value> elements, bytes; // of a run that are there; null: all
    for (auto [row, inRow] : positions) {
      Value across = k_.add(firstAcross, operand_.isAlongReduced ? row : inRow);
      Value reduced = k_.add(firstReduced, operand_.isAlongReduced ? inRow : row);
      const TileSpace::Numbered first = space_.numbered(operand_, across, reduced, mayEnd);
      elements.push_back(first.element);
      Value there = k_.number(kVectorBytes), end = space_.reduced();
      if (first.exists && operand_.isAlongReduced)
        there = k_.min(there, k_.mul(k_.sub(end, k_.min(reduced, end)), k_.number(elementBytes_)));
      bytes.push_back(first.exists ? k_.select(first.exists, there, k_.number(0)) : Value());
    }
    const SmallVector<WordRun> runs = readRuns(kernel_, operand_, elements, kVectorBytes);
    for (auto [number, position] : llvm::enumerate(positions)) {
      Value run = vectorOfWords(k_, bytes[number] ? firstOf(k_, runs[number], bytes[number]) : runs[number]);
      if (liesAsInMemory() && !isRounded_) {
        Value chunkOfRow = k_.div(position.inRow, k_.number(chunk()));
        k_.store(run, k_.at(arena, k_.b.getI8Type(), offsetOf(position.row, chunkOfRow)), kVectorBytes);
        continue;
      }
      const SmallVector<Value> values = elementsOfVector(k_, run, element_);
      if (liesAsInMemory()) {
        put(arena, position.row, position.inRow, values);
        continue;
      }
      for (auto [lane, each] : llvm::enumerate(values))
        put(arena, k_.add(position.inRow, k_.number(lane)), position.row, each);
    }
  });
}

void OperandTile::bringFrom(Value arena, Value firstReduced, bool isFast, bool mayEnd, Value isThere) {
  if (!isFast && mayStraddle())
    return bringStraddling(arena, firstReduced, mayEnd);
  Value firstAcross = &operand_ == &kernel_.product.left ? space_.firstRow() : space_.firstColumn();
  const uint32_t width = isFast ? width_ : 1;
  forEach(width, kAtOnce, [&](ArrayRef<Position> positions) {
    Bodies::Scope scope(kernel_.bodies);
    SmallVector<SmallVector<Value>> values;
    for (auto [row, inRow] : positions) {
      Value across = k_.add(firstAcross, operand_.isAlongReduced ? row : inRow);
      Value reduced = k_.add(firstReduced, operand_.isAlongReduced ? inRow : row);
      if (isFast ? isCopied() : isCopiedSingly()) {
        const TileSpace::Source source = space_.source(operand_, across, reduced, width, mayEnd);
        Value exists = !isThere ? source.exists : source.exists ? k_.both(source.exists, isThere) : isThere;
        Value to = k_.at(arena, k_.b.getI8Type(), offsetOf(row, k_.div(inRow, k_.number(chunk()))));
        if (!isFast)
          to = k_.at(to, element_, k_.rem(inRow, k_.number(chunk())));
        core_.copyAsync(to, source.address, exists, width * elementBytes_);
      } else {
        values.push_back(space_.read(operand_, across, reduced, width, mayEnd));
      }
    }
    for (auto [position, value] : llvm::zip(positions, values)) {
      if (operand_.isAlongReduced == liesAlongReduced()) {
        put(arena, position.row, position.inRow, value);
        continue;
      }
      for (auto [lane, each] : llvm::enumerate(value))
        put(arena, k_.add(position.inRow, k_.number(lane)), position.row, each);
    }
  });
}

} // namespace tenon::compiler::codegen
