// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/sorting/order.h"
#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kThreads = 256;
constexpr uint32_t kWarps = kThreads / kWarp;
// Bytes of shared memory for entries.
constexpr int64_t kEntryBytes = 40960;
// Up to so many best, which is what a step reads as well, a block holds twice as many entries.
constexpr int64_t kFewBest = 1024;
constexpr int64_t kManyBlocks = 512;
constexpr int64_t kMostParts = 256;
// A part is worth a block of its own from here.
constexpr int64_t kLongPart = 8192;

/// How many entries a block holds. Half of them is room for what a step reads.
int64_t capacityFor(Type value, Type position) {
  const int64_t bytes = dispatch::elementBytes(value) + dispatch::elementBytes(position);
  return int64_t(llvm::bit_floor(uint64_t(kEntryBytes / bytes)));
}

class TopkWriter {
public:
  explicit TopkWriter(AlongWriter &w)
      : w_(w), k_(w.k), along_(w.kernel.along), op_(cast<linalg_ext::TopkOp>(along_.op)),
        capacity_(w.choice("capacity")), parts_(std::max<int64_t>(w.choice("parts"), 1)), pass_(w.choice("pass")),
        order_(w, k_.b.getIntegerType(unsigned(w.choice("position")))),
        source_(w, LineShape(along_.inputs[0], op_.getDimension())),
        result_(w, LineShape(along_.outputs[0].tensor, op_.getDimension())) {}

  void byBlock();
  void byThread();

private:
  Type i64() { return k_.b.getI64Type(); }
  Value position(Value number) {
    return number.getType() == order_.positionType()
               ? number
               : arith::TruncIOp::create(k_.b, k_.loc, order_.positionType(), number).getResult();
  }
  Value number(Value position) {
    return position.getType() == i64() ? position : arith::ExtUIOp::create(k_.b, k_.loc, i64(), position).getResult();
  }
  /// What the result holds to begin with: the elements before all of the line.
  Entry startAt(Value place) {
    return {{w_.start(along_.outputs[0], result_.element(k_, line_, place))}, position(place)};
  }
  Value indexOf(Value position);
  void give(Value place, const Entry &entry);
  Value scratchAt(unsigned which, Value part, Value place) {
    const KernelTensor &tensor = along_.scratch[which];
    Value at = k_.add(k_.mul(k_.add(k_.mul(line_, k_.number(parts_)), part), result_.length), place);
    return k_.at(w_.arguments.pointers[tensor.binding], tensor.element, at);
  }
  SmallVector<Entry> read(Value tile, unsigned width, unsigned chunks);
  SmallVector<Entry> readParts(Value tile, unsigned count);
  Value fits(Value tile, unsigned width, unsigned chunks);

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  linalg_ext::TopkOp op_;
  int64_t capacity_, parts_, pass_;
  ElementOrder order_;
  Lines source_, result_;
  Value line_, part_, begin_, end_;
};

/// Of the element at a position: before the length of the result stand those that the result began with.
Value TopkWriter::indexOf(Value at) {
  Type type = along_.outputs[1].tensor.element;
  Value isStart = k_.less(at, result_.length), place = k_.sub(at, result_.length);
  return k_
      .choose(
          isStart, type,
          [&] { return SmallVector<Value>{w_.start(along_.outputs[1], result_.element(k_, line_, at))}; },
          [&] {
            if (along_.inputs.size() == 2)
              return SmallVector<Value>{w_.load(along_.inputs[1], source_.element(k_, line_, place))};
            return SmallVector<Value>{type == i64() ? place
                                                    : arith::TruncIOp::create(k_.b, k_.loc, type, place).getResult()};
          })
      .front();
}

void TopkWriter::give(Value place, const Entry &entry) {
  Value at = result_.element(k_, line_, place);
  if (along_.outputs[0].isStored)
    w_.store(along_.outputs[0].tensor, at, entry.keys[0]);
  if (along_.outputs.size() == 2 && along_.outputs[1].isStored)
    w_.store(along_.outputs[1].tensor, at, indexOf(number(entry.position)));
}

Value TopkWriter::fits(Value tile, unsigned width, unsigned chunks) {
  const KernelTensor &input = along_.inputs[0];
  Value last = k_.add(tile, k_.number(int64_t(kThreads) * width * chunks));
  Value whole = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ule, last, end_);
  Value from = k_.at(w_.arguments.pointers[input.binding], memoryType(input.element), source_.element(k_, line_, tile));
  Value address = LLVM::PtrToIntOp::create(k_.b, k_.loc, i64(), from);
  const int64_t bytes = int64_t(width) * dispatch::elementBytes(input.element);
  return k_.both(whole, k_.equal(k_.rem(address, k_.number(bytes)), k_.number(0)));
}

/// The elements of a tile that are this thread's; behind the end there are none.
SmallVector<Entry> TopkWriter::read(Value tile, unsigned width, unsigned chunks) {
  const KernelTensor &input = along_.inputs[0];
  SmallVector<Value> places;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    Value first = k_.add(tile, k_.mul(k_.add(k_.number(int64_t(chunk) * kThreads), k_.thread()), k_.number(width)));
    for (unsigned i = 0; i < width; ++i)
      places.push_back(k_.add(first, k_.number(i)));
  }
  auto one = [&](Value place) {
    return k_
        .choose(
            k_.less(place, end_), input.element,
            [&] { return SmallVector<Value>{w_.load(input, source_.element(k_, line_, place))}; },
            [&] {
              return SmallVector<Value>{arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(input.element))};
            })
        .front();
  };
  Type memory = memoryType(input.element);
  SmallVector<Value> values;
  if (LineShape(input, op_.getDimension()).isAdjacent() && memory == input.element) {
    SmallVector<Type> types(places.size(), input.element);
    values = k_.choose(
        fits(tile, width, chunks), types,
        [&] {
          SmallVector<Value> lanes;
          for (unsigned chunk = 0; chunk < chunks; ++chunk) {
            Value from = k_.at(w_.arguments.pointers[input.binding], memory,
                               source_.element(k_, line_, places[size_t(chunk) * width]));
            Value all = k_.load(VectorType::get(width, memory), from, width * dispatch::elementBytes(memory));
            for (unsigned i = 0; i < width; ++i)
              lanes.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(i)));
          }
          return lanes;
        },
        [&] { return llvm::map_to_vector(places, one); });
  } else {
    values = llvm::map_to_vector(places, one);
  }
  SmallVector<Entry> entries;
  for (auto [place, value] : llvm::zip_equal(places, values)) {
    Value at = position(k_.add(result_.length, place));
    entries.push_back({{value}, k_.select(k_.less(place, end_), at, order_.nowhere())});
  }
  return entries;
}

/// What parts left: places are counted over all of them.
SmallVector<Entry> TopkWriter::readParts(Value tile, unsigned count) {
  SmallVector<Entry> entries;
  for (unsigned i = 0; i < count; ++i) {
    Value place = k_.add(tile, k_.add(k_.thread(), k_.number(int64_t(i) * kThreads)));
    SmallVector<Value> read = k_.choose(
        k_.less(place, end_), TypeRange{order_.keyTypes()[0], order_.positionType()},
        [&] {
          return SmallVector<Value>{loadShared(k_, order_.keyTypes()[0], scratchAt(0, k_.number(0), place)),
                                    loadShared(k_, order_.positionType(), scratchAt(1, k_.number(0), place))};
        },
        [&] {
          Entry none = order_.none();
          return SmallVector<Value>{none.keys[0], none.position};
        });
    entries.push_back({{read[0]}, read[1]});
  }
  return entries;
}

void TopkWriter::byBlock() {
  SharedEntries entries(w_, order_, uint64_t(capacity_));
  Type i32 = k_.b.getI32Type();
  Value counts = k_.shared(i32, 2 * kWarps);
  Value block = k_.block(), thread = k_.thread(), threads = k_.number(kThreads), zero = k_.number(0);
  Value lane = k_.rem(thread, k_.number(kWarp)), warp = k_.div(thread, k_.number(kWarp));
  const bool cut = pass_ == 1;
  line_ = cut ? k_.div(block, k_.number(parts_)) : block;
  part_ = cut ? k_.rem(block, k_.number(parts_)) : zero;
  const int64_t tile = capacity_ / 2;
  const unsigned perThread = unsigned(tile / kThreads);
  const unsigned width =
      std::min<unsigned>(16 / std::max(dispatch::elementBytes(along_.inputs[0].element), 2u), perThread);
  Value length = pass_ == 2 ? k_.mul(result_.length, k_.number(parts_)) : source_.length;
  Value piece =
      k_.mul(k_.div(k_.add(k_.div(k_.add(length, k_.number(tile - 1)), k_.number(tile)), k_.number(parts_ - 1)),
                    k_.number(parts_)),
             k_.number(tile));
  begin_ = cut ? k_.min(k_.mul(piece, part_), length) : zero;
  end_ = cut ? k_.min(k_.add(begin_, piece), length) : length;

  // Sorts what there is; then the last of the first k is what must be overtaken.
  auto sortAll = [&](Value count) {
    Value bits = bitsFor(k_, count);
    k_.loop(k_.add(count, thread), shiftLeft(k_, k_.number(1), bits), threads, {}, [&](Value place, ValueRange) {
      entries.store(place, order_.none());
      return SmallVector<Value>();
    });
    entries.sort(bits);
  };
  Entry none = order_.none();
  // Carried: entries, the one to overtake, and which of two sets of counts comes next.
  SmallVector<Value> state = {zero, none.keys[0], none.position, zero};
  state = k_.loop(begin_, end_, k_.number(tile), state, [&](Value from, ValueRange now) {
    Value count = now[0], turn = now[3];
    Entry last{{now[1]}, now[2]};
    SmallVector<Entry> mine = pass_ == 2 ? readParts(from, perThread) : read(from, width, perThread / width);
    Value base = k_.mul(turn, k_.number(kWarps));
    Value hasLast = order_.exists(last.position);
    SmallVector<Value> taken, votes;
    Value total; // of this warp
    for (Entry &entry : mine) {
      Value overtakes = k_.select(hasLast, order_.overtakes(entry, last), order_.exists(entry.position));
      taken.push_back(k_.both(overtakes, order_.exists(entry.position)));
      votes.push_back(k_.ballot(taken.back()));
      Value some = math::CtPopOp::create(k_.b, k_.loc, votes.back());
      total = total ? arith::AddIOp::create(k_.b, k_.loc, total, some).getResult() : some;
    }
    k_.when(k_.equal(lane, zero), [&] { k_.store(total, k_.at(counts, i32, k_.add(base, warp)), 4); });
    k_.barrier();
    Value all = zero, before = zero; // of the block, and of the warps before this one
    for (unsigned i = 0; i < kWarps; ++i) {
      Value some =
          arith::ExtUIOp::create(k_.b, k_.loc, i64(), k_.load(i32, k_.at(counts, i32, k_.add(base, k_.number(i))), 4));
      before = k_.add(before, k_.select(k_.less(k_.number(i), warp), some, zero));
      all = k_.add(all, some);
    }
    Value nextTurn = k_.sub(k_.number(1), turn);
    return k_.choose(
        k_.equal(all, zero), TypeRange{i64(), last.keys[0].getType(), last.position.getType(), i64()},
        [&] { return SmallVector<Value>{count, last.keys[0], last.position, nextTurn}; },
        [&] {
          Value one = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(1));
          Value lane32 = arith::TruncIOp::create(k_.b, k_.loc, i32, lane);
          Value lower = arith::SubIOp::create(k_.b, k_.loc, arith::ShLIOp::create(k_.b, k_.loc, one, lane32), one);
          Value place = k_.add(count, before);
          auto popcount = [&](Value bits) -> Value {
            return arith::ExtUIOp::create(k_.b, k_.loc, i64(), math::CtPopOp::create(k_.b, k_.loc, bits));
          };
          for (auto [entry, isTaken, vote] : llvm::zip_equal(mine, taken, votes)) {
            Value at = k_.add(place, popcount(arith::AndIOp::create(k_.b, k_.loc, vote, lower)));
            k_.when(isTaken, [&] { entries.store(at, entry); });
            place = k_.add(place, popcount(vote));
          }
          Value next = k_.add(count, all);
          Value isFull = k_.less(k_.number(capacity_ - tile), next);
          SmallVector<Value> sorted = k_.choose(
              isFull, TypeRange{i64(), last.keys[0].getType(), last.position.getType()},
              [&] {
                sortAll(next);
                Value kept = k_.min(next, result_.length);
                // A k of 0 has no last one: nothing is taken, as nothing is wanted.
                Value at = k_.sub(k_.select(k_.equal(kept, zero), k_.number(1), kept), k_.number(1));
                Entry mark = entries.load(at);
                Value isWhole = k_.both(k_.equal(kept, result_.length), k_.less(zero, kept));
                k_.barrier();
                return SmallVector<Value>{kept, mark.keys[0], k_.select(isWhole, mark.position, order_.nowhere())};
              },
              [&] { return SmallVector<Value>{next, last.keys[0], last.position}; });
          return SmallVector<Value>{sorted[0], sorted[1], sorted[2], nextTurn};
        });
  });
  // What the result begins with belongs to the first part. It is rarely among the best, so it comes last; its positions
  // say that it stood before all.
  Value starts = pass_ == 2 ? zero : k_.select(k_.equal(part_, zero), result_.length, zero);
  k_.loop(thread, starts, threads, {}, [&](Value place, ValueRange) {
    entries.store(k_.add(state[0], place), startAt(place));
    return SmallVector<Value>();
  });
  state[0] = k_.add(state[0], starts);
  sortAll(state[0]);
  k_.loop(thread, result_.length, threads, {}, [&](Value place, ValueRange) {
    if (!cut) {
      k_.when(k_.less(place, state[0]), [&] { give(place, entries.load(place)); });
      return SmallVector<Value>();
    }
    SmallVector<Value> entry = k_.choose(
        k_.less(place, state[0]), TypeRange{order_.keyTypes()[0], order_.positionType()},
        [&] {
          Entry one = entries.load(place);
          return SmallVector<Value>{one.keys[0], one.position};
        },
        [&] { return SmallVector<Value>{none.keys[0], none.position}; });
    storeShared(k_, entry[0], scratchAt(0, part_, place));
    storeShared(k_, entry[1], scratchAt(1, part_, place));
    return SmallVector<Value>();
  });
}

/// The result is in order from the beginning to the end; each element of the line moves up to its place.
void TopkWriter::byThread() {
  line_ = k_.add(k_.mul(k_.block(), k_.number(k_.threads)), k_.thread());
  const KernelTensor &values = along_.outputs[0].tensor;
  const KernelTensor *indices =
      along_.outputs.size() == 2 && along_.outputs[1].isStored ? &along_.outputs[1].tensor : nullptr;
  Value zero = k_.number(0), one = k_.number(1);
  // Puts an element behind `count` others that are in order; what falls off the end is gone.
  auto insert = [&](Value count, Value value, Value index) {
    auto loop = scf::WhileOp::create(
        k_.b, k_.loc, TypeRange{i64()}, ValueRange{count},
        [&](OpBuilder &, Location, ValueRange now) {
          Value isMoved =
              k_.choose(
                    k_.less(zero, now[0]), TypeRange{k_.b.getI1Type()},
                    [&] {
                      Value before = w_.load(values, result_.element(k_, line_, k_.sub(now[0], one)));
                      Entry a{{value}, zero}, b{{before}, zero};
                      return SmallVector<Value>{order_.overtakes(a, b)};
                    },
                    [&] {
                      return SmallVector<Value>{arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false))};
                    })
                  .front();
          scf::ConditionOp::create(k_.b, k_.loc, isMoved, now);
        },
        [&](OpBuilder &, Location, ValueRange now) {
          Value previous = k_.sub(now[0], one);
          k_.when(k_.less(now[0], result_.length), [&] {
            Value from = result_.element(k_, line_, previous), to = result_.element(k_, line_, now[0]);
            w_.store(values, to, w_.load(values, from));
            if (indices)
              w_.store(*indices, to, w_.load(*indices, from));
          });
          scf::YieldOp::create(k_.b, k_.loc, ValueRange{previous});
        });
    Value place = loop.getResult(0);
    k_.when(k_.less(place, result_.length), [&] {
      w_.store(values, result_.element(k_, line_, place), value);
      if (indices)
        w_.store(*indices, result_.element(k_, line_, place), index);
    });
  };
  k_.when(k_.less(line_, source_.count), [&] {
    k_.loop(zero, result_.length, one, {}, [&](Value place, ValueRange) {
      insert(place, startAt(place).keys[0], indices ? indexOf(place) : Value());
      return SmallVector<Value>();
    });
    k_.loop(zero, source_.length, one, {}, [&](Value place, ValueRange) {
      insert(result_.length, w_.load(along_.inputs[0], source_.element(k_, line_, place)),
             indices ? indexOf(k_.add(result_.length, place)) : Value());
      return SmallVector<Value>();
    });
  });
}

} // namespace

bool Topk::takes(Operation *op) const {
  return isa<linalg_ext::TopkOp>(op);
}

AlongPlans Topk::plans(const KernelFunction &kernel) const {
  auto op = cast<linalg_ext::TopkOp>(kernel.along.op);
  const LineShape source(kernel.along.inputs[0], op.getDimension());
  const LineShape result(kernel.along.outputs[0].tensor, op.getDimension());
  const std::optional<int64_t> length = source.knownLength(), k = result.knownLength(), lines = source.knownLines();
  const bool isShort = length && k && *length + *k < (int64_t(1) << 31);
  Type position = IntegerType::get(op.getContext(), isShort ? 32 : 64);
  Type value = kernel.along.inputs[0].element;
  // A block that holds less sorts less before it knows what few elements overtake.
  const int64_t most = capacityFor(value, position);
  const int64_t capacity = k && *k <= kFewBest ? std::min(most, 2 * kFewBest) : most;
  auto plan = [&](int64_t capacity, int64_t parts, int64_t pass, GridFactor blocks) {
    Plan made;
    made.strategy = "topk";
    made.threads = kThreads;
    made.choices = {{"capacity", capacity}, {"parts", parts}, {"pass", pass}, {"position", isShort ? 32 : 64}};
    made.grid = {blocks};
    return made;
  };
  AlongPlans plans;
  // A thread a line where blocks would be idle, or cannot hold k.
  const bool tiny = length && k && *length <= 32 && *k <= 4 && (!lines || *lines >= 1024);
  if (!k || *k > capacity / 2 || (tiny && kernel.along.outputs[0].isStored)) {
    plans.kernels.push_back(plan(0, 1, 0, {source.lines(), kThreads}));
    return plans;
  }
  int64_t parts = 1;
  if (lines && *lines > 0 && *lines < kManyBlocks / 2 && length)
    parts = std::min<int64_t>({int64_t(llvm::divideCeil(kManyBlocks, *lines)), *length / kLongPart, kMostParts});
  if (parts < 2) {
    plans.kernels.push_back(plan(capacity, 1, 0, {source.lines(), 1}));
    return plans;
  }
  plans.kernels.push_back(plan(capacity, parts, 1, {source.lines(), 1}));
  plans.kernels.back().grid.push_back({{Extent{parts, {}}}, 1});
  plans.kernels.push_back(plan(capacity, parts, 2, {source.lines(), 1}));
  SmallVector<Extent> extents = source.lines();
  extents.push_back(Extent{parts, {}});
  extents.push_back(Extent{*k, {}});
  plans.scratch.push_back({storedType(value), extents});
  plans.scratch.push_back({position, extents});
  return plans;
}

void Topk::write(AlongWriter &writer) const {
  TopkWriter topk(writer);
  writer.choice("capacity") == 0 ? topk.byThread() : topk.byBlock();
}

} // namespace tenon::compiler::codegen
