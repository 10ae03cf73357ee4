// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma.load, wmma.store, wmma.mma.
#include "emulator/matrix/wmma.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

struct Shape {
  uint32_t m, n, k;
};
std::optional<Shape> takeShape(Form &form) {
  constexpr Shape kShapes[] = {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}, {16, 16, 8}, {8, 8, 4}};
  int shape = form.takeOneOf({"m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8", "m8n8k4"});
  return shape < 0 ? std::nullopt : std::optional(kShapes[shape]);
}

bool fragmentRegisters(Decoder &decoder, const Operand &operand, const Fragment &fragment, bool isSource,
                       std::vector<uint32_t> &out) {
  ScalarType type = fragment.registerBytes() == 8 ? ScalarType::B64 : ScalarType::B32;
  size_t first = out.size();
  if (operand.kind != Operand::Kind::Vector && fragment.registers == 1) {
    out.push_back(kNoOperand);
    if (!(isSource ? decoder.source(operand, type, out.back()) : decoder.destination(operand, type, out.back())))
      return false;
  } else if (!decoder.vectorElements(operand, type, fragment.registers, isSource, out)) {
    return false;
  }
  for (size_t k = first; k < out.size(); ++k)
    if (out[k] == kNoOperand)
      out[k] = decoder.allocateRegister(fragment.registerBytes());
  return true;
}

/// f16 names the types of D and C alone; the others name D, A, B, C.
bool decodeWmmaMultiply(Decoder &decoder, Form &form) {
  std::optional<Shape> shape = takeShape(form);
  if (!form.take("sync") || !form.take("aligned") || !shape)
    return decoder.unsupported();
  for (int k = 0; k < 2; ++k) // layouts of A and B: the fragments were loaded by them
    if (form.takeOneOf({"row", "col"}) < 0)
      return decoder.unsupported();
  form.take("rn"); // of f64, the only one here
  bool satfinite = form.take("satfinite");
  ScalarType types[4] = {};
  for (ScalarType &type : types)
    type = form.takeType();
  if (types[2] == ScalarType::None) {
    types[3] = types[1];
    types[1] = types[2] = ScalarType::F16;
  }
  const auto [d, a, b, c] = types;
  std::optional<Fragment> fragments[4] = {findFragment(FragmentUse::Accumulator, shape->m, shape->n, shape->k, d),
                                          findFragment(FragmentUse::A, shape->m, shape->n, shape->k, a),
                                          findFragment(FragmentUse::B, shape->m, shape->n, shape->k, b),
                                          findFragment(FragmentUse::Accumulator, shape->m, shape->n, shape->k, c)};
  bool isHalf = a == ScalarType::F16, isByte = a == ScalarType::S8 || a == ScalarType::U8;
  auto accumulates = [&](ScalarType type) {
    return type == (isByte                 ? ScalarType::S32
                    : a == ScalarType::F64 ? ScalarType::F64
                                           : ScalarType::F32) ||
           (isHalf && type == ScalarType::F16);
  };
  if (!fragments[0] || !fragments[1] || !fragments[2] || !fragments[3] || a != b || !accumulates(d) ||
      !accumulates(c) || (d != c && !isHalf) || (satfinite && !isByte))
    return decoder.unsupported();
  const ptx::List<Operand> &o = decoder.in().operands;
  std::vector<uint32_t> operands;
  if (!decoder.expectOperands(4, 4))
    return false;
  for (const std::optional<Fragment> &fragment : fragments)
    pushFragment(*fragment, operands);
  for (size_t k = 0; k < 4; ++k)
    if (!fragmentRegisters(decoder, o[k], *fragments[k], k != 0, operands))
      return false;
  Decoded decoded;
  decoded.list = decoder.addOperands(operands);
  decoded.flag = satfinite;
  decoded.e = decoder.constant(kAllLanes, 4);
  decoded.kind = Kind::WarpSync;
  decoded.handler = handlers().multiplyFragments();
  return decoder.finish(form, decoded);
}

bool decodeWmma(Decoder &decoder) {
  Form form(decoder.in());
  bool isLoad = form.take("load"), isStore = !isLoad && form.take("store");
  if (!isLoad && !isStore)
    return form.take("mma") ? decodeWmmaMultiply(decoder, form) : decoder.unsupported();
  int which = form.takeOneOf({"a", "b", "c", "d"}), layout = form.takeOneOf({"row", "col"});
  std::optional<Shape> shape = takeShape(form);
  if (!form.take("sync") || !form.take("aligned") || which < 0 || layout < 0 || !shape || isStore != (which == 3))
    return decoder.unsupported();
  MemorySpace space = form.take("global")                               ? MemorySpace::Global
                      : form.take("shared") || form.take("shared::cta") ? MemorySpace::Shared
                                                                        : MemorySpace::Generic;
  FragmentUse use = which == 0 ? FragmentUse::A : which == 1 ? FragmentUse::B : FragmentUse::Accumulator;
  std::optional<Fragment> fragment = findFragment(use, shape->m, shape->n, shape->k, form.takeType());
  if (!fragment)
    return decoder.unsupported();
  fragment->columnMajor = layout == 1;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.expectOperands(2, 3))
    return false;
  Decoded decoded;
  std::vector<uint32_t> operands;
  pushFragment(*fragment, operands);
  if (!decoder.address(o[isLoad ? 1 : 0], space, decoded) ||
      !fragmentRegisters(decoder, o[isLoad ? 0 : 1], *fragment, isStore, operands))
    return false;
  if (decoded.addressMode == AddressMode::FrameLocal)
    return decoder.unsupported("a local address");
  // Without a stride the matrix is packed.
  if (o.size() == 2)
    decoded.b = decoder.constant(fragment->columnMajor ? fragment->rows : fragment->columns, 4);
  else if (!decoder.source(o[2], ScalarType::U32, decoded.b))
    return false;
  decoded.list = decoder.addOperands(operands);
  decoded.flag = static_cast<uint8_t>(space);
  decoded.e = decoder.constant(kAllLanes, 4);
  decoded.kind = Kind::WarpSync;
  decoded.target = decoder.cacheSlot();
  decoded.handler = isLoad ? handlers().loadFragment() : handlers().storeFragment();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family wmma() {
  static constexpr Opcode kRows[] = {
      {"wmma", &decodeWmma},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
