// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers do not overflow silently, so a member is moved to its place by a multiplication that fits: the topmost one
// keeps its sign, the others are without one.
#include "compiler/host/scalars/dispatch_constants.h"

#include "abi/struct_layout.h"
#include "compiler/dialect/hal/declarations.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

constexpr uint32_t kWordBytes = 8;

/// A member where it stands in a word. `alone`: nothing else uses the upper bits.
Register placed(RegisterProgram &registers, Register value, uint32_t byte, uint32_t size, bool alone) {
  if (size == kWordBytes || (byte == 0 && alone))
    return value;
  const bool topmost = byte + size == kWordBytes;
  const Register bits = topmost ? registers.signExtend(value, 8 * size) : registers.zeroExtend(value, 8 * size);
  return byte == 0 ? bits : registers.mul(bits, registers.constant(int64_t(1) << (8 * byte)));
}

/// The members of a C struct, eight bytes to a word.
void addStruct(RegisterProgram &registers, TupleType type, ArrayRef<Register> members, std::vector<Register> &out) {
  const size_t first = out.size();
  llvm::SmallVector<abi::ElementType> elements;
  for (mlir::Type member : type.getTypes())
    elements.push_back(*elementTypeOf(member));
  const abi::StructLayout layout = abi::structMembers(elements);
  for (size_t i = 0; i < elements.size(); ++i) {
    const uint32_t size = abi::byteSize(elements[i]), offset = layout.offsets[i];
    const size_t word = first + offset / kWordBytes;
    const bool alone = word == out.size() && i + 1 == type.size();
    const Register value = placed(registers, members[i], offset % kWordBytes, size, alone);
    if (word == out.size())
      out.push_back(value);
    else
      out[word] = registers.binary(Opcode::Or, out[word], value);
  }
}

/// The extents of a tensor as a map of `rank` dimensions has it: the first is the product of all that are left.
std::vector<Register> mapExtents(RegisterProgram &registers, ArrayRef<Register> shape, size_t rank) {
  std::vector<Register> extents(shape.end() - rank, shape.end());
  for (Register outer : shape.drop_back(rank))
    extents.front() = registers.mul(extents.front(), outer);
  return extents;
}

} // namespace

std::vector<Register> constantWords(RegisterProgram &registers, hal::PipelineLayoutAttr layout,
                                    ArrayRef<Register> scalars,
                                    function_ref<ArrayRef<Register>(unsigned binding)> shapeOf) {
  std::vector<Register> out;
  if (layout.getConstantTypes().empty()) // words
    return {scalars.begin(), scalars.end()};
  for (Type type : layout.getConstantTypes()) {
    if (auto tuple = dyn_cast<TupleType>(type)) {
      addStruct(registers, tuple, scalars.take_front(tuple.size()), out);
      scalars = scalars.drop_front(tuple.size());
    } else if (auto map = dyn_cast<hal::TensorMapType>(type)) {
      llvm::append_range(out, mapExtents(registers, shapeOf(map.getBinding()), map.getBox().size()));
    } else {
      out.push_back(scalars.front());
      scalars = scalars.drop_front();
    }
  }
  return out;
}

} // namespace tenon::compiler::host
