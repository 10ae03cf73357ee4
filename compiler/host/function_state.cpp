// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/function_state.h"

#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/donation.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::host {

bool isTensor(Value value) {
  return isa<TensorType>(value.getType());
}

std::optional<ValueType> toValueType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type scalar = tensor ? tensor.getElementType() : type;
  std::optional<abi::ElementType> element = elementTypeOf(scalar);
  auto integer = dyn_cast<IntegerType>(scalar);
  if (!element || (integer && !integer.isSignless()) || (tensor && tensor.getEncoding()))
    return std::nullopt;
  ValueType result{.isTensor = bool(tensor), .element = *element, .shape = {}};
  if (tensor)
    for (int64_t size : tensor.getShape())
      result.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return result;
}

std::optional<ValueType> toInputType(Type type) {
  if (isa<hal::BufferViewType>(type))
    return ValueType{.shape = {}, .isUnread = true};
  return toValueType(type);
}

std::optional<ValueType> handedOnType(Type type) {
  if (std::optional<ValueType> known = toInputType(type))
    return known;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !integer.isSignless() || integer.getWidth() > 64 || integer.getWidth() == 0)
    return std::nullopt;
  return ValueType{.isTensor = false, .element = abi::ElementType::I64, .shape = {}};
}

static bool isExpectation(Operation *op) {
  return isa<check::CheckDialect>(op->getDialect());
}

// --- What is needed, and until when ---------------------------------------------------------------------------------

/// Numbers the operations that a result depends on. One without results is kept: it must be understood or refused.
void FunctionState::findLive() {
  Position position = 0;
  for (Operation &op : block)
    positions[&op] = ++position;
  for (Operation &op : llvm::reverse(block)) {
    auto isLive = [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return !here || positions.contains(here); // another block of the function
    };
    const bool assigns = isa<hal::TensorAliasOp>(op);
    if (op.getNumResults() != 0 && !assigns && llvm::none_of(op.getUsers(), isLive))
      positions.erase(&op);
  }
}

/// Position of the last operation that reads the contents of `value`, under any name.
Position FunctionState::lastUse(Value value) const {
  Position last = 0;
  for (OpOperand &use : value.getUses()) {
    // What is handed on, read back, stored or compared once the commands are done must still be there then.
    if (use.getOwner()->getBlock() != &block || isa<tensor::ExtractOp, util::GlobalStoreOp>(use.getOwner()))
      return kEndOfCall;
    auto found = positions.find(use.getOwner());
    auto alias = dyn_cast<hal::TensorAliasOp>(use.getOwner());
    const bool isAssignedTo = alias && &use == &alias.getStorageMutable();
    if (found == positions.end() || isa<tensor::DimOp>(use.getOwner()) || isAssignedTo)
      continue;
    Position position = isExpectation(use.getOwner()) ? kEndOfCall : found->second;
    if (isRename(use.getOwner())) // tensor operands come first in every rename
      position = lastUse(use.getOwner()->getResult(use.getOperandNumber()));
    last = std::max(last, position);
  }
  return last;
}

// --- Shapes ---------------------------------------------------------------------------------------------------------

/// Registers of every dimension: static ones from the type, dynamic ones in order from `dynamicDims`.
FailureOr<Shape> FunctionState::shapeFrom(Operation *op, Type type, ValueRange dynamicDims) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError() << "has a tensor of unknown rank, " << type << ", which is not supported";
  Shape shape;
  for (int64_t size : tensor.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      shape.push_back(function.registers.constant(size));
      continue;
    }
    shape.push_back(scalars.lookup(dynamicDims.front()));
    dynamicDims = dynamicDims.drop_front();
  }
  return shape;
}

/// A size that the program computes may come out negative: that fails the call.
void FunctionState::requireNonNegative(Operation *op, const Shape &shape, const std::string &subject) {
  for (auto [index, dim] : llvm::enumerate(shape))
    if (!function.registers.isNonNegative(dim))
      scalars.require(function.registers.less(function.registers.constant(-1), dim),
                      "dimension " + std::to_string(index) + " of " + subject + " is negative", op->getLoc());
}

void FunctionState::requireAtMost(Operation *op, Register found, Register most, const std::string &message) {
  RegisterProgram &registers = function.registers;
  scalars.require(registers.less(found, registers.add(most, registers.constant(1))), message, op->getLoc());
}

/// Bytes of a tensor: the static part first, so that equal sizes get one register.
Register FunctionState::bytesOf(Type type, ArrayRef<Register> shape) {
  RegisterProgram &registers = function.registers;
  abi::ElementType element = *elementTypeOf(cast<TensorType>(type).getElementType());
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
LogicalResult FunctionState::requireEqual(Operation *op, Register found, Register wanted, std::string foundName,
                                          std::string wantedName) {
  RegisterProgram &registers = function.registers;
  if (found == wanted)
    return success();
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
  if (std::string name = registers.describe(wanted); !name.empty()) {
    wantedName = name;
    if (a.opcode == Opcode::Dim && b.opcode == Opcode::Dim && a.b == b.b && !registers.describe(found).empty())
      wantedName = "that of " + name.substr(name.rfind(" of ") + 4);
  }
  scalars.require(registers.equal(found, wanted), foundName + " is not " + wantedName, op->getLoc());
  return success();
}

ResultValue FunctionState::outputOf(Value value) {
  ResultValue output{.type = *handedOnType(value.getType()), .shape = {}};
  if (auto read = reads.find(value); read != reads.end()) {
    output.buffer = read->second.buffer;
    output.element = read->second.element;
  } else if (output.type.isTensor) {
    const TensorValue &tensor = tensors[value];
    output.buffer = tensor.buffer;
    output.shape.assign(tensor.shape.begin(), tensor.shape.end());
  } else {
    output.scalar = scalars.lookup(value);
  }
  return output;
}

LogicalResult FunctionState::checkElementType(Operation *op, Value value) {
  Type element = cast<TensorType>(value.getType()).getElementType();
  if (elementTypeOf(element))
    return success();
  return op->emitOpError() << "has a tensor of element type " << element << ", which is not supported";
}

/// A transient with the same contents.
BufferIndex FunctionState::copyOf(Operation *op, Type type, const TensorValue &source, Position lastUse) {
  BufferIndex target = buffers.addTransient(bytesOf(type, source.shape), lastUse);
  if (!source.undefined)
    function.commands.push_back({Copy{source.buffer, target}, locationText(op->getLoc())});
  return target;
}

} // namespace tenon::compiler::host
