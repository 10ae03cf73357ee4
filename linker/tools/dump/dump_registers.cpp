// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's registers as assignments.
#include "linker/tools/dump/dump.h"

#include "abi/format/arithmetic.h"

namespace tenon::linker {

namespace fb = abi::fb;

static std::string reg(uint32_t index) {
  return concat("r", index);
}

/// "fadd.32 r1, r2"; "fconvert f16 to f32 r1".
static std::string realText(const fb::RegisterOp &operation) {
  if (operation.opcode() == fb::RegisterOpcode::FConvert)
    return concat("fconvert ", abi::spelling(static_cast<abi::ElementType>(operation.imm() & 0xff)), " to ",
                  abi::spelling(static_cast<abi::ElementType>(operation.imm() >> 8)), " ", reg(operation.a()));
  std::string name = fb::EnumNameRegisterOpcode(operation.opcode());
  for (char &c : name)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return concat(name, ".", operation.imm(), " ", reg(operation.a()),
                abi::operandCount(operation.opcode()) == 2 ? concat(", ", reg(operation.b())) : std::string());
}

std::string registerText(uint32_t index, const fb::RegisterOp &operation) {
  const std::string a = reg(operation.a()), b = reg(operation.b()), c = reg(operation.c());
  auto binary = [&](std::string_view name) { return concat(name, " ", a, ", ", b); };
  auto text = [&]() -> std::string {
    switch (operation.opcode()) {
    case fb::RegisterOpcode::Const:
      return concat("const ", operation.imm());
    case fb::RegisterOpcode::Arg:
      return concat("input ", operation.a());
    case fb::RegisterOpcode::Dim:
      return concat("dim ", operation.b(), " of input ", operation.a());
    case fb::RegisterOpcode::Add:
      return binary("add");
    case fb::RegisterOpcode::Sub:
      return binary("sub");
    case fb::RegisterOpcode::Mul:
      return binary("mul");
    case fb::RegisterOpcode::AddWrap:
      return binary("addwrap");
    case fb::RegisterOpcode::SubWrap:
      return binary("subwrap");
    case fb::RegisterOpcode::MulWrap:
      return binary("mulwrap");
    case fb::RegisterOpcode::FloorDiv:
      return binary("floordiv");
    case fb::RegisterOpcode::CeilDiv:
      return binary("ceildiv");
    case fb::RegisterOpcode::Mod:
      return binary("mod");
    case fb::RegisterOpcode::DivTrunc:
      return binary("divtrunc");
    case fb::RegisterOpcode::RemTrunc:
      return binary("remtrunc");
    case fb::RegisterOpcode::Min:
      return binary("min");
    case fb::RegisterOpcode::Max:
      return binary("max");
    case fb::RegisterOpcode::And:
      return binary("and");
    case fb::RegisterOpcode::Or:
      return binary("or");
    case fb::RegisterOpcode::Xor:
      return binary("xor");
    case fb::RegisterOpcode::Eq:
      return binary("eq");
    case fb::RegisterOpcode::Lt:
      return binary("lt");
    case fb::RegisterOpcode::Select:
      return concat("select ", a, ", ", b, ", ", c);
    case fb::RegisterOpcode::Align:
      return binary("align");
    case fb::RegisterOpcode::SignExtend:
      return concat("sext ", a, " from ", operation.imm(), " bits");
    case fb::RegisterOpcode::ZeroExtend:
      return concat("zext ", a, " from ", operation.imm(), " bits");
    default:
      return realText(operation);
    }
  };
  return concat(reg(index), " = ", text());
}

} // namespace tenon::linker
