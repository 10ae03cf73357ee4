// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix, stmatrix, movmatrix and mma.sync.
#include "emulator/matrix/matrix.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// ldmatrix r, [address] and stmatrix [address], r
bool decodeLdmatrix(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  bool isStore = decoder.in().opcode == "stmatrix";
  int count = form.takeOneOf({"x1", "x2", "x4"});
  bool transposed = form.take("trans"), shared = form.take("shared") || form.take("shared::cta");
  if (!form.take("sync") || !form.take("aligned") || !form.take("m8n8") || count < 0 || !shared ||
      form.takeType() != ScalarType::B16)
    return decoder.unsupported();
  uint32_t matrices = 1u << count;
  std::vector<uint32_t> elements;
  MemorySpace space = MemorySpace::Shared;
  if (!decoder.vectorElements(decoder.in().operands[isStore], ScalarType::B32, matrices, isStore, elements) ||
      !decoder.address(decoder.in().operands[!isStore], space, decoded))
    return false;
  if (decoded.addressMode == AddressMode::FrameLocal)
    return decoder.unsupported("a local address");
  for (uint32_t &element : elements)
    if (element == kNoOperand)
      element = decoder.allocateRegister(4);
  decoded.list = decoder.addOperands(elements);
  decoded.flag = static_cast<uint8_t>(matrices | (transposed ? 0x80 : 0));
  decoded.e = decoder.constant(0xffffffff, 4);
  decoded.kind = Kind::WarpSync;
  decoded.target = decoder.cacheSlot();
  decoded.handler = isStore ? storeMatrixHandler() : handlers().loadMatrix();
  return decoder.finish(form, decoded);
}

bool decodeMovmatrix(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  if (!form.take("sync") || !form.take("aligned") || !form.take("m8n8") || !form.take("trans") ||
      form.takeType() != ScalarType::B16)
    return decoder.unsupported();
  if (!decoder.destination(decoder.in().operands[0], ScalarType::B32, decoded.d) ||
      !decoder.source(decoder.in().operands[1], ScalarType::B32, decoded.a))
    return false;
  decoded.e = decoder.constant(0xffffffff, 4);
  decoded.kind = Kind::WarpSync;
  decoded.handler = transposeMatrixHandler();
  return decoder.finish(form, decoded);
}

bool decodeMma(Decoder &decoder) {
  Form form(decoder.in());
  MatrixForm matrix{16, 8, 16, MatrixElement::F16, MatrixElement::F16, ScalarType::F32};
  struct Shape {
    uint32_t m, n, k;
  };
  constexpr Shape kShapes[] = {{8, 8, 4}, {8, 8, 16}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}, {16, 8, 32}};
  int shape = form.takeOneOf({"m8n8k4", "m8n8k16", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (!form.take("sync") || !form.take("aligned") || shape < 0 || !form.take("row") || !form.take("col"))
    return decoder.unsupported();
  matrix.m = kShapes[shape].m;
  matrix.k = kShapes[shape].k;
  matrix.satfinite = form.take("satfinite");
  matrix.accumulator = form.takeType();
  auto element = [](ScalarType type, MatrixElement &out) {
    switch (type) {
    case ScalarType::F16:
      out = MatrixElement::F16;
      return true;
    case ScalarType::BF16:
      out = MatrixElement::BF16;
      return true;
    case ScalarType::TF32:
      out = MatrixElement::TF32;
      return true;
    case ScalarType::F64:
      out = MatrixElement::F64;
      return true;
    case ScalarType::S8:
      out = MatrixElement::S8;
      return true;
    case ScalarType::U8:
      out = MatrixElement::U8;
      return true;
    case ScalarType::E4M3:
      out = MatrixElement::E4M3;
      return true;
    case ScalarType::E5M2:
      out = MatrixElement::E5M2;
      return true;
    default:
      return false;
    }
  };
  if (!element(form.takeType(), matrix.a) || !element(form.takeType(), matrix.b) ||
      form.takeType() != matrix.accumulator)
    return decoder.unsupported();
  FragmentSizes sizes = fragmentSizes(matrix);
  if (!sizes.a)
    return decoder.unsupported();
  bool isDouble = matrix.a == MatrixElement::F64;
  ScalarType input = isDouble ? ScalarType::B64 : ScalarType::B32;
  ScalarType accumulator = isDouble ? ScalarType::B64 : ScalarType::B32;
  const ptx::List<Operand> &o = decoder.in().operands;
  std::vector<uint32_t> operands;
  auto elements = [&](const Operand &operand, ScalarType type, uint32_t count, bool isSource) {
    if (operand.kind != Operand::Kind::Vector && count == 1) {
      operands.push_back(kNoOperand);
      return decoder.source(operand, type, operands.back());
    }
    return decoder.vectorElements(operand, type, count, isSource, operands);
  };
  if (!elements(o[0], accumulator, sizes.c, false) || !elements(o[1], input, sizes.a, true) ||
      !elements(o[2], input, sizes.b, true) || !elements(o[3], accumulator, sizes.c, true))
    return false;
  for (uint32_t &operand : operands)
    if (operand == kNoOperand)
      operand = decoder.allocateRegister(isDouble ? 8 : 4);
  Decoded decoded;
  decoded.list = decoder.addOperands(operands);
  decoded.imm = packForm(matrix);
  decoded.e = decoder.constant(0xffffffff, 4);
  decoded.kind = Kind::WarpSync;
  decoded.handler = handlers().multiplyMatrix(matrix);
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family matrix() {
  static constexpr Opcode kRows[] = {
      {"ldmatrix", &decodeLdmatrix, {}, {2, 2}},
      {"stmatrix", &decodeLdmatrix, {}, {2, 2}},
      {"movmatrix", &decodeMovmatrix, {}, {2, 2}},
      {"mma", &decodeMma, {}, {4, 4}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
