// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fatbin: what nvcc puts device code into, in a file of its own (nvcc -fatbin) or in a section of a host object. It
// holds PTX and cubins for several architectures, compressed or not. NVIDIA does not document the container; what is
// read here was seen in the output of nvcc 11 to 13.
#pragma once

#include "abi/target_arch.h"
#include "support/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

struct FatbinEntry {
  enum class Kind : uint8_t { Ptx, Cubin, LtoIr, Unknown };
  Kind kind = Kind::Unknown;
  uint16_t kindNumber = 0;
  abi::TargetArch arch;
  uint32_t module = 0; // entries of one number come from one source file
  enum class Packing : uint8_t { None, Lz4, Zstd } packing = Packing::None;
  uint64_t size = 0;        // bytes once unpacked
  std::string_view payload; // as stored

  /// "sm_80.ptx", "sm_90a.cubin".
  std::string name() const;
  /// The image's own bytes. DataLoss: damaged. ResourceExhausted: above 512 MiB.
  Result<std::string> unpack() const;
};

/// Every entry of one fatbin or of several in a row, as linkers leave them; `bytes` is borrowed. DataLoss: damaged.
Result<std::vector<FatbinEntry>> readFatbin(std::string_view bytes);

/// What a host object registers its fatbins by: the contents of section .nvFatBinSegment. DataLoss: these are no
/// wrappers (0x466243B1), so .nv_fatbin is not what it seems.
Status checkFatbinWrappers(std::string_view bytes);

} // namespace tenon::linker
