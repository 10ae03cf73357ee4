// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of large streams. What a kernel reads once and by hundreds of megabytes only passes through the caches, and it
// passes faster under a policy that keeps lines until they are whole: loads that the code generator marked as
// non-temporal become loads with an L2 policy, which LLVM's back end has no instruction for.
#pragma once

#include <cstdint>

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// The version of PTX that has cache hints.
constexpr uint16_t kCacheHintsIsa = 74;

/// Replaces vector loads from global memory that carry !nontemporal. Before LLVM optimises: it takes vector loads
/// apart, and forgets what they carry.
void addCacheHints(llvm::Module &device);

/// Replaces the other vector loads that carry !invariant.load: those whose alignment the kernel has tested. LLVM sees
/// that the elements are loaded one by one where the test fails, makes one load of both ways, and then knows of no
/// alignment.
void keepWholeLoads(llvm::Module &device);

} // namespace tenon::compiler::codegen
