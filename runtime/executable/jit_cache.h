// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver's PTX compiler made, kept in a folder for the next process: the cubin, under the SHA-256 of the PTX,
// the device's compute capability, the driver's version and the compiler's options. A newer driver or another device
// has other names, so nothing stale is ever loaded; damaged files are compiled anew (support/files/folder_cache.h).
//
// Where it helps: a PTX image was chosen and a real driver compiles it. Cubins need no compilation, and the emulator
// interprets PTX: neither is kept. Where anything of this fails, the PTX is loaded as if there were no cache, so that
// errors are those of the driver; so is PTX that the linker would lay out otherwise.
#pragma once

#include "abi/target_arch.h"
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

/// Whether the linker puts dynamic shared memory where the PTX has it: behind a kernel's static variables it aligns it
/// to 16 bytes, whatever `extern .shared` asks for. cuModuleLoadData gives what is asked for.
bool linkerKeepsAlignment(std::string_view ptx);

/// Compiles to a cubin for the device, whose context is current.
/// @param ptx NUL-terminated, the NUL included. Errors are the driver's.
Result<std::string> compilePtx(const Device &device, std::string_view ptx);

} // namespace tenon::runtime
