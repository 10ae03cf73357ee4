// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/channel_order.h"

#include "compiler/dispatch/analysis/convolutions/convolution.h"
#include "compiler/dispatch/analysis/convolutions/grouped.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/images/channels_last.h"
#include "compiler/dispatch/products/orders/orders.h"
#include "compiler/dispatch/products/orders/reorder.h"
#include "compiler/dispatch/products/orders/turned_result.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

double bytesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  double bytes = double(elementBytes(type.getElementType()));
  for (int64_t size : type.getShape())
    bytes *= ShapedType::isDynamic(size) ? 1 : double(size);
  return bytes;
}

linalg::GenericOp genericAround(Operation *op, Block *block) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic && isa<tensor::ExtractOp>(op))
    generic = dyn_cast_or_null<linalg::GenericOp>(op->getParentOp());
  return generic && generic->getBlock() == block && generic.hasPureTensorSemantics() ? generic : linalg::GenericOp();
}

/// Which dimension of the image that a depthwise convolution reads holds the channels: each of them has its own window
/// of several places. Nothing for anything else.
std::optional<unsigned> channelsOfWindows(linalg::GenericOp op, OpOperand &operand) {
  if (op.getNumDpsInputs() != 2 || &operand != op.getDpsInputOperand(0) || !isWindow(op))
    return std::nullopt;
  const AffineMap image = op.getMatchingIndexingMap(&operand),
                  filters = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  std::optional<unsigned> channels;
  unsigned windows = 0;
  for (auto [dimension, expr] : llvm::enumerate(image.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    windows += !loop;
    if (!loop || !filters.getResultPosition(loop))
      continue;
    if (channels)
      return std::nullopt;
    channels = unsigned(dimension);
  }
  return windows > 0 ? channels : std::nullopt;
}

/// A convolution in groups of few channels.
std::optional<GroupedWindows> groupsOf(linalg::GenericOp op) {
  const std::optional<Contraction> product = contractionOf(op);
  return product ? GroupedWindows::of(*product) : std::nullopt;
}

/// Which dimensions of the image that it reads are its groups, and each one's channels.
std::optional<std::pair<unsigned, unsigned>> channelsOfGroups(linalg::GenericOp op, OpOperand &operand) {
  const std::optional<GroupedWindows> grouped = groupsOf(op);
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!grouped || grouped->map != map)
    return std::nullopt;
  const std::optional<unsigned> group = map.getResultPosition(getAffineDimExpr(grouped->group, op.getContext())),
                                channel = map.getResultPosition(getAffineDimExpr(grouped->channel, op.getContext()));
  return group && channel ? std::optional(std::pair(*group, *channel)) : std::nullopt;
}

/// The order in which an operation wants the image that it reads; nothing where it takes any.
///
/// A convolution wants its channels last, also in groups, whose kernel reads lines of neighbouring ones. So does a
/// depthwise one, whose threads have some channels each and go through places, where channels fill whole vectors; and
/// one of a single place, a product of matrices, where rows of places are not aligned: tensor cores take aligned ones
/// as they lie.
std::optional<Order> wantedBy(linalg::GenericOp op, OpOperand &operand) {
  constexpr int64_t kVectorBytes = 16;
  if (op.isDpsInit(&operand) || isOfAttention(op))
    return std::nullopt;
  if (const std::optional<std::pair<unsigned, unsigned>> grouped = channelsOfGroups(op, operand)) {
    Order order;
    for (int64_t dimension = 0; dimension < cast<RankedTensorType>(operand.get().getType()).getRank(); ++dimension)
      if (dimension != grouped->first && dimension != grouped->second)
        order.push_back(dimension);
    order.append({grouped->first, grouped->second});
    return order;
  }
  if (const std::optional<Convolution> convolution = Convolution::ofUnknownImages(op)) {
    if (&operand != convolution->image || !convolution->isOnCores || !convolution->hasManyChannels() ||
        convolution->isOfFilters || readsPlacesAcross(*convolution))
      return std::nullopt;
    return orderOf(*convolution, convolution->image);
  }
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!type || type.getRank() < 4)
    return std::nullopt;
  if (const std::optional<unsigned> channels = channelsOfWindows(op, operand))
    return *channels + 1 == type.getRank() || type.isDynamicDim(*channels) ||
                   type.getDimSize(*channels) * int64_t(elementBytes(type.getElementType())) % kVectorBytes != 0
               ? std::nullopt
               : std::optional(lastOrder(type.getRank(), *channels));
  if (readsWindows(op) || !map.isProjectedPermutation())
    return std::nullopt;
  const std::optional<Contraction> product = contractionOf(op);
  if (!product || product->reduced.size() != 1 || !mayRoundForTensorCores(*product))
    return std::nullopt;
  const std::optional<unsigned> channels =
      map.getResultPosition(getAffineDimExpr(product->reduced.front(), op.getContext()));
  if (!channels || *channels + 1 == type.getRank() || type.isDynamicDim(*channels))
    return std::nullopt;
  const int64_t element = int64_t(elementBytes(type.getElementType()));
  int64_t places = element;
  for (int64_t size : type.getShape().drop_front(*channels + 1))
    places *= ShapedType::isDynamic(size) ? 1 : size;
  if (places % kVectorBytes == 0 || type.getDimSize(*channels) * element % kVectorBytes != 0)
    return std::nullopt;
  return lastOrder(type.getRank(), *channels);
}

/// Tensors of one order.
class Images {
public:
  explicit Images(Block &block) : block_(&block) {}

  /// Collects what has an order where `tensor` has that one.
  void collect(Value tensor, ArrayRef<int64_t> order) {
    visit(tensor, order);
    while (!waiting_.empty()) {
      Value next = waiting_.pop_back_val();
      const Order its = orders_.lookup(next);
      lookBack(next, its);
      for (OpOperand &use : next.getUses())
        lookAhead(next, its, use);
    }
  }

  bool isWorthIt() const { return isGood_ && gain_ > cost_; }
  auto tensors() const { return llvm::make_first_range(orders_); }
  void turn();

private:
  void visit(Value tensor, ArrayRef<int64_t> order) {
    auto [place, isNew] = orders_.try_emplace(tensor, Order(order));
    if (isNew)
      waiting_.push_back(tensor);
    else
      isGood_ &= place->second == Order(order);
  }

  /// Whatever the operation goes through beside. A convolution of few channels has copies of its own.
  void tie(linalg::GenericOp op, ArrayRef<int64_t> order, const LoopSets &from) {
    if (const std::optional<Convolution> convolution = Convolution::ofUnknownImages(op);
        convolution && (convolution->isOfFilters || !convolution->hasManyChannels()) && !groupsOf(op))
      return;
    auto beside = [&](Value other, const LoopSets &to) {
      if (std::optional<Order> its = orderBeside(order, from, to))
        visit(other, *its);
    };
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<RankedTensorType>(input->get().getType()))
        beside(input->get(), loopsOf(op.getMatchingIndexingMap(input), op));
    for (auto read : op.getBody()->getOps<tensor::ExtractOp>())
      if (read.getTensor().getParentBlock() == block_)
        beside(read.getTensor(), loopsOf(read, op));
    for (OpResult result : op->getResults())
      beside(result, loopsOf(op.getIndexingMapMatchingResult(result), op));
  }

  /// Of the tensor on the other side of a reshape: whether it has an order, too.
  bool passReshape(Operation *reshape, Value other, ArrayRef<int64_t> order, bool isOfSource) {
    const std::optional<Order> its =
        isReshape(reshape) && reshape->getBlock() == block_ ? orderThrough(reshape, order, isOfSource) : std::nullopt;
    if (its)
      visit(other, *its);
    return its.has_value();
  }

  void lookBack(Value tensor, ArrayRef<int64_t> order) {
    Operation *reshape = tensor.getDefiningOp();
    if (isReshape(reshape) && passReshape(reshape, reshape->getOperand(0), order, /*isOfSource=*/false))
      return;
    auto op = tensor.getDefiningOp() ? genericAround(tensor.getDefiningOp(), block_) : linalg::GenericOp();
    if (!op) {
      cost_ += costOf(tensor, order);
      return;
    }
    auto result = cast<OpResult>(tensor);
    Value start = op.getDpsInits()[result.getResultNumber()];
    if (auto fill = start.getDefiningOp<linalg::FillOp>())
      start = fill.getOutputs()[0];
    isGood_ &= bool(start.getDefiningOp<tensor::EmptyOp>());
    tie(op, order, loopsOf(op.getIndexingMapMatchingResult(result), op));
  }

  void lookAhead(Value tensor, ArrayRef<int64_t> order, OpOperand &use) {
    if (isReshape(use.getOwner()) && passReshape(use.getOwner(), use.getOwner()->getResult(0), order, true))
      return;
    linalg::GenericOp op = genericAround(use.getOwner(), block_);
    if (!op) {
      // Its size is that of another dimension where an operation makes the tensor in another order.
      isGood_ &= !isa<tensor::DimOp>(use.getOwner()) || !tensor.getDefiningOp();
      if (isa<tensor::DimOp>(use.getOwner()))
        return;
      if (leaving_.insert(tensor))
        cost_ += costOf(tensor, order);
      return;
    }
    if (auto read = dyn_cast<tensor::ExtractOp>(use.getOwner())) {
      tie(op, order, loopsOf(read, op));
      return;
    }
    if (op.isDpsInit(&use)) {
      isGood_ = false;
      return;
    }
    tie(op, order, loopsOf(op.getMatchingIndexingMap(&use), op));
    if (const std::optional<Order> wanted = wantedBy(op, use)) {
      isGood_ &= *wanted == Order(order);
      if (!llvm::is_sorted(*wanted) && copied_.insert(tensor))
        gain_ += bytesOf(tensor);
    }
    if (const std::optional<Convolution> convolution = Convolution::ofUnknownImages(op))
      isGood_ &= &use == convolution->image;
  }

  /// Both of whose tensors have an order, the same one.
  bool isTurnedReshape(Operation *op) const {
    return isReshape(op) && op->getBlock() == block_ && orders_.contains(op->getOperand(0)) &&
           orders_.contains(op->getResult(0)) &&
           orderThrough(op, orders_.lookup(op->getOperand(0)), /*isOfSource=*/true) ==
               std::optional(orders_.lookup(op->getResult(0)));
  }

  /// What the program itself has in that order already is not turned.
  static double costOf(Value tensor, ArrayRef<int64_t> order) { return llvm::is_sorted(order) ? 0 : bytesOf(tensor); }

  Block *block_;
  llvm::MapVector<Value, Order> orders_;
  SmallVector<Value> waiting_;
  llvm::SetVector<Value> leaving_, copied_;
  bool isGood_ = true;
  double gain_ = 0, cost_ = 0;
};

Value turned(OpBuilder &b, Value tensor, ArrayRef<int64_t> order) {
  const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, tensor.getLoc(), tensor);
  Value empty =
      tensor::EmptyOp::create(b, tensor.getLoc(), inOrder(ArrayRef(sizes), order), getElementTypeOrSelf(tensor));
  return linalg::TransposeOp::create(b, tensor.getLoc(), tensor, empty, order)->getResult(0);
}

void Images::turn() {
  llvm::SetVector<Operation *> touched;
  // Of which both tensors are turned, each with the order of the shorter one, which is asked before any is turned.
  llvm::SmallDenseMap<Operation *, Order, 16> reshapes;
  for (auto &[tensor, order] : orders_)
    if (Operation *reshape = tensor.getDefiningOp(); isTurnedReshape(reshape))
      reshapes[reshape] = isa<tensor::ExpandShapeOp>(reshape) ? orders_.lookup(reshape->getOperand(0)) : order;
  for (auto &[tensor, order] : orders_) {
    if (llvm::is_sorted(order))
      continue;
    SmallVector<OpOperand *> inside, outside, through;
    for (OpOperand &use : tensor.getUses())
      (reshapes.contains(use.getOwner())       ? through
       : genericAround(use.getOwner(), block_) ? inside
                                               : outside)
          .push_back(&use);
    OpBuilder b(block_->getParentOp()->getContext());
    b.setInsertionPointAfterValue(tensor);
    auto op = tensor.getDefiningOp() ? genericAround(tensor.getDefiningOp(), block_) : linalg::GenericOp();
    Operation *reshape = reshapes.contains(tensor.getDefiningOp()) ? tensor.getDefiningOp() : nullptr;
    if (op || reshape) {
      if (reshape) {
        turnReshape(reshape, order, reshapes.lookup(reshape));
      } else {
        turnResultOf(cast<OpResult>(tensor), order);
        touched.insert(op);
      }
      if (!outside.empty()) {
        Value back = turned(b, tensor, invertPermutationVector(order));
        for (OpOperand *use : outside)
          use->set(back);
      }
    } else if (!inside.empty() || !through.empty()) {
      Value made = turned(b, tensor, order);
      for (OpOperand *use : llvm::concat<OpOperand *>(inside, through))
        use->set(made);
    }
    for (OpOperand *use : inside) {
      if (auto read = dyn_cast<tensor::ExtractOp>(use->getOwner())) {
        const SmallVector<Value> indices(read.getIndices());
        read.getIndicesMutable().assign(inOrder(ArrayRef(indices), order));
        continue;
      }
      turnRead(*use, order);
      touched.insert(use->getOwner());
    }
  }
  for (Operation *op : touched)
    orderLoops(cast<linalg::GenericOp>(op));
}

/// What sums of groups start from has these from the beginning, and is no reshape.
void giveStartsTheirGroups(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (auto reshape : llvm::make_early_inc_range(block.getOps<tensor::ExpandShapeOp>())) {
      if (!reshape.getSrc().getDefiningOp<tensor::EmptyOp>())
        continue;
      OpBuilder b(reshape);
      Value empty = tensor::EmptyOp::create(b, reshape.getLoc(), reshape.getMixedOutputShape(),
                                            reshape.getResultType().getElementType());
      if (empty.getType() == reshape.getType())
        reshape.replaceAllUsesWith(empty);
    }
}

} // namespace

void orderChannels(func::FuncOp function) {
  giveStartsTheirGroups(function);
  for (Block &block : function.getBody()) {
    llvm::DenseSet<Value> seen;
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>()))
      for (OpOperand *operand : op.getDpsInputOperands()) {
        const std::optional<Order> order = wantedBy(op, *operand);
        if (!order || llvm::is_sorted(*order) || seen.contains(operand->get()))
          continue;
        Images images(block);
        images.collect(operand->get(), *order);
        for (Value tensor : images.tensors())
          seen.insert(tensor);
        if (images.isWorthIt()) {
          images.turn();
          break; // the operation is another one now
        }
      }
  }
}

} // namespace tenon::compiler::dispatch
