// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/split_reductions.h"
#include "compiler/dialect/flow/FlowOps.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/odd_columns.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/splits/centred_sums.h"
#include "compiler/dispatch/splits/filter_splits.h"
#include "compiler/dispatch/splits/known_split.h"
#include "compiler/dispatch/splits/product_splits.h"
#include "compiler/dispatch/splits/ragged_split.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Enough for every GPU of today: a few blocks on each of up to 150 multiprocessors.
constexpr int64_t kEnoughRows = 256;
// So many that those which begin last take little of the whole (an H200, 67108865 f32: 62 us, with 1024 parts 71).
constexpr int64_t kWantedRows = 4096;
constexpr int64_t kManyResults = 1024; // that rows as they are need not be parts of
constexpr int64_t kEnoughTiles = 192;  // of columns: more of them read from more places of the memory at once
constexpr int64_t kWantedTiles = 256;
// A part that is smaller is not worth a second launch: elements along a row, rows of a column.
constexpr int64_t kLeastOfRow = 4096;
constexpr int64_t kLeastOfColumn = 256;
// Elements of a row that a block keeps, if it does not have to wait for others; that a cluster keeps, where a row is
// read again when its sum is known.
constexpr int64_t kMostOfWholeRow = 4096, kMostOfKeptRow = 128 << 10;
// Elements of a row that is a part as it is.
constexpr int64_t kLeastOfRows = 32;
// Adjacent results that a block computes where reductions run down columns (codegen/strategies/columns/columns.cpp).
constexpr int64_t kBytesOfTile = 256;

/// The divisor of `size` that is nearest to `wanted`, not above `most`; 1 where none is near.
int64_t divisorNear(int64_t size, int64_t wanted, int64_t most) {
  int64_t best = 1;
  auto distance = [&](int64_t parts) { return std::max(parts, wanted) / double(std::min(parts, wanted)); };
  for (int64_t parts = 2; parts <= std::min(most, 4 * wanted); ++parts)
    if (size % parts == 0 && distance(parts) < distance(best))
      best = parts;
  return best * 4 >= wanted || best >= 64 ? best : 1;
}

/// As many as vectors of the widest tensor that lies across have; what is one number for each row is no vector.
int64_t columnsOfTile(linalg::GenericOp op) {
  const AffineMap results = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (results.getNumResults() != 0)
    if (const int64_t columns = op.getStaticLoopRanges()[results.getDimPosition(results.getNumResults() - 1)];
        !ShapedType::isDynamic(columns) && areTakenOneByOne(columns))
      return columns;
  uint32_t widest = 2;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto type = dyn_cast<RankedTensorType>(input->get().getType())) {
      const AffineMap map = op.getMatchingIndexingMap(input);
      const bool isOfRows = results.getNumResults() != 0 && map.isProjectedPermutation() &&
                            !map.isFunctionOfDim(results.getDimPosition(results.getNumResults() - 1));
      if (!isOfRows)
        widest = std::max(widest, elementBytes(type.getElementType()));
    }
  return kBytesOfTile / widest;
}

/// Rows of a part of columns that is worth a second launch: of odd ones, which are taken one by one, a block has fewer
/// beside each other.
int64_t leastOfColumn(linalg::GenericOp op) {
  constexpr int64_t kThreads = 512, kRowsOfThread = 16, kLeast = 64;
  const int64_t columns = columnsOfTile(op);
  const bool isOdd = areTakenOneByOne(columns);
  return isOdd ? std::clamp(kRowsOfThread * kThreads / int64_t(llvm::PowerOf2Ceil(uint64_t(columns))), kLeast,
                            kLeastOfColumn)
               : kLeastOfColumn;
}

std::optional<Split> splitOf(linalg::GenericOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!op.hasPureTensorSemantics() || !isTreeReduction(op) || llvm::is_contained(sizes, ShapedType::kDynamic))
    return std::nullopt;
  // One operand may know a size that another states to be unknown; parts are made of the types.
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && !type.hasStaticShape())
      return std::nullopt;
  AffineMap first;                                               // of a tensor that has each element once
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray(); // llvm::reverse keeps no temporary alive
  for (AffineMap map : llvm::reverse(maps)) {
    if (!map.isProjectedPermutation())
      return std::nullopt;
    if (map.isPermutation())
      first = map;
  }
  if (!first)
    return std::nullopt;
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  int64_t results = 1, reduced = 1;
  for (auto [size, type] : llvm::zip_equal(sizes, types))
    (type == utils::IteratorType::parallel ? results : reduced) *= size;
  if (results == 0 || reduced == 0)
    return std::nullopt;
  const unsigned last = first.getDimPosition(first.getNumResults() - 1);
  const bool isAcross = types[last] == utils::IteratorType::parallel;
  const int64_t blocks = isAcross ? results / sizes[last] * llvm::divideCeil(sizes[last], columnsOfTile(op)) : results;
  const int64_t most = reduced / (isAcross ? leastOfColumn(op) : kLeastOfRow);
  if (blocks >= (isAcross ? kEnoughTiles : kEnoughRows) || most < 4)
    return std::nullopt;
  const int64_t wanted = std::min(most, int64_t(llvm::divideCeil(isAcross ? kWantedTiles : kWantedRows, blocks)));
  for (AffineExpr expr : first.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (types[loop] == utils::IteratorType::parallel || sizes[loop] == 1)
      continue;
    const bool isShort = sizes[loop] <= std::min(most, 4 * wanted);
    const int64_t parts = isShort ? sizes[loop] : divisorNear(sizes[loop], wanted, most);
    if (parts > 1)
      return Split{loop, parts, sizes[loop], isAcross};
    // No divisor is near: of several loops each position of the first is a part.
    return reduced / sizes[loop] >= kLeastOfRows ? std::optional(Split{loop, sizes[loop], sizes[loop], isAcross})
                                                 : std::nullopt;
  }
  return std::nullopt;
}

/// Whether another operation reads what `op` reduces: it is better off in one kernel with it.
bool sharesInput(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    return isa<RankedTensorType>(input.getType()) && llvm::any_of(input.getUsers(), [&](Operation *user) {
             return user != op && isa<linalg::GenericOp>(user) && !user->hasAttr(kFormAttr); // nor its other form
           });
  });
}

/// The largest of unsigned numbers, as choices are made of (choice_keys.h): each reads the tensor for itself.
bool isOfKeys(linalg::GenericOp op) {
  return llvm::all_of(*reductionBodyOf(op), [](const Accumulator &each) { return each.combiner == Combiner::MaxU; });
}

/// Parts where sizes are unknown, or have no divisor that is near.
std::optional<RaggedLimits> raggedLimitsOf(linalg::GenericOp op, unsigned loop, bool mayShare) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const bool isAcross = op.getNumLoops() > 1;
  if (!isAcross && sizes[loop] == ShapedType::kDynamic && !isOfKeys(op) && !mayShare && sharesInput(op))
    return std::nullopt;
  RaggedLimits limits = isAcross ? RaggedLimits{kEnoughTiles, kWantedTiles, leastOfColumn(op), columnsOfTile(op)}
                                 : RaggedLimits{kEnoughRows, kWantedRows, kLeastOfRow, 1};
  if (sizes[loop] != ShapedType::kDynamic && sizes[loop] < 4 * limits.least)
    return std::nullopt;
  int64_t results = 1; // that are known
  for (auto [number, size] : llvm::enumerate(sizes))
    results *= number == loop || size == ShapedType::kDynamic ? 1 : size;
  if (results == 0 || llvm::divideCeil(results, limits.tile) >= uint64_t(limits.enough))
    return std::nullopt;
  limits.isLong = !isAcross && op->hasAttr(kPartsAttr);
  return limits;
}

/// The kinds of the dimensions of the tensor that has each element once.
SmallVector<utils::IteratorType> kindsOf(linalg::GenericOp op) {
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  SmallVector<utils::IteratorType> kinds;
  for (OpOperand *input : op.getDpsInputOperands())
    if (AffineMap map = op.getMatchingIndexingMap(input); map.isPermutation() && kinds.empty())
      for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
        kinds.push_back(types[map.getDimPosition(dimension)]);
  return kinds;
}

/// Sums over outer and inner dimensions: what is summed for a result does not lie side by side, and parts are faster
/// than a block's row, whatever else the group computes.
bool liesApart(linalg::GenericOp op) {
  const SmallVector<utils::IteratorType> kinds = kindsOf(op);
  return kinds.size() > 2 && kinds[0] == utils::IteratorType::reduction && kinds[1] == utils::IteratorType::parallel &&
         kinds.back() == utils::IteratorType::reduction;
}

/// So many results are computed by blocks enough, without parts.
int64_t enoughResults(linalg::GenericOp op) {
  const bool isAcross = kindsOf(op).back() == utils::IteratorType::parallel;
  return isAcross ? kEnoughTiles * columnsOfTile(op) : liesApart(op) ? kManyResults : kEnoughRows;
}

/// Whether the rows of a tensor are worth parts of their own: not where they are known to be short, or results to be
/// enough. Of sizes that are all known, splitOf() has decided.
bool mayBeRows(linalg::GenericOp op, unsigned loop, bool mayShare) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!llvm::is_contained(sizes, ShapedType::kDynamic) || (sizes[loop] != ShapedType::kDynamic && sizes[loop] < 4) ||
      (!mayShare && !liesApart(op) && sharesInput(op)))
    return false;
  int64_t results = 1, inRow = 1; // what is known
  bool isKnown = true;            // how many elements a row has
  for (auto [number, size, type] : llvm::enumerate(sizes, op.getIteratorTypesArray())) {
    int64_t &count = type == utils::IteratorType::parallel ? results : inRow;
    if (number == loop)
      continue;
    if (size != ShapedType::kDynamic)
      count *= size;
    else if (type == utils::IteratorType::reduction)
      isKnown = false;
  }
  return results != 0 && results < enoughResults(op) && (!isKnown || inRow >= kLeastOfRows);
}

/// How the program may take a sum of unknown size apart.
struct UnknownSplit {
  unsigned loop;
  std::optional<RaggedLimits> limits; // none: each position is a part
};
/// @param mayShare also where others that are one kernel with it read what it reads: the program has the whole, too
std::optional<UnknownSplit> unknownSplitOf(linalg::GenericOp op, bool mayShare) {
  if (std::optional<unsigned> loop = raggedLoopOf(op)) {
    std::optional<RaggedLimits> limits = raggedLimitsOf(op, *loop, mayShare);
    return limits ? std::optional(UnknownSplit{*loop, limits}) : std::nullopt;
  }
  std::optional<unsigned> loop = wholeLoopOf(op);
  return loop && mayBeRows(op, *loop, mayShare) ? std::optional(UnknownSplit{*loop, std::nullopt}) : std::nullopt;
}

} // namespace

bool isTiledProduct(linalg::GenericOp op) {
  const std::optional<Contraction> product = productOf(op);
  return product && (product->isRouted() || !isTreeReduction(op) || fewRowsOf(*product));
}

bool mayBecomeParts(linalg::GenericOp op) {
  return llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) && !isOfAttention(op) &&
         !isTiledProduct(op) && unknownSplitOf(op, /*mayShare=*/true);
}

StaysWhole staysWhole(OpBuilder &b, linalg::GenericOp op) {
  const Location loc = op.getLoc();
  const UnknownSplit split = *unknownSplitOf(op, /*mayShare=*/true);
  const int64_t longest = !liesApart(op) && sharesInput(op) ? kMostOfKeptRow : kMostOfWholeRow;
  auto atMost = [&](Value value, int64_t most) -> Value {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, value,
                                         arith::ConstantIndexOp::create(b, loc, most));
  };
  if (split.limits && split.limits->tile > 1)
    return {atMost(raggedParts(b, op, split.loop, *split.limits).parts, 1), std::nullopt};
  Value elements = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      elements = b.createOrFold<arith::MulIOp>(loc, elements, loopSize(b, op, loop));
  // None is no row.
  Value more = b.createOrFold<arith::SubIOp>(loc, elements, arith::ConstantIndexOp::create(b, loc, 1));
  Value isShort = atMost(more, longest - 1);
  if (op.getNumParallelLoops() == 0 || liesApart(op))
    return {isShort, longest, /*shortest=*/1};
  Value results = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel)
      results = b.createOrFold<arith::MulIOp>(loc, results, loopSize(b, op, loop));
  Value areFew = atMost(results, enoughResults(op) - 1);
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return {b.createOrFold<arith::OrIOp>(loc, isShort, b.createOrFold<arith::XOrIOp>(loc, areFew, yes)), std::nullopt};
}

// Of one tensor, that are looked through for an equal one.
static constexpr size_t kMostForms = 4;

/// Sums of one tensor whose parts are the same read it as one tensor of parts, and are one kernel.
static void shareParts(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    llvm::DenseMap<Value, SmallVector<flow::TensorReshapeOp, 2>> known;
    for (auto parts : llvm::make_early_inc_range(block.getOps<flow::TensorReshapeOp>())) {
      const Type type = parts.getResult().getType();
      if (!cast<RankedTensorType>(type).hasStaticShape())
        continue;
      SmallVector<flow::TensorReshapeOp, 2> &others = known[parts.getSource()];
      auto *same =
          llvm::find_if(others, [&](flow::TensorReshapeOp other) { return other.getResult().getType() == type; });
      if (same == others.end()) {
        if (others.size() < kMostForms)
          others.push_back(parts);
        continue;
      }
      parts.getResult().replaceAllUsesWith(same->getResult());
      parts.erase();
    }
  }
}

void splitReductions(func::FuncOp function) {
  const auto ops = llvm::to_vector(function.getOps<linalg::GenericOp>());
  llvm::DenseMap<Operation *, CentredSum> centred; // as long as their sums are whole
  for (linalg::GenericOp op : ops)
    if (std::optional<CentredSum> sum = centredSumOf(op))
      centred.insert({op, *sum});
  llvm::DenseMap<Operation *, SplitSum> splitSums; // of which variances are made; the operations are gone
  llvm::DenseMap<Operation *, RaggedSum> raggedSums;
  for (linalg::GenericOp op : ops) {
    if (auto sum = centred.find(op); sum != centred.end()) {
      if (auto plain = splitSums.find(sum->second.plain); plain != splitSums.end()) {
        const CentredParts parts{sum->second, plain->second};
        splitKnown(op, plain->second.split, &parts);
        continue;
      }
      if (auto plain = raggedSums.find(sum->second.plain); plain != raggedSums.end()) {
        const RaggedCentre parts{sum->second, plain->second};
        splitRagged(op, plain->second.loop, std::nullopt, &parts);
        continue;
      }
    }
    if (isOfAttention(op) || op->hasAttr(kFormAttr))
      continue; // one kernel with what is between its products; the form that is whole
    Operation *whole = op;
    auto keep = [&](std::optional<RaggedSum> sum) {
      if (sum)
        raggedSums.insert({whole, *sum});
    };
    if (splitFilterGradient(op))
      continue;
    if (std::optional<ProductSplit> product = productSplitOf(op)) {
      splitInTurn(op, product->splits);
    } else if (std::optional<Split> split = splitOf(op)) {
      if (std::optional<SplitSum> sum = splitKnown(op, *split))
        splitSums.insert({whole, *sum});
    } else if (std::optional<UnknownSplit> split = unknownSplitOf(op, op->hasAttr(kPartsAttr))) {
      keep(splitRagged(op, split->loop, split->limits));
    }
  }
  shareParts(function);
}

} // namespace tenon::compiler::dispatch
