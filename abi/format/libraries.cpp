// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/libraries.h"

#include "support/status.h"

#include "flatbuffers/base.h"
#include <zstd.h>

namespace tenon::abi {

std::string libraryVersions() {
  return concat("FlatBuffers ", FLATBUFFERS_VERSION_MAJOR, ".", FLATBUFFERS_VERSION_MINOR, ".",
                FLATBUFFERS_VERSION_REVISION, "\nzstd ", ZSTD_versionString(), "\n");
}

} // namespace tenon::abi
