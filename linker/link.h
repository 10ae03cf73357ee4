// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects and declarations in, executable out. The first file to read: link.cpp lists the passes in order.
#pragma once

#include "linker/job/link_job.h"
#include "linker/link_map.h"
#include "support/diagnostics.h"
#include "support/result.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::linker {

struct LinkOutput {
  /// What the link knew. To take it apart takes time that a program which ends next can save.
  std::shared_ptr<const void> kept;
  std::vector<uint8_t> executable; // a TNX1 buffer; same job and assembler, same bytes. Empty after proveOnly
  LinkMap map;
};

/// Links. Every finding goes to `diagnostics`, each with its rule of abi/kernel_abi.md; with an error among them there
/// is no output and the returned status counts them.
Result<LinkOutput> link(const LinkJob &job, Diagnostics &diagnostics);

} // namespace tenon::linker
