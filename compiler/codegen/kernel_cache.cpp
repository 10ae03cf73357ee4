// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel_cache.h"

#include "compiler/codegen/ptx/libdevice.h"
#include "support/process/code_identity.h"
#include "support/sha256.h"

#include "llvm/ADT/Twine.h"

#include <sys/stat.h>

namespace tenon::compiler::codegen {
namespace {

/// Which libdevice would be linked in, should a kernel need it.
std::string libdeviceIdentity(const std::string &cudaPath) {
  const std::optional<std::string> path = findLibdevice(libdeviceCandidates(cudaPath));
  struct stat file = {};
  if (!path || ::stat(path->c_str(), &file) != 0)
    return "none";
  return concat(*path, ' ', file.st_size, ' ', file.st_mtim.tv_sec, ' ', file.st_mtim.tv_nsec);
}

} // namespace

KernelCache::KernelCache(llvm::StringRef folder, llvm::StringRef options, const std::string &cudaPath)
    : files_(folder.empty() ? std::string() : (folder + "/kernels").str(), "tenon-kernel 1 ", kLimit) {
  if (isEnabled())
    base_ = Sha256()
                .addField(codeIdentity())
                .addField({options.data(), options.size()})
                .addField(libdeviceIdentity(cudaPath))
                .hex();
}

std::string KernelCache::keyOf(llvm::StringRef module, abi::TargetArch arch) const {
  return Sha256().addField(base_).addField(arch.toString()).addField({module.data(), module.size()}).hex();
}

void KernelCache::store(const std::string &key, llvm::StringRef ptx) {
  if (cannotWrite_)
    return;
  cannotWrite_ = !files_.storeOneOfMany(key, {ptx.data(), ptx.size()}).ok();
  hasNew_ = true;
}

void KernelCache::finish() {
  if (hasNew_)
    files_.trim();
}

} // namespace tenon::compiler::codegen
