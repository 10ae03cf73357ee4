// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kind of file an object is, told from its first bytes: names of files say nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::linker {

enum class ObjectKind : uint8_t {
  Ptx,
  Cubin,      // ELF for EM_CUDA
  HostElf,    // ELF for another machine: a .o or .so of the host compiler
  Fatbin,     // NVIDIA's container of cubins and PTX
  Archive,    // ar: .a
  LtoIr,      // nvcc -dlto
  Bitcode,    // LLVM, raw or wrapped
  LlvmText,   // .ll
  MlirText,   // .mlir
  CudaSource, // .cu
  Executable, // our own TNX1
  Program,    // our own TNP1
  Zip,
  Gzip,
  Zstd,
  Utf16,      // text of any kind, as an editor may save it
  MarkedUtf8, // the same
  Empty,
  Unknown,
};

/// Kind of an object by its bytes alone.
ObjectKind detectObjectKind(std::string_view bytes);

/// A cubin, or a container of PTX and cubins: it says itself for which targets its code is.
bool isBinaryObject(std::string_view bytes);

/// "a cubin (ELF for CUDA)".
std::string_view describe(ObjectKind kind);
/// What a user does with an object of a kind that is not linked: "compile to PTX instead: nvcc -ptx". Empty for Ptx.
std::string_view adviceFor(ObjectKind kind);

} // namespace tenon::linker
