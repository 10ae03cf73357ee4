// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel asks of the target. A kernel is written once for all targets of the program; where one of them has what
// others have not, it holds both ways and a call between them, which becomes a constant when PTX is made for the
// target.
#pragma once

#include "abi/target_arch.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// i1 (): whether the target has clusters.
constexpr llvm::StringLiteral kHasClusters = "tenon_has_clusters";

/// Replaces the calls by their answers. Before LLVM optimises.
void answerTargetQueries(llvm::Module &device, abi::TargetArch arch);

} // namespace tenon::compiler::codegen
