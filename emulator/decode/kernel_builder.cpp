// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/kernel_builder.h"

#include "ptx/parameter_offsets.h"
#include "support/align.h"
#include "support/placement.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

namespace tenon::emulator {

using ptx::StateSpace;
using Operand = ptx::Operand;

namespace {

constexpr uint64_t kSharedGap = 16; // behind each variable, so that its neighbour is not hit unseen

/// True: it may reach the shared memory of another block.
bool namesClusters(const ptx::Instruction &instruction) {
  if (instruction.opcode == "mapa" || instruction.opcode == "getctarank")
    return true;
  for (std::string_view modifier : instruction.modifiers)
    if (modifier == "shared::cluster" || modifier == "multicast::cluster")
      return true;
  return false;
}

void forEachName(const Operand &operand, const std::function<void(std::string_view)> &visit) {
  if (operand.kind == Operand::Kind::Name)
    visit(operand.name);
  for (const Operand &element : operand.elements)
    forEachName(element, visit);
}

} // namespace

uint32_t KernelBuilder::constant(uint64_t value, uint32_t bytes) {
  if (bytes < 8)
    value &= (uint64_t(1) << (8 * bytes)) - 1;
  auto [it, isNew] = constants_.try_emplace({value, bytes}, 0);
  if (isNew) {
    std::vector<uint8_t> &pool = kernel->constants;
    size_t at = alignUp(pool.size(), 64);
    pool.resize(at + kLanes * bytes);
    for (uint32_t l = 0; l < kLanes; ++l)
      memcpy(pool.data() + at + l * bytes, &value, bytes);
    it->second = kConstantBase << kBaseShift | static_cast<uint32_t>(at);
    constantValues_[it->second] = value;
  }
  return it->second;
}

std::optional<uint64_t> KernelBuilder::constantValue(uint32_t operand) const {
  auto it = constantValues_.find(operand);
  return it == constantValues_.end() ? std::nullopt : std::optional(it->second);
}

uint32_t KernelBuilder::parameter(uint32_t offset, uint32_t bytes) {
  auto [it, isNew] = parameterConstants_.try_emplace({offset, bytes}, 0);
  if (isNew) {
    uint32_t at = static_cast<uint32_t>(alignUp(kernel->constants.size(), 64));
    kernel->constants.resize(at + kLanes * bytes);
    kernel->parameterConstants.push_back({at, offset, bytes});
    it->second = kConstantBase << kBaseShift | at;
  }
  return it->second;
}

uint32_t KernelBuilder::special(Special special) {
  auto &used = kernel->specials;
  auto at = std::lower_bound(used.begin(), used.end(), special);
  if (at == used.end() || *at != special)
    used.insert(at, special);
  return kSpecialBase << kBaseShift | kSpecialStride * static_cast<uint32_t>(special);
}

void KernelBuilder::collectFunctions(const ptx::Function &entry) {
  std::set<std::string_view> seen;
  std::vector<const ptx::Function *> queue = {&entry};
  bool indirect = false;
  std::set<std::string_view> sharedUsed;
  auto consider = [&](std::string_view name) {
    if (!seen.insert(name).second)
      return;
    const ptx::Function *function = module.findFunction(name);
    if (!function || function->isDeclaration || function->isEntry)
      return;
    if (function->name == name || seen.insert(function->name).second) // an alias has another name
      queue.push_back(function);
  };
  seen.insert(entry.name);
  for (size_t k = 0; k < queue.size(); ++k) {
    for (const ptx::Instruction &instruction : queue[k]->instructions) {
      kernel->usesClusters |= namesClusters(instruction);
      for (const Operand &operand : instruction.operands)
        forEachName(operand, consider);
      if (instruction.opcode == "call") {
        const Operand &first = instruction.operands.empty() ? Operand() : instruction.operands[0];
        const Operand &target =
            first.kind == Operand::Kind::List && instruction.operands.size() > 1 ? instruction.operands[1] : first;
        indirect |= target.kind == Operand::Kind::Name && !module.findFunction(target.name);
      }
    }
    // A call through a pointer can reach whatever has an address.
    if (indirect && k + 1 == queue.size())
      for (const ptx::Function &function : module.functions)
        if (!function.isDeclaration && !function.isEntry)
          consider(function.name);
  }
  for (const ptx::Variable &variable : module.variables)
    if (variable.space == StateSpace::Shared && seen.count(variable.name))
      sharedOffsets[variable.name] = 0;
  functions = std::move(queue);
  for (const ptx::Function *function : functions) {
    kernel->functions.push_back(std::make_unique<FunctionCode>());
    FunctionCode *code = kernel->functions.back().get();
    code->kernel = kernel.get();
    code->function = function;
    codes_[function] = code;
    kernel->byAddress[functionAddress(module, function->name)] = code;
  }
}

FunctionCode *KernelBuilder::codeOf(const ptx::Function *function) {
  auto it = codes_.find(function);
  return it == codes_.end() ? nullptr : it->second;
}

/// Static variables one after the other; all `extern .shared` arrays begin together behind them.
void KernelBuilder::layoutShared() {
  Placement places(kSharedStart), used; // used: as on a device, without gaps
  const uint64_t gap = checks.shadowed() ? kSharedGap : 0;
  uint32_t dynamicAlignment = 16;
  auto place = [&](const ptx::Variable &variable) {
    const uint64_t at = places.place(variable.bytes(), variable.effectiveAlignment());
    places.place(gap, 1);
    used.place(variable.bytes(), variable.effectiveAlignment());
    const uint32_t offset = static_cast<uint32_t>(std::min<uint64_t>(at, UINT32_MAX / 2));
    kernel->sharedVariables.push_back({std::string(variable.name), offset,
                                       static_cast<uint32_t>(std::min<uint64_t>(variable.bytes(), UINT32_MAX / 2))});
    return offset;
  };
  auto isDynamic = [](const ptx::Variable &variable) { return variable.isExtern || variable.bytes() == 0; };
  for (const ptx::Variable &variable : module.variables)
    if (sharedOffsets.count(variable.name)) {
      if (isDynamic(variable))
        dynamicAlignment = std::max(dynamicAlignment, variable.effectiveAlignment());
      else
        sharedOffsets[variable.name] = place(variable);
    }
  for (const ptx::Function *function : functions)
    for (const ptx::Variable &variable : function->declarations)
      if (variable.space == StateSpace::Shared) {
        if (isDynamic(variable))
          dynamicAlignment = std::max(dynamicAlignment, variable.effectiveAlignment());
        else
          sharedInFunctions[{function, &variable}] = place(variable);
      }
  kernel->staticShared = static_cast<uint32_t>(std::min<uint64_t>(used.end(), UINT32_MAX / 2));
  kernel->dynamicSharedStart =
      static_cast<uint32_t>(alignUp(std::min<uint64_t>(places.end(), UINT32_MAX / 2), dynamicAlignment));
  for (const ptx::Variable &variable : module.variables)
    if (sharedOffsets.count(variable.name) && isDynamic(variable)) {
      sharedOffsets[variable.name] = kernel->dynamicSharedStart;
      kernel->usesDynamicShared = true;
    }
  for (const ptx::Function *function : functions)
    for (const ptx::Variable &variable : function->declarations)
      if (variable.space == StateSpace::Shared && isDynamic(variable)) {
        sharedInFunctions[{function, &variable}] = kernel->dynamicSharedStart;
        kernel->usesDynamicShared = true;
      }
}

void KernelBuilder::layoutParameters(const ptx::Function &entry) {
  auto clamped = [](uint64_t bytes) { return static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX / 2)); };
  const ptx::ParameterOffsets places = ptx::parameterOffsets(entry);
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const ptx::Variable &parameter = entry.parameters[i];
    const ParameterSlot slot = {.offset = clamped(places.offsets[i]),
                                .bytes = clamped(parameter.bytes()),
                                .alignment = std::max(1u, parameter.effectiveAlignment())};
    kernel->parameters.push_back(slot);
    kernelParameters[parameter.name] = slot;
  }
  kernel->parameterBytes = clamped(places.bytes);
}

/// The deepest chain of frames; a program that recurses or calls through pointers gets room by the stack limit.
void KernelBuilder::computeLocalBytes(uint32_t stackLimit) {
  std::map<const FunctionCode *, uint32_t> depth; // bytes below and including; being computed: UINT32_MAX
  bool open = false;
  std::function<uint32_t(const FunctionCode *)> visit = [&](const FunctionCode *code) -> uint32_t {
    auto [it, isNew] = depth.try_emplace(code, UINT32_MAX);
    if (!isNew) {
      if (it->second == UINT32_MAX) {
        open = true;
        return 0;
      }
      return it->second;
    }
    uint32_t below = 0;
    for (const CallSite &site : code->callSites) {
      if (site.pointer != kNoOperand)
        open = true;
      if (site.callee)
        below = std::max(below, visit(site.callee) + 16);
    }
    return depth[code] = code->localBytes + below;
  };
  kernel->frameLocalBytes = kernel->functions[0]->localBytes;
  kernel->localBytesPerThread = visit(kernel->functions[0].get());
  kernel->isRecursive = open;
  if (open) {
    for (const auto &code : kernel->functions)
      kernel->localBytesPerThread = std::max(kernel->localBytesPerThread, visit(code.get()));
    kernel->localBytesPerThread += std::max(stackLimit * 16, 65536u);
  }
}

} // namespace tenon::emulator
