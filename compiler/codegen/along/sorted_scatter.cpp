// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorted_scatter.h"

#include "compiler/codegen/along/scatter_places.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/sorted_scatters.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

enum Step : int64_t { Tiles = 1, Ends = 2, Last = 3 };

constexpr StringLiteral kStepChoice = "sorted";
constexpr uint32_t kThreads = 256;
// Places of a tile: so many that the GPU has threads enough, and no fewer than are loaded before any is waited for.
constexpr int64_t kEnoughThreads = 1 << 19;
constexpr int64_t kAtOnce = 8;
constexpr int64_t kMostPlaces = 256;
constexpr int64_t kPlacesOfUnknown = 32;
// Threads that stand side by side along a slice whose size is not known.
constexpr int64_t kLanesOfUnknown = 32;

// More tiles than 2^48 have no place in memory.
constexpr int64_t kMostHalvings = 48;

struct Tiling {
  int64_t places, lanes; // of a tile; along a slice

  Tiling(const ScatterShape &shape, bool isLast) {
    const std::optional<int64_t> updates = knownProduct(shape.batch), elements = knownProduct(shape.slice);
    lanes = elements
                ? std::min<int64_t>(int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(*elements, 1)))), kThreads)
                : kLanesOfUnknown;
    places = isLast ? 1
             : updates && elements
                 ? int64_t(llvm::bit_floor(
                       uint64_t(std::clamp<int64_t>(*updates * *elements / kEnoughThreads, kAtOnce, kMostPlaces))))
                 : kPlacesOfUnknown;
  }
};

Plan planOf(Step step, const ScatterShape &shape, const Tiling &tiling) {
  Plan plan;
  plan.strategy = "scatter";
  plan.threads = kThreads;
  plan.choices = {{kStepChoice, step}, {"places", tiling.places}, {"lanes", tiling.lanes}};
  plan.grid = {{shape.batch, tiling.places * (kThreads / tiling.lanes)}, {shape.slice, tiling.lanes}};
  return plan;
}

class SortedScatterWriter {
public:
  explicit SortedScatterWriter(AlongWriter &w)
      : w_(w), k_(w.k), op_(cast<linalg_ext::ScatterOp>(w.kernel.along.op)), output_(w.kernel.along.outputs[0]),
        shape_(w.kernel), places_(w, shape_), tilePlaces_(w.choice("places")) {}

  void write();

private:
  void tiles();
  void ends();
  void last();

  Sum sum() { return Sum::of(*dispatch::combinerOf(op_.getRegion().front()), output_.tensor.element); }
  Value asNumber(Value integer) {
    Type i64 = k_.b.getI64Type();
    return integer.getType() == i64 ? integer : arith::ExtUIOp::create(k_.b, k_.loc, i64, integer).getResult();
  }
  Value withinUpdates(Value place) { return k_.min(place, k_.sub(places_.updates, k_.number(1))); }
  /// The key of a place; that of no slice where the place is none. It is loaded without a branch: many loads are on
  /// their way then before one is waited for.
  Value keyAt(Value place, Value isThere);
  /// That of the place in front of a tile, which begins at `first`; the first tile has none.
  Value keyBefore(Value first) {
    Value isThere = k_.less(k_.number(0), first);
    return keyAt(k_.select(isThere, k_.sub(first, k_.number(1)), first), isThere);
  }
  /// Which update stands at a place; behind the last, the last.
  Value numberAt(Value place);
  /// This thread's element of it.
  Value update(Value number);
  void combineInto(Value key, Value value);
  /// What the tile leaves of a run that goes on from the one before; the first tile leaves nothing.
  Value left(Value tile) {
    const Value number = k_.add(k_.mul(k_.sub(tile, k_.number(1)), places_.elements), element_);
    const KernelTensor &scratch = w_.kernel.scratch[0];
    return k_.at(w_.arguments.pointers[scratch.binding], sum().type, number);
  }
  uint32_t leftBytes() { return uint32_t(dispatch::elementBytes(sum().type)); }
  Value isTrue(bool value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(value)); }
  Value differ(Value x, Value y) { return arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, x, y); }

  AlongWriter &w_;
  KernelBuilder &k_;
  linalg_ext::ScatterOp op_;
  const KernelAlongOutput &output_;
  ScatterShape shape_;
  ScatterPlaces places_;
  int64_t tilePlaces_;
  Value tile_, element_; // of this thread
};

void SortedScatterWriter::write() {
  Value lanes = k_.number(w_.choice("lanes"));
  Value across = k_.div(k_.add(places_.elements, k_.number(w_.choice("lanes") - 1)), lanes); // blocks
  element_ = k_.add(k_.mul(k_.rem(k_.block(), across), lanes), k_.rem(k_.thread(), lanes));
  tile_ =
      k_.add(k_.mul(k_.div(k_.block(), across), k_.number(kThreads / w_.choice("lanes"))), k_.div(k_.thread(), lanes));
  Value isThere =
      k_.both(k_.less(element_, places_.elements), k_.less(k_.mul(tile_, k_.number(tilePlaces_)), places_.updates));
  k_.when(k_.both(isThere, places_.fits(element_)), [&] {
    switch (Step(w_.choice(kStepChoice))) {
    case Tiles:
      return tiles();
    case Ends:
      return ends();
    case Last:
      return last();
    }
  });
}

Value SortedScatterWriter::keyAt(Value place, Value isThere) {
  Value key = asNumber(w_.load(w_.kernel.along.inputs[2], withinUpdates(place)));
  return k_.select(isThere, key, places_.keys);
}

Value SortedScatterWriter::numberAt(Value place) {
  return asNumber(w_.load(w_.kernel.along.inputs[3], withinUpdates(place)));
}

Value SortedScatterWriter::update(Value number) {
  return w_.load(w_.kernel.along.inputs[0], k_.add(k_.mul(number, places_.elements), element_));
}

void SortedScatterWriter::combineInto(Value key, Value value) {
  Value at = places_.elementOf(key, element_);
  Value old = widen(k_, sum(), w_.load(output_.tensor, at));
  w_.store(output_.tensor, at, narrow(k_, sum(), combine(k_, sum(), old, value)));
}

void SortedScatterWriter::tiles() {
  const Sum sum = this->sum();
  Value first = k_.mul(tile_, k_.number(tilePlaces_));
  Value isHead = k_.less(k_.number(0), first);
  // Of the run that is open: its key, what it comes to, and whether it began before the tile.
  Value before = keyBefore(first);
  auto close = [&](ValueRange run) {
    k_.when(k_.less(run[0], places_.keys), [&] {
      k_.branch(run[2], [&] { k_.store(run[1], left(tile_), leftBytes()); }, [&] { combineInto(run[0], run[1]); });
    });
  };
  // Nothing has been combined yet: a neutral element is open, whose key is that before the tile.
  SmallVector<Value> open = {before, neutral(k_, sum), isHead};
  open =
      k_.loop(first, k_.add(first, k_.number(tilePlaces_)), k_.number(kAtOnce), open, [&](Value base, ValueRange now) {
        SmallVector<Value> run(now), keys, numbers, values;
        for (int64_t i = 0; i < kAtOnce; ++i) {
          Value place = k_.add(base, k_.number(i));
          keys.push_back(keyAt(place, k_.less(place, places_.updates)));
          numbers.push_back(numberAt(place));
        }
        for (Value number : numbers)
          values.push_back(widen(k_, sum, update(number)));
        for (int64_t i = 0; i < kAtOnce; ++i) {
          Value isOther = differ(keys[i], run[0]);
          // What was open before the tile and has nothing of it is no run of it.
          k_.when(i == 0 ? k_.both(isOther, differ(base, first)) : isOther, [&] { close(run); });
          Value further = combine(k_, sum, run[1], values[i]);
          run[1] = k_.select(isOther, values[i], further);
          run[2] = k_.select(isOther, isTrue(false), run[2]);
          run[0] = keys[i];
        }
        return run;
      });
  close(open);
}

void SortedScatterWriter::ends() {
  const Sum sum = this->sum();
  Value first = k_.mul(tile_, k_.number(tilePlaces_)), next = k_.add(first, k_.number(tilePlaces_));
  Value always = isTrue(true);
  k_.when(k_.less(next, places_.updates), [&] {
    Value key = keyAt(k_.sub(next, k_.number(1)), always);
    Value before = keyBefore(first);
    Value goesOn = k_.both(k_.equal(keyAt(next, always), key), k_.less(key, places_.keys));
    // It began in this tile unless the place before it has its key, too. Of the first tile that is the key of no slice.
    k_.when(k_.both(goesOn, differ(before, key)), [&] {
      // The last tile that begins with the run, by halves: [low, high) begins with one that does.
      Value tiles = k_.div(k_.add(places_.updates, k_.number(tilePlaces_ - 1)), k_.number(tilePlaces_));
      SmallVector<Value> range =
          k_.loop(k_.number(0), k_.number(kMostHalvings), k_.number(1), {k_.add(tile_, k_.number(1)), tiles},
                  [&](Value, ValueRange now) {
                    Value middle = k_.div(k_.add(now[0], now[1]), k_.number(2));
                    Value does = k_.equal(keyAt(k_.mul(middle, k_.number(tilePlaces_)), always), key);
                    return SmallVector<Value>{k_.select(does, middle, now[0]), k_.select(does, now[1], middle)};
                  });
      Value begin = k_.add(tile_, k_.number(1)), end = k_.add(range[0], k_.number(1));
      Value whole = k_.add(begin, k_.mul(k_.div(k_.sub(end, begin), k_.number(kAtOnce)), k_.number(kAtOnce)));
      auto leftAt = [&](Value tile) { return k_.load(sum.type, left(tile), leftBytes()); };
      Value total = k_.loop(begin, whole, k_.number(kAtOnce), neutral(k_, sum), [&](Value tile, ValueRange now) {
                        SmallVector<Value> some;
                        for (int64_t i = 0; i < kAtOnce; ++i)
                          some.push_back(leftAt(k_.add(tile, k_.number(i))));
                        return SmallVector<Value>{combine(k_, sum, now[0], combineAll(k_, sum, some))};
                      }).front();
      total = k_.loop(whole, end, k_.number(1), total, [&](Value tile, ValueRange now) {
                  return SmallVector<Value>{combine(k_, sum, now[0], leftAt(tile))};
                }).front();
      combineInto(key, total);
    });
  });
}

void SortedScatterWriter::last() {
  Value key = keyAt(tile_, isTrue(true)), next = k_.add(tile_, k_.number(1));
  Value isLast = differ(keyAt(next, k_.less(next, places_.updates)), key);
  k_.when(k_.both(isLast, k_.less(key, places_.keys)), [&] {
    Value nothing = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(output_.tensor.element));
    w_.store(output_.tensor, places_.elementOf(key, element_), w_.region({update(numberAt(tile_)), nothing}).front());
  });
}

} // namespace

void addSortedScatter(AlongPlans &plans, const KernelFunction &kernel) {
  auto op = cast<linalg_ext::ScatterOp>(kernel.along.op);
  const ScatterShape shape(kernel);
  const bool isLast = dispatch::keepsTheLast(op);
  const Tiling tiling(shape, isLast);
  if (isLast) {
    plans.kernels.push_back(planOf(Last, shape, tiling));
    return;
  }
  SmallVector<Extent> all = shape.batch;
  llvm::append_range(all, shape.slice);
  const Sum sum = Sum::of(*dispatch::combinerOf(op.getRegion().front()), kernel.along.outputs[0].tensor.element);
  plans.scratch.push_back({sum.type, all, {}, tiling.places});
  for (Step step : {Tiles, Ends})
    plans.kernels.push_back(planOf(step, shape, tiling));
}

bool isSortedScatter(const AlongWriter &writer) {
  return writer.choiceOrZero(kStepChoice) != 0;
}

void writeSortedScatter(AlongWriter &writer) {
  SortedScatterWriter(writer).write();
}

} // namespace tenon::compiler::codegen
