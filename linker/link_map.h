// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What became of every object and kernel of a link, for people: --map.
#pragma once

#include "abi/format/views/executable_view.h"
#include "support/diagnostics.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct LinkContext;

/// What the executable does not say itself.
struct LinkMap {
  /// The kernels of one variant of the executable, in its order.
  struct Kernel {
    std::string object; // as given
    SourceLocation entry;
    uint32_t stackBytes = 0; // per thread; 0 also where nothing was assembled
    uint32_t spillLoadBytes = 0;
  };
  std::vector<std::vector<Kernel>> variants;

  /// An entry point or an object that serves no export.
  struct Unused {
    std::string object;
    SourceLocation where;
    std::string name; // of the entry point; empty: the whole object
    std::string why;
  };
  std::vector<Unused> unused;
};

/// The map of a link, once its executable is written.
LinkMap mapOf(const LinkContext &context);

/// A table of every export's kernels, then what is not used. Sizes are in bytes, resources per thread but for shared
/// memory, which is per workgroup; `workgroups` is how many of them a multiprocessor holds, and what keeps it from
/// more.
std::string printLinkMap(const LinkMap &map, const abi::ExecutableView &executable, uint64_t fileBytes);

} // namespace tenon::linker
