// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/transpose_writer.h"

#include "compiler/codegen/kernel/straddling.h"
#include "compiler/codegen/strategies/transposes/transpose_tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kMaxInFlight = 8;
// Of a tensor, that a thread loads before it stores any of it to shared memory.
constexpr uint32_t kBytesInFlight = 128;
// Elements of a row that a thread takes one by one.
constexpr uint32_t kLanesApart = 2;

// Threads of a multiprocessor that tiles of unknown size, with longer sides than that, leave registers for.
constexpr uint32_t kUsualSide = 64, kResidentThreads = 1024;

class TransposeWriter {
public:
  explicit TransposeWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), turn_(*turnOf(w.kernel, w.shape)),
        tile_{uint32_t(w.choice("written")), uint32_t(w.choice("read")), w.k.threads} {}

  void run() {
    w_.space.vectorAxis = turn_.written;
    if (tile_.written > kUsualSide)
      k_.wantResident(kResidentThreads / k_.threads);
    placeTile();
    for (const StagedTensor &tensor : turn_.tensors)
      stage(tensor);
    k_.barrier();
    writeAligned(width_);
  }

private:
  /// A position in the tile (i32).
  struct Place {
    Value written, read;
  };
  using Places = SmallVector<Place>;
  /// Where the elements of a tensor that is turned lie.
  struct Addresses {
    Value origin; // of the tile
    Value stride; // elements from one along the written axis to the next (i64)
  };

  void placeTile();
  bool isWhole(unsigned axis, uint32_t side) const;
  Value inside(unsigned axis, uint32_t side, Value by, unsigned lanes);
  Addresses addressesOf(const StagedTensor &tensor);
  Value addressAt(const StagedTensor &tensor, const Addresses &addresses, const Place &place, unsigned readLanes);
  Point pointAt(const Place &place);
  void each(uint32_t count, uint32_t inFlight, llvm::function_ref<void(ArrayRef<Value>)> body);
  Value slot(uint32_t vector, const Place &place);
  void stage(const StagedTensor &tensor);
  uint32_t lanesOfAxis(unsigned axis, uint32_t most) const;
  void turn(const StagedTensor &tensor, Value arena, uint32_t vector, uint32_t lanes, bool isAligned);
  void turnShifted(const StagedTensor &tensor, Value arena, uint32_t vector);
  Value isInsideOf(const StagedTensor &tensor, uint32_t lanes);
  void storeTurned(const StagedTensor &tensor, Value arena, ArrayRef<SmallVector<Value>> rows, const Place &place);
  SmallVector<Value> readStaged(const StagedTensor &tensor, Value arena, uint32_t vector, const Place &place);
  void writeAligned(uint32_t width);
  void writeTile(uint32_t width);
  void writeRows(uint32_t width, Value written, Value first, uint32_t together);

  Value word(int64_t value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value))); }
  Value wide(Value value) { return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), value); }

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const Turn turn_;
  const TransposeTile tile_;
  Point origin_;                              // of the tile
  llvm::SmallDenseMap<unsigned, Value> left_; // of axes that a tile may reach beyond: elements of it that exist (i32)
  llvm::DenseMap<unsigned, Place> places_;    // of points, by id
};

/// Blocks go down the result's rows first, so that those that run together write side by side.
void TransposeWriter::placeTile() {
  const unsigned axes = w_.shape.axes.size();
  origin_.index.resize(axes);
  // Blocks, and so tiles along each axis, are counted in 32 bits.
  auto narrow = [&](Value value) -> Value { return arith::TruncIOp::create(k_.b, k_.loc, k_.b.getI32Type(), value); };
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
  for (auto [axis, side] : {std::pair(turn_.written, tile_.written), std::pair(turn_.read, tile_.read)})
    if (!isWhole(axis, side))
      left_[axis] = narrow(k_.min(k_.sub(w_.space.size(axis), origin_.index[axis]), k_.number(side)));
}

bool TransposeWriter::isWhole(unsigned axis, uint32_t side) const {
  const std::optional<int64_t> size = w_.shape.axes[axis].size;
  return size && *size % side == 0;
}

/// A position along an axis of the tile, or, of one beyond the axis's end, the last one, which is safe to read.
Value TransposeWriter::inside(unsigned axis, uint32_t side, Value by, unsigned lanes) {
  return isWhole(axis, side) ? by : k_.min(by, k_.sub(left_.lookup(axis), word(lanes)));
}

TransposeWriter::Addresses TransposeWriter::addressesOf(const StagedTensor &tensor) {
  if (!tensor.tensor->map.isProjectedPermutation())
    return {};
  Point next = origin_;
  next.index[turn_.written] = k_.add(next.index[turn_.written], k_.number(1));
  next.id = w_.space.newId();
  auto element = [&](const Point &point) { return w_.space.element(*tensor.tensor, tensor.op->op, point, 0); };
  return {bodies_.address(*tensor.op, *tensor.tensor, origin_), k_.sub(element(next), element(origin_))};
}

/// Of an element along the rows that are read, at a place that may lie beyond an axis's end.
Value TransposeWriter::addressAt(const StagedTensor &tensor, const Addresses &addresses, const Place &place,
                                 unsigned readLanes) {
  const Place in{inside(turn_.written, tile_.written, place.written, 1),
                 inside(turn_.read, tile_.read, place.read, readLanes)};
  if (!addresses.origin)
    return bodies_.address(*tensor.op, *tensor.tensor, pointAt(in));
  Value element = k_.add(k_.mul(wide(in.written), addresses.stride), wide(in.read));
  return k_.at(addresses.origin, storedType(tensor.tensor->element), element);
}

Point TransposeWriter::pointAt(const Place &place) {
  Point point = origin_;
  point.index[turn_.written] = k_.add(point.index[turn_.written], wide(place.written));
  point.index[turn_.read] = k_.add(point.index[turn_.read], wide(place.read));
  point.id = w_.space.newId();
  return point;
}

/// Calls `body` for every number below `count`, several at a time where that comes out even (i32).
void TransposeWriter::each(uint32_t count, uint32_t inFlight, llvm::function_ref<void(ArrayRef<Value>)> body) {
  while (inFlight > 1 && count % (k_.threads * inFlight) != 0)
    inFlight /= 2;
  auto run = [&](Value first) {
    SmallVector<Value> numbers;
    for (uint32_t i = 0; i < inFlight; ++i)
      numbers.push_back(k_.add(first, word(int64_t(i) * k_.threads)));
    Bodies::Scope scope(bodies_);
    body(numbers);
  };
  Value thread = k_.word(k_.thread());
  if (count == k_.threads * inFlight)
    return run(thread);
  k_.loop(thread, word(count), word(int64_t(k_.threads) * inFlight), {}, [&](Value first, ValueRange) {
    run(first);
    return SmallVector<Value>();
  });
}

/// The element of shared memory that holds a place. A row of the result is side by side but for the order of its
/// vectors, which differs from row to row: threads that read or write one vector each of eight rows, or of one row,
/// meet different banks.
Value TransposeWriter::slot(uint32_t vector, const Place &place) {
  Value lanes = word(vector);
  Value turned = k_.exclusiveOr(k_.div(place.read, lanes), k_.rem(place.read, lanes));
  turned = k_.rem(turned, word(tile_.written / vector));
  Value inRow = k_.exclusiveOr(k_.div(place.written, lanes), turned);
  inRow = k_.add(k_.mul(inRow, lanes), k_.rem(place.written, lanes));
  return wide(k_.add(k_.mul(place.read, word(tile_.written)), inRow));
}

/// Rows are read in vectors of as many elements as they are a multiple of, if these fill a word; any other rows in
/// vectors that hold what a thread wants between them (element by element where the tensor ends).
void TransposeWriter::stage(const StagedTensor &tensor) {
  const uint32_t vector = vectorOf(tile_, tensor.bytes()), ofWord = lanesOfWord(tensor.bytes());
  const uint32_t most = lanesOfAxis(turn_.read, vector), apart = std::min(vector, kLanesApart);
  Value arena = k_.shared(storedType(tensor.tensor->element), uint64_t(tile_.written) * tile_.read);
  auto isAlignedBy = [&](uint32_t lanes) {
    return k_.both(bodies_.isAligned(*tensor.tensor, int64_t(lanes) * tensor.bytes()),
                   k_.equal(k_.rem(w_.space.size(turn_.read), k_.number(lanes)), k_.number(0)));
  };
  auto oneByOne = [&] { turn(tensor, arena, vector, apart, /*isAligned=*/false); };
  auto ragged = [&] {
    const uint32_t lanes = lanesOfShifted(vector, tensor.bytes());
    if (!tensor.tensor->map.isProjectedPermutation() || !canStraddle(w_.arguments, *tensor.tensor, lanes))
      return oneByOne();
    k_.branch(isInsideOf(tensor, lanes), [&] { turnShifted(tensor, arena, vector); }, oneByOne);
  };
  auto byWords = [&] {
    if (ofWord == 1 || ofWord >= most || w_.shape.axes[turn_.read].size)
      return ragged();
    k_.branch(isAlignedBy(ofWord), [&] { turn(tensor, arena, vector, ofWord, /*isAligned=*/true); }, ragged);
  };
  if (most < ofWord || (ofWord == 1 && most < vector))
    ragged();
  else
    k_.branch(isAlignedBy(most), [&] { turn(tensor, arena, vector, most, /*isAligned=*/true); }, byWords);
  bodies_.stage(*tensor.op, *tensor.tensor, [this, tensor, arena, vector](const Point &point) {
    return readStaged(tensor, arena, vector, places_.lookup(point.id));
  });
}

/// As many elements of a vector as an axis of known size is a multiple of; all of them where it is not known.
uint32_t TransposeWriter::lanesOfAxis(unsigned axis, uint32_t most) const {
  if (const std::optional<int64_t> size = w_.shape.axes[axis].size)
    while (most > 1 && *size % most != 0)
      most /= 2;
  return most;
}

/// `vector` rows of `lanes` elements each become `lanes` rows of a vector. The elements of a row are one access, or,
/// where it starts anywhere, one each.
void TransposeWriter::turn(const StagedTensor &tensor, Value arena, uint32_t vector, uint32_t lanes, bool isAligned) {
  Type element = storedType(tensor.tensor->element);
  const Addresses addresses = addressesOf(tensor);
  const uint32_t across = tile_.read / lanes, bytes = isAligned ? tensor.bytes() : 4;
  const uint32_t inFlight = std::max(1u, kBytesInFlight / (vector * lanes * bytes));
  auto load = [&](const Place &place) {
    SmallVector<Value> elements;
    if (!isAligned) {
      for (uint32_t lane = 0; lane < lanes; ++lane)
        elements.push_back(k_.load(
            element, addressAt(tensor, addresses, {place.written, k_.add(place.read, word(lane))}, 1), tensor.bytes()));
      return elements;
    }
    Value all = k_.load(VectorType::get(lanes, element), addressAt(tensor, addresses, place, lanes),
                        lanes * tensor.bytes(), bodies_.isStreamed(*tensor.tensor));
    for (uint32_t lane = 0; lane < lanes; ++lane)
      elements.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(lane)));
    return elements;
  };
  each(across * (tile_.written / vector), inFlight, [&](ArrayRef<Value> pieces) {
    Places places;
    SmallVector<SmallVector<SmallVector<Value>>> loaded; // [pieces][rows][columns]
    for (Value piece : pieces) {
      const Place &place = places.emplace_back(
          Place{k_.mul(k_.div(piece, word(across)), word(vector)), k_.mul(k_.rem(piece, word(across)), word(lanes))});
      loaded.emplace_back();
      for (uint32_t row = 0; row < vector; ++row)
        loaded.back().push_back(load({k_.add(place.written, word(row)), place.read}));
    }
    for (auto [place, rows] : llvm::zip_equal(places, loaded))
      storeTurned(tensor, arena, rows, place);
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
    Value to = slot(vector, {place.written, k_.add(place.read, word(column))});
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

/// As turn(), of rows that start anywhere: what a thread loads of each row, two vectors, is narrower, so that it
/// has registers for it. A run that reaches beyond a row's end holds what lies there, which nobody writes.
void TransposeWriter::turnShifted(const StagedTensor &tensor, Value arena, uint32_t vector) {
  const uint32_t lanes = lanesOfShifted(vector, tensor.bytes());
  const Addresses addresses = addressesOf(tensor);
  const uint32_t across = tile_.read / lanes;
  each(across * (tile_.written / vector), 1, [&](ArrayRef<Value> pieces) {
    const Place place{k_.mul(k_.div(pieces.front(), word(across)), word(vector)),
                      k_.mul(k_.rem(pieces.front(), word(across)), word(lanes))};
    SmallVector<Straddling> loaded;
    for (uint32_t row = 0; row < vector; ++row)
      loaded.push_back(loadStraddling(k_,
                                      addressAt(tensor, addresses, {k_.add(place.written, word(row)), place.read}, 1),
                                      lanes * tensor.bytes(), bodies_.isStreamed(*tensor.tensor)));
    SmallVector<SmallVector<Value>> rows;
    for (const Straddling &row : loaded)
      rows.push_back(runOf(k_, row, storedType(tensor.tensor->element)));
    storeTurned(tensor, arena, rows, place);
  });
}

SmallVector<Value> TransposeWriter::readStaged(const StagedTensor &tensor, Value arena, uint32_t vector,
                                               const Place &place) {
  Type element = storedType(tensor.tensor->element);
  const uint32_t count = std::min<uint32_t>(bodies_.width(), vector);
  SmallVector<Value> lanes;
  for (uint32_t lane = 0; lane < bodies_.width(); lane += count) {
    Value from = k_.at(arena, element, slot(vector, {k_.add(place.written, word(lane)), place.read}));
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

/// In vectors of as many elements as rows of the results are a multiple of, and their tensors are aligned by.
void TransposeWriter::writeAligned(uint32_t width) {
  width = lanesOfAxis(turn_.written, width);
  if (width == 1)
    return writeTile(1);
  // A vector of 16 bytes of the widest elements has four words.
  const uint32_t narrow = w_.shape.axes[turn_.written].size ? 1 : std::max(1u, width / 4);
  k_.branch(
      bodies_.isAligned(width, /*needsWhole=*/true), [&] { writeTile(width); },
      [&] {
        if (narrow == 1)
          return writeTile(1);
        k_.branch(bodies_.isAligned(narrow, /*needsWhole=*/true), [&] { writeTile(narrow); }, [&] { writeTile(1); });
      });
}

/// A thread goes down the tile, from row to row of the results, in one vector of each, so that it asks once whether
/// there is one and has little to compute for the next.
void TransposeWriter::writeTile(uint32_t width) {
  Bodies::Scope scope(bodies_);
  bodies_.setWidth(width);
  const uint32_t across = tile_.written / width; // vectors of a row
  Value thread = k_.word(k_.thread());
  auto column = [&](Value vector, Value first, uint32_t together) {
    Value written = k_.mul(vector, word(width));
    if (isWhole(turn_.written, tile_.written))
      return writeRows(width, written, first, together);
    k_.when(k_.less(written, left_.lookup(turn_.written)), [&] { writeRows(width, written, first, together); });
  };
  if (across <= k_.threads)
    return column(k_.rem(thread, word(across)), k_.div(thread, word(across)), k_.threads / across);
  k_.loop(thread, word(across), word(k_.threads), {}, [&](Value vector, ValueRange) {
    column(vector, word(0), 1);
    return SmallVector<Value>();
  });
}

/// Every `together`-th row from `first` on, several at a time. Of the last ones some may be missing.
void TransposeWriter::writeRows(uint32_t width, Value written, Value first, uint32_t together) {
  uint32_t inFlight =
      llvm::bit_floor(std::clamp(kMaxTransposeWork / (std::max(workOf(w_.kernel), 1u) * width), 1u, kMaxInFlight));
  inFlight = std::min(inFlight, std::max(1u, tile_.read / together));
  const bool isWholeTile = isWhole(turn_.read, tile_.read);
  Value end = isWholeTile ? word(tile_.read) : left_.lookup(turn_.read);
  auto rows = [&](Value from, bool allExist) {
    Bodies::Scope inside(bodies_);
    SmallVector<Point> points;
    for (uint32_t i = 0; i < inFlight; ++i) {
      const Place place{written, k_.add(from, word(int64_t(i) * together))};
      points.push_back(pointAt(place));
      places_[points.back().id] = place;
      if (allExist)
        bodies_.preload(points.back());
    }
    for (const Point &point : points) {
      auto store = [&] {
        Bodies::Scope one(bodies_);
        for (const KernelOp &op : w_.kernel.ops)
          bodies_.store(op, point);
      };
      if (allExist)
        store();
      else
        k_.when(k_.less(places_.lookup(point.id).read, end), store);
    }
  };
  if (isWholeTile && tile_.read == together * inFlight)
    return rows(first, true);
  Value step = word(int64_t(together) * inFlight);
  // Signed: few rows have no place for several at a time.
  Value several = k_.sub(end, word(int64_t(together) * (inFlight - 1)));
  const SmallVector<Value> rest = k_.loop(first, several, step, {first}, [&](Value from, ValueRange) {
    rows(from, true);
    return SmallVector<Value>{k_.add(from, step)};
  });
  if (!isWholeTile && inFlight > 1)
    k_.when(k_.less(rest.front(), end), [&] { rows(rest.front(), false); });
}

} // namespace

void writeTranspose(Writer &writer) {
  TransposeWriter(writer).run();
}

} // namespace tenon::compiler::codegen
