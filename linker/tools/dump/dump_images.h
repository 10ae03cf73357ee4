// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The images of executables: a list of them, their PTX, their machine code and their symbols, as cuobjdump has them.
#pragma once

#include "abi/format/views/executable_view.h"

#include <span>
#include <string>
#include <string_view>

namespace tenon::linker {

/// A line for each image: executable, number, target, kind, bytes, the variant that holds it.
std::string listImages(std::span<const abi::ExecutableView> executables);

/// Bytes of an image of `kind`. @param what "EXPORT", of the first variant that has it; "EXPORT@TARGET", of the target
/// or variant named; "", of the only image of that kind. NotFound lists what there is.
Result<std::string> findImage(std::span<const abi::ExecutableView> executables, std::string_view what,
                              abi::ImageKind kind);

/// The text of every PTX image, each under a line that says which it is.
Result<std::string> allPtx(std::span<const abi::ExecutableView> executables);
/// Machine code of a cubin in words, by NVIDIA's nvdisasm. NotFound: there is no nvdisasm, or no cubin.
/// @param what as for findImage(); "": of every cubin, each under a line that says which it is
Result<std::string> machineCode(std::span<const abi::ExecutableView> executables, std::string_view what);

/// For each image its entry points, functions and variables, with what the image says of each: local, global or weak,
/// and of a cubin the bytes.
Result<std::string> listSymbols(std::span<const abi::ExecutableView> executables);

} // namespace tenon::linker
