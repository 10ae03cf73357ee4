// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernel of a built file is made new, and from what.
#pragma once

#include "linker/job/link_job.h"

#include <string>

namespace tenon::linker {

struct Replacement {
  std::string exportName;  // "saxpy", or "executable::saxpy" where a program has several of that name
  std::string variantName; // which variant's, where several are for the object's target; empty: the only one
  /// Settings of the link, and the new objects: each takes the place of the variant for its target. No sources.
  LinkJob job;
};

} // namespace tenon::linker
