// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver's PTX compiler made, kept in a folder for the next process: the cubin, under the SHA-256 of the PTX,
// the device's compute capability, the driver's version and the compiler's options. A newer driver or another device
// has other names, so nothing stale is ever loaded; damaged files are compiled anew (support/files/folder_cache.h).
//
// Where it helps: a PTX image was chosen and a real driver compiles it. Cubins need no compilation, and the emulator
// interprets PTX: neither is kept. Where anything of this fails, the PTX is loaded as if there were no cache, so that
// errors are those of the driver; so is PTX of which the linker would make something else.
#pragma once

#include "abi/format/views/executable_view.h"
#include "abi/target_arch.h"
#include "runtime/cuda/driver.h"
#include "support/files/folder_cache.h"
#include "support/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace tenon::runtime {

class Device;

class JitCache {
public:
  static constexpr uint64_t kDefaultLimit = 256ull << 20; // bytes
  /// Kept in place of a cubin where the linker's code is not the loader's: it need not be asked again.
  static constexpr std::string_view kLeftToLoader = "left to the loader";

  explicit JitCache(std::string folder, uint64_t limit = kDefaultLimit);

  /// TENON_CACHE_DIR: a folder ("jit" is made in it), or "none"; not set: FolderCache::userFolder(). TENON_CACHE_BYTES:
  /// the limit. Null where nothing is kept. InvalidArgument: a limit that is no number.
  static Result<std::shared_ptr<const JitCache>> fromEnvironment();
  /// As TENON_CACHE_DIR.
  static Result<std::shared_ptr<const JitCache>> open(std::string_view folder);

  const FolderCache &files() const { return files_; }
  /// The name of what `ptx` becomes on the device.
  static std::string keyOf(std::string_view ptx, const abi::DeviceTraits &device);

private:
  FolderCache files_;
};

/// The driver can give a compiled image out; the emulator, which compiles nothing, does not.
bool canKeepCompiled(const Device &device);

/// Whether what the linker makes is what cuModuleLoadData makes. It is not where
///
/// - a kernel has static shared variables, and dynamic ones that ask for more than 16 bytes: behind those the linker
///   aligns to 16, whatever `extern .shared` says;
/// - a kernel moves registers between its warpgroups: the linker's code ignores `setmaxnreg` (ptxas: C7504), and spills
///   (a product of f8 on an H200: 366 us instead of 125);
/// - an instruction is partly a function of the compiler's (div.rn, sqrt.rn, rcp.rn, div and rem of 64 bits): the
///   linker has it called as any other function, which leaves the caller registers to keep and to spill, where the
///   loader knows what it needs (layernorm 65536 x 4096 bf16: 110 registers instead of 64);
/// - there are functions (.func), for the same reason: ptxas gives a small kernel that calls one 10 registers, and 24
///   where it is to be linked;
/// - it declares so many registers that the kernel will hardly have few: the loader holds registers down where a
///   multiprocessor has more blocks then, the linker does not (a product of bf16 on an H200: 145 instead of 127, one
///   block instead of two, 489 us instead of 350).
///
/// Of PTX with fewer, registersLimit() tells when it is compiled.
bool linkerMakesTheSame(std::string_view ptx);

/// Whether a multiprocessor would have more blocks of a kernel if it took fewer registers. So the loader may make other
/// code of it than the linker. What cannot be asked counts as yes.
/// @param module image `imageIndex` of the executable, loaded; the device's context is current
bool registersLimit(const Device &device, const abi::ExecutableView &executable, uint32_t imageIndex, CUmodule module);

/// Compiles to a cubin for the device, whose context is current.
/// @param ptx NUL-terminated, the NUL included. Errors are the driver's.
Result<std::string> compilePtx(const Device &device, std::string_view ptx);

} // namespace tenon::runtime
