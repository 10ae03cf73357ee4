// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Magic numbers: ELF (System V ABI, e_ident and e_machine; EM_CUDA is 190), fatbin (0xBA55ED50, or the 0x466243B1 of
// its wrapper), ar (System V), LLVM bitcode ('BC' 0xC0DE, wrapper 0x0B17C0DE), LTO-IR (0x7F4E43ED, as nvcc 13 -dlto
// writes it), FlatBuffers' file identifiers at byte 4. PTX and the other texts have no magic: comments are skipped and
// the first word decides.
#include "linker/object/object_kind.h"

#include "abi/format/executable_generated.h"
#include "abi/format/program_generated.h"

#include <cctype>

namespace tenon::linker {

using namespace std::string_view_literals;

static std::string_view skipBlanksAndComments(std::string_view text) {
  while (!text.empty()) {
    if (std::isspace(static_cast<unsigned char>(text[0]))) {
      text.remove_prefix(1);
    } else if (text.starts_with("//")) {
      size_t end = text.find('\n');
      text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    } else if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    } else {
      break;
    }
  }
  return text;
}

/// With a byte-order mark, or ASCII with a zero beside each of the first characters.
static bool isUtf16(std::string_view bytes) {
  constexpr size_t kCharacters = 4;
  if (bytes.starts_with("\xff\xfe"sv) || bytes.starts_with("\xfe\xff"sv))
    return true;
  if (bytes.size() < 2 * kCharacters)
    return false;
  const bool isBig = bytes[0] == '\0';
  for (size_t i = 0; i < 2 * kCharacters; ++i)
    if ((bytes[i] == '\0') != ((i % 2 == 0) == isBig) || (unsigned char)bytes[i] > 0x7e)
      return false;
  return true;
}

static ObjectKind detectText(std::string_view text) {
  std::string_view body = skipBlanksAndComments(text);
  if (body.empty() || body[0] == '\0')
    return ObjectKind::Empty;
  if (body[0] == '.')
    return ObjectKind::Ptx;
  if (body[0] == ';' || body.starts_with("target ") || body.starts_with("source_filename") ||
      body.starts_with("define "))
    return ObjectKind::LlvmText;
  if (body.starts_with("gpu.module") || body.starts_with("module {") || body.starts_with("module @") ||
      body.starts_with("module attributes"))
    return ObjectKind::MlirText;
  if (body[0] == '#' || (body[0] != '{' && text.find("__global__") != std::string_view::npos))
    return ObjectKind::CudaSource;
  // Something before .version that is no PTX: the parser says where and what.
  return text.find(".version") != std::string_view::npos ? ObjectKind::Ptx : ObjectKind::Unknown;
}

ObjectKind detectObjectKind(std::string_view bytes) {
  if (bytes.starts_with("\x7f"
                        "ELF"sv)) {
    // e_machine is at byte 18; byte 5 gives the byte order, which is little for every CUDA object.
    bool isCuda = bytes.size() >= 20 && bytes[18] == char(190) && bytes[19] == 0;
    return isCuda ? ObjectKind::Cubin : ObjectKind::HostElf;
  }
  if (bytes.starts_with("\x50\xed\x55\xba"sv) || bytes.starts_with("\xb1\x43\x62\x46"sv))
    return ObjectKind::Fatbin;
  if (bytes.starts_with("!<arch>\n"sv) || bytes.starts_with("!<thin>\n"sv))
    return ObjectKind::Archive;
  if (bytes.starts_with("\xed\x43\x4e\x7f"sv))
    return ObjectKind::LtoIr;
  if (bytes.starts_with("BC\xc0\xde"sv) || bytes.starts_with("\xde\xc0\x17\x0b"sv))
    return ObjectKind::Bitcode;
  if (bytes.starts_with("PK\x03\x04"sv))
    return ObjectKind::Zip;
  if (bytes.starts_with("\x1f\x8b"sv))
    return ObjectKind::Gzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv))
    return ObjectKind::Zstd;
  if (isUtf16(bytes))
    return ObjectKind::Utf16;
  if (bytes.starts_with("\xef\xbb\xbf"sv))
    return ObjectKind::MarkedUtf8;
  if (bytes.size() >= 8 && bytes.substr(4, 4) == abi::fb::ExecutableIdentifier())
    return ObjectKind::Executable;
  if (bytes.size() >= 8 && bytes.substr(4, 4) == abi::fb::ProgramIdentifier())
    return ObjectKind::Program;
  return detectText(bytes);
}

bool isBinaryObject(std::string_view bytes) {
  switch (detectObjectKind(bytes)) {
  case ObjectKind::Cubin:
  case ObjectKind::HostElf:
  case ObjectKind::Fatbin:
  case ObjectKind::Archive:
  case ObjectKind::Executable:
    return true;
  default:
    return false;
  }
}

std::string_view describe(ObjectKind kind) {
  switch (kind) {
  case ObjectKind::Ptx:
    return "PTX";
  case ObjectKind::Cubin:
    return "a cubin (ELF for CUDA)";
  case ObjectKind::HostElf:
    return "an ELF file for the host";
  case ObjectKind::Fatbin:
    return "a fatbin";
  case ObjectKind::Archive:
    return "an archive";
  case ObjectKind::LtoIr:
    return "LTO-IR";
  case ObjectKind::Bitcode:
    return "LLVM bitcode";
  case ObjectKind::LlvmText:
    return "LLVM IR text";
  case ObjectKind::MlirText:
    return "MLIR text";
  case ObjectKind::CudaSource:
    return "C++ source";
  case ObjectKind::Executable:
    return "a Tenon executable";
  case ObjectKind::Program:
    return "a Tenon program";
  case ObjectKind::Zip:
    return "a ZIP file";
  case ObjectKind::Gzip:
    return "gzip-compressed";
  case ObjectKind::Zstd:
    return "zstd-compressed";
  case ObjectKind::Utf16:
    return "text in UTF-16";
  case ObjectKind::MarkedUtf8:
    return "text in UTF-8 with a byte-order mark";
  case ObjectKind::Empty:
    return "empty";
  case ObjectKind::Unknown:
    return "of an unknown kind";
  }
}

std::string_view adviceFor(ObjectKind kind) {
  switch (kind) {
  case ObjectKind::Ptx:
    return "";
  case ObjectKind::Cubin:
    return "give a cubin that is complete, or PTX (nvcc -ptx)";
  case ObjectKind::HostElf:
    return "give one that holds device code, or PTX (nvcc -ptx)";
  case ObjectKind::Fatbin:
    return "give it as nvcc -fatbin writes it, or PTX (nvcc -ptx)";
  case ObjectKind::Archive:
    return "give its members one by one";
  case ObjectKind::LtoIr:
    return "LTO-IR objects are not supported yet; compile without -dlto, with nvcc -ptx";
  case ObjectKind::Bitcode:
    return "bitcode objects are not supported yet; give PTX (llc -mcpu=sm_80 of an nvptx64 module)";
  case ObjectKind::LlvmText:
    return "LLVM IR objects are not supported yet; give PTX (llc -mcpu=sm_80 of an nvptx64 module)";
  case ObjectKind::MlirText:
    return "tenon-compile takes a gpu.module as a file, path = \"kernels.mlir\"; for tenon-link compile it to PTX";
  case ObjectKind::CudaSource:
    return "name it as a file, path = \"kernels.cu\", or compile it to PTX (nvcc -ptx)";
  case ObjectKind::Executable:
  case ObjectKind::Program:
    return "give the executables or the objects that it was made of";
  case ObjectKind::Zip:
  case ObjectKind::Gzip:
  case ObjectKind::Zstd:
    return "unpack it and give the PTX in it";
  case ObjectKind::Utf16:
    return "save it as ASCII";
  case ObjectKind::MarkedUtf8:
    return "save it without the mark, as ASCII";
  case ObjectKind::Empty:
    return "an object holds at least one kernel; was the compiler stopped half way?";
  case ObjectKind::Unknown:
    return "give PTX (nvcc -ptx)";
  }
}

} // namespace tenon::linker
