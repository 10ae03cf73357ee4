// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of shared memory that are read where a kernel says, four at a time. Of what a loop carries from one turn to the
// next LLVM makes loads of the loop's head, each word for itself:
//
//   written                                      made of it
//   loop (words)                                 loop (address)
//     products of `words`                          words = load, load, load, load    all wait here
//     words = load                                 products of `words`
//     last products                                address = ..., last products
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// Four elements of 32 bits, f32, from a multiple of 16 bytes on.
llvm::SmallVector<mlir::Value> readInPlace(KernelBuilder &k, mlir::Value from);

} // namespace tenon::compiler::codegen
