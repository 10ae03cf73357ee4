// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/outline_kernel.h"

#include "compiler/dispatch/dimensions.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class Outliner {
public:
  Outliner(linalg::GenericOp op, StringRef name) : op_(op), name_(name), host_(op), loc_(op.getLoc()) {}

  FailureOr<OutlinedKernel> run();

private:
  /// What a result starts from: nothing, a scalar, or a tensor.
  struct Start {
    Value scalar;
    Attribute splat;
    Value tensor;
  };

  Start startOf(OpOperand &init);
  LogicalResult collect();
  Value loopSize(unsigned loop);
  Value sizeOf(OpOperand &operand, int64_t dimension);
  SmallVector<int64_t> passSizes(OpOperand &operand, SmallVectorImpl<Value> &dims);
  int64_t passSize(Value size);
  LogicalResult passScalar(Value scalar);
  void passTensor(OpOperand &operand, Value tensor);
  Value workload();
  void buildFunction();
  Value buildStart(OpBuilder &b, OpOperand &init, ArrayRef<int64_t> positions, IRMapping &inside);

  linalg::GenericOp op_;
  StringRef name_;
  OpBuilder host_; // before the operation
  Location loc_;
  OutlinedKernel kernel_;
  SmallVector<Start> starts_;                                    // [results]
  llvm::SmallMapVector<Value, int64_t, 4> sizes_;                // index value -> argument
  llvm::SmallMapVector<Value, int64_t, 4> scalars_;              // scalar -> argument, after the sizes
  SmallVector<Operation *> constants_;                           // repeated in the kernel
  llvm::SmallMapVector<Value, SmallVector<int64_t>, 4> tensors_; // tensor -> positions of its sizes
  SmallVector<SmallVector<int64_t>> resultSizes_;                // [results] positions of the sizes
};

Outliner::Start Outliner::startOf(OpOperand &init) {
  if (op_.getMatchingBlockArgument(&init).use_empty() || init.get().getDefiningOp<tensor::EmptyOp>())
    return {};
  if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
    return {fill.getInputs()[0], {}, {}};
  DenseElementsAttr data;
  if (matchPattern(init.get(), m_Constant(&data)) && data.isSplat())
    return {{}, data.getSplatValue<Attribute>(), {}};
  return {{}, {}, init.get()};
}

/// Size of a loop: from a result where one is indexed by it, else from an input; a known size where there is one.
Value Outliner::loopSize(unsigned loop) {
  Value found;
  auto look = [&](OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return;
    for (auto [dimension, expr] : llvm::enumerate(op_.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!found && dim && dim.getPosition() == loop)
        found = dimensionOf(host_, loc_, operand.get(), dimension);
    }
  };
  for (OpOperand &init : op_.getDpsInitsMutable())
    look(init);
  for (OpOperand *input : op_.getDpsInputOperands())
    look(*input);
  return found;
}

/// A dimension indexed by a loop alone has the loop's size: the dispatch then states that sizes agree.
Value Outliner::sizeOf(OpOperand &operand, int64_t dimension) {
  auto dim = dyn_cast<AffineDimExpr>(op_.getMatchingIndexingMap(&operand).getResult(dimension));
  Value size = dim ? loopSize(dim.getPosition()) : Value();
  return size ? size : dimensionOf(host_, loc_, operand.get(), dimension);
}

int64_t Outliner::passSize(Value size) {
  if (auto constant = size.getDefiningOp<arith::ConstantOp>()) // equal constants are one argument
    for (auto &[other, position] : sizes_)
      if (auto known = other.getDefiningOp<arith::ConstantOp>(); known && known.getValue() == constant.getValue())
        return position;
  return sizes_.insert({size, int64_t(sizes_.size())}).first->second;
}

SmallVector<int64_t> Outliner::passSizes(OpOperand &operand, SmallVectorImpl<Value> &dims) {
  SmallVector<int64_t> positions;
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension))
      continue;
    Value size = sizeOf(operand, dimension);
    dims.push_back(size);
    positions.push_back(passSize(size));
  }
  return positions;
}

LogicalResult Outliner::passScalar(Value scalar) {
  if (scalars_.contains(scalar))
    return success();
  if (Operation *constant = scalar.getDefiningOp(); constant && constant->hasTrait<OpTrait::ConstantLike>()) {
    if (!llvm::is_contained(constants_, constant))
      constants_.push_back(constant);
    return success();
  }
  if (!scalar.getType().isIndex() && !isSupportedElement(scalar.getType()))
    return op_.emitError() << "no kernel can be generated: it uses a value of type " << scalar.getType()
                           << " from outside";
  scalars_.insert({scalar, 0});
  return success();
}

void Outliner::passTensor(OpOperand &operand, Value tensor) {
  if (tensors_.contains(tensor))
    return;
  SmallVector<int64_t> positions = passSizes(operand, kernel_.tensorDims);
  tensors_.insert({tensor, positions});
}

LogicalResult Outliner::collect() {
  for (OpOperand &init : op_.getDpsInitsMutable()) {
    starts_.push_back(startOf(init));
    resultSizes_.push_back(passSizes(init, kernel_.resultDims));
  }
  for (OpOperand *input : op_.getDpsInputOperands()) {
    if (isa<RankedTensorType>(input->get().getType()))
      passTensor(*input, input->get());
    else if (failed(passScalar(input->get())))
      return failure();
  }
  for (auto [init, start] : llvm::zip_equal(op_.getDpsInitsMutable(), starts_)) {
    if (start.tensor)
      passTensor(init, start.tensor);
    if (start.scalar && failed(passScalar(start.scalar)))
      return failure();
  }
  // The body may use values of the host function directly.
  WalkResult captured = op_.getRegion().walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (op_.getRegion().isAncestor(operand.getParentRegion()))
        continue;
      if (failed(passScalar(operand)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(captured.wasInterrupted());
}

Value Outliner::workload() {
  OpOperand &init = *op_.getDpsInitsMutable().begin();
  auto type = cast<RankedTensorType>(init.get().getType());
  int64_t known = 1;
  Value product;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension)) {
      known *= type.getDimSize(dimension);
      continue;
    }
    Value size = sizeOf(init, dimension);
    product = product ? arith::MulIOp::create(host_, loc_, product, size).getResult() : size;
  }
  if (product && known == 1)
    return product;
  Value constant = arith::ConstantIndexOp::create(host_, loc_, known);
  return product ? arith::MulIOp::create(host_, loc_, product, constant).getResult() : constant;
}

Value Outliner::buildStart(OpBuilder &b, OpOperand &init, ArrayRef<int64_t> positions, IRMapping &inside) {
  const Start &start = starts_[init.getOperandNumber() - op_.getNumDpsInputs()];
  if (start.tensor)
    return inside.lookup(start.tensor);
  auto type = cast<RankedTensorType>(init.get().getType());
  SmallVector<Value> dynamic;
  for (int64_t position : positions)
    dynamic.push_back(arith::IndexCastOp::create(b, loc_, b.getIndexType(), kernel_.function.getArgument(position)));
  Value empty = tensor::EmptyOp::create(b, loc_, type, dynamic);
  if (!start.scalar && !start.splat)
    return empty;
  Value scalar = start.scalar ? inside.lookup(start.scalar)
                              : arith::ConstantOp::create(b, loc_, cast<TypedAttr>(start.splat)).getResult();
  return linalg::FillOp::create(b, loc_, scalar, empty).getResult(0);
}

void Outliner::buildFunction() {
  SmallVector<Type> arguments(sizes_.size(), host_.getI64Type());
  for (auto &[scalar, position] : scalars_) {
    position = arguments.size();
    arguments.push_back(scalar.getType());
  }
  const unsigned firstTensor = arguments.size();
  for (auto &[tensor, positions] : tensors_)
    arguments.push_back(tensor.getType());

  kernel_.module = ModuleOp::create(loc_);
  OpBuilder b = OpBuilder::atBlockEnd(kernel_.module->getBody());
  kernel_.function = func::FuncOp::create(b, loc_, name_, b.getFunctionType(arguments, op_.getResultTypes()));
  func::FuncOp function = kernel_.function;
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping inside;
  for (auto &[scalar, position] : scalars_)
    inside.map(scalar, function.getArgument(position));
  for (auto [index, entry] : llvm::enumerate(tensors_)) {
    inside.map(entry.first, function.getArgument(firstTensor + index));
    if (!entry.second.empty())
      function.setArgAttr(firstTensor + index, kDimsAttr, b.getDenseI64ArrayAttr(entry.second));
  }
  for (auto [index, positions] : llvm::enumerate(resultSizes_))
    if (!positions.empty())
      function.setResultAttr(index, kDimsAttr, b.getDenseI64ArrayAttr(positions));
  for (Operation *constant : constants_)
    b.clone(*constant, inside);

  SmallVector<Value> startValues;
  for (auto [init, positions] : llvm::zip_equal(op_.getDpsInitsMutable(), resultSizes_))
    startValues.push_back(buildStart(b, init, positions, inside));
  Operation *copy = b.clone(*op_, inside);
  copy->setOperands(op_.getNumDpsInputs(), op_.getNumDpsInits(), startValues);
  copy->setDiscardableAttrs(DictionaryAttr::get(b.getContext()));
  func::ReturnOp::create(b, loc_, copy->getResults());
  function->setAttr(kElementsPerThreadAttr, b.getI64IntegerAttr(elementsPerThread(cast<linalg::GenericOp>(copy))));
}

FailureOr<OutlinedKernel> Outliner::run() {
  if (failed(verifyKernelOp(op_)) || failed(collect()))
    return failure();
  kernel_.workload = workload();
  for (auto &[size, position] : sizes_)
    kernel_.scalars.push_back(arith::IndexCastOp::create(host_, loc_, host_.getI64Type(), size));
  buildFunction();
  for (auto &[scalar, position] : scalars_)
    kernel_.scalars.push_back(scalar);
  for (auto &[tensor, positions] : tensors_)
    kernel_.tensors.push_back(tensor);
  return std::move(kernel_);
}

} // namespace

FailureOr<OutlinedKernel> outlineKernel(linalg::GenericOp op, StringRef name) {
  return Outliner(op, name).run();
}

} // namespace tenon::compiler::dispatch
