// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which images a variant gets. A cubin loads in microseconds and runs on the devices of its own generation; PTX costs
// its compilation at the first load and runs on every later device.
#pragma once

#include "support/result.h"

#include <cstdint>
#include <string_view>

namespace tenon::linker {

enum class ImagePolicy : uint8_t {
  Ptx,         // nothing is assembled
  CubinAndPtx, // a cubin where an assembler is found that knows the target, and the PTX
  Cubin,       // a cubin of every variant, or an error
};

/// "cubin+ptx", "ptx", "cubin"; empty is the tools' default, cubin+ptx. InvalidArgument lists them.
Result<ImagePolicy> parseImagePolicy(std::string_view text);

} // namespace tenon::linker
