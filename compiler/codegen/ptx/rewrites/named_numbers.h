// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that have a name until the PTX is there. Kernels that differ in some of their numbers alone, such as the
// lengths of rows, are made by LLVM once, with names for these (../families). LLVM knows of such a number from where to
// where it may be. In the PTX it is one `mov` of the name; with the number in its place ptxas sees the constant that it
// is, and computes with it as with any other.
//
// In the LLVM dialect a number is the result of a call without arguments, whose callee is its name:
// `__tenon_number_I_LEAST_MOST__` (i32, i64), `__tenon_number_I__` (f32). I says which number it is. The reciprocal of
// BITS is `__tenon_number_rBITS_I__`.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

constexpr llvm::StringLiteral kNumberPrefix = "__tenon_number_";

/// The name of an integer from `least` to `most`, or of a float (both 0).
std::string nameOfNumber(size_t index, int64_t least, int64_t most);
std::string nameOfFloat(size_t index);

/// Replaces the calls by what loads the names. Before LLVM optimises.
void loadNamedNumbers(llvm::Module &device);

/// Unsigned divisions by named numbers become products with their reciprocals, which have names, too: ptxas would make
/// forty instructions of one, though it sees the number. q = floor(x * m / 2^n) with m = floor((2^n - 1) / d) is the
/// quotient of x of n bits or one less, since 2^n / d - m is at most 1. Behind LLVM's optimiser, which makes divisions
/// of 32 bits of those of 64 where it can.
void divideByNamedNumbers(llvm::Module &device);

/// `text` with `numbers` in place of their names. @param numbers [names] as PTX writes them
std::string withNumbers(llvm::StringRef text, llvm::ArrayRef<std::string> numbers);

} // namespace tenon::compiler::codegen
