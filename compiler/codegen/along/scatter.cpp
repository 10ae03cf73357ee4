// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scatter.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/scatter_places.h"
#include "compiler/codegen/along/sorted_scatter.h"
#include "compiler/codegen/kernel/combine.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/sorted_scatters.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

enum Mode : int64_t { Copy, Unique, Atomic, Count, InOrder, OneByOne };

constexpr uint32_t kWarp = 32;
constexpr uint32_t kThreads = 256;
// Elements that a thread of the copy moves.
constexpr int64_t kCopied = 8;
// Bytes of shared memory for counts, and copies of them: lanes of a warp that add to the same one wait for each other.
constexpr int64_t kCountBytes = 32768;
constexpr int64_t kMostCopies = 32;
// Updates of a block that counts: each of its counts is added to the result once. Fewer where that leaves blocks idle.
constexpr int64_t kMostCounted = 1 << 16;
constexpr int64_t kLeastCounted = 1 << 12;
constexpr int64_t kManyBlocks = 1024;
// It is known only then how many updates there are: up to so many, blocks count few.
constexpr int64_t kFewUpdates = 1 << 24;
// Warps that share the slices of a tensor where updates are combined in order.
constexpr int64_t kOwners = 4096;

LLVM::AtomicBinOp atomicOf(linalg_ext::ScatterOp op) {
  switch (*dispatch::combinerOf(op.getRegion().front())) {
  case dispatch::Combiner::AddI:
    return LLVM::AtomicBinOp::add;
  case dispatch::Combiner::MaxS:
    return LLVM::AtomicBinOp::max;
  case dispatch::Combiner::MaxU:
    return LLVM::AtomicBinOp::umax;
  case dispatch::Combiner::MinS:
    return LLVM::AtomicBinOp::min;
  case dispatch::Combiner::MinU:
    return LLVM::AtomicBinOp::umin;
  case dispatch::Combiner::And:
    return LLVM::AtomicBinOp::_and;
  case dispatch::Combiner::Or:
    return LLVM::AtomicBinOp::_or;
  case dispatch::Combiner::Xor:
    return LLVM::AtomicBinOp::_xor;
  default:
    llvm_unreachable("combinesAtomically() says that there is an atomic operation");
  }
}

Plan plan(Mode mode, GridFactor blocks, int64_t copies = 1, int64_t counted = 0) {
  Plan result;
  result.strategy = "scatter";
  result.threads = mode == OneByOne ? 1024 : kThreads;
  result.choices = {{"mode", mode}, {"copies", copies}, {"counted", counted}};
  result.grid = {blocks};
  return result;
}

class ScatterWriter {
public:
  explicit ScatterWriter(AlongWriter &w)
      : w_(w), k_(w.k), op_(cast<linalg_ext::ScatterOp>(w.kernel.along.op)), output_(w.kernel.along.outputs[0]),
        shape_(w.kernel), places_(w, shape_) {}

  void copy();
  void eachUpdate(llvm::function_ref<void(Value, Value)> store);
  void unique() {
    eachUpdate([&](Value update, Value element) { combineInto(update, element); });
  }
  void atomic() {
    eachUpdate([&](Value update, Value element) {
      addAtomically(k_.at(w_.arguments.pointers[output_.tensor.binding], output_.tensor.element, element),
                    w_.load(w_.kernel.along.inputs[0], update));
    });
  }
  void count();
  void inOrder();
  void oneByOne();

private:
  Value thread() { return k_.add(k_.mul(k_.block(), k_.number(k_.threads)), k_.thread()); }
  /// The region, of an element of the updates and what stands at `element`.
  void combineInto(Value update, Value element) {
    Value value = w_.load(w_.kernel.along.inputs[0], update);
    Value old = op_.getRegion().front().getArgument(1).use_empty()
                    ? arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(output_.tensor.element)).getResult()
                    : w_.load(output_.tensor, element);
    w_.store(output_.tensor, element, w_.region({value, old}).front());
  }
  void addAtomically(Value to, Value value) {
    LLVM::AtomicRMWOp::create(k_.b, k_.loc, atomicOf(op_), to, value, LLVM::AtomicOrdering::monotonic);
  }

  AlongWriter &w_;
  KernelBuilder &k_;
  linalg_ext::ScatterOp op_;
  const KernelAlongOutput &output_;
  ScatterShape shape_;
  ScatterPlaces places_;
};

void ScatterWriter::copy() {
  Value all = k_.number(1);
  for (const Extent &extent : output_.tensor.shape)
    all = k_.mul(all, w_.arguments.sizeOf(k_.b, k_.loc, extent));
  Value first = k_.add(k_.mul(k_.block(), k_.number(k_.threads * kCopied)), k_.thread());
  for (int64_t i = 0; i < kCopied; ++i) {
    Value element = k_.add(first, k_.number(i * k_.threads));
    k_.when(k_.less(element, all), [&] { w_.store(output_.tensor, element, w_.start(output_, element)); });
  }
}

void ScatterWriter::eachUpdate(llvm::function_ref<void(Value, Value)> store) {
  Value number = thread();
  k_.when(k_.less(number, k_.mul(places_.updates, places_.elements)), [&] {
    Value update = k_.div(number, places_.elements);
    auto place = places_.placeOf(places_.indicesOf(update), k_.rem(number, places_.elements));
    k_.when(place.isInside, [&] { store(number, place.element); });
  });
}

/// Counts of this block in shared memory, then into the result. A count has several places, one for each group of
/// lanes.
void ScatterWriter::count() {
  const int64_t copies = w_.choice("copies");
  Type type = output_.tensor.element;
  const int64_t bins = *knownProduct(output_.tensor.shape);
  Value counts = k_.shared(type, uint64_t(bins * copies));
  Value none = arith::ConstantOp::create(
      k_.b, k_.loc, dispatch::neutralOf(k_.b, *dispatch::combinerOf(op_.getRegion().front()), type));
  Value threads = k_.number(k_.threads), thread = k_.thread();
  const uint32_t bytes = dispatch::elementBytes(type);
  k_.loop(thread, k_.number(bins * copies), threads, {}, [&](Value at, ValueRange) {
    k_.store(none, k_.at(counts, type, at), bytes);
    return SmallVector<Value>();
  });
  k_.barrier();
  const int64_t counted = w_.choice("counted");
  Value first = k_.mul(k_.block(), k_.number(counted));
  Value all = k_.mul(places_.updates, places_.elements);
  Value last = k_.min(k_.add(first, k_.number(counted)), all);
  Value copy = k_.rem(thread, k_.number(copies));
  k_.loop(k_.add(first, thread), last, threads, {}, [&](Value number, ValueRange) {
    auto place = places_.placeOf(places_.indicesOf(k_.div(number, places_.elements)), k_.rem(number, places_.elements));
    k_.when(place.isInside, [&] {
      addAtomically(k_.at(counts, type, k_.add(k_.mul(place.element, k_.number(copies)), copy)),
                    w_.load(w_.kernel.along.inputs[0], number));
    });
    return SmallVector<Value>();
  });
  k_.barrier();
  k_.loop(thread, k_.number(bins), threads, {}, [&](Value bin, ValueRange) {
    const Sum sum = Sum::of(*dispatch::combinerOf(op_.getRegion().front()), type);
    // Each thread begins at another copy: neighbours read other banks.
    Value total = k_.loop(k_.number(0), k_.number(copies), k_.number(1), none, [&](Value i, ValueRange now) {
                      Value at = k_.rem(k_.add(i, bin), k_.number(copies));
                      Value one = k_.load(type, k_.at(counts, type, k_.add(k_.mul(bin, k_.number(copies)), at)), bytes);
                      return SmallVector<Value>{combine(k_, sum, now[0], one)};
                    }).front();
    Value isAny = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, total, none);
    k_.when(isAny, [&] { addAtomically(k_.at(w_.arguments.pointers[output_.tensor.binding], type, bin), total); });
    return SmallVector<Value>();
  });
}

/// Warp w of all owns the slices [w * share, (w + 1) * share). It reads the indices of 32 updates at once; those that
/// name a slice of its own are combined one after the other, by all lanes. An element of the tensor always falls to the
/// same lane of the same warp, so what it stored is there when it combines the next.
void ScatterWriter::inOrder() {
  Value lane = k_.rem(k_.thread(), k_.number(kWarp));
  Value owner = k_.div(thread(), k_.number(kWarp));
  Value share = k_.div(k_.add(places_.keys, k_.number(kOwners - 1)), k_.number(kOwners));
  Value low = k_.mul(owner, share), high = k_.min(k_.add(low, share), places_.keys);
  Type i32 = k_.b.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value)));
  };
  k_.when(k_.less(low, places_.keys), [&] {
    k_.loop(k_.number(0), places_.updates, k_.number(kWarp), {}, [&](Value base, ValueRange) {
      Value update = k_.add(base, lane);
      Type i64 = k_.b.getI64Type();
      SmallVector<Value> key = k_.choose(
          k_.less(update, places_.updates), TypeRange{i64, k_.b.getI1Type()},
          [&] {
            auto named = places_.keyOf(places_.indicesOf(update));
            Value isMine =
                k_.both(named.isInside,
                        k_.both(k_.less(named.element, high),
                                arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::uge, named.element, low)));
            return SmallVector<Value>{named.element, isMine};
          },
          [&] {
            return SmallVector<Value>{k_.number(0), arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false))};
          });
      Value mine = k_.ballot(key[1]);
      Value count = arith::ExtUIOp::create(k_.b, k_.loc, i64, math::CtPopOp::create(k_.b, k_.loc, mine));
      k_.loop(k_.number(0), count, k_.number(1), mine, [&](Value, ValueRange left) {
        // The lowest lane that is left.
        Value from =
            arith::ExtUIOp::create(k_.b, k_.loc, i64, math::CountTrailingZerosOp::create(k_.b, k_.loc, i32, left[0]));
        Value now = k_.shuffleFrom(key[0], from), number = k_.add(base, from);
        k_.loop(lane, places_.elements, k_.number(kWarp), {}, [&](Value element, ValueRange) {
          k_.when(places_.fits(element), [&] {
            combineInto(k_.add(k_.mul(number, places_.elements), element), places_.elementOf(now, element));
          });
          return SmallVector<Value>();
        });
        Value rest =
            arith::AndIOp::create(k_.b, k_.loc, left[0], arith::SubIOp::create(k_.b, k_.loc, left[0], constant(1)));
        return SmallVector<Value>{rest};
      });
      return SmallVector<Value>();
    });
  });
}

/// Slices that may overlap: one block, one update after the other.
void ScatterWriter::oneByOne() {
  k_.loop(k_.number(0), places_.updates, k_.number(1), {}, [&](Value update, ValueRange) {
    SmallVector<Value> indices = places_.indicesOf(update);
    k_.loop(k_.thread(), places_.elements, k_.number(k_.threads), {}, [&](Value element, ValueRange) {
      auto place = places_.placeOf(indices, element);
      k_.when(place.isInside, [&] { combineInto(k_.add(k_.mul(update, places_.elements), element), place.element); });
      return SmallVector<Value>();
    });
    k_.barrier();
    return SmallVector<Value>();
  });
}

} // namespace

bool Scatter::takes(Operation *op) const {
  return isa<linalg_ext::ScatterOp>(op);
}

AlongPlans Scatter::plans(const KernelFunction &kernel) const {
  auto op = cast<linalg_ext::ScatterOp>(kernel.along.op);
  const ScatterShape shape(kernel);
  const KernelTensor &tensor = kernel.along.outputs[0].tensor;
  SmallVector<Extent> updates = shape.batch;
  llvm::append_range(updates, shape.slice);
  AlongPlans result;
  result.kernels.push_back(plan(Copy, {tensor.shape, int64_t(kThreads) * kCopied}));
  result.kernels.back().copiesStart = true;
  const std::optional<int64_t> bins = knownProduct(tensor.shape), count = knownProduct(updates);
  const int64_t bytes = dispatch::elementBytes(tensor.element);
  if (op.getUniqueIndices())
    result.kernels.push_back(plan(Unique, {updates, kThreads}));
  else if (op->hasAttr(linalg_ext::kSortedAttr))
    addSortedScatter(result, kernel);
  else if (!dispatch::combinesAtomically(op))
    result.kernels.push_back(shape.overlaps ? plan(OneByOne, {{Extent{1, {}}}, 1})
                                            : plan(InOrder, {{Extent{kOwners, {}}}, kThreads / kWarp}));
  else if (bins && *bins * bytes <= kCountBytes && *bins > 0 && (!count || *count >= 4 * *bins)) {
    const int64_t copies =
        std::min<int64_t>(int64_t(llvm::bit_floor(uint64_t(kCountBytes / (*bins * bytes)))), kMostCopies);
    auto add = [&](int64_t counted, ArrayRef<Guard> guards) {
      result.kernels.push_back(plan(Count, {updates, counted}, copies, counted));
      result.kernels.back().guards.assign(guards.begin(), guards.end());
    };
    if (count) {
      add(std::clamp<int64_t>(*count / kManyBlocks, kLeastCounted, kMostCounted), {});
    } else {
      add(kLeastCounted, Guard{updates, 0, kFewUpdates, /*orEmpty=*/true});
      add(kMostCounted, Guard{updates, kFewUpdates, std::nullopt});
    }
  } else
    result.kernels.push_back(plan(Atomic, {updates, kThreads}));
  return result;
}

void Scatter::write(AlongWriter &writer) const {
  if (isSortedScatter(writer))
    return writeSortedScatter(writer);
  ScatterWriter scatter(writer);
  switch (Mode(writer.choice("mode"))) {
  case Copy:
    return scatter.copy();
  case Unique:
    return scatter.unique();
  case Atomic:
    return scatter.atomic();
  case Count:
    return scatter.count();
  case InOrder:
    return scatter.inOrder();
  case OneByOne:
    return scatter.oneByOne();
  }
}

} // namespace tenon::compiler::codegen
