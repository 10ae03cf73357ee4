// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Magic numbers: ELF (System V ABI: e_type at byte 16, e_machine at byte 18, EM_CUDA is 190), fatbin (0xBA55ED50, or
// the 0x466243B1 of its wrapper), ar, LLVM bitcode ('BC' 0xC0DE, wrapper 0x0B17C0DE), MLIR bytecode ("ML" 0xEF 'R'),
// LTO-IR (0x7F4E43ED), NumPy ("\x93NUMPY"), gzip, zstd, ZIP. Ours stand at byte 4: "TNP1", "TNX1".
#include "abi/format/file_kind.h"

#include "abi/format/executable_generated.h"
#include "abi/format/program_generated.h"
#include "support/status.h"
#include "support/text/text.h"

#include <algorithm>
#include <array>

namespace tenon::abi {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  FileKind kind;
  std::string_view name;
};

constexpr std::array kMagics = {
    Magic{"\x50\xed\x55\xba"sv, FileKind::Fatbin, "a fatbin"},
    Magic{"\xb1\x43\x62\x46"sv, FileKind::Fatbin, "a fatbin"},
    Magic{"!<arch>\n"sv, FileKind::Archive, "an archive"},
    Magic{"!<thin>\n"sv, FileKind::Archive, "an archive"},
    Magic{"\xed\x43\x4e\x7f"sv, FileKind::LtoIr, "LTO-IR"},
    Magic{"BC\xc0\xde"sv, FileKind::Bitcode, "LLVM bitcode"},
    Magic{"\xde\xc0\x17\x0b"sv, FileKind::Bitcode, "LLVM bitcode"},
    Magic{"ML\xefR"sv, FileKind::MlirBytecode, "MLIR bytecode"},
    Magic{"\x93NUMPY"sv, FileKind::Npy, "a NumPy array (.npy)"},
    Magic{"\x1f\x8b"sv, FileKind::Packed, "gzip-compressed data"},
    Magic{"\x28\xb5\x2f\xfd"sv, FileKind::Packed, "zstd-compressed data"},
    Magic{"PK\x03\x04"sv, FileKind::Packed, "a ZIP file"},
};

const Magic *findMagic(std::string_view bytes) {
  const auto found = std::ranges::find_if(kMagics, [&](const Magic &magic) { return bytes.starts_with(magic.bytes); });
  return found == kMagics.end() ? nullptr : &*found;
}

std::string_view identifierOf(std::string_view bytes) {
  return bytes.size() < 8 ? std::string_view() : bytes.substr(4, 4);
}

FileKind elfKind(std::string_view bytes) {
  if (bytes.size() < 20)
    return FileKind::HostBinary;
  if (bytes[18] == char(190) && bytes[19] == 0)
    return FileKind::Cubin;
  return bytes[16] == 1 ? FileKind::HostObject : FileKind::HostBinary; // ET_REL
}

/// Without the comments of any of these languages.
std::string_view firstWords(std::string_view text) {
  while (true) {
    text = trimmed(text);
    if (text.starts_with("//"))
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    else if (text.starts_with("/*"))
      text.remove_prefix(std::min(text.find("*/", 2), text.size() - 2) + 2);
    else
      return text;
  }
}

FileKind textKind(std::string_view text) {
  const std::string_view words = firstWords(text);
  auto startsWithAny = [&](std::initializer_list<std::string_view> starts) {
    return std::ranges::any_of(starts, [&](std::string_view start) { return words.starts_with(start); });
  };
  auto holdsAny = [&](std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
  };
  if (words.starts_with('.') && holdsAny({".version", ".entry"}))
    return FileKind::Ptx;
  if (words.starts_with("#include"))
    return FileKind::CudaSource;
  if (startsWithAny({"module", "builtin.module", "\"builtin.module\"", "{-#"}) ||
      holdsAny({"func.func", "util.func", "hal.executable."}))
    return FileKind::Mlir;
  if (words.starts_with('{'))
    return FileKind::Json;
  if (startsWithAny({";", "source_filename", "target datalayout", "target triple", "define "}))
    return FileKind::LlvmText;
  if (holdsAny({"__global__", "#include"}))
    return FileKind::CudaSource;
  return FileKind::Text;
}

bool isText(std::string_view bytes) {
  return std::ranges::none_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
}

constexpr size_t kLookedAt = 64 << 10;

} // namespace

FileKind detectFileKind(std::string_view bytes) {
  bytes = bytes.substr(0, kLookedAt);
  if (bytes.empty())
    return FileKind::Empty;
  if (bytes.starts_with("\x7f"
                        "ELF"sv))
    return elfKind(bytes);
  if (const Magic *magic = findMagic(bytes))
    return magic->kind;
  const std::string_view identifier = identifierOf(bytes);
  if (identifier == fb::ProgramIdentifier())
    return FileKind::Program;
  if (identifier == fb::ExecutableIdentifier())
    return FileKind::Executable;
  if (isText(bytes))
    return textKind(bytes);
  return identifier.starts_with("TNP") || identifier.starts_with("TNX") ? FileKind::OtherFormat : FileKind::Unknown;
}

std::string describeFile(std::string_view bytes) {
  switch (detectFileKind(bytes)) {
  case FileKind::Program:
    return concat("a Tenon program (", fb::ProgramIdentifier(), ')');
  case FileKind::Executable:
    return concat("a Tenon executable (", fb::ExecutableIdentifier(), ')');
  case FileKind::OtherFormat:
    return concat("a Tenon file of another format ('", identifierOf(bytes), "')");
  case FileKind::Ptx:
    return "PTX";
  case FileKind::CudaSource:
    return "C++ source";
  case FileKind::Mlir:
    return "MLIR text";
  case FileKind::Json:
    return "JSON (a manifest?)";
  case FileKind::Cubin:
    return "a cubin (ELF for CUDA)";
  case FileKind::HostObject:
    return "an object file of the host (ELF)";
  case FileKind::HostBinary:
    return "a program or library of the host (ELF)";
  case FileKind::LlvmText:
    return "LLVM IR text";
  case FileKind::MlirBytecode:
  case FileKind::Fatbin:
  case FileKind::Archive:
  case FileKind::LtoIr:
  case FileKind::Bitcode:
  case FileKind::Npy:
  case FileKind::Packed:
    return std::string(findMagic(bytes)->name);
  case FileKind::Text:
    return "text of a kind that is not known here";
  case FileKind::Empty:
    return "an empty file";
  case FileKind::Unknown:
    return "a file of a kind that is not known here, or damaged";
  }
}

/// What to do with `found` where a program or an executable is wanted.
static std::string_view adviceFor(FileKind found, bool wantsProgram) {
  switch (found) {
  case FileKind::Mlir:
  case FileKind::MlirBytecode:
    return wantsProgram ? "compile it with tenon-compile"
                        : "tenon-compile makes a program of it, tenon-link an executable "
                          "of objects";
  case FileKind::Ptx:
  case FileKind::CudaSource:
  case FileKind::Cubin:
  case FileKind::Fatbin:
  case FileKind::HostObject:
  case FileKind::Archive:
    return wantsProgram ? "it is an object: tenon-link makes an executable (.tnx) of it, tenon-compile a program that "
                          "names it"
                        : "link it with tenon-link";
  case FileKind::Json:
    return wantsProgram ? "tenon-link makes an executable (.tnx) of a manifest, tenon-compile programs of MLIR"
                        : "link it with tenon-link";
  case FileKind::Executable:
    return wantsProgram ? "tenon-compile makes programs, of MLIR that dispatches the kernels; tenon-check-kernel runs "
                          "kernels of an executable"
                        : "";
  case FileKind::Program:
    return wantsProgram ? "" : "give the executable (.tnx) that tenon-link writes";
  case FileKind::OtherFormat:
    return "build it again with the tools of this version";
  case FileKind::Packed:
    return "unpack it";
  case FileKind::Npy:
    return "arrays are inputs: --input=@FILE.npy";
  case FileKind::Empty:
    return "did the tool that wrote it fail?";
  case FileKind::LtoIr:
  case FileKind::Bitcode:
  case FileKind::LlvmText:
  case FileKind::HostBinary:
  case FileKind::Text:
  case FileKind::Unknown:
    return "";
  }
}

static std::string explain(std::string_view found, bool wantsProgram) {
  const std::string_view advice = adviceFor(detectFileKind(found), wantsProgram);
  return concat("found ", describeFile(found), ", ", wantsProgram ? "a Tenon program (" : "a Tenon executable (",
                wantsProgram ? fb::ProgramIdentifier() : fb::ExecutableIdentifier(), ") is wanted",
                advice.empty() ? "" : ": ", advice);
}

std::string explainProgramWanted(std::string_view found) {
  return explain(found, true);
}

std::string explainExecutableWanted(std::string_view found) {
  return explain(found, false);
}

} // namespace tenon::abi
