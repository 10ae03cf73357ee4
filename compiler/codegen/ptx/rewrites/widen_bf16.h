// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of bf16 that come two to a word, and are computed with as f32. An f32 whose lower half is zero has the bits
// of the bf16 that its upper half is. So the first element of a word is the word shifted up, and the second the word
// with its lower half masked out: one instruction each. The back end would first take the word apart into halves, which
// is one more for the second.
#pragma once

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Replaces every fpext to f32 of an element of a vector of bf16 that was loaded, or is made of words, or of a bf16
/// that is a half of a word. After LLVM has optimised, which is when it is seen what such vectors are made of.
/// @return how many
unsigned widenWords(llvm::Module &device);

} // namespace tenon::compiler::codegen
