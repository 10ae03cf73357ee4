#include "compiler/host/function_lowering.h"

#include "compiler/dialect/declarations.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/host/buffer_plan.h"
#include "compiler/host/dispatch_constants.h"
#include "compiler/host/scalar_lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tenon::compiler::host {
namespace {

using mlir::LogicalResult;
using Shape = llvm::SmallVector<Register>;

/// Where a tensor value lives.
struct TensorValue {
  BufferIndex buffer = 0;
  Shape shape;            // [rank]
  bool undefined = false; // contents are tensor.empty's
};

bool isTensor(mlir::Value value) {
  return mlir::isa<mlir::TensorType>(value.getType());
}

/// Operations whose result i is operand i under another type or name: no bytes move.
bool isRename(mlir::Operation *op) {
  return mlir::isa<mlir::tensor::CastOp, mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp,
                   util::OptimizationBarrierOp>(op);
}

class FunctionLowering {
public:
  FunctionLowering(mlir::func::FuncOp op, const ExecutableTable &executables, ConstantPool &constants)
      : op_(op), executables_(executables), constants_(constants), scalars_(function_) {}

  mlir::FailureOr<Function> run();

private:
  LogicalResult lowerSignature();
  LogicalResult lowerOperation(mlir::Operation *op);
  LogicalResult lowerConstant(mlir::Operation *op, mlir::ElementsAttr value);
  LogicalResult lowerEmpty(mlir::tensor::EmptyOp op);
  LogicalResult lowerDim(mlir::tensor::DimOp op);
  LogicalResult lowerCast(mlir::tensor::CastOp op);
  LogicalResult lowerReshape(mlir::Operation *op, mlir::Value source, mlir::Value result, Shape shape,
                             llvm::ArrayRef<mlir::ReassociationIndices> groups);
  LogicalResult lowerExpand(mlir::tensor::ExpandShapeOp op);
  LogicalResult lowerCollapse(mlir::tensor::CollapseShapeOp op);
  LogicalResult lowerBarrier(util::OptimizationBarrierOp op);
  LogicalResult lowerDispatch(flow::DispatchOp op);
  LogicalResult lowerGrid(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch);
  LogicalResult lowerBindings(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch);
  LogicalResult lowerResults(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch);
  void lowerConstants(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch);
  LogicalResult lowerReturn(mlir::func::ReturnOp op);

  void findLive();
  Position lastUse(mlir::Value value) const;
  mlir::FailureOr<Shape> shapeFrom(mlir::Operation *op, mlir::Type type, mlir::ValueRange dynamicDims);
  void requireNonNegative(mlir::Operation *op, const Shape &shape, const std::string &subject);
  Register bytesOf(mlir::Type type, llvm::ArrayRef<Register> shape);
  LogicalResult requireEqual(mlir::Operation *op, Register found, Register wanted, std::string foundName,
                             std::string wantedName);
  BufferIndex copyOf(mlir::Operation *op, mlir::Type type, const TensorValue &source, Position lastUse);
  LogicalResult checkElementType(mlir::Operation *op, mlir::Value value);

  mlir::func::FuncOp op_;
  const ExecutableTable &executables_;
  ConstantPool &constants_;
  Function function_;
  ScalarLowering scalars_;
  BufferPlan plan_;
  llvm::DenseMap<mlir::Value, TensorValue> tensors_;
  llvm::DenseMap<mlir::Operation *, Position> positions_; // live operations only
};

/// What messages call the parts of a dispatch. A user has never heard of the kernels that the compiler made.
class DispatchNames {
public:
  DispatchNames(flow::DispatchOp op, const LinkedExport &target) {
    if (target.isGenerated)
      return;
    mlir::SymbolRefAttr name = op.entryPoint();
    text_ = "@" + name.getRootReference().str() + "::@" + name.getLeafReference().str();
  }

  std::string operand(unsigned index) const {
    return text_.empty() ? "an operand" : "operand " + std::to_string(index) + " of " + text_;
  }
  std::string declaredSize(unsigned index) const {
    return text_.empty() ? "the size of the other operands" : "the size declared for " + operand(index);
  }
  std::string result(unsigned index) const {
    return text_.empty() ? "the result" : "result " + std::to_string(index) + " of " + text_;
  }

private:
  std::string text_; // "@executable::@export"; empty: generated
};

// --- What is needed, and until when ---------------------------------------------------------------------------------

/// Numbers the operations that a result depends on. One without results is kept: it must be understood or refused.
void FunctionLowering::findLive() {
  mlir::Block &block = op_.getBody().front();
  Position position = 0;
  for (mlir::Operation &op : block)
    positions_[&op] = ++position;
  for (mlir::Operation &op : llvm::reverse(block)) {
    auto isLive = [&](mlir::Operation *user) { return positions_.contains(block.findAncestorOpInBlock(*user)); };
    if (op.getNumResults() != 0 && llvm::none_of(op.getUsers(), isLive))
      positions_.erase(&op);
  }
}

/// Position of the last operation that reads the contents of `value`, under any name.
Position FunctionLowering::lastUse(mlir::Value value) const {
  Position last = 0;
  for (mlir::OpOperand &use : value.getUses()) {
    auto found = positions_.find(use.getOwner());
    if (found == positions_.end() || mlir::isa<mlir::tensor::DimOp>(use.getOwner()))
      continue;
    Position position = found->second;
    if (isRename(use.getOwner())) // tensor operands come first in every rename
      position = lastUse(use.getOwner()->getResult(use.getOperandNumber()));
    last = std::max(last, position);
  }
  return last;
}

// --- Shapes ---------------------------------------------------------------------------------------------------------

/// Registers of every dimension: static ones from the type, dynamic ones in order from `dynamicDims`.
mlir::FailureOr<Shape> FunctionLowering::shapeFrom(mlir::Operation *op, mlir::Type type, mlir::ValueRange dynamicDims) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError() << "has a tensor of unknown rank, " << type << ", which is not supported";
  Shape shape;
  for (int64_t size : tensor.getShape()) {
    if (!mlir::ShapedType::isDynamic(size)) {
      shape.push_back(function_.registers.constant(size));
      continue;
    }
    shape.push_back(scalars_.lookup(dynamicDims.front()));
    dynamicDims = dynamicDims.drop_front();
  }
  return shape;
}

/// A size that the program computes may come out negative: that fails the call.
void FunctionLowering::requireNonNegative(mlir::Operation *op, const Shape &shape, const std::string &subject) {
  for (auto [index, dim] : llvm::enumerate(shape))
    if (!function_.registers.isNonNegative(dim))
      scalars_.require(function_.registers.less(function_.registers.constant(-1), dim),
                       "dimension " + std::to_string(index) + " of " + subject + " is negative", op->getLoc());
}

/// Bytes of a tensor: the static part first, so that equal sizes get one register.
Register FunctionLowering::bytesOf(mlir::Type type, llvm::ArrayRef<Register> shape) {
  RegisterProgram &registers = function_.registers;
  abi::ElementType element = *elementTypeOf(mlir::cast<mlir::TensorType>(type).getElementType());
  Register fixed = registers.constant(abi::byteSize(element));
  for (Register dim : shape)
    if (registers.constantValue(dim))
      fixed = registers.mul(fixed, dim);
  std::optional<Register> count;
  for (Register dim : shape)
    if (!registers.constantValue(dim))
      count = count ? registers.mul(*count, dim) : dim;
  return count ? registers.mul(*count, fixed) : fixed;
}

/// Checks that `found` is `wanted` when the program is called; refuses what can be seen to differ now.
/// @param foundName, wantedName what to call them where they are not dimensions, arguments or numbers
LogicalResult FunctionLowering::requireEqual(mlir::Operation *op, Register found, Register wanted,
                                             std::string foundName, std::string wantedName) {
  RegisterProgram &registers = function_.registers;
  if (found == wanted)
    return mlir::success();
  std::optional<int64_t> foundValue = registers.constantValue(found), wantedValue = registers.constantValue(wanted);
  if (foundValue && wantedValue)
    return op->emitOpError() << "cannot run: " << foundName << " is " << *foundValue << ", " << wantedName << " is "
                             << *wantedValue;
  // The message names the later argument first: "dimension 0 of argument 1 is not that of argument 0".
  RegisterOperation a = registers.operations()[found], b = registers.operations()[wanted];
  if (foundValue || (a.opcode == Opcode::Dim && b.opcode == Opcode::Dim && a.a < b.a)) {
    std::swap(found, wanted);
    std::swap(foundName, wantedName);
    std::swap(a, b);
  }
  if (std::string name = registers.describe(found); !name.empty())
    foundName = name;
  if (std::string name = registers.describe(wanted); !name.empty())
    wantedName = name;
  if (a.opcode == Opcode::Dim && b.opcode == Opcode::Dim && a.b == b.b)
    wantedName = "that of argument " + std::to_string(b.a);
  scalars_.require(registers.equal(found, wanted), foundName + " is not " + wantedName, op->getLoc());
  return mlir::success();
}

LogicalResult FunctionLowering::checkElementType(mlir::Operation *op, mlir::Value value) {
  mlir::Type element = mlir::cast<mlir::TensorType>(value.getType()).getElementType();
  if (elementTypeOf(element))
    return mlir::success();
  return op->emitOpError() << "has a tensor of element type " << element << ", which is not supported";
}

// --- Operations that move no bytes ----------------------------------------------------------------------------------

LogicalResult FunctionLowering::lowerConstant(mlir::Operation *op, mlir::ElementsAttr value) {
  mlir::FailureOr<uint32_t> index = constants_.intern(value, op->getLoc());
  if (mlir::failed(index))
    return mlir::failure();
  mlir::FailureOr<Shape> shape = shapeFrom(op, value.getType(), {});
  if (mlir::failed(shape))
    return mlir::failure();
  tensors_[op->getResult(0)] = {plan_.addConstant(*index), *shape};
  return mlir::success();
}

LogicalResult FunctionLowering::lowerEmpty(mlir::tensor::EmptyOp op) {
  mlir::FailureOr<Shape> shape = shapeFrom(op, op.getType(), op.getDynamicSizes());
  if (mlir::failed(shape) || mlir::failed(checkElementType(op, op.getResult())))
    return mlir::failure();
  requireNonNegative(op, *shape, "tensor.empty");
  BufferIndex buffer = plan_.addTransient(bytesOf(op.getType(), *shape), lastUse(op.getResult()));
  tensors_[op.getResult()] = {buffer, *shape, true};
  return mlir::success();
}

LogicalResult FunctionLowering::lowerDim(mlir::tensor::DimOp op) {
  std::optional<int64_t> index = function_.registers.constantValue(scalars_.lookup(op.getIndex()));
  if (!index)
    return op.emitOpError() << "is not supported outside a kernel: which dimension it asks for is not a constant";
  const Shape &shape = tensors_[op.getSource()].shape;
  if (*index < 0 || *index >= int64_t(shape.size()))
    return op.emitOpError() << "asks for dimension " << *index << " of a tensor of rank " << shape.size();
  scalars_.define(op.getResult(), shape[size_t(*index)]);
  return mlir::success();
}

LogicalResult FunctionLowering::lowerCast(mlir::tensor::CastOp op) {
  TensorValue value = tensors_[op.getSource()];
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(op.getType());
  if (!type)
    return op.emitOpError() << "is not supported: its result has no rank";
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (mlir::ShapedType::isDynamic(size))
      continue;
    Register wanted = function_.registers.constant(size);
    std::string name = "dimension " + std::to_string(dim) + " of the operand";
    if (mlir::failed(requireEqual(op, value.shape[dim], wanted, name, "that of the result")))
      return mlir::failure();
    value.shape[dim] = wanted;
  }
  tensors_[op.getResult()] = value;
  return mlir::success();
}

/// A reshape keeps the bytes. `groups` maps each dimension of the lower rank to its dimensions of the higher rank,
/// whose product it must be.
LogicalResult FunctionLowering::lowerReshape(mlir::Operation *op, mlir::Value source, mlir::Value result, Shape shape,
                                             llvm::ArrayRef<mlir::ReassociationIndices> groups) {
  RegisterProgram &registers = function_.registers;
  const TensorValue &value = tensors_[source];
  bool expands = shape.size() > value.shape.size();
  const Shape &wide = expands ? shape : value.shape, &narrow = expands ? value.shape : shape;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    Register product = registers.constant(1);
    for (int64_t member : group)
      product = registers.mul(product, wide[size_t(member)]);
    std::string name = "dimension " + std::to_string(dim) + " of the " + (expands ? "operand" : "result");
    std::string productName = "the product of its dimensions in " + op->getName().getStringRef().str();
    if (mlir::failed(requireEqual(op, narrow[dim], product, name, productName)))
      return mlir::failure();
  }
  tensors_[result] = {value.buffer, std::move(shape), value.undefined};
  return mlir::success();
}

LogicalResult FunctionLowering::lowerExpand(mlir::tensor::ExpandShapeOp op) {
  mlir::FailureOr<Shape> shape = shapeFrom(op, op.getResultType(), op.getOutputShape());
  if (mlir::failed(shape))
    return mlir::failure();
  requireNonNegative(op, *shape, "the result of tensor.expand_shape");
  return lowerReshape(op, op.getSrc(), op.getResult(), *shape, op.getReassociationIndices());
}

LogicalResult FunctionLowering::lowerCollapse(mlir::tensor::CollapseShapeOp op) {
  RegisterProgram &registers = function_.registers;
  const TensorValue &value = tensors_[op.getSrc()];
  llvm::SmallVector<mlir::ReassociationIndices> groups = op.getReassociationIndices();
  Shape shape;
  for (auto [group, size] : llvm::zip_equal(groups, op.getResultType().getShape())) {
    Register product = registers.constant(1);
    for (int64_t member : group)
      product = registers.mul(product, value.shape[size_t(member)]);
    shape.push_back(mlir::ShapedType::isDynamic(size) ? product : registers.constant(size));
  }
  return lowerReshape(op, op.getSrc(), op.getResult(), shape, groups);
}

LogicalResult FunctionLowering::lowerBarrier(util::OptimizationBarrierOp op) {
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    if (isTensor(operand))
      tensors_[result] = TensorValue(tensors_[operand]);
    else
      scalars_.define(result, scalars_.lookup(operand));
  }
  return mlir::success();
}

// --- Dispatches -----------------------------------------------------------------------------------------------------

LogicalResult FunctionLowering::lowerGrid(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch) {
  hal::ExecutableExportOp exportOp = target.op;
  mlir::Region &region = exportOp.getWorkgroupCount();
  if (!region.hasOneBlock())
    return exportOp.emitOpError() << "has a count region with control flow, which is not supported";
  mlir::Block &block = region.front();
  // The first argument is the device, which registers know nothing of.
  for (auto [argument, value] : llvm::zip(block.getArguments().drop_front(), op.getWorkload()))
    scalars_.define(argument, scalars_.lookup(value));
  for (mlir::Operation &inner : block.without_terminator()) {
    if (mlir::failed(scalars_.lower(&inner))) {
      mlir::emitRemark(op.getLoc()) << "while computing the grid of this dispatch";
      return mlir::failure();
    }
  }
  mlir::OperandRange counts = block.getTerminator()->getOperands();
  if (counts.size() != 3)
    return exportOp.emitOpError() << "has a count region that returns " << counts.size() << " values, wanted 3";
  for (auto [axis, count] : llvm::enumerate(counts))
    dispatch.grid[axis] = scalars_.lookup(count);
  return mlir::success();
}

BufferIndex FunctionLowering::copyOf(mlir::Operation *op, mlir::Type type, const TensorValue &source,
                                     Position lastUse) {
  BufferIndex target = plan_.addTransient(bytesOf(type, source.shape), lastUse);
  if (!source.undefined)
    function_.commands.push_back({Copy{source.buffer, target}, locationText(op->getLoc())});
  return target;
}

/// Tensor operands, in order. One that the kernel writes, because it is tied or because nothing says that it is only
/// read, is written in place only where no other reader can tell.
LogicalResult FunctionLowering::lowerBindings(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch) {
  Position position = positions_[op];
  DispatchNames names(op, target);
  llvm::SmallVector<unsigned> operands = op.tensorArguments();
  for (auto [binding, argument] : llvm::enumerate(operands)) {
    mlir::Value operand = op.getArguments()[argument];
    const TensorValue &value = tensors_[operand];
    mlir::FailureOr<Shape> declared = shapeFrom(op, operand.getType(), op.argumentDims(argument));
    if (mlir::failed(declared))
      return mlir::failure();
    for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(value.shape, *declared))) {
      std::string dimName = "dimension " + std::to_string(dim) + " of " + names.operand(argument);
      if (mlir::failed(requireEqual(op, std::get<0>(sizes), std::get<1>(sizes), dimName, names.declaredSize(argument))))
        return mlir::failure();
    }
    bool written = op.isTied(argument) || binding >= target.mayWrite.size() || target.mayWrite[binding];
    size_t readers = size_t(llvm::count_if(
        operands, [&](unsigned other) { return tensors_[op.getArguments()[other]].buffer == value.buffer; }));
    bool inPlace = plan_.mayOverwrite(value.buffer, position) && readers == 1;
    dispatch.bindings.push_back(written && !inPlace ? copyOf(op, operand.getType(), value, position) : value.buffer);
  }
  return mlir::success();
}

LogicalResult FunctionLowering::lowerResults(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch) {
  DispatchNames names(op, target);
  llvm::SmallVector<unsigned> operands = op.tensorArguments();
  llvm::DenseMap<BufferIndex, Position> takenOver;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    if (mlir::failed(checkElementType(op, result)))
      return mlir::failure();
    mlir::FailureOr<Shape> shape = shapeFrom(op, result.getType(), op.resultDims(unsigned(index)));
    if (mlir::failed(shape))
      return mlir::failure();
    std::string name = names.result(unsigned(index));
    requireNonNegative(op, *shape, name);
    Register bytes = bytesOf(result.getType(), *shape);
    std::optional<unsigned> tied = op.getTiedOperandIndex(unsigned(index));
    if (!tied) {
      tensors_[result] = {plan_.addTransient(bytes, lastUse(result)), *shape};
      dispatch.bindings.push_back(tensors_[result].buffer);
      continue;
    }
    mlir::Value operand = op.getArguments()[*tied];
    Register operandBytes = bytesOf(operand.getType(), tensors_[operand].shape);
    if (mlir::failed(requireEqual(op, bytes, operandBytes, "the size of " + name, "that of the operand it is tied to")))
      return mlir::failure();
    BufferIndex buffer = dispatch.bindings[size_t(llvm::find(operands, *tied) - operands.begin())];
    Position last = std::max(lastUse(result), takenOver[buffer]);
    plan_.takeOver(buffer, last);
    takenOver[buffer] = last;
    tensors_[result] = {buffer, *shape};
  }
  return mlir::success();
}

/// Behind bindings and results: a tensor map is encoded from the shape of one.
void FunctionLowering::lowerConstants(flow::DispatchOp op, const LinkedExport &target, Dispatch &dispatch) {
  llvm::SmallVector<Register> scalars;
  for (unsigned argument : op.scalarArguments())
    scalars.push_back(scalars_.lookup(op.getArguments()[argument]));
  llvm::SmallVector<mlir::Value> bound;
  for (unsigned argument : op.tensorArguments())
    bound.push_back(op.getArguments()[argument]);
  for (unsigned result : op.untiedResults())
    bound.push_back(op.getResult(result));
  dispatch.constants =
      constantWords(function_.registers, hal::ExecutableExportOp(target.op).getLayout(), scalars,
                    [&](unsigned binding) { return llvm::ArrayRef<Register>(tensors_[bound[binding]].shape); });
}

LogicalResult FunctionLowering::lowerDispatch(flow::DispatchOp op) {
  if (op.getEntryPoints().size() != 1)
    return op.emitOpError() << "names " << op.getEntryPoints().size() << " entry points, wanted 1";
  mlir::SymbolRefAttr name = op.entryPoint();
  auto executable = executables_.find(name.getRootReference().getValue());
  if (executable == executables_.end() || !executable->second.exports.contains(name.getLeafReference().getValue()))
    return op.emitOpError() << "names " << name << ", which is not a linked export";
  const LinkedExport &target = executable->second.exports.find(name.getLeafReference().getValue())->second;

  Dispatch dispatch;
  dispatch.executable = executable->second.index;
  dispatch.exportOrdinal = target.ordinal;
  if (mlir::failed(lowerGrid(op, target, dispatch)) || mlir::failed(lowerBindings(op, target, dispatch)) ||
      mlir::failed(lowerResults(op, target, dispatch)))
    return mlir::failure();
  lowerConstants(op, target, dispatch);
  function_.commands.push_back({std::move(dispatch), locationText(op.getLoc())});
  return mlir::success();
}

// --- The function ---------------------------------------------------------------------------------------------------

LogicalResult FunctionLowering::lowerReturn(mlir::func::ReturnOp op) {
  for (mlir::Value value : op.getOperands()) {
    ResultValue result;
    result.type = *toValueType(value.getType());
    if (result.type.isTensor) {
      const TensorValue &tensor = tensors_[value];
      result.buffer = tensor.buffer;
      result.shape.assign(tensor.shape.begin(), tensor.shape.end());
    } else {
      result.scalar = scalars_.lookup(value);
    }
    function_.results.push_back(std::move(result));
  }
  return mlir::success();
}

LogicalResult FunctionLowering::lowerOperation(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, LogicalResult>(op)
      .Case<flow::DispatchOp>([&](auto dispatch) { return lowerDispatch(dispatch); })
      .Case<mlir::tensor::DimOp>([&](auto dim) { return lowerDim(dim); })
      .Case<mlir::tensor::EmptyOp>([&](auto empty) { return lowerEmpty(empty); })
      .Case<mlir::tensor::CastOp>([&](auto cast) { return lowerCast(cast); })
      .Case<mlir::tensor::ExpandShapeOp>([&](auto expand) { return lowerExpand(expand); })
      .Case<mlir::tensor::CollapseShapeOp>([&](auto collapse) { return lowerCollapse(collapse); })
      .Case<util::OptimizationBarrierOp>([&](auto barrier) { return lowerBarrier(barrier); })
      .Case<mlir::func::ReturnOp>([&](auto returned) { return lowerReturn(returned); })
      .Case<mlir::arith::ConstantOp, util::UnfoldableConstantOp>([&](auto constant) {
        if (isTensor(constant.getResult()))
          return lowerConstant(constant, mlir::cast<mlir::ElementsAttr>(constant.getValue()));
        return scalars_.lowerConstant(constant, constant.getValue());
      })
      .Default([&](mlir::Operation *other) {
        if (llvm::any_of(other->getOperands(), isTensor) || llvm::any_of(other->getResults(), isTensor) ||
            other->getNumResults() == 0)
          return LogicalResult(other->emitOpError() << "is not supported: no kernel was formed for it, and it is not "
                                                       "an operation that the host runs");
        return scalars_.lower(other);
      });
}

LogicalResult FunctionLowering::lowerSignature() {
  bool failed = false;
  for (mlir::BlockArgument argument : op_.getArguments()) {
    uint32_t index = argument.getArgNumber();
    std::optional<ValueType> type = toValueType(argument.getType());
    if (!type) {
      mlir::emitError(argument.getLoc()) << "argument " << index << " of '@" << op_.getSymName() << "' has type "
                                         << argument.getType() << ", which a program cannot take";
      failed = true;
      continue;
    }
    if (type->isTensor) {
      TensorValue value{plan_.addInput(index), {}};
      for (auto [dim, size] : llvm::enumerate(type->shape))
        value.shape.push_back(size < 0 ? function_.registers.dim(index, uint32_t(dim))
                                       : function_.registers.constant(size));
      tensors_[argument] = std::move(value);
    } else {
      scalars_.defineArgument(argument, index);
    }
    function_.inputs.push_back(std::move(*type));
  }
  for (auto [index, type] : llvm::enumerate(op_.getResultTypes())) {
    if (toValueType(type))
      continue;
    op_.emitError() << "result " << index << " of '@" << op_.getSymName() << "' has type " << type
                    << ", which a program cannot return";
    failed = true;
  }
  return mlir::failure(failed);
}

mlir::FailureOr<Function> FunctionLowering::run() {
  function_.name = op_.getSymName().str();
  if (mlir::failed(lowerSignature()))
    return mlir::failure();
  if (!op_.getBody().hasOneBlock())
    return op_.getBody().front().getTerminator()->emitOpError()
           << "is not supported: '@" << op_.getSymName() << "' has control flow";
  findLive();
  for (mlir::Operation &op : op_.getBody().front())
    if (positions_.contains(&op) && mlir::failed(lowerOperation(&op)))
      return mlir::failure();
  function_.buffers = plan_.buffers();
  function_.dropUnused();
  return std::move(function_);
}

} // namespace

std::optional<ValueType> toValueType(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  mlir::Type scalar = tensor ? tensor.getElementType() : type;
  std::optional<abi::ElementType> element = elementTypeOf(scalar);
  auto integer = mlir::dyn_cast<mlir::IntegerType>(scalar);
  if (!element || (integer && !integer.isSignless()) || (tensor && tensor.getEncoding()))
    return std::nullopt;
  ValueType result{.isTensor = bool(tensor), .element = *element, .shape = {}};
  if (tensor)
    for (int64_t size : tensor.getShape())
      result.shape.push_back(mlir::ShapedType::isDynamic(size) ? -1 : size);
  return result;
}

mlir::FailureOr<Function> lowerFunction(mlir::func::FuncOp function, const ExecutableTable &executables,
                                        ConstantPool &constants) {
  return FunctionLowering(function, executables, constants).run();
}

} // namespace tenon::compiler::host
