// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/short_turns.h"

#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/codegen/strategies/transposes/transpose_tile.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 128;
// A thread has so many vectors in registers, four of each.
constexpr int64_t kMostVectors = 16;
// Fewer threads would be less than a warp for every second multiprocessor: then a tile is turned in less time.
constexpr int64_t kLeastThreads = 2048;

/// Axes of the kernel: short ones, which together have `count` elements, and the one that vectors of `width` lie along.
struct ShortTurn {
  unsigned along, first, end; // the short ones are [first, end)
  int64_t count;
  uint32_t width;
  std::optional<StagedTensor> read; // what is adjacent along the short axis; nothing: the result is
};

/// Whether the tensor's last dimensions are the axis, and behind it the other one: what is at one place of the first
/// lies side by side.
bool liesBehind(const StagedTensor &staged, const GroupShape &shape, unsigned axis, unsigned last) {
  const AffineMap map = shape.mapOf(*staged.tensor, staged.op->op);
  SmallVector<unsigned> axes(shape.axes[axis].axes);
  llvm::append_range(axes, shape.axes[last].axes);
  if (!map.isProjectedPermutation() || map.getNumResults() < axes.size())
    return false;
  for (auto [expr, wanted] : llvm::zip_equal(map.getResults().take_back(axes.size()), axes))
    if (cast<AffineDimExpr>(expr).getPosition() != wanted)
      return false;
  return true;
}

/// Narrow elements are worth half a vector as well, where rows are no multiple of a whole one.
uint32_t widthIn(int64_t row, uint32_t width) {
  constexpr uint32_t kNarrow = 8;
  return width == kNarrow && row % width != 0 ? width / 2 : width;
}

bool isShort(int64_t count, uint32_t width) {
  return count >= 2 && count <= kMostVectors && count % width != 0;
}

/// A short axis that is read.
std::optional<ShortTurn> readShort(const KernelFunction &kernel, const GroupShape &shape) {
  const std::optional<Turn> turn = turnOf(kernel, shape);
  if (!turn || turn->tensors.size() != 1 || !kernel.gathered.empty())
    return std::nullopt;
  const StagedTensor &read = turn->tensors.front();
  const std::optional<int64_t> count = shape.axes[turn->read].size, along = shape.axes[turn->written].size;
  uint32_t width = std::min(vectorWidth(kernel, shape, turn->written), 16 / std::max(read.bytes(), 2u));
  if (along)
    width = widthIn(*along, width);
  if (!count || !along || !isShort(*count, width) || *along % width != 0 || width == 1 ||
      !liesBehind(read, shape, turn->written, turn->read))
    return std::nullopt;
  return ShortTurn{turn->written, turn->read, turn->read + 1, *count, width, read};
}

/// Whether a body reads, at each of the axis's places, the tensor's element there, in rows that are whole vectors.
bool isReadAlong(tensor::ExtractOp read, linalg::GenericOp op, const GroupShape &shape, unsigned axis, uint32_t width) {
  auto last = read.getIndices().empty() ? linalg::IndexOp() : read.getIndices().back().getDefiningOp<linalg::IndexOp>();
  const int64_t row = last ? read.getTensor().getType().getShape().back() : ShapedType::kDynamic;
  return last && shape.axisOf(op, unsigned(last.getDim())) == axis && !ShapedType::isDynamic(row) && row % width == 0;
}

/// Whether a tensor that is read has less than a word of each element: of such, loads and stores one by one take longer
/// than what they move.
bool readsNarrow(const KernelFunction &kernel) {
  constexpr uint32_t kWord = 4;
  return llvm::any_of(kernel.only().inputs, [](const KernelInput &input) {
    return input.isMemory() && !input.bodyArgument.use_empty() && dispatch::elementBytes(input.tensor.element) < kWord;
  });
}

/// Short axes that are written, the last ones, of what a body reads by place, or of narrow elements. (Words that are
/// only turned so are read in whole sectors anyway, element by element: an H200, three channels of 64 x 224 x 224 f32
/// 22.9 us, and 29.7 this way.)
std::optional<ShortTurn> writtenShort(const KernelFunction &kernel, const GroupShape &shape) {
  if (shape.group.hasReduction() || kernel.ops.size() != 1 || kernel.only().outputs.size() != 1 ||
      (kernel.gathered.empty() && !readsNarrow(kernel)))
    return std::nullopt;
  const KernelOp &only = kernel.only();
  auto op = linalg::GenericOp(only.op);
  const KernelTensor &result = only.outputs.front().tensor;
  if (only.outputs.front().startTensor || !shape.mapOf(result, op).isIdentity() ||
      llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return std::nullopt;
  int64_t count = 1;
  unsigned first = shape.axes.size();
  while (first > 1 && shape.axes[first - 1].size && count * *shape.axes[first - 1].size <= kMostVectors)
    count *= *shape.axes[--first].size;
  if (first == shape.axes.size() || !shape.axes[first - 1].size)
    return std::nullopt;
  const unsigned along = first - 1;
  uint32_t widest = std::max(dispatch::elementBytes(result.element), 2u);
  for (const KernelInput &input : only.inputs) {
    if (!input.isMemory() || input.bodyArgument.use_empty())
      continue;
    const GroupShape::Along lies = shape.along(input.tensor, op, along);
    if (lies != GroupShape::Along::Adjacent && lies != GroupShape::Along::Same)
      return std::nullopt;
    widest = std::max(widest, dispatch::elementBytes(input.tensor.element));
  }
  for (auto read : op.getBody()->getOps<tensor::ExtractOp>())
    widest = std::max(widest, dispatch::elementBytes(read.getType()));
  const uint32_t width = widthIn(*shape.axes[along].size, 16 / widest);
  if (!llvm::all_of(op.getBody()->getOps<tensor::ExtractOp>(),
                    [&](tensor::ExtractOp read) { return isReadAlong(read, op, shape, along, width); }))
    return std::nullopt;
  if (width == 1 || !isShort(count, width) || *shape.axes[along].size % width != 0)
    return std::nullopt;
  return ShortTurn{along, first, unsigned(shape.axes.size()), count, width, std::nullopt};
}

std::optional<ShortTurn> shortTurnOf(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<ShortTurn> turn = readShort(kernel, shape);
  return turn ? turn : writtenShort(kernel, shape);
}

class ShortTurnWriter {
public:
  ShortTurnWriter(Writer &w, Value arena)
      : w_(w), k_(w.k), bodies_(w.bodies), space_(w.space), turn_(*shortTurnOf(w.kernel, w.shape)), arena_(arena) {}

  void write() {
    space_.vectorAxis = turn_.along;
    Value thread = k_.add(k_.mul(k_.block(), k_.number(k_.threads)), k_.thread());
    Value vectors = k_.number(*w_.shape.axes[turn_.along].size / turn_.width); // of a row
    Value rows = k_.mul(space_.size(0, std::min(turn_.first, turn_.along)),
                        turn_.read ? space_.size(turn_.end, turn_.along) : k_.number(1));
    Value threads = k_.mul(rows, vectors);
    auto each = [&](llvm::function_ref<void(const Point &)> body) {
      k_.when(k_.less(thread, threads),
              [&] { body(pointAt(k_.div(thread, vectors), k_.mul(k_.rem(thread, vectors), k_.number(turn_.width)))); });
    };
    auto turned = [&] {
      if (turn_.read)
        return each([&](const Point &point) { turnRead(point); });
      each([&](const Point &point) { turnWritten(point); });
      k_.barrier();
      storeTurned(threads);
    };
    k_.branch(areAligned(), turned, [&] { each([&](const Point &point) { writeApart(point); }); });
  }

private:
  /// The first of the elements that a thread has, of a row of all axes but those of the turn.
  Point pointAt(Value row, Value along) {
    Point point;
    point.index.resize(w_.shape.axes.size());
    if (turn_.read) {
      const Quotient found = space_.divide(row, turn_.end, turn_.along);
      space_.place(point, 0, turn_.first, found.quotient);
      space_.place(point, turn_.end, turn_.along, found.remainder);
    } else {
      space_.place(point, 0, turn_.along, row);
    }
    point.index[turn_.along] = along;
    for (unsigned axis = turn_.first; axis < turn_.end; ++axis)
      point.index[axis] = k_.number(0);
    point.id = point.place = space_.newId();
    return point;
  }

  /// The same at a place of the short axes.
  Point placeOf(Point point, Value number) {
    space_.place(point, turn_.first, turn_.end, number);
    point.id = point.place = space_.newId();
    return point;
  }

  Value areAligned() {
    const KernelTensor &turned = turn_.read ? *turn_.read->tensor : w_.kernel.only().outputs.front().tensor;
    Value are = bodies_.areBasesAligned(turn_.width);
    auto ask = [&](const KernelTensor &tensor) {
      are = k_.both(are, bodies_.isAligned(tensor, int64_t(turn_.width) * dispatch::elementBytes(tensor.element)));
    };
    ask(turned);
    for (const auto &[value, tensor] : w_.kernel.gathered)
      ask(tensor);
    return are;
  }

  /// Element by element, where a tensor lies anywhere.
  void writeApart(const Point &point) {
    // It is rare, and should stay short.
    Value count = k_.opaque(k_.number(turn_.count * turn_.width));
    k_.loop(k_.number(0), count, k_.number(1), {}, [&](Value number, ValueRange) {
      Bodies::Scope scope(bodies_);
      bodies_.setWidth(1);
      Point one = point;
      one.index[turn_.along] = k_.add(one.index[turn_.along], k_.div(number, k_.number(turn_.count)));
      one = placeOf(one, k_.rem(number, k_.number(turn_.count)));
      for (const KernelOp &op : w_.kernel.ops)
        bodies_.store(op, one);
      return SmallVector<Value>();
    });
  }

  void turnRead(const Point &point) {
    const KernelTensor &tensor = *turn_.read->tensor;
    Bodies::Scope scope(bodies_);
    Value first = space_.element(tensor, turn_.read->op->op, point, 0);
    SmallVector<Value> elements; // a place's beside each other
    for (int64_t vector = 0; vector < turn_.count; ++vector)
      llvm::append_range(elements, loadAligned(k_, w_.arguments, tensor, k_.add(first, k_.number(vector * turn_.width)),
                                               turn_.width, bodies_.isStreamed(tensor)));
    llvm::DenseMap<unsigned, int64_t> places; // of points, by id
    bodies_.stage(*turn_.read->op, tensor, [&](const Point &at) {
      SmallVector<Value> lanes;
      for (unsigned lane = 0; lane < turn_.width; ++lane)
        lanes.push_back(toMemory(k_, elements[lane * turn_.count + places.lookup(at.id)], tensor.element));
      return lanes;
    });
    bodies_.setWidth(turn_.width);
    for (int64_t place = 0; place < turn_.count; ++place) {
      const Point at = placeOf(point, k_.number(place));
      places[at.id] = place;
      for (const KernelOp &op : w_.kernel.ops)
        bodies_.store(op, at);
    }
    bodies_.unstage();
  }

  const KernelTensor &result() const { return w_.kernel.only().outputs.front().tensor; }
  Type vectorType() const { return VectorType::get(turn_.width, memoryType(result().element)); }
  uint32_t vectorBytes() const { return turn_.width * dispatch::elementBytes(result().element); }
  /// A vector of the block's in shared memory.
  Value staged(Value number) {
    return k_.at(arena_, memoryType(result().element), k_.mul(number, k_.number(turn_.width)));
  }

  /// What a thread has, side by side in the result, lies so in shared memory: whole lines of it are stored together.
  void turnWritten(const Point &point) {
    const KernelOp &only = w_.kernel.only();
    const KernelTensor &tensor = result();
    Bodies::Scope scope(bodies_);
    bodies_.setWidth(turn_.width);
    bodies_.setBranchless(true);
    bodies_.setReadsAligned(true);
    SmallVector<SmallVector<Value>> places; // [count][width]
    for (int64_t place = 0; place < turn_.count; ++place) {
      const Point at = placeOf(point, k_.number(place));
      SmallVector<Value> &lanes = places.emplace_back();
      for (unsigned lane = 0; lane < turn_.width; ++lane)
        lanes.push_back(bodies_.element(only, 0, at, lane));
    }
    bodies_.setBranchless(false);
    bodies_.setReadsAligned(false);
    Value first = k_.mul(k_.thread(), k_.number(turn_.count));
    for (int64_t vector = 0; vector < turn_.count; ++vector) {
      Value all = LLVM::PoisonOp::create(k_.b, k_.loc, vectorType());
      for (int64_t lane = 0; lane < turn_.width; ++lane) {
        const int64_t element = vector * turn_.width + lane;
        Value value = toMemory(k_, places[element % turn_.count][element / turn_.count], tensor.element);
        all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, value, k_.number(lane));
      }
      k_.store(all, staged(k_.add(first, k_.number(vector))), vectorBytes());
    }
  }

  /// The vectors of all threads of the block, those of neighbours beside each other.
  void storeTurned(Value threads) {
    Value end = k_.mul(threads, k_.number(turn_.count));
    Value first = k_.mul(k_.block(), k_.number(int64_t(k_.threads) * turn_.count));
    for (int64_t round = 0; round < turn_.count; ++round) {
      Value inBlock = k_.add(k_.thread(), k_.number(round * k_.threads)), number = k_.add(first, inBlock);
      k_.when(k_.less(number, end), [&] {
        Value vector = k_.load(vectorType(), staged(inBlock), vectorBytes());
        Value element = k_.mul(number, k_.number(turn_.width));
        k_.store(vector, k_.at(bodies_.base(result()), memoryType(result().element), element), vectorBytes());
      });
    }
  }

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  GroupSpace &space_;
  const ShortTurn turn_;
  const Value arena_; // vectors of all threads, those of a thread side by side; null: the short axis is read
};

/// Shared memory for what a block writes along the short axis.
Value arenaOf(Writer &w) {
  const ShortTurn turn = *shortTurnOf(w.kernel, w.shape);
  return turn.read ? Value()
                   : w.k.shared(memoryType(w.kernel.only().outputs.front().tensor.element),
                                uint64_t(w.k.threads) * turn.count * turn.width);
}

} // namespace

std::optional<Plan> ShortTurns::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<ShortTurn> turn = shortTurnOf(kernel, shape);
  if (!turn)
    return std::nullopt;
  SmallVector<SpaceAxis> rest;
  int64_t vectors = 1; // that are known
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    if (number < turn->first || number >= turn->end) {
      rest.push_back(axis);
      vectors *= axis.size.value_or(1);
    }
  if (vectors / turn->width < kLeastThreads)
    return std::nullopt;
  return Plan{name(), kThreads, {{"width", turn->width}}, {{extentsOf(rest), int64_t(kThreads) * turn->width}}};
}

void ShortTurns::write(Writer &writer) const {
  const Value arena = arenaOf(writer);
  writeBySize(*this, writer, [&] { ShortTurnWriter(writer, arena).write(); });
}

} // namespace tenon::compiler::codegen
