// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensormap.replace and tensormap.cp_fenceproxy.
#include "emulator/async/bulk.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// tensormap.replace.tile.field.space.b1024.type [map], {ordinal,} value; tensormap.cp_fenceproxy
bool decodeTensormap(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  decoded.kind = Kind::Checked;
  if (!decoder.needsTarget(90, decoder.in().hasModifier("replace")))
    return false;
  if (form.take("cp_fenceproxy")) {
    bool known = form.take("global") && form.take("shared::cta") && form.take("tensormap::generic") &&
                 form.take("release") && form.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0 && form.take("sync") &&
                 form.take("aligned");
    if (!known)
      return decoder.unsupported();
    if (!decoder.expectOperands(3, 3) || !decoder.genericAddress(o[0], MemorySpace::Global, decoded.a) ||
        !decoder.genericAddress(o[1], MemorySpace::Shared, decoded.b))
      return false;
    if (o[2].kind != Operand::Kind::Integer || o[2].bits != 128)
      return decoder.fail("'tensormap.cp_fenceproxy' copies 128 bytes");
    decoded.handler = copyMapHandler();
    return decoder.finish(form, decoded);
  }
  int field = form.takeOneOf({"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride",
                              "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"});
  bool global = form.take("global"), shared = form.take("shared::cta");
  if (!form.take("replace") || !form.take("tile") || field < 0 || (global && shared) || !form.take("b1024"))
    return decoder.unsupported();
  ScalarType type = form.takeType();
  TensorField tensorField = static_cast<TensorField>(field);
  bool isWide = tensorField == TensorField::Address || tensorField == TensorField::Stride;
  bool hasOrdinal = tensorField >= TensorField::Box && tensorField <= TensorField::Step;
  if (type != (isWide ? ScalarType::B64 : ScalarType::B32))
    return decoder.unsupported();
  if (!decoder.expectOperands(hasOrdinal ? 3 : 2, hasOrdinal ? 3 : 2))
    return false;
  if (hasOrdinal && (o[1].kind != Operand::Kind::Integer || o[1].bits > 4))
    return decoder.fail("'" + decoder.in().form() + "' takes a constant dimension of 0 to 4");
  uint32_t value;
  if (!decoder.genericAddress(o[0],
                              shared   ? MemorySpace::Shared
                              : global ? MemorySpace::Global
                                       : MemorySpace::Generic,
                              decoded.a) ||
      !decoder.source(o.back(), type, value))
    return false;
  decoded.b = value;
  if (!isWide) {
    decoded.b = decoder.allocateRegister(8);
    decoder.emitConversion(decoded.b, 8, value, 4, false);
  }
  decoded.flag = static_cast<uint8_t>(field);
  decoded.imm = hasOrdinal ? static_cast<int64_t>(o[1].bits) : 0;
  decoded.handler = replaceFieldHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family tensorMap() {
  static constexpr Opcode kRows[] = {
      {"tensormap", &decodeTensormap},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
