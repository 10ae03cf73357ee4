// C struct rules, nothing else: each member at the next multiple of its alignment, no tail padding. The CUDA driver
// takes its arguments one by one or as this block (CU_LAUNCH_PARAM_BUFFER_POINTER); both agree because ptxas follows
// the same rule for `.param` variables of a kernel (PTX ISA, "Kernel Function Parameter Attributes").
#include "abi/parameter_layout.h"

#include <bit>
#include <cstring>

namespace tenon::abi {

static constexpr uint32_t kPointerBytes = 8;
static constexpr uint32_t kMaxBlockBytes = 32764; // K-5: PTX ISA 8.1 and sm_70 or later; 4352 before

/// Adds one parameter behind the others. OutOfRange: past the largest block there is.
static Status place(ParameterLayout &layout, Parameter parameter) {
  uint64_t mask = uint64_t(parameter.alignment) - 1;
  uint64_t offset = (uint64_t(layout.bytes) + mask) & ~mask;
  uint64_t end = offset + parameter.size;
  if (end > kMaxBlockBytes)
    return makeError(StatusCode::OutOfRange, "[K-5] parameter ", layout.parameters.size(), " ends at byte ", end,
                     ", a kernel takes at most ", kMaxBlockBytes, " bytes of parameters");
  parameter.offset = static_cast<uint32_t>(offset);
  layout.bytes = static_cast<uint32_t>(end);
  layout.parameters.push_back(parameter);
  return okStatus();
}

Result<ParameterLayout> computeParameterLayout(const Layout &layout) {
  ParameterLayout out;
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
    TENON_RETURN_IF_ERROR(
        place(out, {ParameterKind::Constant, static_cast<uint32_t>(i), 0, constant.size, constant.alignment}));
  }
  for (uint32_t i = 0; i < layout.hiddenPointers; ++i)
    TENON_RETURN_IF_ERROR(place(out, {ParameterKind::Hidden, i, 0, kPointerBytes, kPointerBytes}));
  return out;
}

/// K-7: as many bindings and constants as the layout has, no constant wider than a register, room for the block.
static Status checkArguments(const ParameterLayout &layout, size_t bindingCount, size_t constantCount,
                             size_t outBytes) {
  size_t bindings = 0, constants = 0;
  for (const Parameter &parameter : layout.parameters) {
    bindings += parameter.kind == ParameterKind::Binding;
    constants += parameter.kind == ParameterKind::Constant;
    if (parameter.kind == ParameterKind::Constant && parameter.size > 8)
      return makeError(StatusCode::InvalidArgument, "[K-7] constant ", parameter.index, " is ", parameter.size,
                       " bytes wide, a dispatch passes at most 8");
  }
  if (bindingCount != bindings)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", bindingCount, " bindings given, the layout has ", bindings);
  if (constantCount != constants)
    return makeError(StatusCode::InvalidArgument, "[K-7] ", constantCount, " constants given, the layout has ",
                     constants);
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
      std::memcpy(out + parameter.offset, &constants[parameter.index], parameter.size);
      break;
    case ParameterKind::Hidden:
      break; // null
    }
  }
  return okStatus();
}

} // namespace tenon::abi
