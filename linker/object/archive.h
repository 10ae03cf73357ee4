// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ar archive (`lib.a`): files one after the other. Source: System V ABI and GNU ar's long names.
#pragma once

#include "support/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

struct ArchiveMember {
  std::string name;
  std::string_view bytes;
};

/// The files of an archive in its order, without its symbol tables; `bytes` is borrowed. DataLoss: damaged.
/// Unimplemented: a thin archive, whose files are elsewhere.
Result<std::vector<ArchiveMember>> readArchive(std::string_view bytes);

} // namespace tenon::linker
