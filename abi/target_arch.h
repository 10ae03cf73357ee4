// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which code runs where. A table of architectures and pure functions over it: the same code answers in the linker
// (`--explain`), in the loader and in tests. Rules and their sources: abi/kernel_abi.md, section "Which image runs
// where".
#pragma once

#include "abi/layout.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::abi {

// sm_90: this and later; sm_90a: this architecture only; sm_100f: its family.
enum class ArchSuffix : uint8_t { None, A, F };

struct TargetArch {
  uint16_t number = 0; // 10 * major + minor
  ArchSuffix suffix = ArchSuffix::None;
  bool operator==(const TargetArch &) const = default;
  /// "sm_90a".
  std::string toString() const;
};

/// One row per architecture that Tenon knows.
struct ArchInfo {
  TargetArch arch;
  uint16_t minimumIsa;   // lowest PTX .version that has the target, 10 * major + minor
  std::string_view name; // "Hopper"
};
/// Every known architecture, ascending.
std::span<const ArchInfo> knownArchs();
/// The row of `arch`, or null.
const ArchInfo *findArch(TargetArch arch);
/// "sm_90a" or "compute_90a". Nothing for other text; the number need not be a known architecture.
std::optional<TargetArch> parseTargetArch(std::string_view text);
/// "sm_52, sm_60, ...": for the error that refuses an unknown target.
std::string knownArchList();

/// What selection needs to know of a device; a real one or, for --explain, one that is not here.
struct DeviceTraits {
  std::string name;
  uint16_t computeCapability = 0; // 10 * major + minor
  int driverVersion = 0;          // as cuDriverGetVersion: 12080 is 12.8
  bool canJit = true;             // the driver has a PTX compiler (and policy allows it)
  bool acceptsCubin = true;       // false: an emulator, which interprets PTX
  uint32_t maxThreadsPerBlock = 1024;
  uint32_t maxSharedOptinBytes = 0; // per block, with opt-in; 0: not known, not checked
};

/// Highest PTX ISA a driver takes (10 * major + minor), by cuDriverGetVersion's number. Unknown newer drivers take the
/// newest known.
uint16_t maxIsaOfDriver(int driverVersion);

enum class ImageKind : uint8_t { Ptx, Cubin };
enum class Origin : uint8_t { HandWritten, Generated };

/// One image that could serve one export.
struct Candidate {
  std::string variantName;
  TargetArch arch;
  ImageKind kind = ImageKind::Ptx;
  uint16_t isa = 0; // PTX only
  Origin origin = Origin::HandWritten;
  int32_t priority = 0;
  // What the kernel needs, from the facts that the linker proved.
  uint64_t threads = 1;
  std::array<uint32_t, 3> workgroupSize = {1, 1, 1}; // threads: as declared, or as a generated kernel requires
  bool takesAnyGrid = false;                         // computes the same with any number of workgroups
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;
  uint64_t clusterBlocks = 1;
  // Caller's own handle; kept as given.
  uint32_t variantIndex = 0;
  uint32_t imageIndex = 0;
};

/// Yes, or why not, in words for a user: "needs cc 9.0 exactly, the device is 8.0".
struct Verdict {
  bool runs = false;
  std::string reason; // also set when it runs: "cc 8.6 >= 8.0"
};
Verdict runsPtx(TargetArch arch, uint16_t isa, const DeviceTraits &device);
Verdict runsCubin(TargetArch arch, const DeviceTraits &device);
/// Threads, shared memory and cluster against the device.
Verdict fits(const Candidate &candidate, const DeviceTraits &device);

struct RankedCandidate {
  size_t index = 0; // into the candidates given
  Verdict verdict;
};
/// Every candidate once: those that run, best first, then those refused in the order given. Total and deterministic:
/// hand-written before generated, then cubin a > f > exact > lower minor (highest first) > PTX a > f > baseline
/// (highest), then priority, then the order given.
std::vector<RankedCandidate> rankCandidates(std::span<const Candidate> candidates, const DeviceTraits &device);

/// What would run on the device, for the error when nothing does: "build PTX for sm_86 or an earlier target with
/// .version 8.7 or lower, or a cubin for sm_86".
std::string whatToBuild(const DeviceTraits &device);

/// The table that --explain prints: one line per candidate, the chosen one marked. With a device, a line about it comes
/// first and, where nothing runs, what to build comes last.
std::string explainRanking(std::span<const Candidate> candidates, std::span<const RankedCandidate> ranking,
                           const DeviceTraits *device = nullptr);

} // namespace tenon::abi
