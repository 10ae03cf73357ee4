// Branches, calls, barriers and the instructions of a whole warp; and the table of opcodes.
#include "emulator/builtins.h"
#include "emulator/checker.h"
#include "emulator/decoder.h"
#include "emulator/shfl.h"

#include <algorithm>

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

bool FunctionDecoder::decodeShfl() {
  Form form(*in_);
  bool sync = form.take("sync");
  int mode = form.takeOneOf({"up", "down", "bfly", "idx"});
  ScalarType type = form.takeType();
  if (mode < 0 || type != ScalarType::B32)
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  decoded.target = kNoOperand;
  if (!expectOperands(sync ? 5 : 4, sync ? 5 : 4))
    return false;
  if (o[0].kind == Operand::Kind::Pair) {
    if ((o[0].elements[0].kind != Operand::Kind::Sink && !destination(o[0].elements[0], type, decoded.d)) ||
        !predicateDestination(o[0].elements[1], decoded.target))
      return false;
  } else if (!destination(o[0], type, decoded.d)) {
    return false;
  }
  if (!source(o[1], type, decoded.a) || !source(o[2], type, decoded.b) || !source(o[3], type, decoded.c) ||
      (sync && !source(o[4], type, decoded.e)))
    return false;
  decoded.kind = sync ? Kind::WarpSync : Kind::Alu;
  std::optional<uint64_t> lane = builder_.constantValue(decoded.b), clamp = builder_.constantValue(decoded.c);
  if (lane && clamp) {
    FixedShuffle table =
        fixShuffle(static_cast<ShuffleMode>(mode), static_cast<uint32_t>(*lane), static_cast<uint32_t>(*clamp));
    const uint32_t *words = reinterpret_cast<const uint32_t *>(&table);
    decoded.list = addOperands({words, words + sizeof table / sizeof *words});
  }
  decoded.handler = handlers().shuffle(static_cast<ShuffleMode>(mode), lane && clamp);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeVote() {
  Form form(*in_);
  bool sync = form.take("sync");
  int mode = form.takeOneOf({"all", "any", "uni", "ballot"});
  ScalarType type = form.takeType();
  if (mode < 0 || type != (mode == 3 ? ScalarType::B32 : ScalarType::Pred))
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  bool negated = false;
  if (!expectOperands(sync ? 3 : 2, sync ? 3 : 2) || !destination(o[0], type, decoded.d) ||
      !predicateSource(o[1], decoded.a, negated) || (sync && !source(o[2], ScalarType::U32, decoded.e)))
    return false;
  if (decoded.d == kNoOperand)
    decoded.d = allocateRegister(0);
  decoded.flag = negated ? kThirdNegated : 0;
  decoded.kind = sync ? Kind::WarpSync : Kind::Alu;
  decoded.handler = voteHandler(static_cast<VoteMode>(mode));
  return finish(form, decoded);
}

bool FunctionDecoder::decodeMatch() {
  Form form(*in_);
  int mode = form.takeOneOf({"any", "all"});
  bool sync = form.take("sync");
  ScalarType type = form.takeType();
  if (mode < 0 || !sync || (type != ScalarType::B32 && type != ScalarType::B64))
    return unsupported();
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!expectOperands(3, 3))
    return false;
  const Operand *first = &o[0];
  if (o[0].kind == Operand::Kind::Pair) {
    first = &o[0].elements[0];
    if (mode == 0 || !predicateDestination(o[0].elements[1], decoded.c))
      return mode == 0 ? unsupported("a second destination") : false;
  }
  if (!destination(*first, ScalarType::B32, decoded.d) || !source(o[1], type, decoded.a) ||
      !source(o[2], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSync;
  decoded.handler = matchHandler(mode == 1, ptx::byteSize(type));
  return finish(form, decoded);
}

bool FunctionDecoder::decodeRedux() {
  Form form(*in_);
  bool sync = form.take("sync");
  int op = form.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  ScalarType type = form.takeType();
  bool isBits = type == ScalarType::B32;
  if (!sync || op < 0 || (!isBits && type != ScalarType::U32 && type != ScalarType::S32) || isBits != (op >= 3))
    return unsupported();
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (!expectOperands(3, 3) || !destination(o[0], type, decoded.d) || !source(o[1], type, decoded.a) ||
      !source(o[2], ScalarType::U32, decoded.e))
    return false;
  decoded.kind = Kind::WarpSync;
  decoded.handler = reduxHandler(static_cast<ReduceOp>(op), type == ScalarType::S32);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeActivemask() {
  Form form(*in_);
  Decoded decoded;
  if (form.takeType() != ScalarType::B32)
    return unsupported();
  if (!expectOperands(1, 1) || !destination(in_->operands[0], ScalarType::B32, decoded.d))
    return false;
  decoded.handler = activeMaskHandler();
  return finish(form, decoded);
}

bool FunctionDecoder::decodeElect() {
  Form form(*in_);
  const ptx::List<Operand> &o = in_->operands;
  Decoded decoded;
  if (!form.take("sync") || !expectOperands(2, 2) || o[0].kind != Operand::Kind::Pair)
    return unsupported();
  if ((o[0].elements[0].kind != Operand::Kind::Sink && !destination(o[0].elements[0], ScalarType::B32, decoded.d)) ||
      !predicateDestination(o[0].elements[1], decoded.c) || !source(o[1], ScalarType::U32, decoded.e))
    return false;
  if (decoded.c == kNoOperand)
    decoded.c = allocateRegister(0);
  decoded.kind = Kind::WarpSync;
  decoded.handler = electHandler();
  return finish(form, decoded);
}

bool FunctionDecoder::decodeNanosleep() {
  Form form(*in_);
  Decoded decoded;
  if (form.takeType() != ScalarType::U32)
    return unsupported();
  if (!expectOperands(1, 1) || !source(in_->operands[0], ScalarType::U32, decoded.a))
    return false;
  decoded.handler = nanosleepHandler();
  return finish(form, decoded);
}

const FunctionDecoder::Opcode *FunctionDecoder::findOpcode(std::string_view name) {
  using D = FunctionDecoder;
  // Sorted by name.
  static constexpr Opcode kOpcodes[] = {{"abs", &D::decodeSign},
                                        {"activemask", &D::decodeActivemask},
                                        {"add", &D::decodeAdd},
                                        {"addc", &D::decodeCarry},
                                        {"and", &D::decodeLogic},
                                        {"applypriority", &D::decodeLineHint},
                                        {"atom", &D::decodeAtom},
                                        {"bar", &D::decodeBar},
                                        {"barrier", &D::decodeBar},
                                        {"bfe", &D::decodeBitField},
                                        {"bfi", &D::decodeBitField},
                                        {"bfind", &D::decodeBits},
                                        {"bmsk", &D::decodeBitField},
                                        {"bra", &D::decodeBra},
                                        {"brev", &D::decodeBits},
                                        {"brkpt", &D::decodeTrap},
                                        {"brx", &D::decodeBrx},
                                        {"call", &D::decodeCall},
                                        {"clz", &D::decodeBits},
                                        {"cnot", &D::decodeIntegerOnly},
                                        {"copysign", &D::decodeCopysign},
                                        {"cos", &D::decodeApproximate},
                                        {"cp", &D::decodeCp},
                                        {"createpolicy", &D::decodeCreatePolicy},
                                        {"cvt", &D::decodeCvt},
                                        {"cvta", &D::decodeCvta},
                                        {"discard", &D::decodeLineHint},
                                        {"div", &D::decodeDivide},
                                        {"dp2a", &D::decodeDot},
                                        {"dp4a", &D::decodeDot},
                                        {"elect", &D::decodeElect},
                                        {"ex2", &D::decodeApproximate},
                                        {"exit", &D::decodeRet},
                                        {"fence", &D::decodeFence},
                                        {"fma", &D::decodeFma},
                                        {"fns", &D::decodeBitField},
                                        {"getctarank", &D::decodeGetctarank},
                                        {"griddepcontrol", &D::decodeNothing},
                                        {"isspacep", &D::decodeIsspacep},
                                        {"ld", &D::decodeLoad},
                                        {"ldmatrix", &D::decodeLdmatrix},
                                        {"ldu", &D::decodeLoad},
                                        {"lg2", &D::decodeApproximate},
                                        {"lop3", &D::decodeLop3},
                                        {"mad", &D::decodeMul},
                                        {"mad24", &D::decodeMul24},
                                        {"madc", &D::decodeCarry},
                                        {"mapa", &D::decodeMapa},
                                        {"match", &D::decodeMatch},
                                        {"max", &D::decodeMinMax},
                                        {"mbarrier", &D::decodeMbarrier},
                                        {"membar", &D::decodeNothing},
                                        {"min", &D::decodeMinMax},
                                        {"mma", &D::decodeMma},
                                        {"mov", &D::decodeMov},
                                        {"movmatrix", &D::decodeMovmatrix},
                                        {"mul", &D::decodeMul},
                                        {"mul24", &D::decodeMul24},
                                        {"nanosleep", &D::decodeNanosleep},
                                        {"neg", &D::decodeSign},
                                        {"not", &D::decodeLogic},
                                        {"or", &D::decodeLogic},
                                        {"pmevent", &D::decodeNothing},
                                        {"popc", &D::decodeBits},
                                        {"prefetch", &D::decodePrefetch},
                                        {"prefetchu", &D::decodePrefetch},
                                        {"prmt", &D::decodePrmt},
                                        {"rcp", &D::decodeApproximate},
                                        {"red", &D::decodeAtom},
                                        {"redux", &D::decodeRedux},
                                        {"rem", &D::decodeIntegerOnly},
                                        {"ret", &D::decodeRet},
                                        {"rsqrt", &D::decodeApproximate},
                                        {"sad", &D::decodeIntegerOnly},
                                        {"selp", &D::decodeSelp},
                                        {"set", &D::decodeSet},
                                        {"setmaxnreg", &D::decodeSetmaxnreg},
                                        {"setp", &D::decodeSetp},
                                        {"shf", &D::decodeShf},
                                        {"shfl", &D::decodeShfl},
                                        {"shl", &D::decodeShift},
                                        {"shr", &D::decodeShift},
                                        {"sin", &D::decodeApproximate},
                                        {"slct", &D::decodeSlct},
                                        {"sqrt", &D::decodeApproximate},
                                        {"st", &D::decodeStore},
                                        {"stmatrix", &D::decodeLdmatrix},
                                        {"sub", &D::decodeAdd},
                                        {"subc", &D::decodeCarry},
                                        {"szext", &D::decodeBitField},
                                        {"tanh", &D::decodeApproximate},
                                        {"tensormap", &D::decodeTensormap},
                                        {"testp", &D::decodeTestp},
                                        {"trap", &D::decodeTrap},
                                        {"vote", &D::decodeVote},
                                        {"wgmma", &D::decodeWgmma},
                                        {"wmma", &D::decodeWmma},
                                        {"xor", &D::decodeLogic}};
  static_assert(std::is_sorted(std::begin(kOpcodes), std::end(kOpcodes),
                               [](const Opcode &a, const Opcode &b) { return a.name < b.name; }));
  const Opcode *found = std::lower_bound(std::begin(kOpcodes), std::end(kOpcodes), name,
                                         [](const Opcode &a, std::string_view b) { return a.name < b; });
  return found != std::end(kOpcodes) && found->name == name ? found : nullptr;
}

} // namespace tenon::emulator
