// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The metadata has offsets and sizes. PTX has alignments, from which offsets follow: each parameter gets the alignment
// with which it lands where the cubin has it. ptxas counts from the start of the constant bank, PTX from the first
// parameter.
#include "linker/object/cubin_object.h"

#include "support/align.h"

#include <algorithm>

namespace tenon::linker {
namespace {

bool isPtxName(std::string_view name) {
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; };
  return !name.empty() && isLetter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

/// ".param .b64 NAME" or ".param .align 8 .b8 NAME[24]" for a parameter that follows one which ends at `end`.
std::string parameterText(const CubinParameter &parameter, uint64_t base, uint64_t end, const std::string &name) {
  auto lands = [&](uint64_t alignment) { return alignUp(base + end, alignment) == base + parameter.offset; };
  const uint32_t size = parameter.size;
  const bool isScalar = size == 1 || size == 2 || size == 4 || size == 8;
  if (isScalar && lands(size))
    return concat(".param .b", size * 8, ' ', name);
  uint32_t alignment = 128; // the widest that CUDA passes by value
  while (alignment > 1 && !lands(alignment))
    alignment /= 2;
  return concat(".param .align ", alignment, " .b8 ", name, '[', size, ']');
}

std::string extentText(std::string_view directive, const std::optional<std::array<uint32_t, 3>> &extent) {
  return extent ? concat(directive, (*extent)[0], ", ", (*extent)[1], ", ", (*extent)[2], '\n') : std::string();
}

std::string kernelText(const CubinKernel &kernel) {
  std::string text = concat(".visible .entry ", kernel.name, '(');
  uint64_t end = 0;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const CubinParameter &parameter = kernel.parameters[i];
    text +=
        concat(i ? ", " : "", parameterText(parameter, kernel.parameterBase, end, concat(kernel.name, "_param_", i)));
    end = uint64_t(parameter.offset) + parameter.size;
  }
  text += ")\n";
  text += extentText(".reqntid ", kernel.requiredThreads);
  if (!kernel.requiredThreads)
    text += extentText(".maxntid ", kernel.maxThreads);
  text += "{\n";
  if (kernel.staticSharedBytes)
    text += concat("  .shared .b8 ", kernel.name, "_shared[", kernel.staticSharedBytes, "];\n");
  return text + "  ret;\n}\n";
}

} // namespace

std::string describeInPtx(const Cubin &cubin, abi::TargetArch target) {
  const abi::ArchInfo *arch = abi::findArch(target);
  const uint16_t isa = std::max<uint16_t>(81, arch ? arch->minimumIsa : 0); // 8.1: parameters beyond 4352 bytes
  std::string text =
      concat(".version ", isa / 10, '.', isa % 10, "\n.target ", target.toString(), "\n.address_size 64\n");
  for (const CubinKernel &kernel : cubin.kernels) {
    const bool isWhole = std::ranges::all_of(kernel.parameters, &CubinParameter::known);
    if (kernel.isEntry && isWhole && isPtxName(kernel.name))
      text += kernelText(kernel);
  }
  return text;
}

std::unique_ptr<Object> makeCubinObject(const ObjectInput &input, Diagnostics &diagnostics) {
  Result<Cubin> cubin = readCubin(input.bytes);
  if (!cubin.ok()) {
    diagnostics.error({input.path, 0, 0}, "K-1", std::string(cubin.status().message()))
        .withFix("compile it again (nvcc -cubin, without -rdc=true), or give PTX");
    return nullptr;
  }
  if (cubin->archNumber != input.target.number) {
    Diagnostic &error = diagnostics.error(
        {input.path, 0, 0}, "K-6",
        concat("found a cubin for sm_", cubin->archNumber, ", wanted one for ", input.target.toString()));
    if (input.declaredAt.known())
      error.note(input.declaredAt, concat("the object is given for ", input.target.toString(), " here"));
    error.withFix(concat("compile it with -arch=", input.target.toString(), ", or give it for sm_", cubin->archNumber));
    return nullptr;
  }
  ObjectInput described = input;
  described.bytes = describeInPtx(*cubin, input.target);
  std::unique_ptr<Object> object = parseObject(described, diagnostics);
  if (!object)
    return nullptr;
  object->input = &input;
  object->cubin = input.bytes;
  object->isMetadataOnly = true;
  return object;
}

} // namespace tenon::linker
