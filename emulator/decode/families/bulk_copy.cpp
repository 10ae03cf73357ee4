// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk and cp.reduce.async.bulk, plain and with tensor maps; st.async and red.async.
#include "emulator/async/bulk.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

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

/// The end of a copy: an mbarrier that hears of it, or a bulk group. False: neither is named.
bool takeCompletion(Decoder &decoder, Form &form, bool &byMbarrier) {
  byMbarrier = form.take("mbarrier::complete_tx::bytes");
  return byMbarrier || form.take("bulk_group") || decoder.unsupported("it names no completion mechanism");
}

/// cp.async.bulk.tensor.Nd, cp.reduce.async.bulk.tensor.Nd, cp.async.bulk.prefetch.tensor.Nd
bool decodeTensorCopy(Decoder &decoder, Form &form, bool reduces) {
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  bool prefetch = form.take("prefetch");
  int rank = form.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0)
    return decoder.unsupported("no number of dimensions");
  uint32_t dimensions = static_cast<uint32_t>(rank) + 1;
  form.take("tile");
  std::vector<uint32_t> list(4, kNoOperand);
  bool byMbarrier = false, multicast = false, cachePolicy = form.take("L2::cache_hint");
  size_t map = 0;
  if (prefetch) {
    if (reduces || !form.take("L2") || !form.take("global"))
      return decoder.unsupported();
    if (!decoder.expectOperands(cachePolicy ? 2 : 1, cachePolicy ? 2 : 1))
      return false;
  } else {
    if (!takeCompletion(decoder, form, byMbarrier) || !form.take("global"))
      return decoder.unsupported();
    bool toCluster = form.take("shared::cluster"), cta = form.take("shared::cta");
    if (toCluster == cta || (!byMbarrier && toCluster) || (reduces && byMbarrier))
      return decoder.unsupported();
    MemorySpace space = toCluster ? MemorySpace::SharedCluster : MemorySpace::Shared;
    multicast = form.take("multicast::cluster");
    if (multicast && !toCluster)
      return decoder.unsupported();
    size_t operands = 2u + byMbarrier + multicast + cachePolicy;
    if (!decoder.expectOperands(operands, operands))
      return false;
    map = byMbarrier ? 1 : 0;
    if (!decoder.genericAddress(o[1 - map], space, list[1]) ||
        (byMbarrier && !decoder.genericAddress(o[2], space, list[2])) ||
        (multicast && !decoder.source(o[3], ScalarType::U16, list[3])))
      return false;
  }
  const Operand &box = o[map];
  if (box.kind != Operand::Kind::Address || box.elements.size() != 2 || box.elements[1].kind != Operand::Kind::Vector ||
      box.elements[1].elements.size() != dimensions)
    return decoder.fail("'" + decoder.in().form() + "' wants [map, {" + std::to_string(dimensions) + " coordinates}]");
  if (!decoder.genericAddress(box, MemorySpace::Generic, list[0]))
    return false;
  for (const Operand &coordinate : box.elements[1].elements) {
    list.push_back(kNoOperand);
    if (!decoder.source(coordinate, ScalarType::S32, list.back()))
      return false;
  }
  uint32_t policy;
  if (cachePolicy && !decoder.source(o.back(), ScalarType::B64, policy))
    return false;
  ElementOp op = ElementOp::Copy;
  if (reduces) {
    std::optional<ElementOp> reduction = takeReduction(form);
    if (!reduction)
      return decoder.unsupported("no operation it knows");
    op = *reduction;
  }
  decoded.list = decoder.addOperands(list);
  decoded.flag = static_cast<uint8_t>(dimensions);
  decoded.imm = packReduction(op, ElementType::U8);
  decoded.kind = prefetch ? Kind::Alu : Kind::Checked;
  decoded.handler = prefetch ? nothingHandler() : tensorCopyHandler();
  return decoder.finish(form, decoded);
}

/// cp.async.bulk and, where it reduces, cp.reduce.async.bulk.
bool decodeBulkCopy(Decoder &decoder) {
  Form form(decoder.in());
  bool reduces = form.take("reduce");
  form.take("async");
  form.take("bulk");
  if (form.take("tensor"))
    return decodeTensorCopy(decoder, form, reduces);
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!reduces && form.take("commit_group")) {
    decoded.handler = commitBulkHandler();
    return decoder.expectOperands(0, 0) && decoder.finish(form, decoded);
  }
  if (!reduces && form.take("wait_group")) {
    decoded.flag = form.take("read");
    if (!decoder.expectOperands(1, 1) || o[0].kind != Operand::Kind::Integer)
      return decoder.fail("'cp.async.bulk.wait_group' takes a constant");
    decoded.imm = static_cast<int64_t>(o[0].bits);
    decoded.handler = waitBulkHandler();
    return decoder.finish(form, decoded);
  }
  if (!reduces && form.take("prefetch")) {
    bool cachePolicy = form.take("L2::cache_hint");
    uint32_t unused;
    size_t operands = cachePolicy ? 3 : 2;
    if (!form.take("L2") || !form.take("global"))
      return decoder.unsupported();
    if (!decoder.expectOperands(operands, operands) || !decoder.genericAddress(o[0], MemorySpace::Global, unused) ||
        !decoder.source(o[1], ScalarType::U32, unused))
      return false;
    decoded.handler = nothingHandler();
    return decoder.finish(form, decoded);
  }
  // The destination comes before the source; "shared::cta" may be either.
  bool byMbarrier = false;
  bool toCluster = form.take("shared::cluster"), fromOrToShared = form.take("shared::cta"),
       global = form.take("global");
  if (!takeCompletion(decoder, form, byMbarrier))
    return false;
  MemorySpace to, from;
  if (!byMbarrier) {
    if (toCluster || !fromOrToShared || !global)
      return decoder.unsupported();
    to = MemorySpace::Global;
    from = MemorySpace::Shared;
  } else {
    if (toCluster + fromOrToShared + global != 2 || (reduces && global))
      return decoder.unsupported();
    to = toCluster ? MemorySpace::SharedCluster : MemorySpace::Shared;
    from = global ? MemorySpace::Global : MemorySpace::Shared;
  }
  bool multicast = form.take("multicast::cluster"), cachePolicy = form.take("L2::cache_hint");
  if (multicast && (!toCluster || !global))
    return decoder.unsupported("a multicast from shared memory");
  ElementOp op = ElementOp::Copy;
  ElementType type = ElementType::U8;
  if (reduces) {
    std::optional<ElementOp> reduction = takeReduction(form);
    bool noftz = form.take("noftz");
    ScalarType scalar = form.takeType();
    bool halfAdd = (scalar == ScalarType::F16 || scalar == ScalarType::BF16) && reduction == ElementOp::Add;
    if (!reduction || !reducible(*reduction, scalar, byMbarrier) || noftz != halfAdd)
      return decoder.unsupported();
    op = *reduction;
    type = *elementOf(scalar);
  }
  size_t operands = 3u + byMbarrier + multicast + cachePolicy;
  if (!decoder.expectOperands(operands, operands))
    return false;
  std::vector<uint32_t> list(5, kNoOperand);
  if (!decoder.genericAddress(o[0], to, list[0]) || !decoder.genericAddress(o[1], from, list[1]) ||
      !decoder.source(o[2], ScalarType::U32, list[2]))
    return false;
  if (byMbarrier && !decoder.genericAddress(o[3], to, list[3]))
    return false;
  if (multicast && !decoder.source(o[4], ScalarType::U16, list[4]))
    return false;
  uint32_t policy;
  if (cachePolicy && !decoder.source(o.back(), ScalarType::B64, policy))
    return false;
  decoded.list = decoder.addOperands(list);
  decoded.imm = packReduction(op, type);
  decoded.kind = Kind::Checked;
  decoded.handler = bulkCopyHandler();
  return decoder.finish(form, decoded);
}

/// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar] and red.async.
bool decodeStoreAsync(Decoder &decoder) {
  Form form(decoder.in());
  bool reduces = decoder.in().opcode == "red";
  form.take("async");
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  form.takeOneOf({"weak", "relaxed"});
  form.take("cluster");
  form.take("shared::cluster");
  if (!form.take("mbarrier::complete_tx::bytes"))
    return decoder.unsupported("it names no completion mechanism");
  std::optional<ElementOp> op = reduces ? takeReduction(form) : ElementOp::Copy;
  int vector = reduces ? -1 : form.takeOneOf({"v2", "v4"});
  uint32_t count = vector < 0 ? 1 : 2u << vector;
  ScalarType type = form.takeType();
  std::optional<ElementType> element = elementOf(type);
  bool isHalf = type == ScalarType::F16 || type == ScalarType::BF16;
  if (!op || !element || isHalf || (reduces && !reducible(*op, type, true)) || count * elementSize(*element) > 16)
    return decoder.unsupported();
  std::vector<uint32_t> list(2, kNoOperand);
  if (!decoder.expectOperands(3, 3) || !decoder.genericAddress(o[0], MemorySpace::SharedCluster, list[0]) ||
      !decoder.genericAddress(o[2], MemorySpace::SharedCluster, list[1]))
    return false;
  if (count == 1) {
    list.push_back(kNoOperand);
    if (!decoder.source(o[1], type, list.back()))
      return false;
  } else if (!decoder.vectorElements(o[1], type, count, true, list)) {
    return false;
  }
  decoded.list = decoder.addOperands(list);
  decoded.flag = static_cast<uint8_t>(count);
  decoded.imm = packReduction(*op, *element);
  decoded.kind = Kind::Checked;
  decoded.handler = storeAsyncHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family bulkCopy() {
  static constexpr Opcode kRows[] = {
      {"cp.async.bulk", &decodeBulkCopy, {90}},
      {"cp.reduce.async.bulk", &decodeBulkCopy, {90}},
      {"st.async", &decodeStoreAsync, {90}},
      {"red.async", &decodeStoreAsync, {90}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
