// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor cores read matrices 16 bytes at a time: a row that does not begin at a multiple of 16 bytes is read element by
// element, many times over. A copy whose rows do costs each element one read and one write, nothing beside that.
// (Threads that multiply exact f32 read 24 elements one by one beside 1,024 products, which is less.) It is made
//
// - where rows of reduced elements are unaligned: [m, 4095] -> [m, 4096], zeros behind the last, in both operands;
// - where rows of columns are unaligned: [k, 1437] -> [k, 1472]. The result then has more columns, which are left out
//   behind it;
// - where the result has more elements than such an operand, or tensor cores do not turn what it holds (bytes and
//   tf32): [k, 4097] -> [4097, k], rows of reduced elements, which are made longer where that is needed.
//
// Of tf32 on Hopper alone one aligned operand may stay as it is (analysis/products/hopper_tf32.h): of two that lie
// across, the smaller one is copied, also where it is not known how large they are; none where warps read both sooner
// (analysis/products/across_twice.h).
#include "compiler/dispatch/products/matrix_product.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/across_twice.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/longer_tensors.h"
#include "compiler/dispatch/products/orders/computed_constants.h"
#include "compiler/dispatch/products/turned_copy.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {

namespace {

constexpr int64_t kBytes = 16;
// Products of fewer multiplications are over before a copy is; with fewer rows, or columns, most of the time goes to
// reading the matrix once.
constexpr int64_t kLeastMultiplications = int64_t(1) << 27, kLeastAcross = 65;
// Of unaligned rows fewer are enough where they are long.
constexpr int64_t kLeastOfUnaligned = int64_t(1) << 24, kLeastDepthOfUnaligned = 384;
// And where steps of 128 bytes that are read in runs (codegen/contraction/operands/any_runs), or one by one, take
// longer than copies, and aligned steps behind them. For each step, in microseconds (an H200: bf16 nn 21 x 6033 x
// 517 19.9, tf32 nn 66 x 1179 x 237 17.7); for each copy, and a byte of it.
constexpr double kMicrosecondsOfRuns = 2, kMicrosecondsOfAligned = 0.25, kMicrosecondsOfCopy = 2.5,
                 kMicrosecondsOfByte = 2 / 2.5e6;
constexpr int64_t kStepBytes = 128, kTileRows = 64, kTileColumns = 128, kMultiprocessors = abi::kHopperMultiprocessors;
// Tiles of exact f32, and blocks of a cluster that take sums apart
// (codegen/strategies/products/plans/tiles/cluster_sums.h).
constexpr int64_t kScalarRows = 128, kScalarColumns = 64, kMostOfCluster = 8;
// Rows that are made longer have so many elements more, or fewer, that their sum may be taken apart in parts that are
// aligned (splits/product_splits.h).
constexpr int64_t kLengthOfParts = 64, kLeastDepthOfParts = 512;

// Of tf32 that both lie across, so short a sum is over before a copy is.
constexpr int64_t kLeastDepthOfTf32 = 128;
// A side of so many times fewer elements is copied all the same: its tiles come as boxes that are as high as it has
// rows. An H200: tt 200 x 4096 x 4096 34.9 us instead of 39.3.
constexpr int64_t kTimesSmaller = 8;
// Wide rows begin at lines of the cache.
constexpr int64_t kLineBytes = 128, kLeastOfLines = 512;
// A copy that is turned and longer reads single elements from all over the tensor. Of more than so many, rows are made
// wider, or there are two copies (an H200: [8965, 1437] of f16 95 us).
constexpr int64_t kMostAtOnce = int64_t(1) << 22, kLeastWidened = int64_t(1) << 18;

/// Types of which a tensor core wants the reduced elements adjacent.
bool isNeverTurned(Type element, Operation *op) {
  return element.isInteger(8) || (element.isF32() && op->getParentOfType<ModuleOp>()->hasAttr(kTf32Attr));
}

bool isMultipliedByVectors(Type element) {
  return element.isF16() || element.isBF16() || element.isF32() || element.isInteger(8);
}

// What is unknown is taken for so many.
constexpr int64_t kAssumed = 4096;

int64_t sizeOr(int64_t size) {
  return ShapedType::isDynamic(size) ? kAssumed : size;
}

int64_t elementsOf(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    elements *= sizeOr(size);
  return elements;
}

/// A product of two matrices, or a batch of them, of sizes that are known; of tf32, also of others.
class MatrixProduct {
public:
  static std::optional<MatrixProduct> of(linalg::LinalgOp op);

  bool isKnown() const { return isKnown_; }
  bool isLarge(bool isUnaligned) const;
  /// Whether tensor cores wait for unaligned rows for longer than copies of them take.
  bool isReadForLong() const;
  /// Whether threads multiply it that bring elements of unaligned rows one by one, next to their products.
  bool isReadSingly() const;
  bool isAnyUnaligned() const {
    return llvm::any_of(sides_, [](const Side &side) { return side.isUnaligned(); });
  }
  /// Whether both sides lie across in tf32 of Hopper, and one is turned however small they are. Of unknown sizes
  /// nothing is made longer.
  bool isAcrossTwice() const {
    return mayStayAcross() && (isKnown_ || depth_ * int64_t(sizeof(float)) % kBytes == 0) &&
           llvm::all_of(sides_, [&](const Side &side) { return staysAcross(side); });
  }
  bool mayStayAcross() const;
  bool mayWiden() const;
  /// Whether one of two sides that may stay across is turned, which lies across or did.
  bool isTurnedBeside(const OpOperand *turned) const;
  /// Copies operands where that pays, and replaces the operation by one that reads the copies.
  void align();

private:
  /// One of the two operands. Its tensor's dimensions are those of the batch, its own (rows or columns), the reduced
  /// one, in any order.
  struct Side {
    OpOperand *operand;
    unsigned across; // loop
    AffineMap map;
    RankedTensorType type;
    unsigned bytes() const { return elementBytes(type.getElementType()); }
    unsigned lastLoop() const { return map.getDimPosition(map.getNumResults() - 1); }
    bool isUnaligned() const { return sizeOr(type.getShape().back()) * bytes() % kBytes != 0; }
  };

  bool staysAcross(const Side &side) const {
    return side.lastLoop() == side.across && (!side.isUnaligned() || mayWiden());
  }
  /// Whether f32 are not rounded to tf32.
  bool isExact() const;
  bool isTurned(const Side &side) const;
  bool isWidened(const Side &side) const {
    return side.lastLoop() == side.across && side.isUnaligned() && !isTurned(side);
  }
  Side turned(OpBuilder &b, const Side &side);
  /// The same with zeros behind the last element of each loop that is longer in `sizes`.
  Side lengthened(OpBuilder &b, const Side &side, ArrayRef<int64_t> sizes);

  explicit MatrixProduct(linalg::LinalgOp op) : op_(op) {}

  linalg::LinalgOp op_;
  SmallVector<Side, 2> sides_;
  unsigned reduced_ = 0; // loop
  int64_t batch_ = 1, rows_ = 1, columns_ = 1, depth_ = 1;
  bool startsFromOne_ = false; // value, for all sums
  bool isKnown_ = true;
};

std::optional<MatrixProduct> MatrixProduct::of(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  // A loop has the size that one of its tensors knows; each has to know it, for copies are as long as tensors say.
  const bool isKnown = llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  });
  if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op) || (!isKnown && !hasHopperTf32(op)))
    return std::nullopt;
  for (int64_t &size : sizes)
    size = sizeOr(size);
  FailureOr<linalg::ContractionDimensions> loops = linalg::inferContractionDims(op);
  if (failed(loops) || loops->m.size() != 1 || loops->n.size() != 1 || loops->k.size() != 1)
    return std::nullopt;
  MatrixProduct product(op);
  product.isKnown_ = isKnown;
  product.reduced_ = loops->k[0];
  for (unsigned loop : loops->batch)
    product.batch_ *= sizes[loop];
  product.rows_ = sizes[loops->m[0]];
  product.columns_ = sizes[loops->n[0]];
  product.depth_ = sizes[product.reduced_];
  product.startsFromOne_ = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>() != nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || !isMultipliedByVectors(type.getElementType()))
      return std::nullopt;
    const AffineMap map = op.getMatchingIndexingMap(operand);
    const unsigned across = map.isFunctionOfDim(loops->m[0]) ? loops->m[0] : loops->n[0];
    product.sides_.push_back({operand, across, map, type});
  }
  return product.sides_[0].across != product.sides_[1].across ? std::optional(product) : std::nullopt;
}

bool MatrixProduct::isLarge(bool isUnaligned) const {
  const bool isLong = isUnaligned && depth_ >= kLeastDepthOfUnaligned;
  return rows_ >= kLeastAcross && columns_ >= kLeastAcross &&
         double(batch_) * double(rows_) * double(columns_) * double(depth_) >=
             double(isLong ? kLeastOfUnaligned : kLeastMultiplications);
}

bool MatrixProduct::isExact() const {
  return sides_.front().type.getElementType().isF32() && !op_->getParentOfType<ModuleOp>()->hasAttr(kTf32Attr);
}

/// Where tiles are few, sums are taken apart in parts of longer rows, and copies are short.
bool MatrixProduct::isReadSingly() const {
  const double tiles = double(batch_) * double(llvm::divideCeil(rows_, kScalarRows)) *
                       double(llvm::divideCeil(columns_, kScalarColumns));
  return isExact() && tiles * double(isForHopper(op_) ? kMostOfCluster : 1) >= double(kMultiprocessors);
}

bool MatrixProduct::isReadForLong() const {
  if (isExact() || std::min(rows_, columns_) <= kMostFewRead)
    return false;
  // What is computed here may become a part of a larger kernel, as attention's weights do.
  if (llvm::any_of(sides_, [](const Side &side) { return side.operand->get().getDefiningOp<linalg::LinalgOp>(); }))
    return false;
  double copies = 0, bytes = 0, elementBytes = 1;
  for (const Side &side : sides_) {
    elementBytes = side.bytes();
    if (!side.isUnaligned() && depth_ * side.bytes() % kBytes == 0)
      continue;
    copies += 1 + (isWidened(side) ? 1 : 0); // of a result that is wider, too
    bytes += double(elementsOf(side.type)) * elementBytes;
  }
  const double tiles =
      double(batch_) * double(llvm::divideCeil(rows_, kTileRows)) * double(llvm::divideCeil(columns_, kTileColumns));
  const double steps = std::ceil(tiles / double(kMultiprocessors)) * double(depth_) * elementBytes / double(kStepBytes);
  return steps * kMicrosecondsOfRuns >
         steps * kMicrosecondsOfAligned + copies * kMicrosecondsOfCopy + bytes * kMicrosecondsOfByte;
}

/// Tiles take the product, and a copy of the other side takes less time than what is won.
bool MatrixProduct::mayStayAcross() const {
  return hasHopperTf32(op_) && std::min(rows_, columns_) > kMostFewOfTf32 && depth_ >= kLeastDepthOfTf32 &&
         llvm::all_of(sides_, [](const Side &side) { return side.type.getElementType().isF32(); });
}

bool MatrixProduct::isTurned(const Side &side) const {
  if (side.lastLoop() != side.across)
    return false;
  if (side.isUnaligned() && !mayWiden())
    return true;
  return mayStayAcross() ? isTurnedBeside(side.operand) : isNeverTurned(side.type.getElementType(), op_);
}

/// Whether the result may have more rows and columns, and that takes less time than to turn operands.
bool MatrixProduct::mayWiden() const {
  int64_t elements = 0;
  for (const Side &side : sides_)
    if (side.lastLoop() == side.across && side.isUnaligned())
      elements += elementsOf(side.type);
  const bool isTurnedElse =
      llvm::any_of(sides_, [&](const Side &side) { return isNeverTurned(side.type.getElementType(), op_); });
  return startsFromOne_ && elements > (isTurnedElse ? kMostAtOnce : kLeastWidened) &&
         batch_ * rows_ * columns_ <= elements;
}

bool MatrixProduct::isTurnedBeside(const OpOperand *turned) const {
  const bool isFirst = sides_[0].operand == turned;
  const Side &side = sides_[isFirst ? 0 : 1], &other = sides_[isFirst ? 1 : 0];
  const int64_t size = elementsOf(side.type), others = elementsOf(other.type);
  if (staysAcross(other) && isKnown_ && isSoonerByWarps({batch_, rows_, columns_, depth_}))
    return false;
  if (staysAcross(other))
    return size < others || (size == others && isFirst);
  return isLarge(/*isUnaligned=*/false) && size * kTimesSmaller <= others;
}

/// The same elements with those that are reduced adjacent.
MatrixProduct::Side MatrixProduct::turned(OpBuilder &b, const Side &side) {
  const unsigned rank = side.map.getNumResults();
  SmallVector<int64_t> order;
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    if (side.map.getDimPosition(dimension) != reduced_)
      order.push_back(dimension);
  order.push_back(*side.map.getResultPosition(b.getAffineDimExpr(reduced_)));
  const Location loc = op_.getLoc();
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> of;
  SmallVector<AffineExpr> results;
  for (int64_t dimension : order) {
    shape.push_back(side.type.getDimSize(dimension));
    of.push_back(tensor::getMixedSize(b, loc, side.operand->get(), dimension));
    results.push_back(side.map.getResult(dimension));
  }
  const RankedTensorType type = side.type.clone(shape);
  Value copy = turnedConstant(b, loc, side.operand->get(), order);
  if (!copy) {
    Value empty = tensor::EmptyOp::create(b, loc, of, type.getElementType());
    copy = linalg::TransposeOp::create(b, loc, side.operand->get(), empty, order)->getResult(0);
  }
  side.operand->set(copy);
  return {side.operand, side.across, AffineMap::get(side.map.getNumDims(), 0, results, b.getContext()), type};
}

MatrixProduct::Side MatrixProduct::lengthened(OpBuilder &b, const Side &side, ArrayRef<int64_t> sizes) {
  if (!isKnown_)
    return side;
  const unsigned rank = side.map.getNumResults();
  SmallVector<int64_t> shape;
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    shape.push_back(sizes[side.map.getDimPosition(dimension)]);
  if (ArrayRef(shape) == side.type.getShape())
    return side;
  const RankedTensorType type = side.type.clone(shape);
  const Location loc = op_.getLoc();
  if (Value made = lengthenedConstant(b, loc, side.operand->get(), shape)) {
    side.operand->set(made);
    return {side.operand, side.across, side.map, type};
  }
  side.operand->set(lengthenedCopy(b, loc, side.operand->get(), shape));
  return {side.operand, side.across, side.map, type};
}

void MatrixProduct::align() {
  OpBuilder b(op_);
  unsigned narrowest = kBytes;
  bool isLengthened = false, isWidenedAny = false, turnsAny = false, areAllCopied = true;
  SmallVector<int64_t> sizes = op_.getStaticLoopRanges();
  SmallVector<bool, 2> areTurned; // before the operation changes
  for (const Side &side : sides_) {
    narrowest = std::min(narrowest, side.bytes());
    areTurned.push_back(isTurned(side));
    turnsAny |= areTurned.back();
    const bool isAlongReduced = side.lastLoop() == reduced_ || areTurned.back();
    isLengthened |= isKnown_ && isAlongReduced && depth_ * side.bytes() % kBytes != 0;
    const bool isWider = isKnown_ && isWidened(side);
    areAllCopied &= areTurned.back() || isWider;
    if (!isWider)
      continue;
    isWidenedAny = true;
    int64_t &size = sizes[side.across];
    size = int64_t(llvm::alignTo(uint64_t(size), uint64_t(size < kLeastOfLines ? kBytes : kLineBytes) / side.bytes()));
  }
  if (!turnsAny && !isLengthened && !isWidenedAny)
    return;
  const int64_t multiple = depth_ >= kLeastDepthOfParts ? kLengthOfParts : kBytes / narrowest;
  // Sums that no vector divides are not taken apart.
  if (isLengthened || (isWidenedAny && (areAllCopied || depth_ * narrowest % kBytes != 0)))
    sizes[reduced_] = int64_t(llvm::alignTo(uint64_t(depth_), uint64_t(multiple)));
  SmallVector<AffineMap> maps;
  for (auto [side, isTurned] : llvm::zip_equal(sides_, areTurned)) {
    if (!isTurned)
      maps.push_back(lengthened(b, side, sizes).map);
    else if (elementsOf(side.type) > kMostAtOnce)
      maps.push_back(lengthened(b, turned(b, side), sizes).map);
    else
      maps.push_back(turned(b, lengthened(b, side, sizes)).map);
  }
  if (!turnsAny && !isWidenedAny)
    return; // the same operation on longer operands
  OpOperand *start = op_.getDpsInitOperand(0);
  maps.push_back(op_.getMatchingIndexingMap(start));
  auto generic = linalg::GenericOp::create(b, op_.getLoc(), start->get().getType(),
                                           ValueRange{sides_[0].operand->get(), sides_[1].operand->get()}, start->get(),
                                           maps, op_.getIteratorTypesArray());
  generic.getRegion().takeBody(op_->getRegion(0));
  op_->getResult(0).replaceAllUsesWith(generic->getResult(0));
  op_->erase();
  if (!isWidenedAny)
    return;
  SmallVector<int64_t> shape;
  for (AffineExpr expr : maps.back().getResults())
    shape.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  widenResult(generic, shape);
}

} // namespace

bool isMatrixProduct(linalg::LinalgOp op) {
  return MatrixProduct::of(op).has_value();
}

void alignOperands(linalg::LinalgOp op) {
  const auto isSlow = [](const MatrixProduct &product) {
    const bool isUnaligned = product.isAnyUnaligned();
    return !product.isReadSingly() && (product.isLarge(isUnaligned) || (isUnaligned && product.isReadForLong()));
  };
  if (std::optional<MatrixProduct> product = MatrixProduct::of(op);
      product && (product->isAcrossTwice() || (product->isKnown() && isSlow(*product))))
    product->align();
}

bool readsTurnedCopy(OpOperand &operand) {
  if (readsChannelsLast(operand))
    return true;
  const std::optional<linalg::GenericOp> copy = turnedCopyOf(operand);
  auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!copy || !op)
    return false;
  auto source = cast<RankedTensorType>(linalg::GenericOp(*copy).getDpsInputs()[0].getType());
  const int64_t bytes = elementBytes(source.getElementType());
  const std::optional<MatrixProduct> product = MatrixProduct::of(op);
  const bool isUnaligned = sizeOr(source.getShape().back()) * bytes % kBytes != 0;
  if ((!source.hasStaticShape() || (product && !product->isKnown())) &&
      !(product && product->mayStayAcross() && !isUnaligned))
    return false;
  if (!product || (isUnaligned && product->isLarge(isUnaligned) && !product->isReadSingly()))
    return product.has_value();
  if (product->mayStayAcross())
    return product->isTurnedBeside(&operand);
  return product->isLarge(isUnaligned) && isNeverTurned(source.getElementType(), op);
}

} // namespace tenon::compiler::dispatch
