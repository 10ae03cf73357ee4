// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mapa, getctarank and barrier.cluster.
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/handlers/cluster_ops.h"
#include "emulator/handlers/data.h"

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;

/// mapa{.shared::cluster}.type d, a, rank; without the space, addresses are generic.
bool decodeMapa(Decoder &decoder) {
  Form form(decoder.in());
  form.take("shared::cluster");
  ScalarType type = form.takeType();
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (type != ScalarType::U32 && type != ScalarType::U64)
    return decoder.unsupported();
  if (!decoder.destination(o[0], type, decoded.d) || !decoder.source(o[1], type, decoded.a) ||
      !decoder.source(o[2], ScalarType::U32, decoded.b))
    return false;
  decoded.handler = mapHandler(ptx::byteSize(type));
  return decoder.finish(form, decoded);
}

bool decodeGetctarank(Decoder &decoder) {
  Form form(decoder.in());
  form.take("shared::cluster");
  ScalarType type = form.takeType();
  Decoded decoded;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (type != ScalarType::U32 && type != ScalarType::U64)
    return decoder.unsupported();
  if (!decoder.destination(o[0], ScalarType::U32, decoded.d) || !decoder.source(o[1], type, decoded.a))
    return false;
  decoded.handler = rankHandler(ptx::byteSize(type));
  return decoder.finish(form, decoded);
}

/// barrier.cluster.arrive{.release|.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
bool decodeClusterBarrier(Decoder &decoder) {
  Form form(decoder.in());
  form.take("cluster");
  Decoded decoded;
  int half = form.takeOneOf({"arrive", "wait"});
  if (half < 0)
    return decoder.unsupported();
  if (half == 0)
    form.takeOneOf({"release", "relaxed"});
  else
    form.take("acquire");
  form.take("aligned");
  decoded.kind = half == 0 ? Kind::Checked : Kind::ClusterWait;
  decoded.handler = half == 0 ? clusterArriveHandler() : nothingHandler();
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family cluster() {
  static constexpr Opcode kRows[] = {
      {"mapa", &decodeMapa, {90}, {3, 3}},
      {"getctarank", &decodeGetctarank, {90}, {2, 2}},
      {"barrier.cluster", &decodeClusterBarrier, {90}, {0, 0}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
