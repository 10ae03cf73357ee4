// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a file is that turned out not to be what a tool wants. Only for messages: nothing is decided by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::abi {

/// Kinds of file that users have in the folders where they work with Tenon.
enum class FileKind : uint8_t {
  Program,     // ours
  Executable,  // ours
  OtherFormat, // ours, of a format that this build does not read
  Ptx,         // text
  CudaSource,  // text
  Mlir,        // text
  MlirBytecode,
  Json, // text: a manifest
  Cubin,
  Fatbin,
  HostObject, // ELF
  HostBinary, // ELF
  Archive,
  LtoIr,
  Bitcode,
  LlvmText,
  Npy,
  Packed, // gzip, zstd, ZIP
  Text,   // of no kind known
  Empty,
  Unknown,
};

/// By its first bytes; text by its first words.
FileKind detectFileKind(std::string_view bytes);

/// "PTX", "a cubin (ELF for CUDA)", "a Tenon program (TNP1)", "gzip-compressed data".
std::string describeFile(std::string_view bytes);

/// "'kernels.ptx' is PTX, a Tenon program (TNP1) is wanted: link it with tenon-link ..". Without the name and its verb.
std::string explainProgramWanted(std::string_view found);
std::string explainExecutableWanted(std::string_view found);

} // namespace tenon::abi
