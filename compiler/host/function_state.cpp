// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/function_state.h"

#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::host {

using mlir::LogicalResult;

bool isTensor(mlir::Value value) {
  return mlir::isa<mlir::TensorType>(value.getType());
}

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

/// Operations whose result i is operand i under another type or name: no bytes move.
static bool isRename(mlir::Operation *op) {
  return mlir::isa<mlir::tensor::CastOp, mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp,
                   util::OptimizationBarrierOp>(op);
}

static bool isExpectation(mlir::Operation *op) {
  return mlir::isa<check::CheckDialect>(op->getDialect());
}

// --- What is needed, and until when ---------------------------------------------------------------------------------

/// Numbers the operations that a result depends on. One without results is kept: it must be understood or refused.
void FunctionState::findLive() {
  mlir::Block &block = op.getBody().front();
  Position position = 0;
  for (mlir::Operation &op : block)
    positions[&op] = ++position;
  for (mlir::Operation &op : llvm::reverse(block)) {
    auto isLive = [&](mlir::Operation *user) { return positions.contains(block.findAncestorOpInBlock(*user)); };
    if (op.getNumResults() != 0 && llvm::none_of(op.getUsers(), isLive))
      positions.erase(&op);
  }
}

/// Position of the last operation that reads the contents of `value`, under any name.
Position FunctionState::lastUse(mlir::Value value) const {
  Position last = 0;
  for (mlir::OpOperand &use : value.getUses()) {
    auto found = positions.find(use.getOwner());
    if (found == positions.end() || mlir::isa<mlir::tensor::DimOp>(use.getOwner()))
      continue;
    // What is compared once the call has ended must still be there then.
    Position position = isExpectation(use.getOwner()) ? kEndOfCall : found->second;
    if (isRename(use.getOwner())) // tensor operands come first in every rename
      position = lastUse(use.getOwner()->getResult(use.getOperandNumber()));
    last = std::max(last, position);
  }
  return last;
}

// --- Shapes ---------------------------------------------------------------------------------------------------------

/// Registers of every dimension: static ones from the type, dynamic ones in order from `dynamicDims`.
mlir::FailureOr<Shape> FunctionState::shapeFrom(mlir::Operation *op, mlir::Type type, mlir::ValueRange dynamicDims) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError() << "has a tensor of unknown rank, " << type << ", which is not supported";
  Shape shape;
  for (int64_t size : tensor.getShape()) {
    if (!mlir::ShapedType::isDynamic(size)) {
      shape.push_back(function.registers.constant(size));
      continue;
    }
    shape.push_back(scalars.lookup(dynamicDims.front()));
    dynamicDims = dynamicDims.drop_front();
  }
  return shape;
}

/// A size that the program computes may come out negative: that fails the call.
void FunctionState::requireNonNegative(mlir::Operation *op, const Shape &shape, const std::string &subject) {
  for (auto [index, dim] : llvm::enumerate(shape))
    if (!function.registers.isNonNegative(dim))
      scalars.require(function.registers.less(function.registers.constant(-1), dim),
                      "dimension " + std::to_string(index) + " of " + subject + " is negative", op->getLoc());
}

/// Bytes of a tensor: the static part first, so that equal sizes get one register.
Register FunctionState::bytesOf(mlir::Type type, llvm::ArrayRef<Register> shape) {
  RegisterProgram &registers = function.registers;
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
LogicalResult FunctionState::requireEqual(mlir::Operation *op, Register found, Register wanted, std::string foundName,
                                          std::string wantedName) {
  RegisterProgram &registers = function.registers;
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
  scalars.require(registers.equal(found, wanted), foundName + " is not " + wantedName, op->getLoc());
  return mlir::success();
}

ResultValue FunctionState::outputOf(mlir::Value value) {
  ResultValue output{.type = *toValueType(value.getType()), .shape = {}};
  if (output.type.isTensor) {
    const TensorValue &tensor = tensors[value];
    output.buffer = tensor.buffer;
    output.shape.assign(tensor.shape.begin(), tensor.shape.end());
  } else {
    output.scalar = scalars.lookup(value);
  }
  return output;
}

LogicalResult FunctionState::checkElementType(mlir::Operation *op, mlir::Value value) {
  mlir::Type element = mlir::cast<mlir::TensorType>(value.getType()).getElementType();
  if (elementTypeOf(element))
    return mlir::success();
  return op->emitOpError() << "has a tensor of element type " << element << ", which is not supported";
}

/// A transient with the same contents.
BufferIndex FunctionState::copyOf(mlir::Operation *op, mlir::Type type, const TensorValue &source, Position lastUse) {
  BufferIndex target = plan.addTransient(bytesOf(type, source.shape), lastUse);
  if (!source.undefined)
    function.commands.push_back({Copy{source.buffer, target}, locationText(op->getLoc())});
  return target;
}

} // namespace tenon::compiler::host
