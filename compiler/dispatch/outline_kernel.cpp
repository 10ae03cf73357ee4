// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/outline_kernel.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/routes.h"
#include "compiler/dispatch/forming/whole_or_parts.h"

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
  Outliner(const Group &group, StringRef name)
      : group_(group), name_(name), host_(group.ops.back()), loc_(linalg::GenericOp(group.ops.back()).getLoc()) {}

  FailureOr<OutlinedKernel> run();

private:
  /// What a result starts from: nothing, a scalar, or a tensor.
  struct Start {
    Value scalar;
    Attribute splat;
    Value tensor;
  };

  bool isInside(Value value) const { return group_.contains(value.getDefiningOp()); }
  static Start startOf(linalg::GenericOp op, OpOperand &init);
  LogicalResult collect(linalg::GenericOp op);
  void findAxisSizes();
  Value sizeOf(linalg::GenericOp op, OpOperand &operand, int64_t dimension);
  SmallVector<Value> unknownSizes(linalg::GenericOp op, OpOperand &operand);
  SmallVector<int64_t> passSizes(ArrayRef<Value> sizes);
  int64_t passSize(Value size);
  LogicalResult passScalar(linalg::GenericOp op, Value scalar);
  void passTensor(linalg::GenericOp op, OpOperand &operand);
  void passWholeTensor(Value tensor);
  LogicalResult collectCaptured(linalg::GenericOp op);
  void buildFunction();
  void buildOp(OpBuilder &b, linalg::GenericOp op, IRMapping &inside);
  void buildSoftmax(OpBuilder &b, IRMapping &inside);
  Value buildStart(OpBuilder &b, linalg::GenericOp op, OpOperand &init, IRMapping &inside);

  const Group &group_;
  StringRef name_;
  OpBuilder host_; // before the last operation
  Location loc_;
  OutlinedKernel kernel_;
  SmallVector<Value> axisSizes_; // [axes], of the host
  KernelInputs inputs_;
  llvm::DenseMap<OpOperand *, SmallVector<int64_t>> initSizes_; // positions of the sizes of what is computed
};

Outliner::Start Outliner::startOf(linalg::GenericOp op, OpOperand &init) {
  const bool isRead = !op.getMatchingBlockArgument(&init).use_empty() || op.getNumReductionLoops() != 0;
  if (!isRead || init.get().getDefiningOp<tensor::EmptyOp>())
    return {};
  if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
    return {fill.getInputs()[0], {}, {}};
  DenseElementsAttr data;
  if (matchPattern(init.get(), m_Constant(&data)) && data.isSplat())
    return {{}, data.getSplatValue<Attribute>(), {}};
  return {{}, {}, init.get()};
}

/// The size of an axis is that of any dimension that is indexed by one of its loops alone: results first, a known size
/// where there is one. The dispatch then states that all of them agree.
void Outliner::findAxisSizes() {
  axisSizes_.resize(group_.numAxes());
  auto look = [&](linalg::GenericOp op, OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return;
    for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      Value &size = axisSizes_[group_.axisOf.lookup(op)[dim.getPosition()]];
      if (!size || (type.hasStaticShape() && !size.getDefiningOp<arith::ConstantOp>()))
        size = dimensionOf(host_, loc_, operand.get(), dimension);
    }
  };
  for (linalg::GenericOp op : group_.ops)
    for (OpOperand &init : op.getDpsInitsMutable())
      look(op, init);
  for (linalg::GenericOp op : group_.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      look(op, *input);
}

Value Outliner::sizeOf(linalg::GenericOp op, OpOperand &operand, int64_t dimension) {
  auto dim = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(dimension));
  Value size = dim ? axisSizes_[group_.axisOf.lookup(op)[dim.getPosition()]] : Value();
  return size ? size : dimensionOf(host_, loc_, operand.get(), dimension);
}

int64_t Outliner::passSize(Value size) {
  if (auto constant = size.getDefiningOp<arith::ConstantOp>()) // equal constants are one argument
    for (auto &[other, position] : inputs_.sizes)
      if (auto known = other.getDefiningOp<arith::ConstantOp>(); known && known.getValue() == constant.getValue())
        return position;
  return inputs_.sizes.insert({size, int64_t(inputs_.sizes.size())}).first->second;
}

SmallVector<Value> Outliner::unknownSizes(linalg::GenericOp op, OpOperand &operand) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(operand.get().getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(sizeOf(op, operand, dimension));
  return sizes;
}

/// Their positions.
SmallVector<int64_t> Outliner::passSizes(ArrayRef<Value> sizes) {
  return llvm::map_to_vector(sizes, [&](Value size) { return passSize(size); });
}

LogicalResult Outliner::passScalar(linalg::GenericOp op, Value scalar) {
  if (inputs_.scalars.contains(scalar))
    return success();
  if (Operation *constant = scalar.getDefiningOp(); constant && constant->hasTrait<OpTrait::ConstantLike>()) {
    inputs_.constants.insert(constant);
    return success();
  }
  if (!scalar.getType().isIndex() && !isSupportedElement(scalar.getType()))
    return op.emitError() << "no kernel can be generated: it uses a value of type " << scalar.getType()
                          << " from outside";
  inputs_.scalars.insert({scalar, 0});
  return success();
}

void Outliner::passTensor(linalg::GenericOp op, OpOperand &operand) {
  if (isInside(operand.get()) || inputs_.tensors.contains(operand.get()))
    return;
  const SmallVector<Value> sizes = unknownSizes(op, operand);
  llvm::append_range(kernel_.tensorDims, sizes);
  inputs_.tensors.insert({operand.get(), passSizes(sizes)});
}

/// A tensor that a body reads by itself, at any index.
void Outliner::passWholeTensor(Value tensor) {
  if (inputs_.tensors.contains(tensor))
    return;
  SmallVector<Value> sizes = unknownSizesOf(host_, loc_, tensor);
  llvm::append_range(kernel_.tensorDims, sizes);
  inputs_.tensors.insert({tensor, passSizes(sizes)});
}

/// The body may use values of the host function directly.
LogicalResult Outliner::collectCaptured(linalg::GenericOp op) {
  WalkResult captured = op.getRegion().walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      if (op.getRegion().isAncestor(operand.getParentRegion()))
        continue;
      if (isa<RankedTensorType>(operand.getType()))
        passWholeTensor(operand);
      else if (failed(passScalar(op, operand)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(captured.wasInterrupted());
}

LogicalResult Outliner::collect(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable())
    initSizes_[&init] = passSizes(unknownSizes(op, init));
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (isa<RankedTensorType>(input->get().getType()))
      passTensor(op, *input);
    else if (failed(passScalar(op, input->get())))
      return failure();
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    const Start start = startOf(op, init);
    if (start.tensor)
      passTensor(op, init);
    if (start.scalar && failed(passScalar(op, start.scalar)))
      return failure();
  }
  return collectCaptured(op);
}

Value Outliner::buildStart(OpBuilder &b, linalg::GenericOp op, OpOperand &init, IRMapping &inside) {
  const Start start = startOf(op, init);
  if (start.tensor)
    return inside.lookup(start.tensor);
  auto type = cast<RankedTensorType>(init.get().getType());
  SmallVector<Value> dynamic;
  for (int64_t position : initSizes_.lookup(&init))
    dynamic.push_back(arith::IndexCastOp::create(b, loc_, b.getIndexType(), kernel_.function.getArgument(position)));
  Value empty = tensor::EmptyOp::create(b, loc_, type, dynamic);
  if (!start.scalar && !start.splat)
    return empty;
  Value scalar = start.scalar ? inside.lookup(start.scalar)
                              : arith::ConstantOp::create(b, loc_, cast<TypedAttr>(start.splat)).getResult();
  return linalg::FillOp::create(b, loc_, scalar, empty).getResult(0);
}

void Outliner::buildOp(OpBuilder &b, linalg::GenericOp op, IRMapping &inside) {
  SmallVector<Value> starts;
  for (OpOperand &init : op.getDpsInitsMutable())
    starts.push_back(buildStart(b, op, init, inside));
  Operation *copy = b.clone(*op, inside);
  copy->setOperands(op.getNumDpsInputs(), op.getNumDpsInits(), starts);
  copy->setDiscardableAttrs(DictionaryAttr::get(b.getContext()));
  if (op->hasAttr(kGatesAttr) && readsGates(group_))
    copy->setAttr(kGatesAttr, b.getUnitAttr());
  if (op->hasAttr(kRoutedAttr))
    copy->setAttr(kRoutedAttr, b.getUnitAttr());
  if (group_.logSum == op)
    copy->setAttr(kLogSumExp, op->getAttr(kLogSumExp));
  if (group_.chained && op->hasAttr(kChainAttr))
    copy->setAttr(kChainAttr, b.getI64IntegerAttr(0)); // of a kernel there is one; equal kernels are one
  if (group_.across == op)
    copy->setAttr(kAcrossAttr, b.getUnitAttr());
}

/// In front of the operation that reads it. It measures what its input does.
void Outliner::buildSoftmax(OpBuilder &b, IRMapping &inside) {
  linalg::SoftmaxOp softmax = group_.softmax;
  auto logits = softmax.getInput().getDefiningOp<linalg::GenericOp>();
  OpOperand *init = logits.getTiedOpOperand(cast<OpResult>(softmax.getInput()));
  SmallVector<Value> sizes;
  for (int64_t position : initSizes_.lookup(init))
    sizes.push_back(arith::IndexCastOp::create(b, loc_, b.getIndexType(), kernel_.function.getArgument(position)));
  Value input = inside.lookup(softmax.getInput());
  Value empty = tensor::EmptyOp::create(b, loc_, cast<RankedTensorType>(input.getType()), sizes);
  auto copy = linalg::SoftmaxOp::create(b, softmax.getLoc(), TypeRange(empty), input, empty, softmax.getDimension());
  copy->setDiscardableAttrs(softmax->getDiscardableAttrDictionary());
  inside.map(softmax->getResult(0), copy->getResult(0));
}

void Outliner::buildFunction() {
  OpBuilder b(loc_.getContext());
  IRMapping inside = openKernel(kernel_, inputs_, loc_, name_, b);
  func::FuncOp function = kernel_.function;
  for (linalg::GenericOp op : group_.ops) {
    if (group_.softmax && llvm::is_contained(op->getOperands(), group_.softmax->getResult(0)))
      buildSoftmax(b, inside);
    buildOp(b, op, inside);
  }
  SmallVector<Value> returned;
  for (auto [index, result] : llvm::enumerate(kernel_.results)) {
    auto op = result.getDefiningOp<linalg::GenericOp>();
    const auto &positions = initSizes_[op.getTiedOpOperand(cast<OpResult>(result))];
    if (!positions.empty())
      function.setResultAttr(index, kDimsAttr, b.getDenseI64ArrayAttr(positions));
    returned.push_back(inside.lookup(result));
  }
  func::ReturnOp::create(b, loc_, returned);
}

FailureOr<OutlinedKernel> Outliner::run() {
  for (linalg::GenericOp op : group_.ops) {
    if (failed(verifyKernelOp(op)))
      return failure();
    for (OpResult result : op->getResults())
      if (group_.ops.size() == 1 || isReadOutside(result, group_))
        kernel_.results.push_back(result);
  }
  // What is written over others' memory is bound in front of the rest (whole_or_parts.h).
  SmallVector<Value> merged = llvm::filter_to_vector(kernel_.results, isEither);
  llvm::append_range(merged, llvm::make_filter_range(kernel_.results, [](Value result) { return !isEither(result); }));
  kernel_.results = std::move(merged);
  findAxisSizes();
  for (linalg::GenericOp op : group_.ops)
    if (failed(collect(op)))
      return failure();
  for (Value result : kernel_.results) {
    auto op = result.getDefiningOp<linalg::GenericOp>();
    llvm::append_range(kernel_.resultDims, unknownSizes(op, *op.getTiedOpOperand(cast<OpResult>(result))));
  }
  buildFunction();
  passInputs(kernel_, inputs_, loc_, host_);
  return std::move(kernel_);
}

} // namespace

IRMapping openKernel(OutlinedKernel &kernel, KernelInputs &inputs, Location loc, StringRef name, OpBuilder &b) {
  SmallVector<Type> arguments(inputs.sizes.size(), b.getI64Type());
  // A scalar that is the size of some dimension, too, is passed once: the kernel then knows that it is a size.
  SmallVector<std::pair<Value, int64_t>> asSizes;
  for (auto &[scalar, position] : inputs.scalars)
    if (auto size = inputs.sizes.find(scalar); scalar.getType().isIndex() && size != inputs.sizes.end())
      asSizes.push_back({scalar, size->second});
  for (auto [scalar, position] : asSizes)
    inputs.scalars.erase(scalar);
  for (auto &[scalar, position] : inputs.scalars) {
    position = arguments.size();
    arguments.push_back(scalar.getType());
  }
  const unsigned firstTensor = arguments.size();
  for (auto &[tensor, positions] : inputs.tensors)
    arguments.push_back(tensor.getType());

  kernel.module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(kernel.module->getBody());
  kernel.function =
      func::FuncOp::create(b, loc, name, b.getFunctionType(arguments, TypeRange(ValueRange(kernel.results))));
  func::FuncOp function = kernel.function;
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping inside;
  for (auto &[scalar, position] : inputs.scalars)
    inside.map(scalar, function.getArgument(position));
  for (auto [scalar, position] : asSizes)
    inside.map(scalar,
               arith::IndexCastOp::create(b, loc, b.getIndexType(), function.getArgument(position)).getResult());
  for (auto [index, entry] : llvm::enumerate(inputs.tensors)) {
    inside.map(entry.first, function.getArgument(firstTensor + index));
    if (!entry.second.empty())
      function.setArgAttr(firstTensor + index, kDimsAttr, b.getDenseI64ArrayAttr(entry.second));
  }
  for (Operation *constant : inputs.constants)
    b.clone(*constant, inside);
  return inside;
}

void passInputs(OutlinedKernel &kernel, const KernelInputs &inputs, Location loc, OpBuilder &host) {
  for (auto &[size, position] : inputs.sizes) {
    kernel.workload.push_back(size);
    kernel.scalars.push_back(arith::IndexCastOp::create(host, loc, host.getI64Type(), size));
  }
  for (auto &[scalar, position] : inputs.scalars)
    kernel.scalars.push_back(scalar);
  for (auto &[tensor, positions] : inputs.tensors)
    kernel.tensors.push_back(tensor);
}

/// The last size of the launch says whether it is one.
static void addCondition(OutlinedKernel &kernel, const StaysWhole &condition, OpBuilder b) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, condition.condition.getLoc(), value);
  };
  kernel.workload.push_back(
      b.createOrFold<arith::SelectOp>(condition.condition.getLoc(), condition.condition, number(1), number(0)));
  kernel.function->setAttr(kConditionalAttr, b.getUnitAttr());
  if (condition.longest)
    kernel.function->setAttr(kLongestAttr, b.getI64IntegerAttr(*condition.longest));
  if (condition.shortest)
    kernel.function->setAttr(kShortestAttr, b.getI64IntegerAttr(*condition.shortest));
}

FailureOr<OutlinedKernel> outlineKernel(const Group &group, StringRef name,
                                        const std::optional<StaysWhole> &condition) {
  FailureOr<OutlinedKernel> kernel = Outliner(group, name).run();
  if (succeeded(kernel) && condition)
    addCondition(*kernel, *condition, OpBuilder(group.ops.back()));
  return kernel;
}

} // namespace tenon::compiler::dispatch
