// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transpose.h"

#include "compiler/codegen/kernel/straddling.h"
#include "compiler/codegen/strategies/transpose_tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A thread's straight-line code for the vectors that it computes side by side.
constexpr uint32_t kMaxWork = 256;
constexpr uint32_t kMaxInFlight = 8;

// Threads of a multiprocessor that tiles of unknown size, with longer sides than that, leave registers for.
constexpr uint32_t kUsualSide = 64, kResidentThreads = 1024;

class TransposeWriter {
public:
  explicit TransposeWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), turn_(*turnOf(w.kernel, w.shape)),
        tile_{uint32_t(w.choice("written")), uint32_t(w.choice("read")), w.k.threads} {}

  void run() {
    w_.space.vectorAxis = turn_.written;
    if (!GroupShape::sizeOf(w_.shape.axes) && tile_.written > kUsualSide)
      k_.wantResident(kResidentThreads / k_.threads);
    placeTile();
    for (const StagedTensor &tensor : turn_.tensors)
      stage(tensor);
    k_.barrier();
    if (width_ == 1)
      return writeTile(1);
    k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), [&] { writeTile(width_); }, [&] { writeTile(1); });
  }

private:
  /// A position in the tile.
  struct Place {
    Value written, read;
  };
  using Places = SmallVector<Place>;

  void placeTile();
  bool isWhole(unsigned axis, uint32_t side) const;
  Point pointAt(const Place &place, unsigned readLanes, unsigned writtenLanes);
  Value exists(const Place &place);
  void each(uint32_t count, uint32_t inFlight, llvm::function_ref<void(ArrayRef<Value>)> body);
  Value slot(uint32_t vector, const Place &place);
  void stage(const StagedTensor &tensor);
  void turnSquares(const StagedTensor &tensor, Value arena, uint32_t vector);
  void turnShifted(const StagedTensor &tensor, Value arena, uint32_t vector);
  void storeTurned(const StagedTensor &tensor, Value arena, ArrayRef<SmallVector<Value>> rows, const Place &place);
  Value isInsideOf(const StagedTensor &tensor, uint32_t lanes);
  void copyElements(const StagedTensor &tensor, Value arena, uint32_t vector);
  SmallVector<Value> readStaged(const StagedTensor &tensor, Value arena, uint32_t vector, const Place &place);
  void writeTile(uint32_t width);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const Turn turn_;
  const TransposeTile tile_;
  Point origin_;                           // of the tile
  llvm::DenseMap<unsigned, Place> places_; // of points, by id
};

/// Blocks go down the result's rows first, so that those that run together write side by side.
void TransposeWriter::placeTile() {
  const unsigned axes = w_.shape.axes.size();
  origin_.index.resize(axes);
  // Blocks, and so tiles along each axis, are counted in 32 bits.
  auto narrow = [&](Value value) -> Value { return arith::TruncIOp::create(k_.b, k_.loc, k_.b.getI32Type(), value); };
  auto wide = [&](Value value) -> Value { return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), value); };
  Value rest = narrow(k_.block());
  auto place = [&](unsigned axis, uint32_t side) {
    Value tiles = narrow(k_.div(k_.add(w_.space.size(axis), k_.number(side - 1)), k_.number(side)));
    origin_.index[axis] = k_.mul(wide(k_.rem(rest, tiles)), k_.number(side));
    rest = k_.div(rest, tiles);
  };
  place(turn_.written, tile_.written);
  place(turn_.read, tile_.read);
  for (unsigned axis = axes; axis-- > 0;)
    if (axis != turn_.written && axis != turn_.read)
      place(axis, 1);
  origin_.id = w_.space.newId();
}

bool TransposeWriter::isWhole(unsigned axis, uint32_t side) const {
  const std::optional<int64_t> size = w_.shape.axes[axis].size;
  return size && *size % side == 0;
}

/// The point at a place of the tile; of a place beyond the end of an axis the last one there is, which is safe to read.
Point TransposeWriter::pointAt(const Place &place, unsigned readLanes, unsigned writtenLanes) {
  Point point = origin_;
  auto move = [&](unsigned axis, uint32_t side, Value by, unsigned lanes) {
    point.index[axis] = k_.add(point.index[axis], by);
    if (!isWhole(axis, side))
      point.index[axis] = k_.min(point.index[axis], k_.sub(w_.space.size(axis), k_.number(lanes)));
  };
  move(turn_.written, tile_.written, place.written, writtenLanes);
  move(turn_.read, tile_.read, place.read, readLanes);
  point.id = w_.space.newId();
  return point;
}

Value TransposeWriter::exists(const Place &place) {
  Value result = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  auto ask = [&](unsigned axis, uint32_t side, Value by) {
    if (!isWhole(axis, side))
      result = k_.both(result, k_.less(k_.add(origin_.index[axis], by), w_.space.size(axis)));
  };
  ask(turn_.written, tile_.written, place.written);
  ask(turn_.read, tile_.read, place.read);
  return result;
}

/// Calls `body` for every number below `count`, several at a time where that comes out even.
void TransposeWriter::each(uint32_t count, uint32_t inFlight, llvm::function_ref<void(ArrayRef<Value>)> body) {
  while (inFlight > 1 && count % (k_.threads * inFlight) != 0)
    inFlight /= 2;
  auto run = [&](Value first) {
    SmallVector<Value> numbers;
    for (uint32_t i = 0; i < inFlight; ++i)
      numbers.push_back(k_.add(first, k_.number(int64_t(i) * k_.threads)));
    Bodies::Scope scope(bodies_);
    body(numbers);
  };
  if (count == k_.threads * inFlight)
    return run(k_.thread());
  k_.loop(k_.thread(), k_.number(count), k_.number(int64_t(k_.threads) * inFlight), {}, [&](Value first, ValueRange) {
    run(first);
    return SmallVector<Value>();
  });
}

/// The element of shared memory that holds a place. A row of the result is side by side but for the order of its
/// vectors, which differs from row to row: threads that read or write one vector each of eight rows, or of one row,
/// meet different banks.
Value TransposeWriter::slot(uint32_t vector, const Place &place) {
  Value lanes = k_.number(vector);
  Value turned = k_.exclusiveOr(k_.div(place.read, lanes), k_.rem(place.read, lanes));
  turned = k_.rem(turned, k_.number(tile_.written / vector));
  Value inRow = k_.exclusiveOr(k_.div(place.written, lanes), turned);
  inRow = k_.add(k_.mul(inRow, lanes), k_.rem(place.written, lanes));
  return k_.add(k_.mul(place.read, k_.number(tile_.written)), inRow);
}

void TransposeWriter::stage(const StagedTensor &tensor) {
  const uint32_t vector = vectorOf(tile_, tensor.bytes());
  Value arena = k_.shared(storedType(tensor.tensor->element), uint64_t(tile_.written) * tile_.read);
  Value aligned = k_.both(bodies_.isAligned(*tensor.tensor, int64_t(vector) * tensor.bytes()),
                          k_.equal(k_.rem(w_.space.size(turn_.read), k_.number(vector)), k_.number(0)));
  auto ragged = [&] {
    const uint32_t lanes = lanesOfShifted(vector, tensor.bytes());
    if (!tensor.tensor->map.isProjectedPermutation() || !canStraddle(w_.arguments, *tensor.tensor, lanes))
      return copyElements(tensor, arena, vector);
    k_.branch(
        isInsideOf(tensor, lanes), [&] { turnShifted(tensor, arena, vector); },
        [&] { copyElements(tensor, arena, vector); });
  };
  k_.branch(aligned, [&] { turnSquares(tensor, arena, vector); }, ragged);
  bodies_.stage(*tensor.op, *tensor.tensor, [this, tensor, arena, vector](const Point &point) {
    return readStaged(tensor, arena, vector, places_.lookup(point.id));
  });
}

/// `vector` rows of a vector each become `vector` rows of the turned square.
void TransposeWriter::turnSquares(const StagedTensor &tensor, Value arena, uint32_t vector) {
  Type element = storedType(tensor.tensor->element);
  auto type = VectorType::get(vector, element);
  const uint32_t across = tile_.read / vector;
  each(across * (tile_.written / vector), std::max(1u, kMaxInFlight / vector), [&](ArrayRef<Value> squares) {
    SmallVector<SmallVector<Value>> rows; // [squares][vector]
    for (Value square : squares) {
      Value read = k_.mul(k_.rem(square, k_.number(across)), k_.number(vector));
      Value written = k_.mul(k_.div(square, k_.number(across)), k_.number(vector));
      SmallVector<Value> &loaded = rows.emplace_back();
      for (uint32_t row = 0; row < vector; ++row) {
        Point point = pointAt({k_.add(written, k_.number(row)), read}, vector, 1);
        loaded.push_back(k_.load(type, bodies_.address(*tensor.op, *tensor.tensor, point), vector * tensor.bytes(),
                                 bodies_.isStreamed(*tensor.tensor)));
      }
    }
    for (auto [square, loaded] : llvm::zip_equal(squares, rows)) {
      Value read = k_.mul(k_.rem(square, k_.number(across)), k_.number(vector));
      Value written = k_.mul(k_.div(square, k_.number(across)), k_.number(vector));
      SmallVector<SmallVector<Value>> elements; // [rows][columns]
      for (Value row : loaded) {
        SmallVector<Value> &each = elements.emplace_back();
        for (uint32_t column = 0; column < vector; ++column)
          each.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, row, k_.number(column)));
      }
      storeTurned(tensor, arena, elements, {written, read});
    }
  });
}

/// The columns of some rows are side by side in shared memory, each a vector.
void TransposeWriter::storeTurned(const StagedTensor &tensor, Value arena, ArrayRef<SmallVector<Value>> rows,
                                  const Place &place) {
  Type element = storedType(tensor.tensor->element);
  const uint32_t vector = rows.size();
  for (size_t column = 0; column < rows.front().size(); ++column) {
    Value turned = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(vector, element));
    for (auto [number, row] : llvm::enumerate(rows))
      turned = LLVM::InsertElementOp::create(k_.b, k_.loc, turned, row[column], k_.number(number));
    Value to = slot(vector, {place.written, k_.add(place.read, k_.number(column))});
    k_.store(turned, k_.at(arena, element, to), vector * tensor.bytes());
  }
}

/// Whether the vectors that hold the tile's elements are inside of the tensor: all but those of its ends are.
Value TransposeWriter::isInsideOf(const StagedTensor &tensor, uint32_t lanes) {
  auto element = [&](const Point &point) { return w_.space.element(*tensor.tensor, tensor.op->op, point, 0); };
  Point end = origin_;
  for (auto [axis, side] : {std::pair(turn_.written, tile_.written), std::pair(turn_.read, tile_.read)})
    end.index[axis] = k_.sub(k_.min(k_.add(end.index[axis], k_.number(side)), w_.space.size(axis)), k_.number(1));
  end.id = w_.space.newId();
  return isInside(k_, w_.arguments, *tensor.tensor, element(origin_), element(end), lanes * tensor.bytes());
}

/// As turnSquares(), of rows that start anywhere: what a thread loads of each row, two vectors, is narrower, so that it
/// has registers for it. A run that reaches beyond a row's end holds what lies there, which nobody writes.
void TransposeWriter::turnShifted(const StagedTensor &tensor, Value arena, uint32_t vector) {
  const uint32_t lanes = lanesOfShifted(vector, tensor.bytes());
  const uint32_t across = tile_.read / lanes;
  each(across * (tile_.written / vector), 1, [&](ArrayRef<Value> pieces) {
    Value read = k_.mul(k_.rem(pieces.front(), k_.number(across)), k_.number(lanes));
    Value written = k_.mul(k_.div(pieces.front(), k_.number(across)), k_.number(vector));
    SmallVector<Straddling> loaded;
    for (uint32_t row = 0; row < vector; ++row) {
      Point point = pointAt({k_.add(written, k_.number(row)), read}, 1, 1);
      loaded.push_back(loadStraddling(k_, bodies_.address(*tensor.op, *tensor.tensor, point), lanes * tensor.bytes(),
                                      bodies_.isStreamed(*tensor.tensor)));
    }
    SmallVector<SmallVector<Value>> rows;
    for (const Straddling &row : loaded)
      rows.push_back(runOf(k_, row, storedType(tensor.tensor->element), lanes));
    storeTurned(tensor, arena, rows, {written, read});
  });
}

/// One element at a time, neighbouring threads side by side.
void TransposeWriter::copyElements(const StagedTensor &tensor, Value arena, uint32_t vector) {
  Type element = storedType(tensor.tensor->element);
  each(tile_.read * tile_.written, kMaxInFlight, [&](ArrayRef<Value> numbers) {
    Places places;
    SmallVector<Value> values;
    for (Value number : numbers) {
      places.push_back({k_.div(number, k_.number(tile_.read)), k_.rem(number, k_.number(tile_.read))});
      values.push_back(
          k_.load(element, bodies_.address(*tensor.op, *tensor.tensor, pointAt(places.back(), 1, 1)), tensor.bytes()));
    }
    for (auto [place, value] : llvm::zip_equal(places, values))
      k_.store(value, k_.at(arena, element, slot(vector, place)), tensor.bytes());
  });
}

SmallVector<Value> TransposeWriter::readStaged(const StagedTensor &tensor, Value arena, uint32_t vector,
                                               const Place &place) {
  Type element = storedType(tensor.tensor->element);
  const uint32_t count = std::min<uint32_t>(bodies_.width(), vector);
  SmallVector<Value> lanes;
  for (uint32_t lane = 0; lane < bodies_.width(); lane += count) {
    Value from = k_.at(arena, element, slot(vector, {k_.add(place.written, k_.number(lane)), place.read}));
    if (count == 1) {
      lanes.push_back(k_.load(element, from, tensor.bytes()));
      continue;
    }
    Value all = k_.load(VectorType::get(count, element), from, count * tensor.bytes());
    for (uint32_t each = 0; each < count; ++each)
      lanes.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(each)));
  }
  return lanes;
}

/// Along the rows of the results, as elementwise does.
void TransposeWriter::writeTile(uint32_t width) {
  Bodies::Scope scope(bodies_);
  bodies_.setWidth(width);
  const uint32_t across = tile_.written / width;
  const uint32_t inFlight =
      llvm::bit_floor(std::clamp(kMaxWork / (std::max(workOf(w_.kernel), 1u) * width), 1u, kMaxInFlight));
  each(across * tile_.read, inFlight, [&](ArrayRef<Value> numbers) {
    SmallVector<Point> points;
    for (Value number : numbers) {
      const Place place{k_.mul(k_.rem(number, k_.number(across)), k_.number(width)), k_.div(number, k_.number(across))};
      points.push_back(pointAt(place, 1, width));
      places_[points.back().id] = place;
    }
    for (const Point &point : points)
      bodies_.preload(point);
    for (const Point &point : points)
      k_.when(exists(places_.lookup(point.id)), [&] {
        Bodies::Scope inside(bodies_);
        for (const KernelOp &op : w_.kernel.ops)
          bodies_.store(op, point);
      });
  });
}

} // namespace

static Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Turn &turn,
                   const TransposeTile &tile) {
  uint32_t width = std::min(vectorWidth(kernel, shape, turn.written), tile.written);
  while (width > 1 && width * workOf(kernel) > kMaxWork)
    width /= 2;
  SmallVector<SpaceAxis> rest;
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    if (number != turn.written && number != turn.read)
      rest.push_back(axis);
  return Plan{name,
              tile.threads,
              {{"width", width}, {"written", tile.written}, {"read", tile.read}},
              {{extentsOf(shape.axes[turn.written]), tile.written},
               {extentsOf(shape.axes[turn.read]), tile.read},
               {extentsOf(rest), 1}}};
}

/// One for each size of tiles, where it is not known how many elements there are.
std::vector<Plan> Transpose::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Turn> turn = turnOf(kernel, shape);
  if (!turn)
    return {};
  std::vector<Plan> plans;
  const SmallVector<SizedTile> tiles = tilesOf(*turn, shape);
  std::optional<int64_t> most;
  for (const SizedTile &sized : tiles) {
    plans.push_back(planOf(name(), kernel, shape, *turn, sized.tile));
    const int64_t above = sized.least == 0 ? 0 : sized.least - 1;
    if (tiles.size() > 1)
      plans.back().guards = {Guard{extentsOf(shape.axes), above, most}};
    most = above;
  }
  return plans;
}

std::optional<Plan> Transpose::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

void Transpose::write(Writer &writer) const {
  TransposeWriter(writer).run();
}

} // namespace tenon::compiler::codegen
