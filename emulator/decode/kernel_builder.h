// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of one kernel have in common: constants, where shared variables and parameters lie, and the list
// of functions that the kernel can reach.
#pragma once

#include "emulator/decode/symbol_addresses.h"
#include "emulator/machine/decoded_kernel.h"
#include "support/diagnostics.h"

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tenon::emulator {

class KernelBuilder {
public:
  KernelBuilder(const ptx::Module &module, const VariableAddress &variableAddress, Diagnostics &diagnostics)
      : module(module), variableAddress(variableAddress), diagnostics(diagnostics),
        kernel(std::make_unique<DecodedKernel>()) {}

  /// Operand of a constant of `bytes`, spread over the lanes.
  uint32_t constant(uint64_t value, uint32_t bytes);
  uint32_t special(Special special);
  /// What an operand of `constant` holds; nothing for other operands.
  std::optional<uint64_t> constantValue(uint32_t operand) const;
  /// Operand of `bytes` of the kernel's parameters.
  uint32_t parameter(uint32_t offset, uint32_t bytes);
  /// The functions that `entry` can reach, itself first.
  void collectFunctions(const ptx::Function &entry);
  void layoutShared();
  void layoutParameters(const ptx::Function &entry);
  FunctionCode *codeOf(const ptx::Function *function);
  void computeLocalBytes(uint32_t stackLimit);

  const ptx::Module &module;
  const VariableAddress &variableAddress;
  Diagnostics &diagnostics; // what is wrong with the module
  Diagnostics refusals;     // what is right, and yet not for this kernel on the emulator
  std::unique_ptr<DecodedKernel> kernel;
  CheckOptions checks;
  std::vector<const ptx::Function *> functions;
  std::map<std::string_view, uint32_t> sharedOffsets; // module variables
  std::map<std::pair<const ptx::Function *, const ptx::Variable *>, uint32_t> sharedInFunctions;
  std::map<std::string_view, ParameterSlot> kernelParameters;

private:
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants_, parameterConstants_;
  std::map<uint32_t, uint64_t> constantValues_; // by operand
  std::map<const ptx::Function *, FunctionCode *> codes_;
};

} // namespace tenon::emulator
