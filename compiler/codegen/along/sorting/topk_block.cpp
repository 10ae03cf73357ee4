// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk_block.h"

#include "compiler/codegen/along/sorting/block_ranks.h"
#include "compiler/codegen/along/sorting/comparison.h"
#include "compiler/codegen/along/sorting/topk_line.h"
#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/topk_places.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = TopkBlock::kThreads;
constexpr uint32_t kWarps = kThreads / 32;
// Up to so many best, which is what a step reads as well, a block holds twice as many entries: it sorts less before it
// knows what few elements overtake.
constexpr int64_t kFewBest = 1024;
// Elements of a thread that are read at once where few of them are kept.
constexpr unsigned kStretch = 16;
// No thread has more registers than let so many blocks run at once.
constexpr uint32_t kResidentBlocks = 4;
// Stretches of a sample.
constexpr int64_t kSampled = 4;

/// What a step has read, which of it is kept (a bit for each), and how much that is: of the threads before this one,
/// and of all (i64).
struct Step {
  SmallVector<Entry> entries;
  Value taken, before, all;
};

/// The entries kept, and the last of the best k, where there are as many. `turn` says which of two sets of counts comes
/// next: one step's are read while the next one's are written.
struct State {
  Value count;
  Entry last;
  Value turn;

  static State of(ValueRange values) { return {values[0], {{values[1]}, values[2]}, values[3]}; }
  SmallVector<Value> values() const { return {count, last.keys[0], last.position, turn}; }
};

class BlockWriter {
public:
  explicit BlockWriter(AlongWriter &w)
      : w_(w), k_(w.k), along_(w.kernel.along), line_(w), order_(line_.order), capacity_(w.choice("capacity")),
        tile_(capacity_ / 2), parts_(std::max<int64_t>(w.choice("parts"), 1)), pass_(w.choice("pass")),
        entries_(w, order_, uint64_t(capacity_)), counts_(k_.shared(k_.b.getI32Type(), 2 * uint64_t(kWarps))) {}

  void run();

private:
  Type i64() { return k_.b.getI64Type(); }
  Type i32() { return k_.b.getI32Type(); }
  Type element() { return along_.inputs[0].element; }
  Value word(uint32_t value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value))); }
  Value toI64(Value word) { return arith::ExtUIOp::create(k_.b, k_.loc, i64(), word); }
  bool isCut() const { return pass_ == 1; }
  bool readsParts() const { return pass_ == 2; }
  unsigned perThread() const { return unsigned(tile_ / kThreads); }
  /// Whether a bound is asked for: a comparison of any other kind may be no order, and keep fewer than k.
  bool samples() {
    const std::optional<int64_t> best = LineShape(along_.outputs[0].tensor, line_.op.getDimension()).knownLength();
    return !readsParts() && best && *best > 0 && *best <= kThreads &&
           Comparison::of(line_.op.getRegion().front()).has_value();
  }

  Value scratchAt(unsigned which, Value part, Value place) {
    const KernelTensor &tensor = w_.kernel.scratch[which];
    Value at = k_.add(k_.mul(k_.add(k_.mul(line_.line, k_.number(parts_)), part), line_.result.length), place);
    return k_.at(w_.arguments.pointers[tensor.binding], tensor.element, at);
  }
  void findPart();
  Value fits(Value tile, unsigned width, unsigned chunks);
  SmallVector<Entry> readLine(Value tile, unsigned perThread);
  SmallVector<Entry> readParts(Value tile);

  Entry bound();
  Step look(SmallVector<Entry> entries, const State &state);
  void keep(const Step &step, Value count);
  void sortAll(Value count);
  /// Each reads from `first` on what a step reads. @return the state behind it
  State stepTile(Value first, const State &state);
  State stepStretch(Value first, const State &state);
  void finish(Value count);

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  TopkLine line_;
  ElementOrder &order_;
  int64_t capacity_, tile_, parts_, pass_;
  SharedEntries entries_;
  Value counts_, part_, begin_, end_;
};

void BlockWriter::findPart() {
  Value block = k_.block(), zero = k_.number(0), tile = k_.number(tile_), parts = k_.number(parts_);
  line_.line = isCut() ? k_.div(block, parts) : block;
  part_ = isCut() ? k_.rem(block, parts) : zero;
  Value length = readsParts() ? k_.mul(line_.result.length, parts) : line_.source.length;
  // Parts are whole tiles.
  Value tiles = k_.div(k_.add(length, k_.number(tile_ - 1)), tile);
  Value piece = k_.mul(k_.div(k_.add(tiles, k_.number(parts_ - 1)), parts), tile);
  begin_ = isCut() ? k_.min(k_.mul(piece, part_), length) : zero;
  end_ = isCut() ? k_.min(k_.add(begin_, piece), length) : length;
}

/// Every element of the tile exists, and its vectors are aligned.
Value BlockWriter::fits(Value tile, unsigned width, unsigned chunks) {
  Value last = k_.add(tile, k_.number(int64_t(kThreads) * width * chunks));
  Value whole = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ule, last, end_);
  Value from = k_.at(w_.arguments.pointers[along_.inputs[0].binding], memoryType(element()),
                     line_.source.element(k_, line_.line, tile));
  Value address = LLVM::PtrToIntOp::create(k_.b, k_.loc, i64(), from);
  const int64_t bytes = int64_t(width) * dispatch::elementBytes(element());
  return k_.both(whole, k_.equal(k_.rem(address, k_.number(bytes)), k_.number(0)));
}

/// The elements of a tile that are this thread's; behind the end there are none.
SmallVector<Entry> BlockWriter::readLine(Value tile, unsigned perThread) {
  const KernelTensor &input = along_.inputs[0];
  const unsigned width = std::min<unsigned>(16 / std::max(dispatch::elementBytes(element()), 2u), perThread);
  const unsigned chunks = perThread / width;
  SmallVector<Value> places;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    Value first = k_.add(tile, k_.mul(k_.add(k_.number(int64_t(chunk) * kThreads), k_.thread()), k_.number(width)));
    for (unsigned i = 0; i < width; ++i)
      places.push_back(k_.add(first, k_.number(i)));
  }
  auto one = [&](Value place) {
    return k_
        .choose(
            k_.less(place, end_), element(),
            [&] { return SmallVector<Value>{w_.load(input, line_.source.element(k_, line_.line, place))}; },
            [&] { return SmallVector<Value>{arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(element()))}; })
        .front();
  };
  Type memory = memoryType(element());
  SmallVector<Value> values;
  if (LineShape(input, line_.op.getDimension()).isAdjacent() && memory == element()) {
    SmallVector<Type> types(places.size(), element());
    values = k_.choose(
        fits(tile, width, chunks), types,
        [&] {
          SmallVector<Value> lanes;
          for (unsigned chunk = 0; chunk < chunks; ++chunk) {
            Value from = k_.at(w_.arguments.pointers[input.binding], memory,
                               line_.source.element(k_, line_.line, places[size_t(chunk) * width]));
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
    Value at = line_.toPosition(k_.add(line_.result.length, place));
    entries.push_back({{value}, k_.select(k_.less(place, end_), at, order_.nowhere())});
  }
  return entries;
}

/// What parts left: places are counted over all of them.
SmallVector<Entry> BlockWriter::readParts(Value tile) {
  SmallVector<Entry> entries;
  for (unsigned i = 0; i < perThread(); ++i) {
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

/// An entry of which k elements of the line come no later; none where the sample is too short to say.
Entry BlockWriter::bound() {
  Entry none = order_.none();
  SmallVector<Value> nothing = {none.keys[0], none.position};
  SmallVector<Type> types = {none.keys[0].getType(), none.position.getType()};
  const int64_t stretch = int64_t(kStretch) * kThreads;
  SmallVector<Value> bound = k_.choose(
      k_.less(k_.number(2 * int64_t(kThreads)), k_.sub(end_, begin_)), types,
      [&] {
        Value end = k_.min(k_.add(begin_, k_.number(kSampled * stretch)), end_);
        SmallVector<Value> best = k_.loop(begin_, end, k_.number(stretch), nothing, [&](Value first, ValueRange now) {
          Entry best{{now[0]}, now[1]};
          for (const Entry &entry : readLine(first, kStretch)) {
            Value isBetter = order_.precedes(entry, best);
            best = {{k_.select(isBetter, entry.keys[0], best.keys[0])},
                    k_.select(isBetter, entry.position, best.position)};
          }
          return SmallVector<Value>{best.keys[0], best.position};
        });
        entries_.store(k_.thread(), {{best[0]}, best[1]});
        entries_.sort(k_.number(llvm::Log2_32(kThreads)));
        Entry last = entries_.load(k_.sub(line_.result.length, k_.number(1)));
        k_.barrier(); // other entries take the place of these
        return SmallVector<Value>{last.keys[0], last.position};
      },
      [&] { return nothing; });
  return {{bound[0]}, bound[1]};
}

Step BlockWriter::look(SmallVector<Entry> entries, const State &state) {
  Step step;
  step.entries = std::move(entries);
  Value yes = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  step.taken = word(0);
  for (auto [i, entry] : llvm::enumerate(step.entries)) {
    Value isBehind = order_.precedes(state.last, entry);
    Value isTaken = k_.both(k_.exclusiveOr(isBehind, yes), order_.exists(entry.position));
    step.taken = k_.add(step.taken, k_.select(isTaken, word(1U << i), word(0)));
  }
  step.taken = k_.opaque(step.taken); // one register, not a truth value for each entry
  Value sums = k_.at(counts_, i32(), k_.mul(state.turn, k_.number(kWarps)));
  const BlockSum sum = BlockSum::of(k_, math::CtPopOp::create(k_.b, k_.loc, step.taken), sums);
  step.before = toI64(sum.before);
  step.all = toI64(sum.all);
  return step;
}

/// Stores what is taken behind `count` entries.
void BlockWriter::keep(const Step &step, Value count) {
  Value place = k_.add(count, step.before);
  for (auto [i, entry] : llvm::enumerate(step.entries)) {
    Value bit = k_.both(step.taken, word(1U << i));
    Value isTaken = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, bit, word(0));
    k_.when(isTaken, [&] { entries_.store(place, entry); });
    place = k_.add(place, k_.select(isTaken, k_.number(1), k_.number(0)));
  }
}

void BlockWriter::sortAll(Value count) {
  Value bits = bitsFor(k_, count);
  k_.loop(k_.add(count, k_.thread()), shiftLeft(k_, k_.number(1), bits), k_.number(kThreads), {},
          [&](Value place, ValueRange) {
            entries_.store(place, order_.none());
            return SmallVector<Value>();
          });
  entries_.sort(bits);
}

State BlockWriter::stepTile(Value first, const State &state) {
  const Step step = look(readsParts() ? readParts(first) : readLine(first, perThread()), state);
  Value zero = k_.number(0), turn = k_.sub(k_.number(1), state.turn);
  SmallVector<Value> unchanged = {state.count, state.last.keys[0], state.last.position};
  SmallVector<Type> types = llvm::map_to_vector(unchanged, [](Value value) { return value.getType(); });
  SmallVector<Value> next = k_.choose(
      k_.equal(step.all, zero), types, [&] { return unchanged; },
      [&] {
        keep(step, state.count);
        Value count = k_.add(state.count, step.all);
        return k_.choose(
            k_.less(k_.number(capacity_ - tile_), count), types,
            [&] {
              // Then the last of the first k is what must be overtaken.
              sortAll(count);
              Value length = line_.result.length, kept = k_.min(count, length);
              // A k of 0 has no last one: nothing is taken, as nothing is wanted.
              Entry last = entries_.load(k_.sub(k_.select(k_.equal(kept, zero), k_.number(1), kept), k_.number(1)));
              Value isWhole = k_.both(k_.equal(kept, length), k_.less(zero, kept));
              k_.barrier();
              return SmallVector<Value>{kept, last.keys[0], k_.select(isWhole, last.position, order_.nowhere())};
            },
            [&] { return SmallVector<Value>{count, state.last.keys[0], state.last.position}; });
      });
  next.push_back(turn);
  return State::of(next);
}

/// Where there is no room for what is taken of a stretch, its tiles are read once more, one after the other.
State BlockWriter::stepStretch(Value first, const State &state) {
  const Step step = look(readLine(first, kStretch), state);
  Value count = k_.add(state.count, step.all);
  State seen{state.count, state.last, k_.sub(k_.number(1), state.turn)};
  SmallVector<Value> values = seen.values();
  return State::of(k_.choose(
      k_.less(k_.number(capacity_ - tile_), count), llvm::map_to_vector(values, [](Value v) { return v.getType(); }),
      [&] {
        Value last = k_.min(k_.add(first, k_.number(int64_t(kStretch) * kThreads)), end_);
        return k_.loop(first, last, k_.number(tile_), values,
                       [&](Value tile, ValueRange now) { return stepTile(tile, State::of(now)).values(); });
      },
      [&] {
        k_.when(k_.less(k_.number(0), step.all), [&] { keep(step, state.count); });
        return State{count, seen.last, seen.turn}.values();
      }));
}

/// The best k of so many entries, into the results or to the others of the line's parts.
void BlockWriter::finish(Value count) {
  // What the result begins with belongs to the first part. It is rarely among the best, so it comes last; its positions
  // say that it stood before all.
  Value zero = k_.number(0), length = line_.result.length;
  Value starts = readsParts() ? zero : k_.select(k_.equal(part_, zero), length, zero);
  k_.loop(k_.thread(), starts, k_.number(kThreads), {}, [&](Value place, ValueRange) {
    entries_.store(k_.add(count, place), line_.startAt(place));
    return SmallVector<Value>();
  });
  count = k_.add(count, starts);
  sortAll(count);
  k_.loop(k_.thread(), length, k_.number(kThreads), {}, [&](Value place, ValueRange) {
    if (!isCut()) {
      k_.when(k_.less(place, count), [&] { line_.give(place, entries_.load(place)); });
      return SmallVector<Value>();
    }
    SmallVector<Value> entry = k_.choose(
        k_.less(place, count), TypeRange{order_.keyTypes()[0], order_.positionType()},
        [&] {
          Entry one = entries_.load(place);
          return SmallVector<Value>{one.keys[0], one.position};
        },
        [&] {
          Entry none = order_.none();
          return SmallVector<Value>{none.keys[0], none.position};
        });
    storeShared(k_, entry[0], scratchAt(0, part_, place));
    storeShared(k_, entry[1], scratchAt(1, part_, place));
    return SmallVector<Value>();
  });
}

void BlockWriter::run() {
  k_.wantResident(kResidentBlocks);
  findPart();
  const bool isBounded = samples();
  const State first{k_.number(0), isBounded ? bound() : order_.none(), k_.number(0)};
  const int64_t step = isBounded ? int64_t(kStretch) * kThreads : tile_;
  SmallVector<Value> state = k_.loop(begin_, end_, k_.number(step), first.values(), [&](Value from, ValueRange now) {
    return (isBounded ? stepStretch(from, State::of(now)) : stepTile(from, State::of(now))).values();
  });
  finish(state[0]);
}

} // namespace

int64_t TopkBlock::capacity(Type value, Type position, std::optional<int64_t> best) {
  const int64_t most = linalg_ext::topkEntries(dispatch::elementBytes(value), position.getIntOrFloatBitWidth());
  const int64_t held = best && *best <= kFewBest ? std::min(most, 2 * kFewBest) : most;
  return best && *best <= held / 2 ? held : 0;
}

void writeTopkBlock(AlongWriter &writer) {
  BlockWriter(writer).run();
}

} // namespace tenon::compiler::codegen
