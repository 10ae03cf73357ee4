// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/sort.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/sorting/order.h"
#include "compiler/codegen/along/sorting/radix_sort.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

enum Mode : int64_t { Whole, Tiles, Merge, InMemory };

constexpr uint32_t kWarp = 32;
constexpr int64_t kEntryBytes = 40960;
constexpr uint32_t kThreads = 512;
// Entries that a block merges.
constexpr int64_t kMerged = 2048;
constexpr uint32_t kMergeThreads = 256;
// Where a sort by digits begins, of lines of unknown length.
constexpr int64_t kShortLine = 512;

class SortWriter {
public:
  explicit SortWriter(AlongWriter &w)
      : w_(w), k_(w.k), along_(w.kernel.along), op_(cast<linalg_ext::SortOp>(along_.op)),
        capacity_(w.choice("capacity")), order_(w, k_.b.getIntegerType(unsigned(w.choice("position")))),
        lines_(w, LineShape(along_.outputs[0].tensor, op_.getDimension())) {}

  void whole();
  void tiles();
  void merge();
  void inMemory();

private:
  Value position(Value number) {
    return order_.positionType().isInteger(64)
               ? number
               : arith::TruncIOp::create(k_.b, k_.loc, order_.positionType(), number).getResult();
  }
  Value number(Value position) {
    return order_.positionType().isInteger(64)
               ? position
               : arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), position).getResult();
  }
  Value operand(unsigned which, Value place) {
    Value at = lines_.element(k_, line_, place);
    return w_.unsorted(which, at, place);
  }
  Entry read(Value place) {
    Entry entry;
    for (unsigned key : order_.keys())
      entry.keys.push_back(operand(key, place));
    entry.position = position(place);
    return entry;
  }
  Entry readOrNone(Value place, Value end);
  void give(Value place, const Entry &entry);

  /// Scratch memory has the keys and the positions of each of two sets.
  Value scratchAt(unsigned set, unsigned which, Value place) {
    const unsigned perSet = order_.keys().size() + 1;
    const KernelTensor &tensor = w_.kernel.scratch[set * perSet + which];
    return k_.at(w_.arguments.pointers[tensor.binding], tensor.element, k_.add(k_.mul(line_, lines_.length), place));
  }
  Entry fromScratch(unsigned set, Value place) {
    Entry entry;
    for (auto [i, type] : llvm::enumerate(order_.keyTypes()))
      entry.keys.push_back(loadShared(k_, type, scratchAt(set, i, place)));
    entry.position = loadShared(k_, order_.positionType(), scratchAt(set, order_.keys().size(), place));
    return entry;
  }
  void toScratch(unsigned set, Value place, const Entry &entry) {
    for (auto [i, key] : llvm::enumerate(entry.keys))
      storeShared(k_, key, scratchAt(set, i, place));
    storeShared(k_, entry.position, scratchAt(set, order_.keys().size(), place));
  }
  /// The first place in [low, high) for which the condition does not hold; it holds for those before.
  Value search(Value low, Value high, llvm::function_ref<Value(Value)> holds);
  Value taken(unsigned set, Value run, Value first, Value second, Value diagonal);

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  linalg_ext::SortOp op_;
  int64_t capacity_;
  ElementOrder order_;
  Lines lines_;
  Value line_;
};

Entry SortWriter::readOrNone(Value place, Value end) {
  SmallVector<Type> types(order_.keyTypes());
  types.push_back(order_.positionType());
  SmallVector<Value> values = k_.choose(
      k_.less(place, end), types,
      [&] {
        Entry entry = read(place);
        entry.keys.push_back(entry.position);
        return entry.keys;
      },
      [&] {
        Entry none = order_.none();
        none.keys.push_back(none.position);
        return none.keys;
      });
  Value at = values.pop_back_val();
  return {values, at};
}

void SortWriter::give(Value place, const Entry &entry) {
  Value at = lines_.element(k_, line_, place);
  // A region that is no order may leave any number here.
  Value from = k_.min(number(entry.position), k_.sub(lines_.length, k_.number(1)));
  for (auto [which, output] : llvm::enumerate(along_.outputs)) {
    if (!output.isStored)
      continue;
    const auto *key = llvm::find(order_.keys(), unsigned(which));
    w_.store(output.tensor, at,
             key != order_.keys().end() ? entry.keys[key - order_.keys().begin()] : operand(which, from));
  }
}

/// One block, one line.
void SortWriter::whole() {
  SharedEntries entries(w_, order_, uint64_t(capacity_));
  line_ = k_.block();
  Value thread = k_.thread(), threads = k_.number(k_.threads), bits = bitsFor(k_, lines_.length);
  k_.loop(thread, shiftLeft(k_, k_.number(1), bits), threads, {}, [&](Value place, ValueRange) {
    entries.store(place, readOrNone(place, lines_.length));
    return SmallVector<Value>();
  });
  entries.sort(bits);
  k_.loop(thread, lines_.length, threads, {}, [&](Value place, ValueRange) {
    give(place, entries.load(place));
    return SmallVector<Value>();
  });
}

void SortWriter::tiles() {
  SharedEntries entries(w_, order_, uint64_t(capacity_));
  Value size = k_.number(capacity_), count = k_.div(k_.add(lines_.length, k_.number(capacity_ - 1)), size);
  Value block = k_.block(), thread = k_.thread(), threads = k_.number(k_.threads);
  line_ = k_.div(block, count);
  Value first = k_.mul(k_.rem(block, count), size);
  k_.loop(thread, size, threads, {}, [&](Value place, ValueRange) {
    entries.store(place, readOrNone(k_.add(first, place), lines_.length));
    return SmallVector<Value>();
  });
  entries.sort(k_.number(llvm::Log2_64(uint64_t(capacity_))));
  k_.loop(thread, k_.min(size, k_.sub(lines_.length, first)), threads, {}, [&](Value place, ValueRange) {
    toScratch(0, k_.add(first, place), entries.load(place));
    return SmallVector<Value>();
  });
}

Value SortWriter::search(Value low, Value high, llvm::function_ref<Value(Value)> holds) {
  Type i64 = k_.b.getI64Type();
  auto loop = scf::WhileOp::create(
      k_.b, k_.loc, TypeRange{i64, i64}, ValueRange{low, high},
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(k_.b, k_.loc, k_.less(now[0], now[1]), now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        Value middle = k_.div(k_.add(now[0], now[1]), k_.number(2));
        Value further = holds(middle);
        scf::YieldOp::create(
            k_.b, k_.loc,
            ValueRange{k_.select(further, k_.add(middle, k_.number(1)), now[0]), k_.select(further, now[1], middle)});
      });
  return loop.getResult(0);
}

/// How many of the first `diagonal` entries of two merged runs are of the first run.
Value SortWriter::taken(unsigned set, Value run, Value first, Value second, Value diagonal) {
  Value others = k_.sub(k_.min(k_.add(second, run), lines_.length), second); // entries of the second run
  Value low = k_.select(k_.less(others, diagonal), k_.sub(diagonal, others), k_.number(0));
  Value high = k_.min(diagonal, k_.sub(second, first));
  return search(low, high, [&](Value some) {
    Value other = k_.sub(k_.sub(diagonal, some), k_.number(1));
    return order_.precedes(fromScratch(set, k_.add(first, some)), fromScratch(set, k_.add(second, other)));
  });
}

/// A block merges kMerged entries: where its part of both runs begins and ends is searched for, then each entry of it
/// looks for its place among those of the other run.
void SortWriter::merge() {
  const unsigned set = unsigned(w_.choice("from"));
  const bool isLast = w_.choice("last") != 0;
  SharedEntries entries(w_, order_, uint64_t(kMerged));
  Type i64 = k_.b.getI64Type();
  Value ends = k_.shared(i64, 2);
  Value size = k_.number(kMerged), run = k_.number(w_.choice("run"));
  Value count = k_.div(k_.add(lines_.length, k_.number(kMerged - 1)), size);
  Value block = k_.block(), thread = k_.thread(), threads = k_.number(k_.threads);
  line_ = k_.div(block, count);
  Value begin = k_.mul(k_.rem(block, count), size);
  Value end = k_.min(k_.add(begin, size), lines_.length);
  // A pair of runs is a whole number of such parts.
  Value first = k_.mul(k_.div(begin, k_.mul(run, k_.number(2))), k_.mul(run, k_.number(2)));
  Value second = k_.min(k_.add(first, run), lines_.length);
  k_.when(k_.less(thread, k_.number(2)), [&] {
    Value diagonal = k_.sub(k_.select(k_.equal(thread, k_.number(0)), begin, end), first);
    k_.store(taken(set, run, first, second, diagonal), k_.at(ends, i64, thread), 8);
  });
  k_.barrier();
  Value from = k_.load(i64, k_.at(ends, i64, k_.number(0)), 8), to = k_.load(i64, k_.at(ends, i64, k_.number(1)), 8);
  // A region that is no order may find an end before its beginning.
  to = k_.min(k_.select(k_.less(to, from), from, to), k_.add(from, k_.sub(end, begin)));
  Value ours = k_.sub(to, from), all = k_.sub(end, begin);
  Value otherFrom = k_.add(second, k_.sub(k_.sub(begin, first), from));
  k_.loop(thread, all, threads, {}, [&](Value place, ValueRange) {
    Value source =
        k_.select(k_.less(place, ours), k_.add(k_.add(first, from), place), k_.add(otherFrom, k_.sub(place, ours)));
    source = k_.min(source, k_.sub(lines_.length, k_.number(1)));
    entries.store(place, fromScratch(set, source));
    return SmallVector<Value>();
  });
  k_.barrier();
  k_.loop(thread, all, threads, {}, [&](Value place, ValueRange) {
    Entry mine = entries.load(place);
    Value isOurs = k_.less(place, ours);
    Value low = k_.select(isOurs, ours, k_.number(0)), high = k_.select(isOurs, all, ours);
    Value found = search(low, high, [&](Value other) { return order_.precedes(entries.load(other), mine); });
    // Behind those of its own run and those of the other that come before it.
    Value rank = k_.select(isOurs, k_.add(place, k_.sub(found, ours)), k_.add(k_.sub(place, ours), found));
    Value target = k_.add(begin, rank);
    if (isLast)
      give(target, mine);
    else
      toScratch(1 - set, target, mine);
    return SmallVector<Value>();
  });
}

/// The network of SharedEntries::sort over positions in scratch memory, by one block.
void SortWriter::inMemory() {
  line_ = k_.block();
  Value one = k_.number(1), two = k_.number(2), thread = k_.thread(), threads = k_.number(k_.threads);
  Value bits = bitsFor(k_, lines_.length), all = shiftLeft(k_, one, bits);
  const KernelTensor &scratch = w_.kernel.scratch[0];
  Value base = k_.mul(line_, k_.mul(lines_.length, two)); // 2^bits is less than twice the length
  auto at = [&](Value place) {
    return k_.at(w_.arguments.pointers[scratch.binding], order_.positionType(), k_.add(base, place));
  };
  auto load = [&](Value place) {
    Value stood = loadShared(k_, order_.positionType(), at(place));
    SmallVector<Type> types(order_.keyTypes());
    SmallVector<Value> keys = k_.choose(
        order_.exists(stood), types, [&] { return read(number(stood)).keys; }, [&] { return order_.none().keys; });
    return Entry{keys, stood};
  };
  k_.loop(thread, all, threads, {}, [&](Value place, ValueRange) {
    storeShared(k_, k_.select(k_.less(place, lines_.length), position(place), order_.nowhere()), at(place));
    return SmallVector<Value>();
  });
  k_.barrier();
  k_.loop(one, k_.add(bits, one), one, {}, [&](Value size, ValueRange) {
    k_.loop(k_.number(0), size, one, {}, [&](Value step, ValueRange) {
      Value stride = shiftLeft(k_, one, k_.sub(k_.sub(size, one), step));
      k_.loop(thread, k_.div(all, two), threads, {}, [&](Value pair, ValueRange) {
        Value low = arith::AndIOp::create(k_.b, k_.loc, pair, k_.sub(stride, one)); // pair mod stride
        Value first = k_.add(k_.mul(k_.sub(pair, low), two), low), second = k_.add(first, stride);
        Entry a = load(first), b = load(second);
        Value forwards = k_.equal(k_.rem(arith::ShRUIOp::create(k_.b, k_.loc, first, size), two), k_.number(0));
        k_.when(k_.select(forwards, order_.precedes(b, a), order_.precedes(a, b)), [&] {
          storeShared(k_, b.position, at(first));
          storeShared(k_, a.position, at(second));
        });
        return SmallVector<Value>();
      });
      k_.barrier();
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  k_.loop(thread, lines_.length, threads, {}, [&](Value place, ValueRange) {
    give(place, load(place));
    return SmallVector<Value>();
  });
}

Plan plan(Mode mode, uint32_t threads, int64_t capacity, int64_t position, GridFactor blocks) {
  Plan made;
  made.strategy = "sort";
  made.threads = threads;
  made.choices = {{"mode", mode}, {"capacity", capacity}, {"position", position}};
  made.grid = {blocks};
  return made;
}

uint32_t threadsFor(int64_t capacity) {
  return uint32_t(std::clamp<int64_t>(capacity / 2, kWarp, kThreads));
}

} // namespace

bool Sort::takes(Operation *op) const {
  return isa<linalg_ext::SortOp>(op);
}

AlongPlans Sort::plans(const KernelFunction &kernel) const {
  auto op = cast<linalg_ext::SortOp>(kernel.along.op);
  const LineShape shape(kernel.along.outputs[0].tensor, op.getDimension());
  const std::optional<int64_t> length = shape.knownLength();
  const int64_t position = length && *length < (int64_t(1) << 31) ? 32 : 64;
  Type positionType = IntegerType::get(op.getContext(), unsigned(position));
  SmallVector<Type> keys;
  int64_t bytes = position / 8;
  Block &body = op.getRegion().front();
  for (unsigned i = 0; i < body.getNumArguments(); i += 2)
    if (!body.getArgument(i).use_empty() || !body.getArgument(i + 1).use_empty()) {
      keys.push_back(body.getArgument(i).getType());
      bytes += dispatch::elementBytes(keys.back());
    }
  // What many operands are compared by leaves a tile no room; such lines are sorted in memory.
  const int64_t most = std::max<int64_t>(int64_t(llvm::bit_floor(uint64_t(kEntryBytes / bytes))), 32);
  AlongPlans plans;
  auto whole = [&](int64_t capacity) {
    return plan(Whole, threadsFor(capacity), capacity, position, {shape.lines(), 1});
  };
  if (std::optional<AlongPlans> radix = radixPlans(kernel, kShortLine)) {
    if (!length) {
      Plan small = whole(kShortLine);
      small.guards = {Guard{{shape.length}, 0, kShortLine, /*orEmpty=*/true}};
      radix->kernels.insert(radix->kernels.begin(), small);
    }
    return *radix;
  }
  if (length && *length <= most) {
    plans.kernels.push_back(whole(std::max<int64_t>(int64_t(llvm::PowerOf2Ceil(uint64_t(*length))), 2)));
    return plans;
  }
  if (!length || most < kMerged || !shape.isAdjacent()) {
    Plan small = whole(most);
    small.guards = {Guard{{shape.length}, 0, most, /*orEmpty=*/true}};
    Plan large = plan(InMemory, 1024, 0, position, {shape.lines(), 1});
    large.guards = {Guard{{shape.length}, most, std::nullopt}};
    if (length)
      large.guards.clear();
    else
      plans.kernels.push_back(small);
    plans.kernels.push_back(large);
    SmallVector<Extent> extents = shape.lines();
    extents.push_back(shape.length);
    extents.push_back(Extent{2, {}});
    plans.scratch.push_back({positionType, extents});
    return plans;
  }
  SmallVector<Extent> extents = shape.lines();
  extents.push_back(shape.length);
  for (unsigned set = 0; set < 2; ++set) {
    for (Type key : keys)
      plans.scratch.push_back({storedType(key), extents});
    plans.scratch.push_back({positionType, extents});
  }
  auto parts = [&](Plan &made, int64_t size) {
    made.grid = {{shape.lines(), 1}, {{shape.length}, size}};
    return made;
  };
  Plan tiles = plan(Tiles, kThreads, most, position, {});
  plans.kernels.push_back(parts(tiles, most));
  int64_t from = 0;
  for (int64_t run = most; run < *length; run *= 2) {
    Plan merge = plan(Merge, kMergeThreads, kMerged, position, {});
    merge.choices.push_back({"run", run});
    merge.choices.push_back({"from", from});
    merge.choices.push_back({"last", run * 2 >= *length});
    plans.kernels.push_back(parts(merge, kMerged));
    from = 1 - from;
  }
  return plans;
}

void Sort::write(AlongWriter &writer) const {
  if (isRadixSort(writer))
    return writeRadixSort(writer);
  SortWriter sort(writer);
  switch (Mode(writer.choice("mode"))) {
  case Whole:
    return sort.whole();
  case Tiles:
    return sort.tiles();
  case Merge:
    return sort.merge();
  case InMemory:
    return sort.inMemory();
  }
}

} // namespace tenon::compiler::codegen
