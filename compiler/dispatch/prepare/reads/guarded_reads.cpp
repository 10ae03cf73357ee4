// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/guarded_reads.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/prepare/loops/read_places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// A condition that holds, or not, wherever somebody looks at a value.
struct Guard {
  Value condition;
  bool holds;
  bool operator==(const Guard &other) const = default;
};
using Guards = SmallVector<Guard, 2>; // all of them

// Selects inside of selects: what is deeper guards nothing more here.
constexpr size_t kMostGuards = 4;
// Who reads what is read: each computes it for itself then.
constexpr int64_t kMostReaders = 4;

/// What guards the values of one block, from its end to its beginning.
class GuardFinder {
public:
  Guards of(Value value) {
    if (auto found = known_.find(value); found != known_.end())
      return found->second;
    known_[value] = {}; // in a block nothing leads back to it
    std::optional<Guards> common;
    for (OpOperand &use : value.getUses()) {
      const Guards here = ofUse(use, value);
      if (common)
        llvm::erase_if(*common, [&](const Guard &guard) { return !llvm::is_contained(here, guard); });
      else
        common = here;
      if (common->empty())
        break;
    }
    return known_[value] = common.value_or(Guards());
  }

private:
  Guards ofUse(OpOperand &use, Value value) {
    Operation *user = use.getOwner();
    if (user->getBlock() != value.getParentBlock() || user->getNumRegions() != 0 || user->getNumResults() != 1 ||
        !isMemoryEffectFree(user))
      return {};
    Guards guards = of(user->getResult(0));
    auto add = [&](Value condition, bool holds) {
      if (guards.size() < kMostGuards && !llvm::is_contained(guards, Guard{condition, holds}))
        guards.push_back({condition, holds});
    };
    if (auto select = dyn_cast<arith::SelectOp>(user); select && select.getCondition() != value) {
      if (select.getTrueValue() != select.getFalseValue() && select.getCondition().getType().isInteger(1))
        add(select.getCondition(), select.getTrueValue() == value);
    } else if (isa<arith::AndIOp>(user) && user->getOperand(0) != user->getOperand(1) && value.getType().isInteger(1)) {
      add(user->getOperand(1 - use.getOperandNumber()), /*holds=*/true);
    }
    return guards;
  }

  llvm::DenseMap<Value, Guards> known_;
};

/// What computes `value` in the block, itself included; nothing where `without` is in it, or what cannot be moved.
std::optional<llvm::SetVector<Operation *>> sliceOf(Value value, Block *block, Value without) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == without)
      return std::nullopt;
    Operation *inner = next.getDefiningOp();
    if (!inner || inner->getBlock() != block || !slice.insert(inner))
      continue;
    if (inner->getNumRegions() != 0 || !isMemoryEffectFree(inner)) // a division by 0 does no harm there
      return std::nullopt;
    llvm::append_range(open, inner->getOperands());
  }
  return slice;
}

bool mayReadOutside(linalg::GenericOp op) {
  bool may = false;
  op.getBody()->walk([&](tensor::ExtractOp read) {
    for (auto [index, size] : llvm::zip_equal(read.getIndices(), read.getTensor().getType().getShape()))
      may |= placeOf(index, size, op) != ReadPlace::Inside;
  });
  return may;
}

/// The guards as one value in front of `before`, to where what computes them is brought; null where there is none.
Value conditionIn(OpBuilder &b, Location loc, const Guards &guards) {
  Value all;
  for (const Guard &guard : guards) {
    Value each = guard.condition;
    if (!guard.holds)
      each = arith::XOrIOp::create(b, loc, each, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    all = all ? arith::AndIOp::create(b, loc, all, each).getResult() : each;
  }
  return all;
}

/// A place where the condition holds, else the first one. Those of loops that the condition knows are kept in the
/// tensor instead: they stay a run of neighbours. Of other loops it cannot say that they leave the tensor.
void guardPlaces(tensor::ExtractOp read, Value condition, linalg::GenericOp op) {
  OpBuilder b(read);
  const Location loc = read.getLoc();
  const ReadSources known(condition, op);
  for (auto [number, size] : llvm::enumerate(read.getTensor().getType().getShape())) {
    Value index = read.getIndices()[number];
    const ReadPlace place = placeOf(index, size, op);
    if (place == ReadPlace::Inside || size == 0)
      continue;
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    if (place == ReadPlace::OfLoops) {
      const ReadSources sources(index, op);
      if (llvm::none_of(sources.loops, [&](unsigned loop) { return known.loops.contains(loop); }))
        continue;
      OpBuilder before(op);
      Value last = arith::SubIOp::create(b, loc, dimensionOf(before, loc, read.getTensor(), int64_t(number)),
                                         arith::ConstantIndexOp::create(b, loc, 1));
      index = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, index, last), zero);
    } else {
      index = arith::SelectOp::create(b, loc, condition, index, zero);
    }
    read.getIndicesMutable()[number].set(index);
  }
}

/// Reads whose select is in the same block.
void guardInBlock(Block &block, linalg::GenericOp op) {
  GuardFinder finder;
  for (auto read : llvm::to_vector(block.getOps<tensor::ExtractOp>())) {
    if (llvm::all_of(llvm::zip_equal(read.getIndices(), read.getTensor().getType().getShape()),
                     [&](auto each) { return placeOf(std::get<0>(each), std::get<1>(each), op) == ReadPlace::Inside; }))
      continue;
    Guards guards = finder.of(read.getResult());
    llvm::SetVector<Operation *> moved;
    llvm::erase_if(guards, [&](const Guard &guard) { // what is read decides about itself
      auto slice = sliceOf(guard.condition, &block, read.getResult());
      if (slice)
        moved.insert_range(*slice);
      return !slice;
    });
    if (guards.empty())
      continue;
    moved.remove_if([&](Operation *each) { return each->isBeforeInBlock(read); });
    SmallVector<Operation *> inOrder = moved.takeVector();
    llvm::sort(inOrder, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    for (Operation *each : inOrder)
      each->moveBefore(read);
    OpBuilder b(read);
    guardPlaces(read, conditionIn(b, read.getLoc(), guards), op);
  }
}

/// Where the loops of one operation are in another one that it reads; null where one has no such.
AffineMap renamed(AffineMap map, ArrayRef<AffineExpr> loops, unsigned count) {
  for (AffineExpr expr : map.getResults())
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (expr.isFunctionOfDim(loop) && !loops[loop])
        return {};
  SmallVector<AffineExpr> known;
  for (AffineExpr loop : loops)
    known.push_back(loop ? loop : getAffineConstantExpr(0, map.getContext()));
  return map.replaceDimsAndSymbols(known, {}, count, 0);
}

/// The select is in the body of `reader`: its condition becomes part of `producer`, which stands where it is known
/// then.
void guardAcross(OpOperand &operand, linalg::GenericOp producer, linalg::GenericOp reader) {
  Block *body = reader.getBody();
  BlockArgument element = reader.getMatchingBlockArgument(&operand);
  GuardFinder finder;
  const Guards guards = finder.of(element);
  const AffineMap read = reader.getMatchingIndexingMap(&operand),
                  written = producer.getIndexingMapMatchingResult(cast<OpResult>(operand.get()));
  if (guards.empty() || !read.isProjectedPermutation() || !written.isProjectedPermutation())
    return;
  SmallVector<AffineExpr> loops(reader.getNumLoops()); // of the producer, by those of the reader
  for (auto [outer, inner] : llvm::zip_equal(read.getResults(), written.getResults()))
    loops[cast<AffineDimExpr>(outer).getPosition()] = inner;

  Guards kept;
  llvm::SetVector<Operation *> slice;
  llvm::SetVector<Value> needed; // arguments of the reader's body
  for (const Guard &guard : guards) {
    auto own = sliceOf(guard.condition, body, element);
    if (!own)
      continue;
    llvm::SetVector<Value> arguments;
    auto add = [&](Value value) {
      if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == body)
        arguments.insert(argument);
    };
    add(guard.condition);
    for (Operation *each : *own)
      llvm::for_each(each->getOperands(), add);
    const bool isThere =
        llvm::all_of(arguments,
                     [&](Value argument) {
                       OpOperand *input = reader.getMatchingOpOperand(cast<BlockArgument>(argument));
                       return reader.isDpsInput(input) &&
                              (!isa<RankedTensorType>(input->get().getType()) ||
                               renamed(reader.getMatchingIndexingMap(input), loops, producer.getNumLoops()));
                     }) &&
        llvm::all_of(*own, [&](Operation *each) {
          auto index = dyn_cast<linalg::IndexOp>(each);
          return !index || loops[index.getDim()];
        });
    if (!isThere)
      continue;
    kept.push_back(guard);
    slice.insert_range(*own);
    needed.insert_range(arguments);
  }
  if (kept.empty())
    return;

  const auto reads = llvm::to_vector(producer.getBody()->getOps<tensor::ExtractOp>());
  producer->moveBefore(reader);
  IRMapping values;
  SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
  for (Value argument : needed) {
    OpOperand *input = reader.getMatchingOpOperand(cast<BlockArgument>(argument));
    const unsigned at = producer.getNumDpsInputs();
    const AffineMap map = renamed(reader.getMatchingIndexingMap(input), loops, producer.getNumLoops());
    maps.insert(maps.begin() + at, map);
    values.map(argument, producer.getBody()->insertArgument(at, argument.getType(), argument.getLoc()));
    producer.getInputsMutable().append(input->get());
  }
  OpBuilder b(producer);
  producer.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  b.setInsertionPointToStart(producer.getBody());
  for (Operation &each : *body) {
    if (!slice.contains(&each))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(each))
      values.map(index.getResult(),
                 linalg::IndexOp::create(b, index.getLoc(), cast<AffineDimExpr>(loops[index.getDim()]).getPosition())
                     .getResult());
    else
      b.clone(each, values);
  }
  for (Guard &guard : kept)
    guard.condition = values.lookupOrDefault(guard.condition);
  Value condition = conditionIn(b, producer.getLoc(), kept);
  for (tensor::ExtractOp each : reads)
    guardPlaces(each, condition, producer);
}

} // namespace

bool guardReads(func::FuncOp function) {
  SmallVector<linalg::GenericOp> reading;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && mayReadOutside(op))
      reading.push_back(op);
  });
  bool isCopied = false;
  for (linalg::GenericOp op : llvm::reverse(reading)) { // who reads before what is read
    op->walk([&](Block *block) { guardInBlock(*block, op); });
    if (op->getNumResults() != 1)
      continue;
    auto isGuarded = [&](OpOperand &use) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      return reader && reader.hasPureTensorSemantics() && reader->getBlock() == op->getBlock() &&
             reader.isDpsInput(&use) && !GuardFinder().of(reader.getMatchingBlockArgument(&use)).empty();
    };
    if (std::distance(op->use_begin(), op->use_end()) > kMostReaders || !llvm::all_of(op->getUses(), isGuarded))
      continue;
    // Each has its own condition, so each has its own operation.
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      linalg::GenericOp own = op;
      if (!op->hasOneUse()) {
        OpBuilder b(op);
        own = cast<linalg::GenericOp>(b.clone(*op));
        use.set(own->getResult(0));
        isCopied = true;
      }
      guardAcross(*own->use_begin(), own, cast<linalg::GenericOp>(use.getOwner()));
    }
  }
  return isCopied;
}

} // namespace tenon::compiler::dispatch
