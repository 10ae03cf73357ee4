// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dispatch against its declaration. A kernel launched with other arguments than it takes reads past its parameter
// block or writes to memory that is not its own, and no CUDA driver notices; so the mismatch is found here, where both
// places are known. Each violation is one error with found, wanted and fix, and a note at the declaration.
#include "compiler/dialect/hal/dispatch_rules.h"

#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tenon::compiler {

std::optional<unsigned> DispatchShape::tiedTo(unsigned result) const {
  if (result >= tied.size() || tied[result] < 0)
    return std::nullopt;
  return unsigned(tied[result]);
}

// "1 tensor", "2 tensors"
static std::string counted(size_t number, StringRef word) {
  return (Twine(number) + " " + word + (number == 1 ? "" : "s")).str();
}

//===-- Any dispatch ---------------------------------------------------------------------------------------------===//

static unsigned totalDims(TypeRange types) {
  unsigned total = 0;
  for (Type type : types)
    total += dynamicDimCount(type);
  return total;
}

// Bits of a tensor of static shape, or nothing.
static std::optional<int64_t> staticBits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  return tensor.getNumElements() * tensor.getElementTypeBitWidth();
}

static LogicalResult verifyTies(Operation *op, const DispatchShape &shape) {
  if (!shape.tied.empty() && shape.tied.size() != shape.results.size())
    return op->emitOpError() << "has " << counted(shape.tied.size(), "tie") << " for "
                             << counted(shape.results.size(), "result") << ", one for each is wanted";
  SmallVector<bool> taken(shape.arguments.size());
  for (unsigned result = 0; result < shape.results.size(); ++result) {
    std::optional<unsigned> argument = shape.tiedTo(result);
    if (!argument)
      continue;
    if (*argument >= shape.arguments.size() || !isa<RankedTensorType>(shape.arguments[*argument]))
      return op->emitOpError() << "result " << result << " is tied to argument " << *argument
                               << ", which is no tensor argument";
    if (std::exchange(taken[*argument], true))
      return op->emitOpError() << "result " << result << " is tied to argument " << *argument
                               << ", which another result is tied to already: a buffer holds one result";
    std::optional<int64_t> from = staticBits(shape.arguments[*argument]), to = staticBits(shape.results[result]);
    if (from && to && *from != *to)
      return op->emitOpError() << "result " << result << " is " << shape.results[result]
                               << ", tied to an argument of type " << shape.arguments[*argument]
                               << ": equal sizes are wanted, they share one buffer";
  }
  return success();
}

LogicalResult verifyDispatchShape(Operation *op, const DispatchShape &shape) {
  for (auto [i, type] : llvm::enumerate(shape.arguments)) {
    bool tensor = isa<RankedTensorType>(type);
    if (!elementTypeOf(tensor ? cast<RankedTensorType>(type).getElementType() : type))
      return op->emitOpError() << "argument " << i << " is " << type
                               << ", a tensor or scalar of i1, i8, i16, i32, i64, f16, bf16, f32, f64 is wanted";
  }
  if (shape.results.empty())
    return op->emitOpError() << "has no result, so nothing could use what it writes: tie a result to the operand that "
                                "it writes (-> %operand)";
  for (auto [i, type] : llvm::enumerate(shape.results)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !elementTypeOf(tensor.getElementType()))
      return op->emitOpError() << "result " << i << " is " << type
                               << ", a tensor of i1, i8, i16, i32, i64, f16, bf16, f32, f64 is wanted";
  }
  if (totalDims(shape.arguments) != shape.argumentDims || totalDims(shape.results) != shape.resultDims)
    return op->emitOpError() << "has " << shape.argumentDims << " and " << shape.resultDims
                             << " dynamic dimensions of arguments and results, their types want "
                             << totalDims(shape.arguments) << " and " << totalDims(shape.results);
  return verifyTies(op, shape);
}

//===-- Against the declaration ----------------------------------------------------------------------------------===//

namespace {
struct Check {
  Operation *op;
  const DispatchShape &shape;
  StringRef name;
  hal::PipelineLayoutAttr layout;
  Location declaredAt;
  bool ok = true;

  // The error under construction; its note is attached by the caller's `declared`.
  InFlightDiagnostic error() {
    ok = false;
    return op->emitOpError();
  }
  void declared(InFlightDiagnostic &&diagnostic) {
    diagnostic.attachNote(declaredAt) << "'" << name << "' is declared here";
  }

  void checkOperands();
  void checkBindings();
  void checkAccess(unsigned result, unsigned binding, std::optional<unsigned> tiedTo);
  void checkConstants();
  void checkConstant(unsigned argument, const ConstantOperand &operand);
  void checkTensorMaps();
  void checkWorkload(Region &count);
};
} // namespace

void Check::checkAccess(unsigned result, unsigned binding, std::optional<unsigned> tiedTo) {
  if (!layout.getBindings()[binding].getReadOnly())
    return;
  InFlightDiagnostic diagnostic = error() << "writes result " << result;
  if (tiedTo)
    diagnostic << " in place of argument " << *tiedTo;
  declared(
      std::move(diagnostic) << " to binding " << binding << " of '" << name
                            << "', which is ReadOnly: remove ReadOnly from the binding, or return another operand");
}

void Check::checkBindings() {
  SmallVector<int64_t> bindingOfArgument(shape.arguments.size(), -1);
  unsigned tensors = 0, untied = 0;
  for (auto [i, type] : llvm::enumerate(shape.arguments))
    if (isa<TensorType>(type))
      bindingOfArgument[i] = tensors++;
  for (unsigned i = 0; i < shape.results.size(); ++i)
    untied += !shape.tiedTo(i);
  unsigned wanted = layout.getBindings().size();
  if (tensors + untied != wanted) {
    declared(error() << "passes " << counted(tensors, "tensor operand") << " and " << counted(untied, "untied result")
                     << ", the layout of '" << name << "' has " << counted(wanted, "binding")
                     << (tensors + untied > wanted
                             ? ": declare a binding for each, or tie a result to the operand that it overwrites"
                             : ": pass a tensor for each binding"));
    return;
  }
  unsigned next = tensors;
  for (unsigned i = 0; i < shape.results.size(); ++i) {
    std::optional<unsigned> tiedTo = shape.tiedTo(i);
    checkAccess(i, tiedTo ? bindingOfArgument[*tiedTo] : next++, tiedTo);
  }
}

void Check::checkConstant(unsigned argument, const ConstantOperand &operand) {
  const unsigned constant = operand.constant;
  Type type = shape.arguments[argument];
  uint32_t bytes = abi::byteSize(*elementTypeOf(type));
  if (!operand.type) {
    // A word takes what is exactly 32 bits: how a narrower value would be extended is not declared.
    if (bytes != 4 || type.isIndex())
      declared(error() << "argument " << argument << " is " << type << ", " << bytes << " byte"
                       << (bytes == 1 ? "" : "s") << " wide, constant " << constant << " of '" << name
                       << "' is a 32-bit word: declare it by type, 'constants = ["
                       << StringRef(abi::spelling(*elementTypeOf(type))) << "]', or convert the argument to i32");
    return;
  }
  Type wanted = operand.type;
  auto is64Bit = [](Type type) { return type.isIndex() || type.isInteger(64); };
  if (type != wanted && !(is64Bit(type) && is64Bit(wanted)))
    declared(error() << "argument " << argument << " is " << type << ", constant " << constant << " of '" << name
                     << "' is declared " << wanted << ": convert the argument, or declare the constant " << type);
}

void Check::checkConstants() {
  SmallVector<unsigned> scalars;
  for (auto [i, type] : llvm::enumerate(shape.arguments))
    if (!isa<TensorType>(type))
      scalars.push_back(i);
  SmallVector<ConstantOperand> operands = constantOperandsOf(layout);
  unsigned wanted = operands.size();
  if (scalars.size() != wanted && wanted != layout.getConstantCount()) {
    declared(error() << "passes " << counted(scalars.size(), "scalar") << ", the layout of '" << name << "' takes "
                     << wanted << ": one for each scalar constant and each member of a tuple, none for a tensor map");
    return;
  }
  if (scalars.size() != wanted) {
    declared(error() << "passes " << counted(scalars.size(), "scalar") << ", the layout of '" << name << "' has "
                     << counted(wanted, "constant") << ": pass one scalar for each constant, or declare 'constants = "
                     << unsigned(scalars.size()) << "'");
    return;
  }
  for (auto [operand, argument] : llvm::zip_equal(operands, scalars))
    checkConstant(argument, operand);
}

/// The tensor that is bound has the elements that its map is declared with, and its rank; of one that has more
/// dimensions the outermost count as one. The counts were checked.
void Check::checkTensorMaps() {
  SmallVector<Type> bound;
  for (Type type : shape.arguments)
    if (isa<TensorType>(type))
      bound.push_back(type);
  for (auto [i, type] : llvm::enumerate(shape.results))
    if (!shape.tiedTo(i))
      bound.push_back(type);
  for (auto [i, type] : llvm::enumerate(layout.getConstantTypes())) {
    auto map = dyn_cast<hal::TensorMapType>(type);
    if (!map || map.getBinding() >= bound.size()) // refused with the layout
      continue;
    auto tensor = cast<TensorType>(bound[map.getBinding()]);
    const bool fits = tensor.hasRank() && size_t(tensor.getRank()) >= map.getBox().size();
    if (!fits || tensor.getElementType() != map.getMemoryElement())
      declared(error() << "binds " << tensor << " to binding " << map.getBinding() << " of '" << name
                       << "', which constant " << i << " describes as " << map
                       << ": the same element type and a rank that is not below the map's are wanted");
  }
}

void Check::checkWorkload(Region &count) {
  if (count.empty()) {
    declared(error() << "dispatches '" << name
                     << "', which has no count region: add count(%device: !hal.device, ...) -> (index, index, index) "
                        "{..} to its declaration");
    return;
  }
  unsigned wanted = count.getNumArguments() == 0 ? 0 : count.getNumArguments() - 1; // the device comes first
  if (shape.workload != wanted)
    declared(error() << "gives " << counted(shape.workload, "workload value") << ", the count region of '" << name
                     << "' takes " << wanted << " after the device: write them as [%w, ..] behind the name");
}

void Check::checkOperands() {
  checkBindings();
  checkConstants();
  checkTensorMaps();
}

LogicalResult verifyOperandsAgainst(Operation *op, const DispatchShape &shape, StringRef name,
                                    hal::PipelineLayoutAttr layout, Location declaredAt) {
  Check check{op, shape, name, layout, declaredAt};
  check.checkOperands();
  return success(check.ok);
}

LogicalResult verifyDispatchAgainst(Operation *op, const DispatchShape &shape, StringRef name,
                                    hal::PipelineLayoutAttr layout, Region &count, Location declaredAt) {
  Check check{op, shape, name, layout, declaredAt};
  check.checkOperands();
  check.checkWorkload(count);
  return success(check.ok);
}

} // namespace tenon::compiler
