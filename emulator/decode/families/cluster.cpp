// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mapa, getctarank, barrier.cluster; and `.shared::cluster` addresses.
#include "emulator/decode/decoder.h"
#include "emulator/handlers/cluster_ops.h"

namespace tenon::emulator {

using ptx::ScalarType;
using Operand = ptx::Operand;

/// An address in the shared window of the cluster, as a generic one: from there on it is an access like any other.
void FunctionDecoder::toClusterWindow(Decoded &decoded) {
  if (decoded.addressMode == AddressMode::Register32) {
    uint32_t wide = allocateRegister(8);
    emitConversion(wide, 8, decoded.a, 4, false);
    decoded.a = wide;
    decoded.addressMode = AddressMode::Register64;
  }
  decoded.imm += static_cast<int64_t>(kSharedWindow);
}

/// The address of a variable of this block, which holds its rank: `out` = constant + the block's base.
void FunctionDecoder::addSharedBase(uint32_t bytes, uint32_t &out) {
  if (!builder_.kernel->usesClusters)
    return;
  Decoded decoded;
  decoded.a = out;
  decoded.b = builder_.special(Special::SharedBase);
  if (bytes == 8) {
    uint32_t wide = allocateRegister(8);
    emitConversion(wide, 8, decoded.b, 4, false);
    decoded.b = wide;
  }
  decoded.d = out = allocateRegister(bytes);
  decoded.handler = handlers().integer(IntOp::Add, bytes == 8 ? ScalarType::U64 : ScalarType::U32);
  emit(decoded);
}

/// mapa{.shared::cluster}.type d, a, rank; without the space, addresses are generic.
bool FunctionDecoder::decodeMapa() {
  Form form(*in_);
  form.take("shared::cluster");
  ScalarType type = form.takeType();
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (type != ScalarType::U32 && type != ScalarType::U64)
    return unsupported();
  if (!needsTarget(90) || !expectOperands(3, 3) || !destination(o[0], type, decoded.d) ||
      !source(o[1], type, decoded.a) || !source(o[2], ScalarType::U32, decoded.b))
    return false;
  decoded.handler = mapHandler(ptx::byteSize(type));
  return finish(form, decoded);
}

bool FunctionDecoder::decodeGetctarank() {
  Form form(*in_);
  form.take("shared::cluster");
  ScalarType type = form.takeType();
  Decoded decoded;
  const ptx::List<Operand> &o = in_->operands;
  if (type != ScalarType::U32 && type != ScalarType::U64)
    return unsupported();
  if (!needsTarget(90) || !expectOperands(2, 2) || !destination(o[0], ScalarType::U32, decoded.d) ||
      !source(o[1], type, decoded.a))
    return false;
  decoded.handler = rankHandler(ptx::byteSize(type));
  return finish(form, decoded);
}

/// barrier.cluster.arrive{.release|.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
bool FunctionDecoder::decodeClusterBarrier(Form &form) {
  Decoded decoded;
  if (!needsTarget(90))
    return false;
  int half = form.takeOneOf({"arrive", "wait"});
  if (half < 0)
    return unsupported();
  if (half == 0)
    form.takeOneOf({"release", "relaxed"});
  else
    form.take("acquire");
  form.take("aligned");
  decoded.kind = half == 0 ? Kind::Checked : Kind::ClusterWait;
  decoded.handler = half == 0 ? clusterArriveHandler() : nothingHandler();
  return expectOperands(0, 0) && finish(form, decoded);
}

} // namespace tenon::emulator
