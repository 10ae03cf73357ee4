// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of an instruction: registers, constants, special registers, addresses. Each becomes one number (machine.h);
// a register wider than the type, where PTX allows one, is converted into a scratch register around the instruction.
#include "emulator/decode/decoder.h"
#include "emulator/decode/kernel_builder.h"
#include "emulator/decode/special_names.h"
#include "emulator/handlers/data.h"
#include "ptx/scalar_type.h"

#include <cstring>

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

bool Decoder::source(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed) {
  uint32_t bytes = ptx::byteSize(type);
  bool isFloat = type == ScalarType::F32 || type == ScalarType::F64;
  if (type == ScalarType::Pred) {
    bool negated = false;
    if (!predicateSource(operand, out, negated))
      return false;
    return !negated || unsupported("a negated predicate operand");
  }
  switch (operand.kind) {
  case Operand::Kind::Integer:
    if (isFloat || type == ScalarType::F16 || type == ScalarType::BF16)
      return fail("operand '" + std::to_string(static_cast<int64_t>(operand.bits)) + "' of '" + in_->form() +
                  "' is an integer, a floating-point number is wanted");
    out = builder_.constant(operand.bits, bytes);
    return true;
  case Operand::Kind::Float32:
  case Operand::Kind::Float64: {
    uint64_t bits = operand.bits;
    bool isSingle = operand.kind == Operand::Kind::Float32;
    if (type == ScalarType::F32 && !isSingle) {
      double wide;
      memcpy(&wide, &bits, 8);
      float narrow = static_cast<float>(wide);
      uint32_t narrowBits;
      memcpy(&narrowBits, &narrow, 4);
      bits = narrowBits;
    } else if (type == ScalarType::F64 && isSingle) {
      float narrow;
      uint32_t narrowBits = static_cast<uint32_t>(bits);
      memcpy(&narrow, &narrowBits, 4);
      double wide = narrow;
      memcpy(&bits, &wide, 8);
    } else if (!isFloat && bytes != (isSingle ? 4 : 8)) {
      return fail("a floating-point operand of '" + in_->form() + "' does not fit its type");
    }
    out = builder_.constant(bits, bytes);
    return true;
  }
  case Operand::Kind::Name:
    break;
  default:
    return fail("an operand of '" + in_->form() + "' is not a register, a constant or a name");
  }
  if (operand.minus)
    return unsupported("a minus before a register");
  if (operand.negated)
    return fail("'!' before '" + std::string(operand.name) + "', which is no predicate");
  std::optional<FunctionNames::Register> found = findRegister(operand.name);
  if (!found) {
    if (operand.name.starts_with('%'))
      return specialSource(operand.name, bytes, out);
    return symbolAddress(operand, bytes, out);
  }
  if (found->bytes == bytes) {
    out = found->offset;
    return true;
  }
  if (found->bytes < bytes || !relaxed)
    return fail("register '" + std::string(operand.name) + "' has " + std::to_string(found->bytes * 8) + " bits, '" +
                in_->form() + "' wants " + std::to_string(bytes * 8));
  out = allocateRegister(bytes);
  emitConversion(out, bytes, found->offset, found->bytes, false);
  return true;
}

bool Decoder::destination(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed) {
  uint32_t bytes = ptx::byteSize(type);
  if (type == ScalarType::Pred)
    return predicateDestination(operand, out);
  if (operand.kind == Operand::Kind::Sink) {
    out = allocateRegister(bytes);
    return true;
  }
  if (operand.kind != Operand::Kind::Name)
    return fail("the destination of '" + in_->form() + "' is not a register");
  std::optional<FunctionNames::Register> found = findRegister(operand.name);
  if (!found)
    return fail("'" + std::string(operand.name) + "', the destination of '" + in_->form() +
                "', is not a declared register");
  if (found->offset >> kBaseShift != kRegisterBase) // countDefinitions does not see what this instruction writes
    return unsupported("the destination '" + std::string(operand.name) + "' at this place");
  if (found->bytes == bytes) {
    out = found->offset;
    return true;
  }
  if (found->bytes < bytes || !relaxed)
    return fail("register '" + std::string(operand.name) + "' has " + std::to_string(found->bytes * 8) + " bits, '" +
                in_->form() + "' writes " + std::to_string(bytes * 8));
  out = allocateRegister(bytes);
  after_.push_back({found->offset, found->bytes, out, bytes, isSigned(type)});
  return true;
}

bool Decoder::predicateSource(const Operand &operand, uint32_t &out, bool &negated) {
  negated = operand.negated;
  if (operand.kind == Operand::Kind::Integer) {
    out = builder_.constant(operand.bits ? 0xffffffffu : 0, 4);
    return true;
  }
  std::optional<FunctionNames::Register> found =
      operand.kind == Operand::Kind::Name ? findRegister(operand.name) : std::nullopt;
  if (!found && operand.name == "%is_explicit_cluster") { // the only special register that is a predicate
    out = builder_.special(Special::IsExplicitCluster);
    return true;
  }
  if (!found || found->bytes != 0)
    return fail("'" + std::string(operand.name) + "' in '" + in_->form() + "' is not a predicate");
  out = found->offset;
  return true;
}

bool Decoder::predicateDestination(const Operand &operand, uint32_t &out) {
  if (operand.kind == Operand::Kind::Sink) {
    out = kNoOperand;
    return true;
  }
  bool negated = false;
  if (operand.kind == Operand::Kind::Name && operand.name.starts_with("%is_explicit"))
    return fail("'" + std::string(operand.name) + "' cannot be written");
  if (operand.kind != Operand::Kind::Name || !predicateSource(operand, out, negated))
    return operand.kind == Operand::Kind::Name ? false
                                               : fail("the destination of '" + in_->form() + "' is not a predicate");
  return true;
}

bool Decoder::specialSource(std::string_view name, uint32_t bytes, uint32_t &out) {
  auto adapt = [&](uint32_t from, uint32_t fromBytes) {
    out = from;
    if (bytes != fromBytes) {
      out = allocateRegister(bytes);
      emitConversion(out, bytes, from, fromBytes, false);
    }
    return true;
  };
  if (std::optional<Special> special = findSpecial(name))
    return adapt(builder_.special(*special), 4);
  struct Clock {
    std::string_view name;
    uint32_t bytes, shift;
  };
  for (const Clock &clock : {Clock{"%clock", 4, 0},
                             {"%clock_hi", 4, 32},
                             {"%clock64", 8, 0},
                             {"%globaltimer", 8, 0},
                             {"%globaltimer_lo", 4, 0},
                             {"%globaltimer_hi", 4, 32}})
    if (clock.name == name) {
      Decoded decoded;
      decoded.d = allocateRegister(clock.bytes);
      decoded.imm = clock.shift;
      decoded.handler = clockHandler(clock.bytes);
      uint32_t from = decoded.d;
      emit(decoded);
      return adapt(from, clock.bytes);
    }
  if (std::optional<uint32_t> offset = findReservedShared(name)) {
    builder_.kernel->usesReservedShared = true;
    out = builder_.constant(*offset, bytes);
    if (name != "%reserved_smem_offset_cap") // a size
      addSharedBase(bytes, out);
    return true;
  }
  if (isOtherSpecial(name))
    return refuse("the emulator does not support the register '" + std::string(name) + "'");
  return fail("'" + std::string(name) + "' in '" + in_->form() +
              "' is neither a declared register nor a special register that the emulator knows");
}

/// The address of a variable or function, in its own space (generic: as a generic address).
bool Decoder::symbolAddress(const Operand &operand, uint32_t bytes, uint32_t &out, bool generic) {
  uint64_t offset = static_cast<uint64_t>(operand.offset);
  if (bytes != 8 && bytes != 4)
    return fail("the address of '" + std::string(operand.name) + "' needs 32 or 64 bits");
  if (const FunctionNames::Symbol *symbol = findSymbol(operand.name)) {
    if (symbol->isShared) {
      out = builder_.constant(symbol->slot.offset + offset + (generic ? kSharedWindow : 0), bytes);
      addSharedBase(bytes, out);
      return true;
    }
    Decoded decoded;
    decoded.d = out = allocateRegister(bytes);
    decoded.imm = static_cast<int64_t>(symbol->slot.offset + offset);
    decoded.flag = generic;
    decoded.handler = frameAddressHandler(bytes);
    emit(decoded);
    return true;
  }
  if (function_.isEntry)
    if (auto it = builder_.kernelParameters.find(operand.name); it != builder_.kernelParameters.end()) {
      out = builder_.constant(it->second.offset + offset + (generic ? kParamWindow : 0), bytes);
      return true;
    }
  if (auto it = builder_.sharedOffsets.find(operand.name); it != builder_.sharedOffsets.end()) {
    out = builder_.constant(it->second + offset + (generic ? kSharedWindow : 0), bytes);
    addSharedBase(bytes, out);
    return true;
  }
  if (std::optional<uint64_t> address = builder_.variableAddress(operand.name)) {
    if (bytes != 8)
      return fail("the address of '" + std::string(operand.name) + "' needs 64 bits");
    out = builder_.constant(*address + offset, bytes);
    return true;
  }
  if (uint64_t address = functionAddress(builder_.module, operand.name)) {
    out = builder_.constant(address + offset, bytes);
    return true;
  }
  return fail("'" + std::string(operand.name) + "' in '" + in_->form() + "' is not declared");
}

bool Decoder::address(const Operand &operand, MemorySpace &space, Decoded &decoded) {
  if (space == MemorySpace::SharedCluster) {
    if (!simpleAddress(operand, space, decoded))
      return false;
    if (decoded.addressMode == AddressMode::FrameLocal)
      return fail("'" + in_->form() + "' wants an address in shared memory");
    toClusterWindow(decoded);
    space = MemorySpace::Generic;
    return true;
  }
  return simpleAddress(operand, space, decoded);
}

bool Decoder::simpleAddress(const Operand &operand, MemorySpace &space, Decoded &decoded) {
  if (operand.kind != Operand::Kind::Address || operand.elements.size() != 1)
    return fail("'" + in_->form() + "' wants an address in [ ]");
  const Operand &base = operand.elements[0];
  decoded.imm = operand.offset;
  decoded.addressMode = AddressMode::Register64;
  if (base.kind == Operand::Kind::Integer) {
    decoded.a = builder_.constant(base.bits, 8);
    return true;
  }
  if (base.kind != Operand::Kind::Name)
    return fail("the base of an address is a register, a variable or a number");
  if (std::optional<FunctionNames::Register> found = findRegister(base.name)) {
    if (found->bytes != 8 && found->bytes != 4)
      return fail("register '" + std::string(base.name) + "' has " + std::to_string(found->bytes * 8) +
                  " bits, an address has 32 or 64");
    decoded.a = found->offset;
    decoded.addressMode = found->bytes == 8 ? AddressMode::Register64 : AddressMode::Register32;
    if (space == MemorySpace::Param && function_.isEntry) {
      decoded.imm += static_cast<int64_t>(kParamWindow);
      if (found->bytes == 4)
        return unsupported("a 32-bit address in .param");
    } else if (space == MemorySpace::Param) {
      space = MemorySpace::Local;
    }
    return true;
  }
  if (const FunctionNames::Symbol *symbol = findSymbol(base.name); symbol && !symbol->isShared) {
    if (space == MemorySpace::Shared || space == MemorySpace::SharedCluster || space == MemorySpace::Global ||
        space == MemorySpace::Const)
      return fail("'" + std::string(base.name) + "' is not in the space of '" + in_->form() + "'");
    decoded.imm += symbol->slot.offset;
    decoded.addressMode = AddressMode::FrameLocal;
    space = MemorySpace::Local;
    return true;
  }
  Operand name = base;
  name.offset = 0;
  if (!symbolAddress(name, 8, decoded.a, space == MemorySpace::Generic))
    return false;
  if (space == MemorySpace::Param)
    decoded.imm += static_cast<int64_t>(kParamWindow);
  return true;
}

bool Decoder::vectorElements(const Operand &operand, ScalarType type, uint32_t count, bool isSource,
                             std::vector<uint32_t> &out) {
  if (operand.kind != Operand::Kind::Vector || operand.elements.size() != count)
    return fail("'" + in_->form() + "' wants a vector of " + std::to_string(count));
  for (const Operand &element : operand.elements) {
    uint32_t offset = kNoOperand;
    if (isSource ? !source(element, type, offset, true)
                 : element.kind != Operand::Kind::Sink && !destination(element, type, offset, true))
      return false;
    out.push_back(offset);
  }
  return true;
}

/// An address in the shared window of the cluster, as a generic one: from there on it is an access like any other.
void Decoder::toClusterWindow(Decoded &decoded) {
  if (decoded.addressMode == AddressMode::Register32) {
    uint32_t wide = allocateRegister(8);
    emitConversion(wide, 8, decoded.a, 4, false);
    decoded.a = wide;
    decoded.addressMode = AddressMode::Register64;
  }
  decoded.imm += static_cast<int64_t>(kSharedWindow);
}

/// The address of a variable of this block, which holds its rank: `out` = constant + the block's base.
void Decoder::addSharedBase(uint32_t bytes, uint32_t &out) {
  if (!builder_.kernel->usesClusters)
    return;
  Decoded decoded;
  decoded.a = out;
  decoded.b = builder_.special(Special::SharedBase);
  if (bytes == 8) {
    uint32_t wide = allocateRegister(8);
    emitConversion(wide, 8, decoded.b, 4, false);
    decoded.b = wide;
  }
  decoded.d = out = allocateRegister(bytes);
  decoded.handler = handlers().integer(IntOp::Add, bytes == 8 ? ScalarType::U64 : ScalarType::U32);
  emit(decoded);
}

bool Decoder::genericAddress(const Operand &operand, MemorySpace space, uint32_t &out) {
  Decoded decoded;
  Operand plain = operand;
  if (plain.kind == Operand::Kind::Address && plain.elements.size() > 1)
    plain.elements = ptx::List<Operand>(plain.elements.data(), 1); // what follows the base is for the caller
  bool isShared = space == MemorySpace::Shared;
  if (!address(plain, space, decoded))
    return false;
  if (decoded.addressMode == AddressMode::FrameLocal)
    return unsupported("a local address");
  if (decoded.addressMode == AddressMode::Register32) {
    uint32_t wide = allocateRegister(8);
    emitConversion(wide, 8, decoded.a, 4, false);
    decoded.a = wide;
  }
  if (isShared)
    decoded.imm += static_cast<int64_t>(kSharedWindow);
  out = decoded.a;
  if (decoded.imm) {
    Decoded sum;
    sum.d = out = allocateRegister(8);
    sum.a = decoded.a;
    sum.b = builder_.constant(static_cast<uint64_t>(decoded.imm), 8);
    sum.handler = handlers().integer(IntOp::Add, ScalarType::U64);
    emit(sum);
  }
  return true;
}

const ParameterSlot *Decoder::kernelParameter(const Operand &operand) {
  if (!function_.isEntry || operand.kind != Operand::Kind::Address || operand.elements[0].kind != Operand::Kind::Name)
    return nullptr;
  std::string_view name = operand.elements[0].name;
  if (findRegister(name) || findSymbol(name))
    return nullptr;
  auto it = builder_.kernelParameters.find(name);
  return it == builder_.kernelParameters.end() ? nullptr : &it->second;
}

} // namespace tenon::emulator
