// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, ends of a thread, and barriers of a block.
#include "emulator/decode/decoder.h"
#include "emulator/handlers/builtins.h"
#include "emulator/handlers/fence_ops.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

bool FunctionDecoder::decodeBra() {
  Form form(*in_);
  form.take("uni");
  if (!expectOperands(1, 1) || in_->operands[0].kind != Operand::Kind::Name)
    return fail("'bra' takes a label");
  Decoded decoded;
  decoded.kind = Kind::Branch;
  decoded.handler = nothingHandler();
  fixups_.push_back({code_.code.size(), false, scope_, in_->operands[0].name, in_->line, in_->column});
  return finish(form, decoded);
}

bool FunctionDecoder::decodeBrx() {
  Form form(*in_);
  form.take("uni");
  if (!form.take("idx"))
    return unsupported();
  Decoded decoded;
  if (!expectOperands(2, 2) || !source(in_->operands[0], ScalarType::U32, decoded.a))
    return false;
  auto table = tables_.find(in_->operands[1].name);
  if (table == tables_.end())
    return fail("'" + std::string(in_->operands[1].name) + "' is not a table of branch targets");
  decoded.list = static_cast<uint32_t>(code_.operands.size());
  decoded.imm = static_cast<int64_t>(table->second->entries.size());
  for (std::string_view label : table->second->entries) {
    fixups_.push_back({code_.operands.size(), true, scope_, label, in_->line, in_->column});
    code_.operands.push_back(0);
  }
  decoded.kind = Kind::BranchIndexed;
  decoded.handler = nothingHandler();
  return finish(form, decoded);
}

/// call (results), function, (arguments) and through a register, with a prototype or a table of targets behind.
bool FunctionDecoder::decodeCall() {
  Form form(*in_);
  form.take("uni");
  const ptx::List<Operand> &o = in_->operands;
  size_t k = 0;
  CallSite site;
  auto slots = [&](const Operand &list, std::vector<FrameSlot> &out) {
    for (const Operand &element : list.elements) {
      const Symbol *symbol = element.kind == Operand::Kind::Name ? findSymbol(element.name) : nullptr;
      if (!symbol || symbol->isShared)
        return fail("arguments and results of a call are .param variables of the caller");
      out.push_back(symbol->slot);
    }
    return true;
  };
  if (k < o.size() && o[k].kind == Operand::Kind::List && !slots(o[k++], site.results))
    return false;
  if (k >= o.size() || o[k].kind != Operand::Kind::Name)
    return fail("'call' names no function");
  const Operand &target = o[k++];
  if (k < o.size() && o[k].kind == Operand::Kind::List && !slots(o[k++], site.arguments))
    return false;
  if (std::optional<Register> pointer = findRegister(target.name)) {
    if (pointer->bytes != 8)
      return fail("a pointer to a function has 64 bits");
    site.pointer = pointer->offset;
  } else {
    const ptx::Function *function = builder_.module.findFunction(target.name);
    if (!function)
      return fail("'" + std::string(target.name) + "' is not declared");
    if (function->isDeclaration) {
      Builtin builtin = findBuiltin(target.name);
      constexpr size_t kArguments[] = {0, 2, 5, 1, 1};
      if (builtin == Builtin::None)
        return fail("'" + std::string(target.name) + "' is declared extern and no device function of that name exists");
      if (site.arguments.size() != kArguments[static_cast<size_t>(builtin)])
        return fail("'" + std::string(target.name) + "' takes " +
                    std::to_string(kArguments[static_cast<size_t>(builtin)]) + " arguments, found " +
                    std::to_string(site.arguments.size()));
      site.builtin = static_cast<uint32_t>(builtin);
    } else {
      site.callee = builder_.codeOf(function);
      if (!site.callee)
        return fail("'" + std::string(target.name) + "' cannot be called");
      if (site.callee->parameters.size() != site.arguments.size() || site.callee->results.size() != site.results.size())
        return fail("'" + std::string(target.name) + "' takes " + std::to_string(site.callee->parameters.size()) +
                    " arguments, found " + std::to_string(site.arguments.size()));
    }
  }
  Decoded decoded;
  decoded.kind = Kind::Call;
  decoded.handler = nothingHandler();
  decoded.target = static_cast<uint32_t>(code_.callSites.size());
  code_.callSites.push_back(std::move(site));
  return finish(form, decoded);
}

/// ret, exit
bool FunctionDecoder::decodeRet() {
  Form form(*in_);
  form.take("uni");
  Decoded decoded;
  decoded.kind = in_->opcode == "exit" || function_.isEntry ? Kind::Exit : Kind::Return;
  decoded.handler = nothingHandler();
  return expectOperands(0, 0) && finish(form, decoded);
}

/// trap, brkpt
bool FunctionDecoder::decodeTrap() {
  Form form(*in_);
  Decoded decoded;
  decoded.kind = Kind::Checked;
  decoded.flag = in_->opcode == "brkpt";
  decoded.handler = trapHandler();
  return expectOperands(0, 0) && finish(form, decoded);
}

/// bar and barrier. `.aligned` promises that all threads of a warp execute it together, which is not needed here.
bool FunctionDecoder::decodeBar() {
  Form form(*in_);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (in_->opcode == "bar" && form.take("warp")) {
    if (!form.take("sync") || !expectOperands(1, 1) || !source(o[0], ScalarType::U32, decoded.e))
      return false;
    decoded.kind = Kind::WarpSyncAny;
    decoded.handler = meetHandler();
    return finish(form, decoded);
  }
  if (in_->opcode == "barrier" && form.take("cluster"))
    return decodeClusterBarrier(form);
  form.take("cta");
  form.take("aligned");
  int action = form.takeOneOf({"sync", "arrive", "red"});
  if (action < 0)
    return unsupported();
  decoded.kind = Kind::Barrier;
  decoded.handler = nothingHandler();
  if (action < 2) {
    decoded.flag = static_cast<uint8_t>(action == 0 ? BarrierKind::Sync : BarrierKind::Arrive);
    if (!expectOperands(action == 0 ? 1 : 2, 2) || !source(o[0], ScalarType::U32, decoded.a) ||
        (o.size() > 1 && !source(o[1], ScalarType::U32, decoded.b)))
      return false;
    return finish(form, decoded);
  }
  int op = form.takeOneOf({"popc", "and", "or"});
  ScalarType type = form.takeType();
  if (op < 0 || type != (op == 0 ? ScalarType::U32 : ScalarType::Pred))
    return unsupported();
  bool negated = false;
  if (!expectOperands(3, 4) || !destination(o[0], type, decoded.d) || !source(o[1], ScalarType::U32, decoded.a) ||
      (o.size() == 4 && !source(o[2], ScalarType::U32, decoded.b)) || !predicateSource(o.back(), decoded.c, negated))
    return false;
  if (decoded.d == kNoOperand)
    decoded.d = allocateRegister(0);
  decoded.flag = static_cast<uint8_t>((static_cast<uint8_t>(BarrierKind::Popc) + op) | (negated ? kThirdNegated : 0));
  return finish(form, decoded);
}

} // namespace tenon::emulator
