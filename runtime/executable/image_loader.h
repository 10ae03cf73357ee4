// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One image into the driver. PTX goes in NUL-terminated and is compiled by the driver; what its compiler says is kept,
// for the error or for the explanation why another image was taken.
#pragma once

#include "abi/format/views/executable_view.h"
#include "runtime/cuda/handles.h"
#include "support/result.h"

#include <string>

namespace tenon::runtime {

class Device;
class JitCache;

struct LoadedImage {
  cuda::ModuleHandle module; // empty where the driver refused the image
  Status refusal;            // why; the JIT's error log is in the message
  std::string origin;        // for --explain, of PTX that went through the cache: "from the cache", ...

  bool ok() const { return static_cast<bool>(module); }
};

/// True for the answers that mean "not this image on this device": another image may still do (CUDA errors 209, 218,
/// 221, 222, 223, 300). Any other error is final.
bool isImageRefusal(CUresult result);

/// Loads image `imageIndex` of `executable`; PTX through `cache`, where there is one. A refused image is a LoadedImage
/// with its refusal; any other failure is the Status. DataLoss: the bytes do not decompress.
Result<LoadedImage> loadImage(Device &device, const abi::ExecutableView &executable, uint32_t imageIndex,
                              const JitCache *cache = nullptr);

} // namespace tenon::runtime
