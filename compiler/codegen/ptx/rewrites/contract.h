// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FMA contraction: a product that only a sum takes becomes one fused multiply-add, which rounds once instead of twice.
//
// Done here by a rule, on LLVM IR, and not by leave to the back end, which would decide by what it happens to see:
// every target computes the same bits, and nothing is contracted where it can cost accuracy. The rule:
//
// - the product has one use. With two, its rounded and its exact value would meet, and what is written to find a
//   rounding error (two-sum, compensated sums) would find another one.
// - the other operand is no product. In a*b - c*d one side would be rounded and the other not: for a*b = c*d the result
//   would be that rounding error instead of zero, and a square root of it no number. Of two squares that are added
//   nothing cancels, so there the first is contracted.
#pragma once

#include "abi/target_arch.h"

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Contracts in every function of `device`, in the types for which `arch` has a fused multiply-add. To be called before
/// libdevice is linked in: its functions are written for the roundings that they name.
/// @return how many products were contracted
unsigned contractProducts(llvm::Module &device, abi::TargetArch arch);

} // namespace tenon::compiler::codegen
