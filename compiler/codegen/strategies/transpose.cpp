// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transpose.h"

#include "compiler/dispatch/kernel_config.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of shared memory, so that several blocks fit on a multiprocessor.
constexpr uint32_t kMaxArena = 32 * 1024;
constexpr uint32_t kMaxThreads = 256;
// Shorter axes leave most of a tile empty, and use most of what memory delivers anyway.
constexpr int64_t kMinSide = 8;
constexpr int64_t kMinPositions = 1024;
constexpr int64_t kMaxSide = 1024;
// A thread's straight-line code for the vectors that it computes side by side.
constexpr uint32_t kMaxWork = 256;
constexpr uint32_t kMaxInFlight = 8;

/// A tensor that goes through shared memory, as one of the operations reads it.
struct StagedTensor {
  const KernelOp *op;
  const KernelTensor *tensor;
  uint32_t bytes() const { return dispatch::elementBytes(tensor->element); }
};

/// What is turned: the axis along which results are adjacent, the one along which these tensors are.
struct Turn {
  unsigned written, read;
  SmallVector<StagedTensor> tensors;
};

/// How much of both axes a block takes, powers of two.
struct Tile {
  uint32_t written, read, threads;
};

SmallVector<StagedTensor> readTensors(const KernelFunction &kernel, const GroupShape &shape) {
  SmallVector<StagedTensor> tensors;
  auto add = [&](const KernelOp &op, const KernelTensor &tensor) {
    const AffineMap map = shape.mapOf(tensor, op.op);
    if (llvm::none_of(tensors, [&](const StagedTensor &other) {
          return other.tensor->binding == tensor.binding && shape.mapOf(*other.tensor, other.op->op) == map;
        }))
      tensors.push_back({&op, &tensor});
  };
  for (const KernelOp &op : kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && !input.bodyArgument.use_empty())
        add(op, input.tensor);
    for (const KernelOutput &output : op.outputs)
      if (output.startTensor)
        add(op, *output.startTensor);
  }
  return tensors;
}

bool storesAlong(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    return llvm::any_of(op.outputs, [&](const KernelOutput &output) {
      return output.isStored && shape.along(output.tensor, op.op, axis) == GroupShape::Along::Adjacent;
    });
  });
}

/// The tensors that are apart along the last axis and adjacent along another one: the one that has most bytes of them.
std::optional<Turn> turnOf(const KernelFunction &kernel, const GroupShape &shape) {
  if (shape.group.hasReduction() || shape.axes.size() < 2)
    return std::nullopt;
  const unsigned written = shape.axes.size() - 1;
  if (!storesAlong(kernel, shape, written))
    return std::nullopt;
  SmallVector<StagedTensor> apart;
  for (const StagedTensor &tensor : readTensors(kernel, shape))
    if (shape.along(*tensor.tensor, tensor.op->op, written) == GroupShape::Along::Apart)
      apart.push_back(tensor);
  Turn best{written, 0, {}};
  uint32_t most = 0;
  for (unsigned axis = 0; axis < written; ++axis) {
    Turn turn{written, axis, {}};
    uint32_t bytes = 0;
    for (const StagedTensor &tensor : apart)
      if (shape.along(*tensor.tensor, tensor.op->op, axis) == GroupShape::Along::Adjacent &&
          (bytes + tensor.bytes()) * kMinPositions <= kMaxArena) {
        turn.tensors.push_back(tensor);
        bytes += tensor.bytes();
      }
    if (bytes > most) {
      best = turn;
      most = bytes;
    }
  }
  return most == 0 ? std::nullopt : std::optional(best);
}

/// A square of as much as fits; of a short axis all, and more of the other one.
std::optional<Tile> tileOf(const Turn &turn, const GroupShape &shape) {
  uint32_t bytes = 0;
  for (const StagedTensor &tensor : turn.tensors)
    bytes += tensor.bytes();
  uint32_t side = 128;
  while (side * side * bytes > kMaxArena)
    side /= 2;
  const int64_t positions = int64_t(side) * side;
  auto limitOf = [&](unsigned axis) {
    std::optional<int64_t> size = shape.axes[axis].size;
    return std::min<int64_t>(size ? llvm::PowerOf2Ceil(std::max<int64_t>(*size, 1)) : kMaxSide, kMaxSide);
  };
  auto isShort = [&](unsigned axis) { return shape.axes[axis].size && *shape.axes[axis].size < kMinSide; };
  const int64_t read = std::min(positions / std::min<int64_t>(side, limitOf(turn.written)), limitOf(turn.read));
  const int64_t written = std::min(positions / read, limitOf(turn.written));
  if (isShort(turn.written) || isShort(turn.read) || written * read < kMinPositions)
    return std::nullopt;
  return Tile{uint32_t(written), uint32_t(read), uint32_t(std::min<int64_t>(kMaxThreads, written * read / 16))};
}

/// Elements of a vector in shared memory: 16 bytes, 8 where that gives more threads a square to turn.
uint32_t vectorOf(const Tile &tile, uint32_t bytes) {
  uint32_t vector = std::min({16 / bytes, 8u, tile.written, tile.read});
  while (vector > 1 && vector * bytes > 8 && (tile.written / vector) * (tile.read / vector) < tile.threads)
    vector /= 2;
  return vector;
}

class TransposeWriter {
public:
  explicit TransposeWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), turn_(*turnOf(w.kernel, w.shape)),
        tile_{uint32_t(w.choice("written")), uint32_t(w.choice("read")), w.k.threads} {}

  void run() {
    w_.space.vectorAxis = turn_.written;
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
  void copyElements(const StagedTensor &tensor, Value arena, uint32_t vector);
  SmallVector<Value> readStaged(const StagedTensor &tensor, Value arena, uint32_t vector, const Place &place);
  void writeTile(uint32_t width);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const Turn turn_;
  const Tile tile_;
  Point origin_;                           // of the tile
  llvm::DenseMap<unsigned, Place> places_; // of points, by id
};

/// Blocks go down the result's rows first, so that those that run together write side by side.
void TransposeWriter::placeTile() {
  const unsigned axes = w_.shape.axes.size();
  origin_.index.resize(axes);
  Value rest = k_.block();
  auto place = [&](unsigned axis, uint32_t side) {
    Value tiles = k_.div(k_.add(w_.space.size(axis), k_.number(side - 1)), k_.number(side));
    origin_.index[axis] = k_.mul(k_.rem(rest, tiles), k_.number(side));
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
  k_.branch(aligned, [&] { turnSquares(tensor, arena, vector); }, [&] { copyElements(tensor, arena, vector); });
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
      for (uint32_t column = 0; column < vector; ++column) {
        Value turned = LLVM::PoisonOp::create(k_.b, k_.loc, type);
        for (uint32_t row = 0; row < vector; ++row)
          turned = LLVM::InsertElementOp::create(
              k_.b, k_.loc, turned, LLVM::ExtractElementOp::create(k_.b, k_.loc, loaded[row], k_.number(column)),
              k_.number(row));
        Value to = slot(vector, {written, k_.add(read, k_.number(column))});
        k_.store(turned, k_.at(arena, element, to), vector * tensor.bytes());
      }
    }
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

std::optional<Plan> Transpose::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Turn> turn = turnOf(kernel, shape);
  const std::optional<Tile> tile = turn ? tileOf(*turn, shape) : std::nullopt;
  if (!tile)
    return std::nullopt;
  uint32_t width = std::min(vectorWidth(kernel, shape, turn->written), tile->written);
  while (width > 1 && width * workOf(kernel) > kMaxWork)
    width /= 2;
  SmallVector<SpaceAxis> rest;
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    if (number != turn->written && number != turn->read)
      rest.push_back(axis);
  return Plan{name(),
              tile->threads,
              {{"width", width}, {"written", tile->written}, {"read", tile->read}},
              {{extentsOf(shape.axes[turn->written]), tile->written},
               {extentsOf(shape.axes[turn->read]), tile->read},
               {extentsOf(rest), 1}}};
}

void Transpose::write(Writer &writer) const {
  TransposeWriter(writer).run();
}

} // namespace tenon::compiler::codegen
