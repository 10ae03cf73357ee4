// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/channels_last.h"

#include "compiler/dispatch/contraction.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Convolutions of fewer multiplications are over before a copy is.
constexpr int64_t kLeastMultiplications = int64_t(1) << 26;
// Channels of fewer bytes fill less than a half of what tensor cores multiply at once; others than multiples of 16 are
// copied one by one.
constexpr int64_t kLeastBytes = 64, kVectorBytes = 16;

bool readsImage(linalg::GenericOp op) {
  return !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); });
}

/// The operand that the side is, but for an extension; null where it is computed.
OpOperand *operandOf(const ContractionSide &side, linalg::GenericOp op) {
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  return argument && argument.getOwner() == op.getBody() && int64_t(argument.getArgNumber()) < op.getNumDpsInputs()
             ? op.getDpsInputOperand(argument.getArgNumber())
             : nullptr;
}

/// The order of dimensions with one of them last.
SmallVector<int64_t> lastOrder(unsigned rank, unsigned dimension) {
  SmallVector<int64_t> order;
  for (unsigned i = 0; i < rank; ++i)
    if (i != dimension)
      order.push_back(i);
  order.push_back(dimension);
  return order;
}

template <typename T> SmallVector<T> inOrder(ArrayRef<T> values, ArrayRef<int64_t> order) {
  return llvm::to_vector(llvm::map_range(order, [&](int64_t from) { return values[from]; }));
}

Value turned(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, inOrder(type.getShape(), order), type.getElementType());
  return linalg::TransposeOp::create(b, loc, tensor, empty, order)->getResult(0);
}

/// The image with a border, turned: a border around the turned image. Null where the tensor is no such.
Value turnedBorder(OpBuilder &b, Value tensor, ArrayRef<int64_t> order) {
  auto border = tensor.getDefiningOp<linalg::GenericOp>();
  if (!border || !border->hasOneUse() || border.getNumDpsInputs() != 0 || border->getNumResults() != 1 ||
      !border.getIndexingMapsArray().front().isIdentity() ||
      !borderOf(border.getBody()->getTerminator()->getOperand(0), border))
    return {};
  const Location loc = border.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto read = *border.getBody()->getOps<tensor::ExtractOp>().begin();
  Value image = turned(b, loc, read.getTensor(), order);
  const SmallVector<int64_t> shape = inOrder(type.getShape(), order);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  const SmallVector<unsigned> loops(order.begin(), order.end());
  return linalg::GenericOp::create(b, loc, type.clone(shape), ValueRange(), empty,
                                   AffineMap::getPermutationMap(loops, b.getContext()), border.getIteratorTypesArray(),
                                   [&](OpBuilder &inner, Location, ValueRange) {
                                     IRMapping values;
                                     for (Operation &op : *border.getBody()) {
                                       if (&op != read) {
                                         inner.clone(op, values);
                                         continue;
                                       }
                                       SmallVector<Value> places;
                                       for (int64_t from : order)
                                         places.push_back(values.lookupOrDefault(read.getIndices()[from]));
                                       values.map(read.getResult(),
                                                  tensor::ExtractOp::create(inner, loc, image, places).getResult());
                                     }
                                   })
      .getResult(0);
}

class Convolution {
public:
  static std::optional<Convolution> of(linalg::GenericOp op);

  bool isLarge() const {
    double multiplications = 1;
    for (int64_t size : op_.getStaticLoopRanges())
      multiplications *= double(size);
    return multiplications >= double(kLeastMultiplications);
  }
  void bring() {
    OpBuilder b(op_);
    for (OpOperand *operand : {image_, filters_})
      bringLast(b, operand);
  }
  /// The dimension of the channels.
  unsigned channelsOf(OpOperand *operand) const {
    return *op_.getMatchingIndexingMap(operand).getResultPosition(getAffineDimExpr(channels_, op_.getContext()));
  }

private:
  explicit Convolution(linalg::GenericOp op) : op_(op) {}

  bool isLast(OpOperand *operand) const;
  void bringLast(OpBuilder &b, OpOperand *operand);

  mutable linalg::GenericOp op_;
  OpOperand *image_ = nullptr, *filters_ = nullptr;
  unsigned channels_ = 0; // the loop
};

std::optional<Convolution> Convolution::of(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic))
    return std::nullopt;
  const std::optional<Contraction> product = contractionOf(op);
  if (!product || !isForTensorCores(*product))
    return std::nullopt;
  Convolution found(op);
  for (const ContractionSide *side : {&product->left, &product->right}) {
    OpOperand *operand = operandOf(*side, op);
    if (!operand || !cast<RankedTensorType>(operand->get().getType()).hasStaticShape())
      return std::nullopt;
    const bool isImage = !op.getMatchingIndexingMap(operand).isProjectedPermutation();
    (isImage ? found.image_ : found.filters_) = operand;
  }
  if (!found.image_ || !found.filters_)
    return std::nullopt;
  // The sum over neither a row of the window nor a column.
  std::optional<unsigned> channels;
  const AffineMap image = op.getMatchingIndexingMap(found.image_), filters = op.getMatchingIndexingMap(found.filters_);
  for (unsigned loop : product->reduced)
    if (image.getResultPosition(getAffineDimExpr(loop, op.getContext())) &&
        filters.getResultPosition(getAffineDimExpr(loop, op.getContext()))) {
      if (channels)
        return std::nullopt;
      channels = loop;
    }
  if (!channels)
    return std::nullopt;
  found.channels_ = *channels;
  const int64_t bytes = op.getStaticLoopRanges()[*channels] *
                        elementBytes(cast<RankedTensorType>(found.image_->get().getType()).getElementType());
  return bytes >= kLeastBytes && bytes % kVectorBytes == 0 ? std::optional(found) : std::nullopt;
}

/// Whether the operand lies as it is multiplied: tensor cores turn filters of 16 bits themselves.
bool Convolution::isLast(OpOperand *operand) const {
  const AffineMap map = op_.getMatchingIndexingMap(operand);
  const unsigned last = map.getNumResults() - 1;
  if (channelsOf(operand) == last)
    return true;
  const bool isTurned = cast<RankedTensorType>(operand->get().getType()).getElementTypeBitWidth() == 16;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(last));
  return operand == filters_ && isTurned && loop &&
         op_.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::parallel;
}

void Convolution::bringLast(OpBuilder &b, OpOperand *operand) {
  if (isLast(operand))
    return;
  SmallVector<AffineMap> maps = op_.getIndexingMapsArray();
  AffineMap &map = maps[operand->getOperandNumber()];
  const SmallVector<int64_t> order = lastOrder(map.getNumResults(), channelsOf(operand));
  Value tensor = turnedBorder(b, operand->get(), order);
  operand->set(tensor ? tensor : turned(b, op_.getLoc(), operand->get(), order));
  map = AffineMap::get(map.getNumDims(), 0, inOrder(map.getResults(), order), b.getContext());
  op_.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

} // namespace

void bringChannelsLast(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() < 2 || op.getNumDpsInputs() != 2 ||
      op->getNumResults() != 1)
    return;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    if (!linalg::isaConvolutionOpInterface(op))
      return;
    IRRewriter rewriter(op->getContext());
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return;
    generic = *made;
  }
  if (!readsImage(generic))
    return;
  if (std::optional<Convolution> convolution = Convolution::of(generic); convolution && convolution->isLarge())
    convolution->bring();
}

bool readsChannelsLast(OpOperand &operand) {
  auto copy = operand.get().getDefiningOp<linalg::GenericOp>();
  auto op = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!copy || !op || copy.getNumDpsInputs() != 1 || !llvm::hasSingleElement(*copy.getBody()) ||
      copy.getBody()->getTerminator()->getOperand(0) != copy.getBody()->getArgument(0) ||
      !llvm::all_of(copy.getIndexingMapsArray(), [](AffineMap map) { return map.isPermutation(); }))
    return false;
  const std::optional<Contraction> product = readsWindows(op) ? contractionOf(op) : std::nullopt;
  if (!product || !isForTensorCores(*product) || op.isDpsInit(&operand))
    return false;
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction;
}

} // namespace tenon::compiler::dispatch
