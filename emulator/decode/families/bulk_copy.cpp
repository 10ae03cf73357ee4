// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk and cp.reduce.async.bulk, plain and with tensor maps; st.async and red.async.
#include "emulator/async/bulk.h"
#include "emulator/decode/decoder.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

namespace {

std::optional<ElementType> elementOf(ScalarType type) {
  switch (type) {
  case ScalarType::B32:
  case ScalarType::U32:
    return ElementType::U32;
  case ScalarType::S32:
    return ElementType::S32;
  case ScalarType::B64:
  case ScalarType::U64:
    return ElementType::U64;
  case ScalarType::S64:
    return ElementType::S64;
  case ScalarType::F16:
    return ElementType::F16;
  case ScalarType::BF16:
    return ElementType::BF16;
  case ScalarType::F32:
    return ElementType::F32;
  case ScalarType::F64:
    return ElementType::F64;
  default:
    return std::nullopt;
  }
}

std::optional<ElementOp> takeReduction(Form &form) {
  constexpr ElementOp kOps[] = {ElementOp::Add, ElementOp::Min, ElementOp::Max, ElementOp::Inc,
                                ElementOp::Dec, ElementOp::And, ElementOp::Or,  ElementOp::Xor};
  int op = form.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  return op < 0 ? std::nullopt : std::optional(kOps[op]);
}

/// What the reductions of bulk copies know (PTX ISA, "cp.reduce.async.bulk", table of operations).
bool reducible(ElementOp op, ScalarType type, bool toShared) {
  bool is32 = type == ScalarType::U32 || type == ScalarType::S32;
  bool isHalf = type == ScalarType::F16 || type == ScalarType::BF16;
  switch (op) {
  case ElementOp::Add:
    return is32 || type == ScalarType::U64 ||
           (!toShared && (isHalf || type == ScalarType::F32 || type == ScalarType::F64));
  case ElementOp::Min:
  case ElementOp::Max:
    return is32 || (!toShared && (isHalf || type == ScalarType::U64 || type == ScalarType::S64));
  case ElementOp::Inc:
  case ElementOp::Dec:
    return type == ScalarType::U32;
  case ElementOp::And:
  case ElementOp::Or:
  case ElementOp::Xor:
    return type == ScalarType::B32 || (!toShared && type == ScalarType::B64);
  default:
    return false;
  }
}

} // namespace

/// A 64-bit register with the generic address of `operand`, an address in `space`.
bool FunctionDecoder::genericOperand(const Operand &operand, MemorySpace space, uint32_t &out) {
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

/// The end of a copy: an mbarrier that hears of it, or a bulk group. False: neither is named.
bool FunctionDecoder::takeCompletion(Form &form, bool &byMbarrier) {
  byMbarrier = form.take("mbarrier::complete_tx::bytes");
  return byMbarrier || form.take("bulk_group") || unsupported("it names no completion mechanism");
}

/// cp.async.bulk..., behind "async"; `reduces`: cp.reduce.async.bulk.
bool FunctionDecoder::decodeBulk(Form &form, bool reduces) {
  if (!form.take("bulk"))
    return unsupported();
  if (!needsTarget(90))
    return false;
  if (form.take("tensor"))
    return decodeTensorCopy(form, reduces);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (!reduces && form.take("commit_group")) {
    decoded.handler = commitBulkHandler();
    return expectOperands(0, 0) && finish(form, decoded);
  }
  if (!reduces && form.take("wait_group")) {
    decoded.flag = form.take("read");
    if (!expectOperands(1, 1) || o[0].kind != Operand::Kind::Integer)
      return fail("'cp.async.bulk.wait_group' takes a constant");
    decoded.imm = static_cast<int64_t>(o[0].bits);
    decoded.handler = waitBulkHandler();
    return finish(form, decoded);
  }
  if (!reduces && form.take("prefetch")) {
    bool cachePolicy = form.take("L2::cache_hint");
    uint32_t unused;
    size_t operands = cachePolicy ? 3 : 2;
    if (!form.take("L2") || !form.take("global"))
      return unsupported();
    if (!expectOperands(operands, operands) || !genericOperand(o[0], MemorySpace::Global, unused) ||
        !source(o[1], ScalarType::U32, unused))
      return false;
    decoded.handler = nothingHandler();
    return finish(form, decoded);
  }
  // The destination comes before the source; "shared::cta" may be either.
  bool byMbarrier = false;
  bool toCluster = form.take("shared::cluster"), fromOrToShared = form.take("shared::cta"),
       global = form.take("global");
  if (!takeCompletion(form, byMbarrier))
    return false;
  MemorySpace to, from;
  if (!byMbarrier) {
    if (toCluster || !fromOrToShared || !global)
      return unsupported();
    to = MemorySpace::Global;
    from = MemorySpace::Shared;
  } else {
    if (toCluster + fromOrToShared + global != 2 || (reduces && global))
      return unsupported();
    to = toCluster ? MemorySpace::SharedCluster : MemorySpace::Shared;
    from = global ? MemorySpace::Global : MemorySpace::Shared;
  }
  bool multicast = form.take("multicast::cluster"), cachePolicy = form.take("L2::cache_hint");
  if (multicast && (!toCluster || !global))
    return unsupported("a multicast from shared memory");
  ElementOp op = ElementOp::Copy;
  ElementType type = ElementType::U8;
  if (reduces) {
    std::optional<ElementOp> reduction = takeReduction(form);
    bool noftz = form.take("noftz");
    ScalarType scalar = form.takeType();
    bool halfAdd = (scalar == ScalarType::F16 || scalar == ScalarType::BF16) && reduction == ElementOp::Add;
    if (!reduction || !reducible(*reduction, scalar, byMbarrier) || noftz != halfAdd)
      return unsupported();
    op = *reduction;
    type = *elementOf(scalar);
  }
  size_t operands = 3u + byMbarrier + multicast + cachePolicy;
  if (!expectOperands(operands, operands))
    return false;
  std::vector<uint32_t> list(5, kNoOperand);
  if (!genericOperand(o[0], to, list[0]) || !genericOperand(o[1], from, list[1]) ||
      !source(o[2], ScalarType::U32, list[2]))
    return false;
  if (byMbarrier && !genericOperand(o[3], to, list[3]))
    return false;
  if (multicast && !source(o[4], ScalarType::U16, list[4]))
    return false;
  uint32_t policy;
  if (cachePolicy && !source(o.back(), ScalarType::B64, policy))
    return false;
  decoded.list = addOperands(list);
  decoded.imm = packReduction(op, type);
  decoded.kind = Kind::Checked;
  decoded.handler = bulkCopyHandler();
  return finish(form, decoded);
}

/// cp.async.bulk.tensor.Nd, cp.reduce.async.bulk.tensor.Nd, cp.async.bulk.prefetch.tensor.Nd
bool FunctionDecoder::decodeTensorCopy(Form &form, bool reduces) {
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  bool prefetch = form.take("prefetch");
  int rank = form.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0)
    return unsupported("no number of dimensions");
  uint32_t dimensions = static_cast<uint32_t>(rank) + 1;
  form.take("tile");
  std::vector<uint32_t> list(4, kNoOperand);
  bool byMbarrier = false, multicast = false, cachePolicy = form.take("L2::cache_hint");
  size_t map = 0;
  if (prefetch) {
    if (reduces || !form.take("L2") || !form.take("global"))
      return unsupported();
    if (!expectOperands(cachePolicy ? 2 : 1, cachePolicy ? 2 : 1))
      return false;
  } else {
    if (!takeCompletion(form, byMbarrier) || !form.take("global"))
      return unsupported();
    bool toCluster = form.take("shared::cluster"), cta = form.take("shared::cta");
    if (toCluster == cta || (!byMbarrier && toCluster) || (reduces && byMbarrier))
      return unsupported();
    MemorySpace space = toCluster ? MemorySpace::SharedCluster : MemorySpace::Shared;
    multicast = form.take("multicast::cluster");
    if (multicast && !toCluster)
      return unsupported();
    size_t operands = 2u + byMbarrier + multicast + cachePolicy;
    if (!expectOperands(operands, operands))
      return false;
    map = byMbarrier ? 1 : 0;
    if (!genericOperand(o[1 - map], space, list[1]) || (byMbarrier && !genericOperand(o[2], space, list[2])) ||
        (multicast && !source(o[3], ScalarType::U16, list[3])))
      return false;
  }
  const Operand &box = o[map];
  if (box.kind != Operand::Kind::Address || box.elements.size() != 2 || box.elements[1].kind != Operand::Kind::Vector ||
      box.elements[1].elements.size() != dimensions)
    return fail("'" + in_->form() + "' wants [map, {" + std::to_string(dimensions) + " coordinates}]");
  if (!genericOperand(box, MemorySpace::Generic, list[0]))
    return false;
  for (const Operand &coordinate : box.elements[1].elements) {
    list.push_back(kNoOperand);
    if (!source(coordinate, ScalarType::S32, list.back()))
      return false;
  }
  uint32_t policy;
  if (cachePolicy && !source(o.back(), ScalarType::B64, policy))
    return false;
  ElementOp op = ElementOp::Copy;
  if (reduces) {
    std::optional<ElementOp> reduction = takeReduction(form);
    if (!reduction)
      return unsupported("no operation it knows");
    op = *reduction;
  }
  decoded.list = addOperands(list);
  decoded.flag = static_cast<uint8_t>(dimensions);
  decoded.imm = packReduction(op, ElementType::U8);
  decoded.kind = prefetch ? Kind::Alu : Kind::Checked;
  decoded.handler = prefetch ? nothingHandler() : tensorCopyHandler();
  return finish(form, decoded);
}

/// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar] and red.async.
bool FunctionDecoder::decodeStoreAsync(Form &form, bool reduces) {
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (!needsTarget(90))
    return false;
  form.takeOneOf({"weak", "relaxed"});
  form.take("cluster");
  form.take("shared::cluster");
  if (!form.take("mbarrier::complete_tx::bytes"))
    return unsupported("it names no completion mechanism");
  std::optional<ElementOp> op = reduces ? takeReduction(form) : ElementOp::Copy;
  int vector = reduces ? -1 : form.takeOneOf({"v2", "v4"});
  uint32_t count = vector < 0 ? 1 : 2u << vector;
  ScalarType type = form.takeType();
  std::optional<ElementType> element = elementOf(type);
  bool isHalf = type == ScalarType::F16 || type == ScalarType::BF16;
  if (!op || !element || isHalf || (reduces && !reducible(*op, type, true)) || count * elementSize(*element) > 16)
    return unsupported();
  std::vector<uint32_t> list(2, kNoOperand);
  if (!expectOperands(3, 3) || !genericOperand(o[0], MemorySpace::SharedCluster, list[0]) ||
      !genericOperand(o[2], MemorySpace::SharedCluster, list[1]))
    return false;
  if (count == 1) {
    list.push_back(kNoOperand);
    if (!source(o[1], type, list.back()))
      return false;
  } else if (!vectorElements(o[1], type, count, true, list)) {
    return false;
  }
  decoded.list = addOperands(list);
  decoded.flag = static_cast<uint8_t>(count);
  decoded.imm = packReduction(*op, *element);
  decoded.kind = Kind::Checked;
  decoded.handler = storeAsyncHandler();
  return finish(form, decoded);
}

/// tensormap.replace.tile.field.space.b1024.type [map], {ordinal,} value; tensormap.cp_fenceproxy
bool FunctionDecoder::decodeTensormap() {
  Form form(*in_);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  decoded.kind = Kind::Checked;
  if (!needsTarget(90, in_->hasModifier("replace")))
    return false;
  if (form.take("cp_fenceproxy")) {
    bool known = form.take("global") && form.take("shared::cta") && form.take("tensormap::generic") &&
                 form.take("release") && form.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0 && form.take("sync") &&
                 form.take("aligned");
    if (!known)
      return unsupported();
    if (!expectOperands(3, 3) || !genericOperand(o[0], MemorySpace::Global, decoded.a) ||
        !genericOperand(o[1], MemorySpace::Shared, decoded.b))
      return false;
    if (o[2].kind != Operand::Kind::Integer || o[2].bits != 128)
      return fail("'tensormap.cp_fenceproxy' copies 128 bytes");
    decoded.handler = copyMapHandler();
    return finish(form, decoded);
  }
  int field = form.takeOneOf({"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride",
                              "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"});
  bool global = form.take("global"), shared = form.take("shared::cta");
  if (!form.take("replace") || !form.take("tile") || field < 0 || (global && shared) || !form.take("b1024"))
    return unsupported();
  ScalarType type = form.takeType();
  TensorField tensorField = static_cast<TensorField>(field);
  bool isWide = tensorField == TensorField::Address || tensorField == TensorField::Stride;
  bool hasOrdinal = tensorField >= TensorField::Box && tensorField <= TensorField::Step;
  if (type != (isWide ? ScalarType::B64 : ScalarType::B32))
    return unsupported();
  if (!expectOperands(hasOrdinal ? 3 : 2, hasOrdinal ? 3 : 2))
    return false;
  if (hasOrdinal && (o[1].kind != Operand::Kind::Integer || o[1].bits > 4))
    return fail("'" + in_->form() + "' takes a constant dimension of 0 to 4");
  uint32_t value;
  if (!genericOperand(o[0],
                      shared   ? MemorySpace::Shared
                      : global ? MemorySpace::Global
                               : MemorySpace::Generic,
                      decoded.a) ||
      !source(o.back(), type, value))
    return false;
  decoded.b = value;
  if (!isWide) {
    decoded.b = allocateRegister(8);
    emitConversion(decoded.b, 8, value, 4, false);
  }
  decoded.flag = static_cast<uint8_t>(field);
  decoded.imm = hasOrdinal ? static_cast<int64_t>(o[1].bits) : 0;
  decoded.handler = replaceFieldHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
