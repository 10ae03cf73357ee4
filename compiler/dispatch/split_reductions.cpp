// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/split_reductions.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dispatch/contraction.h"
#include "compiler/dispatch/group.h"
#include "compiler/dispatch/kernel_config.h"
#include "compiler/dispatch/ragged_split.h"
#include "compiler/dispatch/reduction_body.h"

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
constexpr int64_t kWantedRows = 1024;
constexpr int64_t kEnoughTiles = 192; // of columns: more of them read from more places of the memory at once
constexpr int64_t kWantedTiles = 256;
// A part that is smaller is not worth a second launch: elements along a row, rows of a column.
constexpr int64_t kLeastOfRow = 4096;
constexpr int64_t kLeastOfColumn = 256;
// Adjacent results that a block computes where reductions run down columns (codegen/strategies/columns.cpp).
constexpr int64_t kBytesOfTile = 256;

// Products: blocks that keep a large GPU busy, and reduced elements that are worth a part of their own.
constexpr int64_t kEnoughProductBlocks = 96;
constexpr int64_t kLeastOfProduct = 512, kLeastOfScalarProduct = 128, kLeastOfSkinny = 2048;
constexpr int64_t kWideOfBlock = 16; // results of a block where there are few rows (codegen/strategies)

/// Loop `loop` is divided into `parts`; where that is its whole size, it becomes parallel itself.
struct Split {
  unsigned loop;
  int64_t parts;
  int64_t size;  // of the loop
  bool isAcross; // adjacent elements belong to different results
  bool isWhole() const { return parts == size; }
};

/// The divisor of `size` that is nearest to `wanted`, not above `most`; 1 where none is near.
int64_t divisorNear(int64_t size, int64_t wanted, int64_t most) {
  int64_t best = 1;
  auto distance = [&](int64_t parts) { return std::max(parts, wanted) / double(std::min(parts, wanted)); };
  for (int64_t parts = 2; parts <= std::min(most, 4 * wanted); ++parts)
    if (size % parts == 0 && distance(parts) < distance(best))
      best = parts;
  return best * 4 >= wanted || best >= 64 ? best : 1;
}

int64_t columnsOfTile(linalg::GenericOp op) {
  uint32_t widest = 2;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto type = dyn_cast<RankedTensorType>(input->get().getType()))
      widest = std::max(widest, elementBytes(type.getElementType()));
  return kBytesOfTile / widest;
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
  const int64_t most = reduced / (isAcross ? kLeastOfColumn : kLeastOfRow);
  if (blocks >= (isAcross ? kEnoughTiles : kEnoughRows) || most < 4)
    return std::nullopt;
  const int64_t wanted = std::min(most, int64_t(llvm::divideCeil(isAcross ? kWantedTiles : kWantedRows, blocks)));
  for (AffineExpr expr : first.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (types[loop] == utils::IteratorType::parallel || sizes[loop] == 1)
      continue;
    const bool isShort = sizes[loop] <= std::min(most, 4 * wanted);
    const int64_t parts = isShort ? sizes[loop] : divisorNear(sizes[loop], wanted, most);
    return parts > 1 ? std::optional(Split{loop, parts, sizes[loop], isAcross}) : std::nullopt;
  }
  return std::nullopt;
}

/// A product of two sides whose tiles are fewer than a GPU has multiprocessors: its sum is taken apart. Nothing where
/// it is none that tiles, or blocks of few rows, compute.
struct ProductSplit {
  std::optional<Split> split; // none: it has tiles enough
};
std::optional<ProductSplit> productSplitOf(linalg::GenericOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const std::optional<Contraction> product = productOf(op);
  if (!op.hasPureTensorSemantics() || !product || (product->rows.empty() && product->columns.empty()) ||
      llvm::is_contained(sizes, ShapedType::kDynamic) || llvm::is_contained(sizes, 0))
    return std::nullopt;
  auto sizeOf = [&](ArrayRef<unsigned> loops) {
    int64_t size = 1;
    for (unsigned loop : loops)
      size *= sizes[loop];
    return size;
  };
  const int64_t rows = sizeOf(product->rows), columns = sizeOf(product->columns), batch = sizeOf(product->batch);
  const bool hasCores = isForTensorCores(*product);
  const std::optional<FewRows> skinny = fewRowsOf(*product);
  if (isTreeReduction(op) && !skinny)
    return std::nullopt;
  const unsigned loop =
      *llvm::max_element(product->reduced, [&](unsigned x, unsigned y) { return sizes[x] < sizes[y]; });
  auto tiles = [&](int64_t side, int64_t across) {
    return batch * int64_t(llvm::divideCeil(uint64_t(rows), side) * llvm::divideCeil(uint64_t(columns), across));
  };
  const int64_t blocks = skinny     ? batch * int64_t(llvm::divideCeil(uint64_t(skinny->wideSize), kWideOfBlock))
                         : hasCores ? (rows <= 64 ? tiles(64, 128) : tiles(128, 64))
                                    : tiles(64, 64);
  const int64_t most = sizes[loop] / (skinny ? kLeastOfSkinny : hasCores ? kLeastOfProduct : kLeastOfScalarProduct);
  // Parts are made of the types: each has to say its sizes.
  const bool mayBe =
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }) &&
      llvm::all_of(op->getOperands(), [](Value operand) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        return !type || type.hasStaticShape();
      });
  if (!mayBe || blocks >= (skinny ? kEnoughProductBlocks / 2 : kEnoughProductBlocks) || most < 2)
    return ProductSplit{};
  // The fewest that are enough: what they leave is written and read again. Rows of parts stay aligned.
  const int64_t wanted = std::min(most, int64_t(llvm::divideCeil(uint64_t(kEnoughProductBlocks), blocks)));
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(most, 2 * wanted) && best < wanted; ++parts)
    if (sizes[loop] % parts == 0 && sizes[loop] / parts % 8 == 0)
      best = parts;
  return best == 1 ? ProductSplit{} : ProductSplit{Split{loop, best, sizes[loop], /*isAcross=*/true}};
}

class Splitter {
public:
  Splitter(linalg::GenericOp op, const Split &split)
      : op_(op), split_(split), b_(op), loc_(op.getLoc()), accumulators_(*reductionBodyOf(op)) {}

  void run();

private:
  AffineMap withParts(AffineMap map) const;
  SmallVector<int64_t> shapeWithParts(ArrayRef<int64_t> shape, AffineMap map) const;
  Value indexInParts(OpBuilder &b, unsigned loop);
  Value filled(ArrayRef<int64_t> shape, TypedAttr value);
  SmallVector<Value> buildPartials();
  Value buildTotal(unsigned output, Value partial);
  Value narrowed(unsigned output, Value total);
  Type typeOf(unsigned output) {
    return accumulatorType(accumulators_[output].combiner,
                           cast<RankedTensorType>(op_->getResult(output).getType()).getElementType());
  }

  linalg::GenericOp op_;
  const Split split_;
  OpBuilder b_;
  Location loc_;
  SmallVector<Accumulator> accumulators_;
};

/// The same elements by the loops of the partial reduction: a split loop is two, the parts before what is in a part.
AffineMap Splitter::withParts(AffineMap map) const {
  if (split_.isWhole())
    return map;
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    results.push_back(getAffineDimExpr(loop > split_.loop ? loop + 1 : loop, map.getContext()));
    if (loop == split_.loop)
      results.push_back(getAffineDimExpr(loop + 1, map.getContext()));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, map.getContext());
}

SmallVector<int64_t> Splitter::shapeWithParts(ArrayRef<int64_t> shape, AffineMap map) const {
  SmallVector<int64_t> result;
  for (auto [size, expr] : llvm::zip_equal(shape, map.getResults())) {
    const bool isSplit = cast<AffineDimExpr>(expr).getPosition() == split_.loop && !split_.isWhole();
    if (isSplit)
      result.push_back(split_.parts);
    result.push_back(isSplit ? size / split_.parts : size);
  }
  return result;
}

/// The position of a loop of the whole reduction.
Value Splitter::indexInParts(OpBuilder &b, unsigned loop) {
  const unsigned behind = loop > split_.loop && !split_.isWhole() ? 1 : 0;
  Value index = linalg::IndexOp::create(b, loc_, loop + behind);
  if (loop != split_.loop || split_.isWhole())
    return index;
  Value size = arith::ConstantIndexOp::create(b, loc_, split_.size / split_.parts);
  Value inPart = linalg::IndexOp::create(b, loc_, loop + 1);
  return arith::AddIOp::create(b, loc_, arith::MulIOp::create(b, loc_, index, size), inPart);
}

Value Splitter::filled(ArrayRef<int64_t> shape, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b_, loc_, value);
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, value.getType());
  return linalg::FillOp::create(b_, loc_, scalar, empty).getResult(0);
}

SmallVector<Value> Splitter::buildPartials() {
  SmallVector<Value> inputs, starts;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op_.getDpsInputOperands()) {
    AffineMap map = op_.getMatchingIndexingMap(input);
    maps.push_back(withParts(map));
    Value value = input->get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && maps.back().getNumResults() != map.getNumResults())
      value = flow::TensorReshapeOp::create(b_, loc_, type.clone(shapeWithParts(type.getShape(), map)), value,
                                            ValueRange(), ValueRange());
    inputs.push_back(value);
  }
  for (OpOperand &init : op_.getDpsInitsMutable()) {
    AffineMap map = withParts(op_.getMatchingIndexingMap(&init));
    SmallVector<int64_t> shape = llvm::to_vector(cast<RankedTensorType>(init.get().getType()).getShape());
    SmallVector<AffineExpr> results = llvm::to_vector(map.getResults());
    const size_t at = split_.isAcross ? 0 : results.size();
    results.insert(results.begin() + at, getAffineDimExpr(split_.loop, b_.getContext()));
    shape.insert(shape.begin() + at, split_.parts);
    maps.push_back(AffineMap::get(map.getNumDims(), 0, results, b_.getContext()));
    const unsigned output = init.getOperandNumber() - op_.getNumDpsInputs();
    starts.push_back(filled(shape, neutralOf(b_, accumulators_[output].combiner, typeOf(output))));
  }
  SmallVector<utils::IteratorType> types = op_.getIteratorTypesArray();
  types[split_.loop] = utils::IteratorType::parallel;
  if (!split_.isWhole())
    types.insert(types.begin() + split_.loop + 1, utils::IteratorType::reduction);
  auto partial = linalg::GenericOp::create(
      b_, loc_, TypeRange(ValueRange(starts)), inputs, starts, maps, types,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping values;
        const unsigned inputCount = inputs.size();
        for (unsigned i = 0; i < inputCount; ++i)
          values.map(op_.getBody()->getArgument(i), arguments[i]);
        for (Operation &inner : op_.getBody()->without_terminator()) {
          if (auto index = dyn_cast<linalg::IndexOp>(inner))
            values.map(index.getResult(), indexInParts(b, index.getDim()));
          else if (!llvm::any_of(accumulators_, [&](const Accumulator &each) { return each.operation == &inner; }))
            b.clone(inner, values);
        }
        SmallVector<Value> next;
        for (auto [output, accumulator] : llvm::enumerate(accumulators_))
          next.push_back(combineBy(b, loc_, accumulator, arguments[inputCount + output],
                                   values.lookupOrDefault(accumulator.contributed)));
        linalg::YieldOp::create(b, loc_, next);
      });
  return llvm::to_vector_of<Value>(partial.getResults());
}

/// Partial results, and what the reduction starts from, once.
Value Splitter::buildTotal(unsigned output, Value partial) {
  Value start = op_.getDpsInits()[output];
  auto type = cast<RankedTensorType>(start.getType());
  if (type.getElementType() != typeOf(output)) {
    FloatAttr value;
    auto fill = start.getDefiningOp<linalg::FillOp>(); // run() has seen to it
    matchPattern(fill.getInputs()[0], m_Constant(&value));
    start = filled(type.getShape(), b_.getFloatAttr(typeOf(output), value.getValueAsDouble()));
  }
  const unsigned rank = type.getRank(), split = split_.isAcross ? 0 : rank;
  SmallVector<utils::IteratorType> types(rank + 1, utils::IteratorType::parallel);
  types[split] = utils::IteratorType::reduction;
  AffineMap read = b_.getMultiDimIdentityMap(rank + 1);
  auto total = linalg::GenericOp::create(
      b_, loc_, start.getType(), partial, start, ArrayRef<AffineMap>{read, read.dropResult(split)}, types,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        linalg::YieldOp::create(b, loc_, combineBy(b, loc_, accumulators_[output], arguments[1], arguments[0]));
      });
  return total.getResult(0);
}

Value Splitter::narrowed(unsigned output, Value total) {
  auto type = cast<RankedTensorType>(op_->getResult(output).getType());
  if (total.getType() == type)
    return total;
  Value empty = tensor::EmptyOp::create(b_, loc_, type.getShape(), type.getElementType());
  AffineMap map = b_.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
  auto narrow = linalg::GenericOp::create(
      b_, loc_, type, total, empty, ArrayRef<AffineMap>{map, map}, types,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        linalg::YieldOp::create(b, loc_,
                                arith::TruncFOp::create(b, loc_, type.getElementType(), arguments[0]).getResult());
      });
  return narrow.getResult(0);
}

void Splitter::run() {
  for (auto [output, start] : llvm::enumerate(op_.getDpsInits())) {
    auto fill = start.getDefiningOp<linalg::FillOp>();
    const bool isConstant = fill && matchPattern(fill.getInputs()[0], m_Constant());
    if (!isConstant && cast<RankedTensorType>(start.getType()).getElementType() != typeOf(output))
      return; // a start in another type than that of the partial results
  }
  SmallVector<Value> partials = buildPartials(), results;
  // Output maps list the parallel loops in any order: the partial results have theirs in the same.
  for (auto [output, partial] : llvm::enumerate(partials))
    results.push_back(narrowed(output, buildTotal(output, partial)));
  op_->replaceAllUsesWith(results);
  op_->erase();
}

/// Whether another operation reads what `op` reduces: it is better off in one kernel with it.
bool sharesInput(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    return isa<RankedTensorType>(input.getType()) &&
           llvm::any_of(input.getUsers(), [&](Operation *user) { return user != op && isa<linalg::GenericOp>(user); });
  });
}

/// The largest of unsigned numbers, as choices are made of (choice_keys.h): each reads the tensor for itself.
bool isOfKeys(linalg::GenericOp op) {
  return llvm::all_of(*reductionBodyOf(op), [](const Accumulator &each) { return each.combiner == Combiner::MaxU; });
}

/// Parts where sizes are unknown, or have no divisor that is near.
std::optional<RaggedLimits> raggedLimitsOf(linalg::GenericOp op, unsigned loop) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const bool isAcross = op.getNumLoops() > 1;
  if (!isAcross && sizes[loop] == ShapedType::kDynamic && !isOfKeys(op) && sharesInput(op))
    return std::nullopt;
  const RaggedLimits limits = isAcross ? RaggedLimits{kEnoughTiles, kWantedTiles, kLeastOfColumn, columnsOfTile(op)}
                                       : RaggedLimits{kEnoughRows, kWantedRows, kLeastOfRow, 1};
  if (sizes[loop] != ShapedType::kDynamic && sizes[loop] < 4 * limits.least)
    return std::nullopt;
  int64_t results = 1; // that are known
  for (auto [number, size] : llvm::enumerate(sizes))
    results *= number == loop || size == ShapedType::kDynamic ? 1 : size;
  if (results == 0 || llvm::divideCeil(results, limits.tile) >= uint64_t(limits.enough))
    return std::nullopt;
  return limits;
}

} // namespace

void splitReductions(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>())) {
    if (isOfAttention(op))
      continue; // one kernel with what is between its products
    if (std::optional<ProductSplit> product = productSplitOf(op)) {
      if (product->split)
        Splitter(op, *product->split).run();
    } else if (std::optional<Split> split = splitOf(op)) {
      Splitter(op, *split).run();
    } else if (std::optional<unsigned> loop = raggedLoopOf(op)) {
      if (std::optional<RaggedLimits> limits = raggedLimitsOf(op, *loop))
        splitRagged(op, *loop, *limits);
    }
  }
}

} // namespace tenon::compiler::dispatch
