// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel asks of the target. A kernel is written once for all targets of the program; where one of them has what
// others have not, it holds both ways and a call between them, which becomes a constant when PTX is made for the
// target.
#pragma once

#include "abi/target_arch.h"

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Replaces the calls of KernelBuilder::hasClusters() by their answers: no as well where the target has clusters, but
/// not the shared memory that plans give them. Before LLVM optimises.
void answerTargetQueries(llvm::Module &device, abi::TargetArch arch);

} // namespace tenon::compiler::codegen
