// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/decode.h"

#include "emulator/decode/function_decoder.h"
#include "emulator/decode/kernel_builder.h"

#include <algorithm>
#include <array>

namespace tenon::emulator {

/// The first of them: a kernel of textures has one in every other line.
static std::string listRefusals(const Diagnostics &refusals) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t k = 0; k < refusals.items().size() && k < kMost; ++k)
    text += refusals.items()[k].toString();
  if (refusals.items().size() > kMost)
    text += "and " + std::to_string(refusals.items().size() - kMost) + " more of this kernel\n";
  return text;
}

static uint64_t product(const std::array<uint32_t, 3> &extent) {
  return uint64_t(extent[0]) * extent[1] * extent[2];
}

/// Of a thread: an assembler leaves room for the blocks that a kernel says it has, one at least.
static uint32_t mostRegisters(const ptx::Function &entry) {
  constexpr uint64_t kOfMultiprocessor = 65536, kOfThread = 255, kGranularity = 8;
  const auto &extent = entry.requiredThreads ? entry.requiredThreads : entry.maxThreads;
  const uint64_t threads = (extent ? product(*extent) : 0) * std::max(1u, entry.minBlocksPerSm.value_or(1));
  if (threads == 0)
    return kOfThread;
  const uint64_t fit = kOfMultiprocessor / threads / kGranularity * kGranularity;
  return static_cast<uint32_t>(std::clamp(fit, kGranularity, kOfThread));
}

std::unique_ptr<DecodedKernel> decodeKernel(const ptx::Module &module, const ptx::Function &entry,
                                            const VariableAddress &variableAddress, uint32_t stackLimit,
                                            Diagnostics &diagnostics, const CheckOptions &checks) {
  KernelBuilder builder(module, variableAddress, diagnostics);
  builder.checks = checks;
  DecodedKernel &kernel = *builder.kernel;
  kernel.name = std::string(entry.name);
  kernel.module = &module;
  kernel.entry = &entry;
  builder.collectFunctions(entry);
  builder.layoutShared();
  builder.layoutParameters(entry);
  // Frames of callees first: a call site copies into them.
  std::vector<std::unique_ptr<FunctionDecoder>> decoders;
  for (const ptx::Function *function : builder.functions)
    decoders.push_back(std::make_unique<FunctionDecoder>(builder, *function, *builder.codeOf(function)));
  for (auto &decoder : decoders)
    decoder->decode();
  builder.computeLocalBytes(stackLimit);
  if (entry.maxThreads) // .reqntid does not show in the attribute: a device says 1024
    kernel.maxThreads = static_cast<uint32_t>(std::min<uint64_t>(1024, product(*entry.maxThreads)));
  kernel.refusal = listRefusals(builder.refusals);
  kernel.registersPerThread = std::min(mostRegisters(entry), std::max(8u, kernel.functions[0]->registerBytes / 256));
  return std::move(builder.kernel);
}

} // namespace tenon::emulator
