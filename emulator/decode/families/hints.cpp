// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences, prefetches, cache policies, register budgets: one thread runs at a time and sees memory as it is, so they
// change nothing here (the race detector asks for fences). What they may say is checked all the same.
#include "emulator/async/bulk.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/data.h"
#include "emulator/handlers/fence_ops.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// fence{.sem}.scope, fence.proxy.kind, fence.mbarrier_init.release.cluster, fence.proxy.tensormap::generic.sem.scope
/// {[map], 128}, fence.sem.sync_restrict::space.cluster
bool decodeFence(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  decoded.handler = fenceHandler();
  int order = form.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  int scope = form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (form.take("mbarrier_init"))
    return order == 3 && scope == 1 ? decoder.expectOperands(0, 0) && decoder.finish(form, decoded)
                                    : decoder.unsupported();
  form.takeOneOf({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  if (!form.take("proxy"))
    return scope >= 0 ? decoder.expectOperands(0, 0) && decoder.finish(form, decoded)
                      : decoder.unsupported("it names no scope");
  if (form.take("tensormap::generic")) {
    if (order < 2 || scope < 0)
      return decoder.unsupported();
    uint32_t unused;
    if (order == 3)
      return decoder.expectOperands(0, 0) && decoder.finish(form, decoded);
    if (!decoder.expectOperands(2, 2) || !decoder.genericAddress(o[0], MemorySpace::Generic, unused))
      return false;
    return decoder.finish(form, decoded);
  }
  bool async = form.take("async"), restricted = form.take("async::generic");
  if (async)
    form.takeOneOf({"global", "shared::cta", "shared::cluster"});
  if (!async && !restricted && !form.take("alias"))
    return decoder.unsupported("no proxy it knows");
  decoded.flag = async || restricted; // what the race detector asks for
  return decoder.expectOperands(0, 0) && decoder.finish(form, decoded);
}

bool decodePrefetch(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  uint32_t unused;
  decoded.handler = nothingHandler();
  bool isMap = form.take("tensormap");
  int space = form.takeOneOf({"global", "local", "param", "const"});
  int level = form.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  if (isMap ? level >= 0 || space == 0 || space == 1 : level < 0 || space > 1)
    return decoder.unsupported();
  MemorySpace memory = space == 0 ? MemorySpace::Global : MemorySpace::Generic;
  if (space != 1 && !decoder.genericAddress(decoder.in().operands[0], memory, unused))
    return false;
  return decoder.finish(form, decoded);
}

/// discard{.global}.L2 [a], 128; applypriority{.global}.L2::evict_normal [a], 128
bool decodeLineHint(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  bool discards = decoder.in().opcode == "discard";
  form.take("global");
  if (!form.take(discards ? "L2" : "L2::evict_normal"))
    return decoder.unsupported();
  if (!decoder.genericAddress(o[0], MemorySpace::Global, decoded.a))
    return false;
  if (o[1].kind != Operand::Kind::Integer || o[1].bits != 128)
    return decoder.fail("'" + decoder.in().form() + "' is for 128 bytes");
  decoded.kind = discards ? Kind::Checked : Kind::Alu;
  decoded.handler = discards ? discardHandler() : nothingHandler();
  return decoder.finish(form, decoded);
}

/// A policy is opaque: one bit pattern serves for all.
bool decodeCreatePolicy(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  int kind = form.takeOneOf({"fractional", "range", "cvt"});
  if (kind < 0)
    return decoder.unsupported();
  form.take("global");
  if (kind == 2)
    form.take("L2");
  else
    form.takeOneOf({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
  form.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
  if (form.takeType() != ScalarType::B64)
    return decoder.unsupported();
  uint32_t unused;
  if (!decoder.expectOperands(kind == 1   ? 4
                              : kind == 2 ? 2
                                          : 1,
                              kind == 1 ? 4 : 2) ||
      !decoder.destination(o[0], ScalarType::B64, decoded.d))
    return false;
  if (kind == 1 && (!decoder.genericAddress(o[1], MemorySpace::Global, unused) ||
                    !decoder.source(o[2], ScalarType::U32, unused) || !decoder.source(o[3], ScalarType::U32, unused)))
    return false;
  decoded.a = decoder.constant(0x12f0000000000000ull, 8);
  decoded.handler = handlers().integer(IntOp::Mov, ScalarType::B64);
  return decoder.finish(form, decoded);
}

/// setmaxnreg.{inc,dec}.sync.aligned.u32 n: registers are not counted here.
bool decodeSetmaxnreg(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (form.takeOneOf({"inc", "dec"}) < 0 || !form.take("sync") || !form.take("aligned") ||
      form.takeType() != ScalarType::U32)
    return decoder.unsupported();
  if (o[0].kind != Operand::Kind::Integer || o[0].bits < 24 || o[0].bits > 256 || o[0].bits % 8)
    return decoder.fail("'setmaxnreg' takes a constant multiple of 8 from 24 to 256");
  decoded.handler = nothingHandler();
  return decoder.finish(form, decoded);
}

/// Hints: every access is seen at once here. What they may say is checked all the same.
bool decodeNothing(Decoder &decoder) {
  Form form(decoder.in());
  std::string_view name = decoder.in().opcode;
  if (name == "membar") {
    form.takeOneOf({"cta", "gl", "sys"});
  } else if (name == "griddepcontrol") {
    if (form.takeOneOf({"launch_dependents", "wait"}) < 0)
      return decoder.unsupported();
  } else if (name == "pmevent") {
    form.take("mask");
  }
  Decoded decoded;
  decoded.handler = name == "membar" ? fenceHandler() : nothingHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family hints() {
  static constexpr Opcode kRows[] = {
      {"fence", &decodeFence},
      {"membar", &decodeNothing},
      {"griddepcontrol", &decodeNothing},
      {"pmevent", &decodeNothing},
      {"prefetch", &decodePrefetch, {}, {1, 1}},
      {"prefetchu", &decodePrefetch, {}, {1, 1}},
      {"discard", &decodeLineHint, {}, {2, 2}},
      {"applypriority", &decodeLineHint, {}, {2, 2}},
      {"createpolicy", &decodeCreatePolicy},
      {"setmaxnreg", &decodeSetmaxnreg, {90, true}, {1, 1}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
