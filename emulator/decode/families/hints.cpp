// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences, prefetches, cache policies, register budgets: one thread runs at a time and sees memory as it is, so they
// change nothing here (checker.h asks for fences). What they may say is checked all the same.
#include "emulator/async/bulk.h"
#include "emulator/decode/decoder.h"
#include "emulator/handlers/fence_ops.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

/// fence{.sem}.scope, fence.proxy.kind, fence.mbarrier_init.release.cluster, fence.proxy.tensormap::generic.sem.scope
/// {[map], 128}, fence.sem.sync_restrict::space.cluster
bool FunctionDecoder::decodeFence() {
  Form form(*in_);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  decoded.handler = fenceHandler();
  int order = form.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  int scope = form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (form.take("mbarrier_init"))
    return order == 3 && scope == 1 ? expectOperands(0, 0) && finish(form, decoded) : unsupported();
  form.takeOneOf({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  if (!form.take("proxy"))
    return scope >= 0 ? expectOperands(0, 0) && finish(form, decoded) : unsupported("it names no scope");
  if (form.take("tensormap::generic")) {
    if (order < 2 || scope < 0)
      return unsupported();
    uint32_t unused;
    if (order == 3)
      return expectOperands(0, 0) && finish(form, decoded);
    if (!expectOperands(2, 2) || !genericOperand(o[0], MemorySpace::Generic, unused))
      return false;
    return finish(form, decoded);
  }
  bool async = form.take("async"), restricted = form.take("async::generic");
  if (async)
    form.takeOneOf({"global", "shared::cta", "shared::cluster"});
  if (!async && !restricted && !form.take("alias"))
    return unsupported("no proxy it knows");
  decoded.flag = async || restricted; // what the race detector asks for
  return expectOperands(0, 0) && finish(form, decoded);
}

bool FunctionDecoder::decodePrefetch() {
  Form form(*in_);
  Decoded decoded;
  uint32_t unused;
  decoded.handler = nothingHandler();
  bool isMap = form.take("tensormap");
  int space = form.takeOneOf({"global", "local", "param", "const"});
  int level = form.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  if (isMap ? level >= 0 || space == 0 || space == 1 : level < 0 || space > 1)
    return unsupported();
  MemorySpace memory = space == 0 ? MemorySpace::Global : MemorySpace::Generic;
  if (!expectOperands(1, 1))
    return false;
  if (space != 1 && !genericOperand(in_->operands[0], memory, unused))
    return false;
  return finish(form, decoded);
}

/// discard{.global}.L2 [a], 128; applypriority{.global}.L2::evict_normal [a], 128
bool FunctionDecoder::decodeLineHint() {
  Form form(*in_);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  bool discards = in_->opcode == "discard";
  form.take("global");
  if (!form.take(discards ? "L2" : "L2::evict_normal"))
    return unsupported();
  if (!expectOperands(2, 2) || !genericOperand(o[0], MemorySpace::Global, decoded.a))
    return false;
  if (o[1].kind != Operand::Kind::Integer || o[1].bits != 128)
    return fail("'" + in_->form() + "' is for 128 bytes");
  decoded.kind = discards ? Kind::Checked : Kind::Alu;
  decoded.handler = discards ? discardHandler() : nothingHandler();
  return finish(form, decoded);
}

/// A policy is opaque: one bit pattern serves for all.
bool FunctionDecoder::decodeCreatePolicy() {
  Form form(*in_);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  int kind = form.takeOneOf({"fractional", "range", "cvt"});
  if (kind < 0)
    return unsupported();
  form.take("global");
  if (kind == 2)
    form.take("L2");
  else
    form.takeOneOf({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
  form.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
  if (form.takeType() != ScalarType::B64)
    return unsupported();
  uint32_t unused;
  if (!expectOperands(kind == 1   ? 4
                      : kind == 2 ? 2
                                  : 1,
                      kind == 1 ? 4 : 2) ||
      !destination(o[0], ScalarType::B64, decoded.d))
    return false;
  if (kind == 1 && (!genericOperand(o[1], MemorySpace::Global, unused) || !source(o[2], ScalarType::U32, unused) ||
                    !source(o[3], ScalarType::U32, unused)))
    return false;
  decoded.a = builder_.constant(0x12f0000000000000ull, 8);
  decoded.handler = handlers().integer(IntOp::Mov, ScalarType::B64);
  return finish(form, decoded);
}

/// setmaxnreg.{inc,dec}.sync.aligned.u32 n: registers are not counted here.
bool FunctionDecoder::decodeSetmaxnreg() {
  Form form(*in_);
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (!needsTarget(90, true))
    return false;
  if (form.takeOneOf({"inc", "dec"}) < 0 || !form.take("sync") || !form.take("aligned") ||
      form.takeType() != ScalarType::U32)
    return unsupported();
  if (!expectOperands(1, 1))
    return false;
  if (o[0].kind != Operand::Kind::Integer || o[0].bits < 24 || o[0].bits > 256 || o[0].bits % 8)
    return fail("'setmaxnreg' takes a constant multiple of 8 from 24 to 256");
  decoded.handler = nothingHandler();
  return finish(form, decoded);
}

} // namespace tenon::emulator
