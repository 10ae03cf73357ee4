// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LZ4's block format, which fatbins use: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
#pragma once

#include "support/result.h"

#include <string>
#include <string_view>

namespace tenon::linker {

/// The `size` bytes that a block stands for. DataLoss: it is damaged, or stands for another number of bytes.
Result<std::string> decompressLz4(std::string_view block, size_t size);

} // namespace tenon::linker
