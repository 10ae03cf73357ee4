// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C struct rules, nothing else: each member at the next multiple of its alignment, no tail padding. ptxas follows the
// same rule for `.param` variables of a kernel (PTX ISA, "Kernel Function Parameter Attributes"), but counts from the
// start of the constant bank, where parameters begin at 0x160, 0x210 or 0x380 by architecture: all multiples of 16, and
// not of more.
#include "abi/parameter_layout.h"

#include "abi/arch_table.h"
#include "support/align.h"
#include "support/placement.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::abi {

static constexpr uint32_t kPointerBytes = 8;
static constexpr uint32_t kWordBytes = 8;
static constexpr uint32_t kMaxFixedAlignment = 16; // above it, offsets depend on where an image's parameters begin

/// Adds one parameter behind the others. OutOfRange: past the largest block there is.
static Status place(ParameterLayout &layout, Parameter parameter) {
  Placement places(layout.bytes);
  const uint64_t offset = places.place(parameter.size, parameter.alignment), end = places.end();
  if (end > kMaxParameterBytes)
    return makeError(StatusCode::OutOfRange, "[K-5] parameter ", layout.parameters.size(), " ends at byte ", end,
                     ", a kernel takes at most ", kMaxParameterBytes, " bytes of parameters");
  parameter.offset = static_cast<uint32_t>(offset);
  parameter.imagePlaces = !layout.isFixed() || parameter.alignment > kMaxFixedAlignment;
  if (parameter.kind == ParameterKind::Constant) {
    parameter.firstWord = layout.words;
    layout.words += parameter.words;
  }
  layout.bytes = static_cast<uint32_t>(end);
  layout.parameters.push_back(parameter);
  return okStatus();
}

/// K-22: the map, and the binding that it is encoded from.
static Status checkEncoded(const Layout &layout, const Constant &constant) {
  const TensorMap &map = *constant.map;
  TENON_RETURN_IF_ERROR(checkTensorMap(map, constant.element));
  if (map.binding >= layout.bindings.size())
    return makeError(StatusCode::InvalidArgument, "the tensor map is of binding ", map.binding, ", the layout has ",
                     layout.bindings.size());
  if (layout.bindings[map.binding].alignment < map.alignment())
    return makeError(StatusCode::InvalidArgument, "the tensor map is of binding ", map.binding,
                     ", which promises alignment ", layout.bindings[map.binding].alignment, ": declare alignment ",
                     map.alignment(), " on it");
  return okStatus();
}

Result<ParameterLayout> computeParameterLayout(const Layout &layout) {
  ParameterLayout out;
  constexpr size_t kMost = kMaxParameterBytes; // each has a byte at least
  out.parameters.reserve(std::min(layout.bindings.size() + layout.constants.size() + layout.hiddenPointers, kMost));
  for (size_t i = 0; i < layout.bindings.size(); ++i)
    TENON_RETURN_IF_ERROR(
        place(out, {ParameterKind::Binding, static_cast<uint32_t>(i), 0, kPointerBytes, kPointerBytes}));
  for (size_t i = 0; i < layout.constants.size(); ++i) {
    const Constant &constant = layout.constants[i];
    if (constant.size == 0)
      return makeError(StatusCode::InvalidArgument, "[K-3] constant ", i, " has size 0");
    if (!std::has_single_bit(constant.alignment))
      return makeError(StatusCode::InvalidArgument, "[K-3] constant ", i, " has alignment ", constant.alignment,
                       ", not a power of two");
    Parameter parameter = {ParameterKind::Constant, static_cast<uint32_t>(i), 0, constant.size, constant.alignment};
    parameter.words = ceilDiv(constant.size, kWordBytes);
    if (constant.map) {
      if (Status status = checkEncoded(layout, constant); !status.ok())
        return makeError(status.code(), "[K-22] constant ", i, ": ", status.message());
      parameter.words = static_cast<uint32_t>(constant.map->rank());
      parameter.tensorMap = static_cast<uint32_t>(out.tensorMaps.size());
      out.tensorMaps.push_back({*constant.map, constant.element});
    }
    TENON_RETURN_IF_ERROR(place(out, parameter));
  }
  for (uint32_t i = 0; i < layout.hiddenPointers; ++i)
    TENON_RETURN_IF_ERROR(place(out, {ParameterKind::Hidden, i, 0, kPointerBytes, kPointerBytes}));
  return out;
}

/// K-7: as many bindings and words as the layout has, and room for the block.
static Status checkArguments(const ParameterLayout &layout, size_t bindingCount, size_t wordCount, size_t outBytes) {
  size_t bindings = 0, constants = 0;
  for (const Parameter &parameter : layout.parameters) {
    bindings += parameter.kind == ParameterKind::Binding;
    constants += parameter.kind == ParameterKind::Constant;
  }
  if (bindingCount != bindings)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", bindingCount, " bindings given, the layout has ", bindings);
  if (wordCount != layout.words && constants == layout.words)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", wordCount, " constants given, the layout has ", constants);
  if (wordCount != layout.words)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", wordCount, " words of constants given, the layout's ",
                     constants, constants == 1 ? " constant takes " : " constants take ", layout.words);
  if (outBytes < layout.bytes)
    return makeError(StatusCode::OutOfRange, "room for ", outBytes, " bytes of parameters, the layout has ",
                     layout.bytes);
  return okStatus();
}

Status packParameters(const ParameterLayout &layout, const uint64_t *bindings, size_t bindingCount,
                      const uint64_t *constants, size_t constantCount, uint8_t *out, size_t outBytes) {
  static_assert(std::endian::native == std::endian::little, "the low bytes of a register come first");
  TENON_RETURN_IF_ERROR(checkArguments(layout, bindingCount, constantCount, outBytes));
  if (layout.bytes != 0)
    std::memset(out, 0, layout.bytes);
  for (const Parameter &parameter : layout.parameters) {
    switch (parameter.kind) {
    case ParameterKind::Binding:
      std::memcpy(out + parameter.offset, &bindings[parameter.index], parameter.size);
      break;
    case ParameterKind::Constant:
      if (parameter.tensorMap != Parameter::kNoTensorMap)
        break; // its words are extents, from which the runtime encodes it
      std::memcpy(out + parameter.offset, &constants[parameter.firstWord], parameter.size);
      break;
    case ParameterKind::Hidden:
      break; // null
    }
  }
  return okStatus();
}

} // namespace tenon::abi
