// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/contraction.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/analysis/products/small_products.h"
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Inputs that `value` is computed from; false where something else than arithmetic on them is needed.
bool collectInputs(Value value, linalg::GenericOp op, llvm::SmallSetVector<unsigned, 4> &inputs) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBody())
      return true; // a scalar from outside
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return false;
    inputs.insert(argument.getArgNumber());
    return true;
  }
  Operation *defining = value.getDefiningOp();
  if (defining->getBlock() != op.getBody())
    return true;
  if (!isPure(defining) || defining->getNumRegions() != 0 || isa<linalg::IndexOp>(defining) ||
      llvm::any_of(defining->getOperandTypes(), [](Type type) { return isa<ShapedType>(type); }))
    return false;
  return llvm::all_of(defining->getOperands(), [&](Value operand) { return collectInputs(operand, op, inputs); });
}

std::optional<ContractionSide> sideOf(Value value, linalg::GenericOp op) {
  if (std::optional<Border> border = borderOfUnknown(beforeExtension(value), op))
    return ContractionSide{value, {}, border, {}};
  if (op->hasAttr(kRoutedAttr))
    if (std::optional<RoutedWeights> weights = routedWeightsOf(beforeExtension(value), op))
      return ContractionSide{value, {}, {}, weights};
  llvm::SmallSetVector<unsigned, 4> inputs;
  if (!collectInputs(value, op, inputs) || inputs.empty())
    return std::nullopt;
  for (unsigned input : inputs)
    if (!isa<RankedTensorType>(op.getDpsInputOperand(input)->get().getType()))
      return std::nullopt;
  return ContractionSide{value, llvm::SmallVector<unsigned, 2>(inputs.begin(), inputs.end()), {}, {}};
}

llvm::SmallBitVector loopsOf(const ContractionSide &side, linalg::GenericOp op) {
  llvm::SmallBitVector loops(op.getNumLoops());
  auto add = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (expr.isFunctionOfDim(loop))
          loops.set(loop);
  };
  for (unsigned input : side.inputs)
    add(op.getMatchingIndexingMap(op.getDpsInputOperand(input)));
  if (side.border)
    add(side.border->map);
  if (side.routed)
    add(side.routed->map);
  return loops;
}

} // namespace

/// Whether the side is an image with its channels last, of which a kernel makes rows.
static bool isImageOfRows(const ContractionSide &side, linalg::GenericOp op) {
  AffineMap map = side.border ? side.border->map : AffineMap();
  if (side.inputs.size() == 1)
    map = op.getMatchingIndexingMap(op.getDpsInputOperand(side.inputs.front()));
  if (!map || map.isProjectedPermutation() || map.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction;
}

/// A product whose right side is routed: loops that the weights have are columns, all others rows.
static std::optional<Contraction> routedProductOf(Contraction found, const llvm::SmallBitVector &inLeft,
                                                  const llvm::SmallBitVector &inRight) {
  linalg::GenericOp op = found.op;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (found.left.border || !written.isProjectedPermutation())
    return std::nullopt;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction) {
      if (!inLeft.test(loop) || !inRight.test(loop))
        return std::nullopt;
      found.reduced.push_back(loop);
    }
  for (AffineExpr expr : written.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (inLeft.test(loop) && inRight.test(loop))
      return std::nullopt;
    (inRight.test(loop) ? found.columns : found.rows).push_back(loop);
  }
  return found;
}

/// What is added where a term exists, and whether it does; no condition where all do.
static std::pair<Value, Value> termOf(Value contributed) {
  auto select = contributed.getDefiningOp<arith::SelectOp>();
  const bool isTerm = select && (matchPattern(select.getFalseValue(), m_AnyZeroFloat()) ||
                                 matchPattern(select.getFalseValue(), m_Zero()));
  return isTerm ? std::pair(select.getTrueValue(), select.getCondition()) : std::pair(contributed, Value());
}

/// Loops that say which places are summed become loops of the batch.
static bool bringToBatch(Contraction &product, ArrayRef<SummedPlaces> places) {
  if (places.empty())
    return true;
  for (const SummedPlaces &each : places) {
    const size_t known = product.rows.size() + product.columns.size();
    llvm::erase(product.rows, each.of);
    llvm::erase(product.columns, each.of);
    if (product.rows.size() + product.columns.size() == known || !llvm::is_contained(product.reduced, each.along))
      return false;
    product.batch.push_back(each.of);
  }
  llvm::sort(product.batch);
  product.places.assign(places.begin(), places.end());
  return product.reduced.size() > places.size();
}

std::optional<Contraction> productOf(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1)
    return std::nullopt;
  const auto accumulators = reductionBodyOf(op);
  if (!accumulators || getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return std::nullopt;
  const Accumulator &accumulator = accumulators->front();
  const auto [term, exists] = termOf(accumulator.contributed);
  Operation *product = term.getDefiningOp();
  const bool multiplies = (accumulator.combiner == Combiner::AddF && isa_and_nonnull<arith::MulFOp>(product)) ||
                          (accumulator.combiner == Combiner::AddI && isa_and_nonnull<arith::MulIOp>(product));
  if (!multiplies || product->getBlock() != op.getBody())
    return std::nullopt;
  std::optional<ContractionSide> left = sideOf(product->getOperand(0), op), right = sideOf(product->getOperand(1), op);
  if (!left || !right)
    return std::nullopt;
  const std::optional<SmallVector<SummedPlaces>> places =
      exists ? summedPlacesOf(exists, op) : SmallVector<SummedPlaces>();
  if (!places)
    return std::nullopt;

  Contraction found{.op = op, .combiner = accumulator.combiner, .left = *left, .right = *right};
  llvm::SmallBitVector inLeft = loopsOf(*left, op), inRight = loopsOf(*right, op);
  if (left->routed.has_value() != right->routed.has_value()) {
    if (left->routed) {
      std::swap(found.left, found.right);
      std::swap(inLeft, inRight);
    }
    return exists ? std::nullopt : routedProductOf(found, inLeft, inRight);
  }
  if (left->routed)
    return std::nullopt;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (written.getNumResults() != 0)
    if (auto last = dyn_cast<AffineDimExpr>(written.getResults().back()); last && !inRight.test(last.getPosition())) {
      std::swap(found.left, found.right);
      std::swap(inLeft, inRight);
    }
  if (mayRoundForTensorCores(found) && isImageOfRows(found.right, op) && !isImageOfRows(found.left, op)) {
    std::swap(found.left, found.right);
    std::swap(inLeft, inRight);
  }
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool isLeft = inLeft.test(loop), isRight = inRight.test(loop);
    if (type == utils::IteratorType::parallel && !isLeft && !isRight && sizes[loop] == 1) {
      found.batch.push_back(loop); // of one step: neither side has an index for it
      continue;
    }
    if (type == utils::IteratorType::reduction ? !(isLeft && isRight) : !(isLeft || isRight))
      return std::nullopt;
    if (type == utils::IteratorType::reduction)
      found.reduced.push_back(loop);
    else
      (isLeft && isRight ? found.batch : isLeft ? found.rows : found.columns).push_back(loop);
  }
  return bringToBatch(found, *places) ? std::optional(found) : std::nullopt;
}

/// A convolution of each channel for itself that makes several of it, or the gradient by the filters of one in groups
/// of few channels: a tile of a matrix would be nothing but zeros. (Parts of a sum are a batch, too.)
static bool isOfSmallGroups(const Contraction &product) {
  constexpr int64_t kMostFilters = 8, kMostChannels = 32; // of a channel, of a group
  linalg::GenericOp op = product.op;
  if (product.batch.empty() || !product.places.empty() || !readsWindows(op))
    return false;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isPlain = [&](unsigned loop) { // in every operand that has it
    return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
      return !map.isFunctionOfDim(loop) || map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
    });
  };
  const bool isOfChannels =
      llvm::any_of(product.reduced, [&](unsigned loop) { return isPlain(loop) && sizes[loop] != 1; });
  const bool isOfWindow = llvm::any_of(product.reduced, [&](unsigned loop) { return !isPlain(loop); });
  const std::optional<int64_t> rows = knownSizeOf(op, product.rows), columns = knownSizeOf(op, product.columns),
                               groups = knownSizeOf(op, product.batch);
  for (const ContractionSide *side : {&product.left, &product.right}) {
    // What slides has the channels and the window, the other side the filters.
    const std::optional<int64_t> &filters = side == &product.left ? columns : rows;
    const AffineMap map = side->border ? side->border->map
                          : side->inputs.size() == 1
                              ? op.getMatchingIndexingMap(op.getDpsInputOperand(side->inputs.front()))
                              : AffineMap();
    int64_t channels = 1;
    for (unsigned loop : side == &product.left ? product.rows : product.columns)
      if (map && map.getResultPosition(getAffineDimExpr(loop, map.getContext())) && !ShapedType::isDynamic(sizes[loop]))
        channels *= sizes[loop];
    if (map && !map.isProjectedPermutation() && sumsOverPlaces(op, map) && filters && *filters <= kMostFilters &&
        groups && *groups != 1 && channels <= kMostChannels)
      return true;
  }
  if (!isOfWindow || isOfChannels || (groups && *groups == 1) || (!rows && !columns))
    return false;
  return (!rows ? *columns : !columns ? *rows : std::min(*rows, *columns)) <= kMostFilters;
}

/// Many products of matrices so small that a tile would be nothing but zeros: a thread for each result is faster. Sums
/// of half precision are rounded once, by tiles alone.
static bool isOfTinyMatrices(const Contraction &product) {
  constexpr int64_t kMostOfTiny = 16, kMany = 256;
  linalg::GenericOp op = product.op;
  if (product.batch.empty() || product.isRouted() || !product.places.empty() || readsWindows(op) ||
      isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(op.getDpsInits().front())))
    return false;
  if (const std::optional<int64_t> matrices = knownSizeOf(op, product.batch); matrices && *matrices < kMany)
    return false;
  return llvm::all_of(std::array{product.rows, product.columns, product.reduced}, [&](ArrayRef<unsigned> loops) {
    const std::optional<int64_t> size = knownSizeOf(op, loops);
    return size && *size <= kMostOfTiny;
  });
}

std::optional<Contraction> contractionOf(linalg::GenericOp op) {
  std::optional<Contraction> found = isTreeReduction(op) ? std::nullopt : productOf(op);
  // Each channel for itself: a matrix of one row or one column.
  const bool isMatrix =
      found && !found->rows.empty() && !found->columns.empty() && !isOfSmallGroups(*found) && !isOfTinyMatrices(*found);
  return isMatrix ? found : std::nullopt;
}

bool isWindow(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 && reductionBodyOf(op) && !isTreeReduction(op) && !contractionOf(op);
}

Value beforeExtension(Value value) {
  Operation *extension = value.getDefiningOp();
  const bool isNarrow = isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension) && value.getType().isInteger(32) &&
                        extension->getOperand(0).getType().isInteger(8);
  if (!isNarrow && !isa_and_nonnull<arith::ExtFOp>(extension))
    return value;
  Value narrow = extension->getOperand(0);
  auto byte = isF8(narrow.getType()) ? narrow.getDefiningOp<arith::BitcastOp>() : arith::BitcastOp();
  return byte ? byte.getIn() : narrow;
}

Type factorTypeOf(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>(); extension && isF8(extension.getIn().getType()))
    return extension.getIn().getType();
  return beforeExtension(value).getType();
}

bool isF8(Type type) {
  return input::isWidenedInKernels(type);
}

bool isForTensorCores(const Contraction &product) {
  Type left = factorTypeOf(product.left.value), right = factorTypeOf(product.right.value);
  return (left == right && (isa<Float16Type, BFloat16Type>(left) || left.isInteger(8))) || (isF8(left) && isF8(right));
}

bool mayRoundForTensorCores(const Contraction &product) {
  auto hasAttr = [&](Operation *op) { return op && op->hasAttr(kTf32Attr); };
  Operation *op = product.op;
  const bool isF32 = product.left.value.getType().isF32() && product.right.value.getType().isF32();
  return isForTensorCores(product) ||
         (isF32 && (hasAttr(op->getParentOfType<func::FuncOp>()) || hasAttr(op->getParentOfType<ModuleOp>())));
}

/// Whether the side's elements lie in memory before the product is computed, as they are multiplied.
static bool isOnlyRead(const Contraction &product, const ContractionSide &side) {
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  return argument &&
         !linalg::GenericOp(product.op)->getOperand(argument.getArgNumber()).getDefiningOp<linalg::GenericOp>();
}

/// Tiles take the wide side of few rows where it lies along the reduced elements or comes in boxes, but for small
/// products (an H200: bf16 nn 12 x 13264 x 648 11.4 us by lanes, 7.8 in tiles).
static int64_t mostFewReadOf(const Contraction &product, const FewRows &found) {
  linalg::GenericOp op = product.op;
  const Type factor = factorTypeOf(product.right.value);
  if (found.wide == &product.right && (factor.isF16() || factor.isBF16()) && hasBoxes(op) &&
      isSmallProduct(found.wideSize * found.batchSize, *knownSizeOf(op, product.reduced)))
    return kMostFewOfSmall;
  const AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(found.wide->inputs.front()));
  const bool isAlong = map.getNumResults() != 0 && llvm::any_of(product.reduced, [&](unsigned loop) {
                         return map.getResults().back() == getAffineDimExpr(loop, op.getContext());
                       });
  return found.wide == &product.right && (isAlong || hasBoxes(op)) ? mostFewRead(found.wideSize) : kMostFewRead;
}

bool readsWindows(linalg::GenericOp op) {
  return !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }) ||
         !op.getBody()->getOps<tensor::ExtractOp>().empty();
}

bool sumsOverPlaces(linalg::GenericOp op, AffineMap image) {
  constexpr double kUnknown = 1 << 20; // more than any window has
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  double summed = 1, apart = 1;
  for (AffineExpr expr : image.getResults()) {
    if (isa<AffineDimExpr>(expr))
      continue;
    for (auto [loop, size] : llvm::enumerate(sizes))
      if (expr.isFunctionOfDim(loop))
        (types[loop] == utils::IteratorType::reduction ? summed : apart) *=
            ShapedType::isDynamic(size) ? kUnknown : double(size);
  }
  return summed > apart;
}

std::optional<int64_t> knownSizeOf(linalg::GenericOp op, ArrayRef<unsigned> loops) {
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t size = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    size *= ranges[loop];
  }
  return size;
}

std::optional<FewRows> fewRowsOf(const Contraction &product) {
  const SmallVector<int64_t> sizes = linalg::GenericOp(product.op).getStaticLoopRanges();
  if (llvm::is_contained(sizes, ShapedType::kDynamic) || readsWindows(product.op) ||
      (product.rows.empty() && product.columns.empty()))
    return std::nullopt;
  auto sizeOf = [&](ArrayRef<unsigned> loops) { return *knownSizeOf(product.op, loops); };
  const int64_t rows = sizeOf(product.rows), columns = sizeOf(product.columns);
  FewRows found{&product.left, &product.right, rows, columns, sizeOf(product.batch)};
  if (columns < rows)
    found = {&product.right, &product.left, columns, rows, found.batchSize};
  const bool isTiledTf32 = mayRoundForTensorCores(product) && !isForTensorCores(product) && hasHopperTf32(product.op) &&
                           hasBoxes(product.op);
  const int64_t most = isTiledTf32                                ? kMostFewOfTf32
                       : factorTypeOf(product.left.value).isF64() ? kMostFewOfDoubles
                       : !isForTensorCores(product)               ? kMostFewScalar
                       : isOnlyRead(product, *found.wide)         ? mostFewReadOf(product, found)
                                                                  : kMostFew;
  if (found.fewSize > most || found.wideSize < kLeastWide || sizeOf(product.reduced) < kLeastReduced)
    return std::nullopt;
  return found;
}

} // namespace tenon::compiler::dispatch
