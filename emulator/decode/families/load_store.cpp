// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld, st, atom, red, address conversions, asynchronous copies, and what has no effect here.
#include "emulator/async/copy_async.h"
#include "emulator/decode/decoder.h"
#include "emulator/handlers/checked_memory_ops.h"
#include "emulator/handlers/fence_ops.h"
#include "ptx/scalar_type.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

namespace {

std::optional<MemorySpace> takeSpace(Form &form) {
  switch (form.takeOneOf({"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const",
                          "shared::cluster"})) {
  case 0:
    return MemorySpace::Global;
  case 1:
  case 2:
    return MemorySpace::Shared;
  case 3:
    return MemorySpace::Local;
  case 4:
  case 5:
  case 6:
    return MemorySpace::Param;
  case 7:
    return MemorySpace::Const;
  case 8:
    return MemorySpace::SharedCluster;
  default:
    return std::nullopt;
  }
}

} // namespace

bool FunctionDecoder::vectorElements(const Operand &operand, ScalarType type, uint32_t count, bool isSource,
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

/// Ordering, scope, space, cache hints, vector and type of ld and st. Hints change nothing; accesses that have an order
/// are atomic, because blocks may run at the same time.
bool FunctionDecoder::takeMemoryForm(Form &form, MemoryForm &out) {
  out.isStrong = form.takeOneOf({"weak", "relaxed", "acquire", "release", "volatile", "mmio"}) > 0;
  form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  out.space = takeSpace(form).value_or(MemorySpace::Generic);
  form.take("nc");
  form.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  form.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  form.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  form.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  out.cachePolicy = form.take("L2::cache_hint");
  int vector = form.takeOneOf({"v2", "v4", "v8"});
  out.count = vector < 0 ? 1 : 2u << vector;
  out.type = form.takeType();
  if (out.type == ScalarType::B128 && out.count == 1 && !out.cachePolicy)
    return true;
  if (ptx::bitsOf(ptx::byteSize(out.type)) == ScalarType::None || out.type == ScalarType::Pred)
    return unsupported();
  size_t operands = out.cachePolicy ? 3 : 2;
  return expectOperands(operands, operands);
}

/// The destinations of a load: `d`, or a run at `list`.
bool FunctionDecoder::loadDestinations(const Operand &operand, ScalarType type, uint32_t count, Decoded &decoded) {
  if (count == 1)
    return destination(operand, type, decoded.d, true);
  std::vector<uint32_t> elements;
  if (!vectorElements(operand, type, count, false, elements))
    return false;
  decoded.list = addOperands(elements);
  return true;
}

bool FunctionDecoder::decodeLoad() {
  Form form(*in_);
  MemoryForm what;
  if (!takeMemoryForm(form, what))
    return false;
  if (what.type == ScalarType::B128)
    return decodeWideAccess(form, what.space, true);
  const Operand &memory = in_->operands[1];
  if (what.space == MemorySpace::Param && function_.isEntry && memory.kind == Operand::Kind::Address &&
      memory.elements[0].kind == Operand::Kind::Name && !findRegister(memory.elements[0].name) &&
      !findSymbol(memory.elements[0].name))
    if (auto it = builder_.kernelParameters.find(memory.elements[0].name); it != builder_.kernelParameters.end())
      return decodeLoadParameter(form, what.type, what.count, it->second);
  Decoded decoded;
  if (!address(memory, what.space, decoded) || !loadDestinations(in_->operands[0], what.type, what.count, decoded))
    return false;
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.flag = static_cast<uint8_t>(what.space);
  decoded.handler = builder_.checks.shadowed()
                        ? checkedLoadHandler(what.space, ptx::byteSize(what.type), what.count)
                        : handlers().load(what.space, ptx::byteSize(what.type), what.count, what.isStrong);
  return finish(form, decoded);
}

/// A kernel parameter by name: the same for every lane, its bounds known now.
bool FunctionDecoder::decodeLoadParameter(Form &form, ScalarType type, uint32_t count, const ParameterSlot &slot) {
  int64_t offset = in_->operands[1].offset;
  uint32_t bytes = ptx::byteSize(type);
  if (offset < 0 || static_cast<uint64_t>(offset) + bytes * count > slot.bytes)
    return fail("'" + in_->form() + "' reads " + std::to_string(bytes * count) + " bytes at offset " +
                std::to_string(offset) + " of a parameter of " + std::to_string(slot.bytes));
  uint32_t at = slot.offset + static_cast<uint32_t>(offset);
  if (count == 1 && bindConstant(form, in_->operands[0], bytes, builder_.parameter(at, bytes)))
    return true;
  std::vector<uint32_t> elements(1, kNoOperand);
  if (count == 1) {
    if (!destination(in_->operands[0], type, elements[0], true))
      return false;
  } else {
    elements.clear();
    if (!vectorElements(in_->operands[0], type, count, false, elements))
      return false;
  }
  if (!form.left().empty())
    return unsupported("modifier '." + std::string(form.left()) + "'");
  for (uint32_t k = 0; k < count; ++k) {
    Decoded decoded;
    decoded.d = elements[k];
    decoded.a = builder_.parameter(at + k * bytes, bytes);
    decoded.handler = handlers().integer(IntOp::Mov, ptx::bitsOf(bytes));
    if (decoded.d != kNoOperand)
      emit(decoded);
  }
  return true;
}

bool FunctionDecoder::decodeStore() {
  Form form(*in_);
  if (form.take("async"))
    return decodeStoreAsync(form, false);
  MemoryForm what;
  Decoded decoded;
  if (!takeMemoryForm(form, what))
    return false;
  if (what.type == ScalarType::B128)
    return decodeWideAccess(form, what.space, false);
  if (!address(in_->operands[0], what.space, decoded))
    return false;
  if (what.count == 1) {
    if (!source(in_->operands[1], what.type, decoded.b, true))
      return false;
  } else {
    std::vector<uint32_t> elements;
    if (!vectorElements(in_->operands[1], what.type, what.count, true, elements))
      return false;
    decoded.list = addOperands(elements);
  }
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.flag = static_cast<uint8_t>(what.space);
  decoded.handler = builder_.checks.shadowed()
                        ? checkedStoreHandler(what.space, ptx::byteSize(what.type), what.count)
                        : handlers().store(what.space, ptx::byteSize(what.type), what.count, what.isStrong);
  return finish(form, decoded);
}

/// atom and red
bool FunctionDecoder::decodeAtom() {
  Form form(*in_);
  bool isRed = in_->opcode == "red";
  if (isRed && form.take("async"))
    return decodeStoreAsync(form, true);
  form.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  MemorySpace space = takeSpace(form).value_or(MemorySpace::Generic);
  int op = form.takeOneOf({"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"});
  if (int vector = form.takeOneOf({"v2", "v4", "v8"}); vector >= 0 && op >= 0)
    return decodeVectorAtomic(form, space, static_cast<AtomicOp>(op), 2u << vector);
  bool noftz = form.take("noftz"), cachePolicy = form.take("L2::cache_hint");
  ScalarType type = form.takeType();
  if (op < 0)
    return unsupported("no operation it knows");
  if (type == ScalarType::B128)
    return decodeWideAtomic(form, space, static_cast<AtomicOp>(op));
  bool isHalf =
      type == ScalarType::F16 || type == ScalarType::F16x2 || type == ScalarType::BF16 || type == ScalarType::BF16x2;
  if (noftz != isHalf)
    return unsupported(isHalf ? "'.noftz' is missing" : "modifier '.noftz'");
  AtomicOp atomic = static_cast<AtomicOp>(op);
  if (isRed && (atomic == AtomicOp::Exch || atomic == AtomicOp::Cas))
    return unsupported();
  size_t sources = atomic == AtomicOp::Cas ? 2 : 1, first = isRed ? 0 : 1;
  size_t operands = first + 1 + sources + (cachePolicy ? 1 : 0);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (!expectOperands(operands, operands))
    return false;
  if (!isRed && o[0].kind != Operand::Kind::Sink && !destination(o[0], type, decoded.d))
    return false;
  if (!address(o[first], space, decoded) || !source(o[first + 1], type, decoded.b) ||
      (sources == 2 && !source(o[first + 2], type, decoded.c)))
    return false;
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.flag = static_cast<uint8_t>(space);
  decoded.handler = atomicHandler(atomic, type);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeCvta() {
  Form form(*in_);
  bool to = form.take("to");
  std::optional<MemorySpace> space = takeSpace(form);
  ScalarType type = form.takeType();
  if (!space || type != ScalarType::U64)
    return unsupported();
  Decoded decoded;
  if (!expectOperands(2, 2) || !source(in_->operands[1], type, decoded.a))
    return false;
  bool same = *space == MemorySpace::Global || *space == MemorySpace::Const;
  if (same && bindConstant(form, in_->operands[0], 8, decoded.a))
    return true;
  if (!destination(in_->operands[0], type, decoded.d))
    return false;
  switch (*space) {
  case MemorySpace::Shared:
  case MemorySpace::SharedCluster:
    decoded.imm = static_cast<int64_t>(kSharedWindow);
    break;
  case MemorySpace::Local:
    decoded.imm = static_cast<int64_t>(kLocalWindow);
    break;
  case MemorySpace::Param:
    decoded.imm = static_cast<int64_t>(kParamWindow);
    break;
  case MemorySpace::Global:
  case MemorySpace::Const:
  case MemorySpace::Generic:
    decoded.imm = 0;
    break;
  }
  if (decoded.imm == 0)
    decoded.handler = handlers().integer(IntOp::Mov, ScalarType::B64);
  else
    decoded.handler = to ? fromGenericHandler(8) : toGenericHandler(8);
  return finish(form, decoded);
}

bool FunctionDecoder::decodeIsspacep() {
  Form form(*in_);
  std::optional<MemorySpace> space = takeSpace(form);
  if (!space)
    return unsupported();
  Decoded decoded;
  decoded.flag = static_cast<uint8_t>(*space);
  if (!expectOperands(2, 2) || !predicateDestination(in_->operands[0], decoded.d) ||
      !source(in_->operands[1], ScalarType::U64, decoded.a))
    return false;
  decoded.handler = isSpaceHandler();
  return finish(form, decoded);
}

/// cp.async and its groups; bulk copies are in decode_bulk.cpp.
bool FunctionDecoder::decodeCp() {
  Form form(*in_);
  bool reduces = form.take("reduce");
  if (!form.take("async"))
    return unsupported();
  if (reduces || (in_->modifiers.size() > 1 && in_->modifiers[1] == "bulk"))
    return decodeBulk(form, reduces);
  Decoded decoded;
  if (form.take("mbarrier"))
    return decodeCopyMbarrier(form);
  if (form.take("commit_group")) {
    decoded.handler = commitGroupHandler();
    return expectOperands(0, 0) && finish(form, decoded);
  }
  if (form.take("wait_all")) {
    decoded.imm = -1;
    decoded.handler = waitGroupHandler();
    return expectOperands(0, 0) && finish(form, decoded);
  }
  if (form.take("wait_group")) {
    if (!expectOperands(1, 1) || in_->operands[0].kind != Operand::Kind::Integer)
      return fail("'cp.async.wait_group' takes a constant");
    decoded.imm = static_cast<int64_t>(in_->operands[0].bits);
    decoded.handler = waitGroupHandler();
    return finish(form, decoded);
  }
  int level = form.takeOneOf({"ca", "cg"});
  bool shared = form.take("shared") || form.take("shared::cta");
  if (level < 0 || !shared || !form.take("global"))
    return unsupported();
  form.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  bool cachePolicy = form.take("L2::cache_hint");
  const ptx::List<Operand> &o = in_->operands;
  if (!expectOperands(cachePolicy ? 4 : 3, cachePolicy ? 5 : 4))
    return false;
  if (o[2].kind != Operand::Kind::Integer || (o[2].bits != 4 && o[2].bits != 8 && o[2].bits != 16) ||
      (level == 1 && o[2].bits != 16))
    return fail("'" + in_->form() + "' copies " + (level == 1 ? "16" : "4, 8 or 16") + " bytes");
  Decoded from;
  MemorySpace sharedSpace = MemorySpace::Shared, globalSpace = MemorySpace::Global;
  if (!address(o[0], sharedSpace, decoded) || !address(o[1], globalSpace, from))
    return false;
  if (from.addressMode != AddressMode::Register64)
    return unsupported("a 32-bit global address");
  if (o.size() == (cachePolicy ? 5u : 4u) && !source(o[3], ScalarType::U32, decoded.c))
    return false;
  if (from.imm < INT32_MIN || from.imm > INT32_MAX || decoded.imm < INT32_MIN || decoded.imm > INT32_MAX)
    return unsupported("an offset of more than 32 bits");
  decoded.e = from.a;
  decoded.imm = (decoded.imm & 0xffffffff) | static_cast<int64_t>(static_cast<uint64_t>(from.imm) << 32);
  decoded.flag = static_cast<uint8_t>(o[2].bits);
  decoded.kind = Kind::Checked;
  decoded.target = cacheSlot();
  decoded.handler = copyAsyncHandler();
  return finish(form, decoded);
}

/// Hints: every access is seen at once here. What they may say is checked all the same.
bool FunctionDecoder::decodeNothing() {
  Form form(*in_);
  std::string_view name = in_->opcode;
  if (name == "membar") {
    form.takeOneOf({"cta", "gl", "sys"});
  } else if (name == "griddepcontrol") {
    if (form.takeOneOf({"launch_dependents", "wait"}) < 0)
      return unsupported();
  } else if (name == "pmevent") {
    form.take("mask");
  }
  Decoded decoded;
  decoded.handler = name == "membar" ? fenceHandler() : nothingHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
