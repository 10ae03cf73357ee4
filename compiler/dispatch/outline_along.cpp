// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/outline_along.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/prepare/narrow_indices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// A dimension of an operand.
struct Place {
  unsigned operand;
  int64_t dimension;
};

/// Operands have sizes in common: which one says how much `place` measures.
Place sayerOf(Operation *op, Place place) {
  const unsigned inputs = op->getNumOperands() - op->getNumResults();
  if (auto scan = dyn_cast<linalg_ext::ScanOp>(op)) {
    const bool isRow = place.operand == 2; // the accumulator has no such dimension
    return {0, place.dimension + (isRow && place.dimension >= int64_t(scan.getDimension()) ? 1 : 0)};
  }
  if (isa<linalg_ext::SortOp>(op))
    return {0, place.dimension};
  if (isa<linalg_ext::RouteOp, linalg_ext::TileTransformOp>(op))
    return place;
  if (auto topk = dyn_cast<linalg_ext::TopkOp>(op)) {
    const bool isK = place.operand >= inputs && place.dimension == int64_t(topk.getDimension());
    return {isK ? inputs : 0, place.dimension};
  }
  // The indices count slices as the updates do.
  auto scatter = cast<linalg_ext::ScatterOp>(op);
  auto typeOf = [&](unsigned operand) { return cast<RankedTensorType>(op->getOperand(operand).getType()); };
  if (place.operand == 1 && place.dimension < linalg_ext::batchRankOf(typeOf(1), typeOf(0), typeOf(inputs),
                                                                      int64_t(scatter.getDimensionMap().size()),
                                                                      /*mayOverlap=*/true))
    return {0, place.dimension};
  return place;
}

class AlongOutliner {
public:
  AlongOutliner(Operation *op, StringRef name) : op_(op), name_(name), host_(op), loc_(op->getLoc()) {}

  FailureOr<OutlinedKernel> run();

private:
  SmallVector<int64_t> passSizes(OpOperand &operand, SmallVectorImpl<Value> *dims);
  LogicalResult passScalar(Value scalar);
  bool isSameEverywhere(OpOperand &operand) const;
  LogicalResult collect();
  Value buildStart(OpBuilder &b, OpOperand &init, IRMapping &inside);
  void build();

  Operation *op_;
  StringRef name_;
  OpBuilder host_;
  Location loc_;
  OutlinedKernel kernel_;
  KernelInputs inputs_;
  llvm::DenseMap<OpOperand *, SmallVector<int64_t>> initSizes_;
};

SmallVector<int64_t> AlongOutliner::passSizes(OpOperand &operand, SmallVectorImpl<Value> *dims) {
  SmallVector<int64_t> positions;
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension))
      continue;
    const Place sayer = sayerOf(op_, {operand.getOperandNumber(), dimension});
    Value size = dimensionOf(host_, loc_, op_->getOperand(sayer.operand), sayer.dimension);
    if (dims)
      dims->push_back(size);
    positions.push_back(inputs_.sizes.insert({size, int64_t(inputs_.sizes.size())}).first->second);
  }
  return positions;
}

LogicalResult AlongOutliner::passScalar(Value scalar) {
  if (inputs_.scalars.contains(scalar))
    return success();
  if (Operation *constant = scalar.getDefiningOp(); constant && constant->hasTrait<OpTrait::ConstantLike>()) {
    inputs_.constants.insert(constant);
    return success();
  }
  if (!scalar.getType().isIndex() && !isSupportedElement(scalar.getType()))
    return op_->emitError() << "no kernel can be generated: it uses a value of type " << scalar.getType()
                            << " from outside";
  inputs_.scalars.insert({scalar, 0});
  return success();
}

DenseElementsAttr splatOf(Value value) {
  DenseElementsAttr data;
  return matchPattern(value, m_Constant(&data)) && data.isSplat() ? data : DenseElementsAttr();
}

/// Updates of a scatter that are one scalar: nothing to read.
bool AlongOutliner::isSameEverywhere(OpOperand &operand) const {
  return isa<linalg_ext::ScatterOp>(op_) && operand.getOperandNumber() == 0 &&
         (operand.get().getDefiningOp<linalg::FillOp>() || splatOf(operand.get()));
}

LogicalResult AlongOutliner::collect() {
  const unsigned inputs = op_->getNumOperands() - op_->getNumResults();
  for (OpOperand &operand : op_->getOpOperands()) {
    Value value = operand.get();
    if (operand.getOperandNumber() < inputs && isSameEverywhere(operand)) {
      initSizes_[&operand] = passSizes(operand, nullptr);
      if (auto fill = value.getDefiningOp<linalg::FillOp>(); fill && failed(passScalar(fill.getInputs()[0])))
        return failure();
      continue;
    }
    if (operand.getOperandNumber() >= inputs) {
      const unsigned result = operand.getOperandNumber() - inputs;
      const bool isKept = llvm::is_contained(kernel_.results, op_->getResult(result));
      initSizes_[&operand] = passSizes(operand, isKept ? &kernel_.resultDims : nullptr);
      if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
        if (failed(passScalar(fill.getInputs()[0])))
          return failure();
        continue;
      }
      if (!readsStart(op_, result) || value.getDefiningOp<tensor::EmptyOp>() || splatOf(value))
        continue;
    }
    if (!inputs_.tensors.contains(value)) {
      SmallVector<int64_t> positions = passSizes(operand, &kernel_.tensorDims);
      inputs_.tensors.insert({value, positions});
    }
  }
  if (op_->getNumRegions() == 0)
    return success();
  WalkResult captured = op_->getRegion(0).walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (op_->getRegion(0).isAncestor(operand.getParentRegion()))
        continue;
      if (isa<TensorType>(operand.getType())) {
        op_->emitError() << "no kernel can be generated: its region reads a tensor from outside";
        return WalkResult::interrupt();
      }
      if (failed(passScalar(operand)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(captured.wasInterrupted());
}

Value AlongOutliner::buildStart(OpBuilder &b, OpOperand &init, IRMapping &inside) {
  if (inputs_.tensors.contains(init.get()) &&
      readsStart(op_, init.getOperandNumber() + op_->getNumResults() - op_->getNumOperands()))
    return inside.lookup(init.get());
  auto type = cast<RankedTensorType>(init.get().getType());
  SmallVector<Value> dynamic;
  for (int64_t position : initSizes_.lookup(&init))
    dynamic.push_back(arith::IndexCastOp::create(b, loc_, b.getIndexType(), kernel_.function.getArgument(position)));
  Value empty = tensor::EmptyOp::create(b, loc_, type, dynamic);
  Value scalar;
  if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
    scalar = inside.lookup(fill.getInputs()[0]);
  else if (DenseElementsAttr splat = splatOf(init.get()))
    scalar = arith::ConstantOp::create(b, loc_, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  return scalar ? linalg::FillOp::create(b, loc_, scalar, empty).getResult(0) : empty;
}

void AlongOutliner::build() {
  OpBuilder b(loc_.getContext());
  IRMapping inside = openKernel(kernel_, inputs_, loc_, name_, b);
  func::FuncOp function = kernel_.function;
  const unsigned inputs = op_->getNumOperands() - op_->getNumResults();
  SmallVector<Value> operands;
  for (OpOperand &operand : op_->getOpOperands())
    operands.push_back(operand.getOperandNumber() < inputs && !isSameEverywhere(operand)
                           ? inside.lookup(operand.get())
                           : buildStart(b, operand, inside));
  // Operands of the copy that the mapping does not know are set right behind it.
  for (OpOperand &operand : op_->getOpOperands())
    if (!inside.contains(operand.get()))
      inside.map(operand.get(), operands[operand.getOperandNumber()]);
  Operation *copy = b.clone(*op_, inside);
  copy->setOperands(operands);
  copy->setDiscardableAttrs(DictionaryAttr::get(b.getContext()));
  for (StringRef kept : {StringRef(kUnsignedAttr), StringRef(kPlacesAttr), StringRef(linalg_ext::kSortedAttr)})
    if (Attribute value = op_->getAttr(kept))
      copy->setAttr(kept, value);
  SmallVector<Value> returned;
  for (auto [index, result] : llvm::enumerate(kernel_.results)) {
    const unsigned number = cast<OpResult>(result).getResultNumber();
    const auto &positions = initSizes_[&linalg_ext::initOf(op_, number)];
    if (!positions.empty())
      function.setResultAttr(index, kDimsAttr, b.getDenseI64ArrayAttr(positions));
    returned.push_back(copy->getResult(number));
  }
  func::ReturnOp::create(b, loc_, returned);
}

FailureOr<OutlinedKernel> AlongOutliner::run() {
  if (failed(verifyAlongOp(op_)))
    return failure();
  for (OpResult result : op_->getResults())
    // The values of a top-k are where it keeps what is best so far.
    if (!result.use_empty() || (isa<linalg_ext::TopkOp>(op_) && result.getResultNumber() == 0))
      kernel_.results.push_back(result);
  if (failed(collect()))
    return failure();
  build();
  passInputs(kernel_, inputs_, loc_, host_);
  return std::move(kernel_);
}

/// Whether elements of the tensor say where they stand along the dimension, as integers.
bool holdsPlaces(Value tensor, int64_t dimension) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumResults() != 1 || op.getNumDpsInputs() != 0 || op.getNumReductionLoops() != 0 ||
      !op.getIndexingMapsArray().front().isIdentity())
    return false;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  while (auto converted = value.getDefiningOp<arith::IndexCastOp>())
    value = converted.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && int64_t(index.getDim()) == dimension;
}

} // namespace

void computePlaces(func::FuncOp function) {
  for (auto sort : llvm::to_vector(function.getOps<linalg_ext::SortOp>())) {
    SmallVector<int64_t> places;
    Block &region = sort.getRegion().front();
    for (OpOperand &operand : sort->getOpOperands()) {
      const unsigned number = operand.getOperandNumber();
      if (!sort.getInputs().empty() || !region.getArgument(2 * number).use_empty() ||
          !region.getArgument(2 * number + 1).use_empty() || !holdsPlaces(operand.get(), int64_t(sort.getDimension())))
        continue;
      auto stored = operand.get().getDefiningOp<linalg::GenericOp>();
      operand.set(stored.getOutputs()[0]); // elements of nothing
      if (stored.use_empty())
        stored.erase();
      places.push_back(number);
    }
    if (!places.empty())
      sort->setAttr(kPlacesAttr, DenseI64ArrayAttr::get(sort.getContext(), places));
  }
}

bool readsStart(Operation *op, unsigned result) {
  if (isa<linalg_ext::ScanOp>(op))
    return result == 1;
  if (isa<linalg_ext::RouteOp, linalg_ext::TileTransformOp>(op))
    return false;
  if (auto sort = dyn_cast<linalg_ext::SortOp>(op)) {
    auto places = op->getAttrOfType<DenseI64ArrayAttr>(kPlacesAttr);
    return sort.getInputs().empty() && !(places && llvm::is_contained(places.asArrayRef(), int64_t(result)));
  }
  return true;
}

FailureOr<OutlinedKernel> outlineAlong(Operation *op, StringRef name) {
  return AlongOutliner(op, name).run();
}

} // namespace tenon::compiler::dispatch
