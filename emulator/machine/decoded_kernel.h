// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel made ready to run: the entry and every function it can reach, decoded. Shared variables get their offsets
// per kernel, as on a device, so functions are decoded once per kernel that calls them.
#pragma once

#include "emulator/machine/machine.h"
#include "ptx/module.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::emulator {

struct DecodedKernel;

/// A variable of one function in its local frame (function parameters, .local and .param declarations).
struct FrameSlot {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

/// What the call instruction copies: pairs of (caller's slot, callee's slot) in order.
struct CallSite {
  const FunctionCode *callee = nullptr; // null: builtin or indirect
  uint32_t builtin = 0;                 // Builtin, when callee is null and not indirect
  uint32_t pointer = kNoOperand;        // indirect: register with the function's address
  std::vector<FrameSlot> arguments, results;
};

struct FunctionCode {
  const DecodedKernel *kernel = nullptr;
  const ptx::Function *function = nullptr;
  std::vector<Decoded> code;
  std::vector<uint32_t> operands; // runs of operands (vectors, branch tables)
  std::vector<CallSite> callSites;
  std::vector<uint32_t> marks;                // by instruction: 1 + index of the .loc in force, 0: none
  std::vector<FrameSlot> parameters, results; // in the local frame (not the kernel's own parameters)
  uint32_t registerBytes = 0;
  uint32_t localBytes = 0;
  uint32_t carry = kNoOperand; // CC.CF, if used
};

/// A static .shared variable.
struct SharedVariable {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

/// A kernel parameter in the parameter block.
struct ParameterSlot {
  uint32_t offset = 0, bytes = 0, alignment = 1;
};

/// Special registers, in the order of the warp's special area: kLanes values of 8 bytes each.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  EnvReg1,
  EnvReg2,
  EnvRegOther,
  SharedBase, // rank in the cluster << 24: not for programs
  Count
};
inline constexpr uint32_t kSpecialStride = kLanes * 4;

struct DecodedKernel {
  std::string name;
  std::string refusal; // what the emulator cannot run of it, with lines; empty: nothing, the kernel may be launched
  const ptx::Module *module = nullptr;
  const ptx::Function *entry = nullptr;
  std::vector<std::unique_ptr<FunctionCode>> functions; // [0] is the entry
  std::map<uint64_t, const FunctionCode *> byAddress;   // targets of indirect calls
  std::vector<ParameterSlot> parameters;
  uint32_t parameterBytes = 0;
  std::vector<uint8_t> constants; // 64-byte aligned offsets
  /// Constants that are known when the kernel is launched: its parameters, spread over the lanes like the others.
  struct ParameterConstant {
    uint32_t at, offset, bytes; // in `constants`; in the parameter block
  };
  std::vector<ParameterConstant> parameterConstants;
  std::vector<Special> specials;              // used, ascending
  uint32_t staticShared = 0;                  // bytes of .shared variables, from kSharedStart
  uint32_t dynamicSharedStart = kSharedStart; // offset of `extern .shared`
  bool usesDynamicShared = false;
  bool usesReservedShared = false; // names what the device reserves (kReservedSharedBytes), and may access it
  bool usesClusters = false;       // names another block's memory somewhere: shared addresses hold the rank
  std::vector<SharedVariable> sharedVariables;
  uint32_t localBytesPerThread = 0; // deepest chain of calls, or with room for recursion
  uint32_t frameLocalBytes = 0;     // of the entry alone
  bool isRecursive = false;
  uint32_t checkedInstructions = 0; // memory instructions, each with a range cache
  uint32_t maxThreads = 1024;       // by .maxntid / .reqntid
  uint32_t registersPerThread = 0;  // an estimate, for attributes
};

/// The operands of a vector instruction.
const uint32_t *vectorOperands(const Warp &warp, const Decoded &instruction);

} // namespace tenon::emulator
