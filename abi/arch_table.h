// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of architectures: one row per compute capability with every fact that depends on it. Selection
// (target_arch), occupancy, the linker's --explain, the code generator and the emulator's devices all ask it. A new
// architecture is one row in arch_table.cpp and one row of tests/unit/abi/arch_table_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::abi {

/// What one multiprocessor has.
struct MultiprocessorLimits {
  uint32_t threads = 0, blocks = 0;
  uint32_t sharedBytes = 0;                                               // of all workgroups
  uint32_t blockSharedBytes = 0;                                          // of one workgroup, with opt-in
  uint32_t blockRegisters = 0;                                            // of one workgroup
  uint32_t partitions = 0;                                                // each with its part of the registers
  static constexpr uint32_t registers = 65536, registerGranularity = 256; // the same on all of them
};

/// A common product of the architecture, which the emulator's device pretends to be. No multiprocessors: the emulator
/// does not offer this architecture.
struct Product {
  uint32_t multiprocessors = 0, clockKhz = 0, l2Bytes = 0;
};

/// The lowest PTX .version that knows each target, 10 * major + minor; 0: there is no such target.
struct PtxIsas {
  uint16_t plain = 0, a = 0, f = 0; // sm_90, sm_90a, sm_90f
};

struct Architecture {
  uint16_t number = 0; // 10 * major + minor: 90 is compute capability 9.0
  std::string_view name;
  PtxIsas isa;
  uint16_t canonical = 0; // the number under which it is compared: another one where a part was renamed
  uint16_t family = 0;    // of `f` code, named by its first member; 0: none
  bool isTegra = false;   // runs cubins of exactly its own number
  MultiprocessorLimits limits;
  Product product;

  /// Shared memory of each workgroup that the system takes.
  uint32_t reservedSharedBytes() const { return number >= 80 ? 1024 : 0; }
  /// Shared memory of a workgroup is rounded up to it.
  uint32_t sharedGranularity() const { return number >= 80 ? 128 : 256; }
};

/// Every known architecture, by ascending number.
std::span<const Architecture> architectures();
/// The row of a compute capability (90), or null.
const Architecture *findArchitecture(uint16_t number);

/// The number under which an architecture is compared; itself where it is not known.
uint16_t canonicalNumber(uint16_t number);

/// The first architecture with programmatic dependent launch, and with the instruction by which a kernel waits for the
/// launches before it. Source: PTX ISA, "griddepcontrol".
inline constexpr uint16_t kFirstWithDependentLaunch = 90;

/// What a launch may ask for on every architecture of the table.
inline constexpr uint32_t kWarpLanes = 32;
inline constexpr uint32_t kMaxBlockThreads = 1024, kMaxBlockThreadsZ = 64; // of one workgroup; along z
inline constexpr std::array<uint32_t, 3> kMaxGrid = {2147483647, 65535, 65535};
inline constexpr uint32_t kMaxStaticSharedBytes = 48 << 10;                   // and of all that is taken without opt-in
inline constexpr uint32_t kPortableClusterBlocks = 8, kMaxClusterBlocks = 16; // more than 8 only where a kernel opts in

/// Multiprocessors of an H100 or H200, by which plans for Hopper count their blocks.
inline constexpr uint32_t kHopperMultiprocessors = 132;

/// The largest parameter block of a kernel (K-5).
inline constexpr uint32_t kMaxParameterBytes = 32764;
/// The same for PTX of version `isa` (81 is 8.1) for sm_`number`.
constexpr uint32_t maxParameterBytes(uint16_t isa, uint16_t number) {
  return isa >= 81 && number >= 70 ? kMaxParameterBytes : 4352;
}

/// Clusters of workgroups, and the tensor copies that came with them.
inline constexpr uint16_t kFirstWithClusters = 90;
inline constexpr uint16_t kFirstWithTensorMaps = 90;
/// Asked by number, so that it holds for devices newer than the table too.
constexpr bool hasClusters(uint16_t number) {
  return number >= kFirstWithClusters;
}

} // namespace tenon::abi
