// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, and ends of a thread.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/builtins.h"
#include "emulator/handlers/data.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

bool decodeBra(Decoder &decoder) {
  Form form(decoder.in());
  form.take("uni");
  if (!decoder.expectOperands(1, 1) || decoder.in().operands[0].kind != Operand::Kind::Name)
    return decoder.fail("'bra' takes a label");
  Decoded decoded;
  decoded.kind = Kind::Branch;
  decoded.handler = nothingHandler();
  decoder.branchTo(decoder.in().operands[0].name);
  return decoder.finish(form, decoded);
}

bool decodeBrx(Decoder &decoder) {
  Form form(decoder.in());
  form.take("uni");
  if (!form.take("idx"))
    return decoder.unsupported();
  Decoded decoded;
  if (!decoder.expectOperands(2, 2) || !decoder.source(decoder.in().operands[0], ScalarType::U32, decoded.a))
    return false;
  if (!decoder.branchTable(decoder.in().operands[1].name, decoded))
    return false;
  decoded.kind = Kind::BranchIndexed;
  decoded.handler = nothingHandler();
  return decoder.finish(form, decoded);
}

/// call (results), function, (arguments) and through a register, with a prototype or a table of targets behind.
bool decodeCall(Decoder &decoder) {
  Form form(decoder.in());
  form.take("uni");
  const ptx::List<Operand> &o = decoder.in().operands;
  size_t k = 0;
  CallSite site;
  auto slots = [&](const Operand &list, std::vector<FrameSlot> &out) {
    for (const Operand &element : list.elements) {
      const FunctionNames::Symbol *symbol =
          element.kind == Operand::Kind::Name ? decoder.findSymbol(element.name) : nullptr;
      if (!symbol || symbol->isShared)
        return decoder.fail("arguments and results of a call are .param variables of the caller");
      out.push_back(symbol->slot);
    }
    return true;
  };
  if (k < o.size() && o[k].kind == Operand::Kind::List && !slots(o[k++], site.results))
    return false;
  if (k >= o.size() || o[k].kind != Operand::Kind::Name)
    return decoder.fail("'call' names no function");
  const Operand &target = o[k++];
  if (k < o.size() && o[k].kind == Operand::Kind::List && !slots(o[k++], site.arguments))
    return false;
  if (std::optional<FunctionNames::Register> pointer = decoder.findRegister(target.name)) {
    if (pointer->bytes != 8)
      return decoder.fail("a pointer to a function has 64 bits");
    site.pointer = pointer->offset;
  } else {
    const ptx::Function *function = decoder.module().findFunction(target.name);
    if (!function)
      return decoder.fail("'" + std::string(target.name) + "' is not declared");
    if (function->isDeclaration) {
      Builtin builtin = findBuiltin(target.name);
      constexpr size_t kArguments[] = {0, 2, 5, 1, 1};
      if (builtin == Builtin::None)
        return decoder.fail("'" + std::string(target.name) +
                            "' is declared extern and no device function of that name exists");
      if (site.arguments.size() != kArguments[static_cast<size_t>(builtin)])
        return decoder.fail("'" + std::string(target.name) + "' takes " +
                            std::to_string(kArguments[static_cast<size_t>(builtin)]) + " arguments, found " +
                            std::to_string(site.arguments.size()));
      site.builtin = static_cast<uint32_t>(builtin);
    } else {
      site.callee = decoder.codeOf(function);
      if (!site.callee)
        return decoder.fail("'" + std::string(target.name) + "' cannot be called");
      if (site.callee->parameters.size() != site.arguments.size() || site.callee->results.size() != site.results.size())
        return decoder.fail("'" + std::string(target.name) + "' takes " +
                            std::to_string(site.callee->parameters.size()) + " arguments, found " +
                            std::to_string(site.arguments.size()));
    }
  }
  Decoded decoded;
  decoded.kind = Kind::Call;
  decoded.handler = nothingHandler();
  decoded.target = decoder.addCallSite(std::move(site));
  return decoder.finish(form, decoded);
}

/// ret, exit
bool decodeRet(Decoder &decoder) {
  Form form(decoder.in());
  form.take("uni");
  Decoded decoded;
  decoded.kind = decoder.in().opcode == "exit" || decoder.function().isEntry ? Kind::Exit : Kind::Return;
  decoded.handler = nothingHandler();
  return decoder.finish(form, decoded);
}

/// trap, brkpt
bool decodeTrap(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  decoded.kind = Kind::Checked;
  decoded.flag = decoder.in().opcode == "brkpt";
  decoded.handler = trapHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family control() {
  static constexpr Opcode kRows[] = {
      {"bra", &decodeBra},
      {"brx", &decodeBrx},
      {"call", &decodeCall},
      {"ret", &decodeRet, {}, {0, 0}},
      {"exit", &decodeRet, {}, {0, 0}},
      {"trap", &decodeTrap, {}, {0, 0}},
      {"brkpt", &decodeTrap, {}, {0, 0}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
