// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/parameter_offsets.h"

#include "support/placement.h"

namespace tenon::ptx {

ParameterOffsets parameterOffsets(const Function &function) {
  ParameterOffsets out;
  out.offsets.reserve(function.parameters.size());
  Placement places;
  for (const Variable &parameter : function.parameters)
    out.offsets.push_back(places.place(parameter.bytes(), parameter.effectiveAlignment()));
  out.bytes = places.end();
  return out;
}

} // namespace tenon::ptx
