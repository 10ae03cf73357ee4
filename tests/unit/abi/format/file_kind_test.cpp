// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What users hand to the wrong tool, and what it is called.
#include "abi/format/file_kind.h"

#include <gtest/gtest.h>

namespace tenon::abi {
namespace {

using namespace std::string_view_literals;

std::string elf(char machine, char type) {
  std::string bytes(64, '\0');
  bytes.replace(0, 4,
                "\x7f"
                "ELF");
  bytes[16] = type;
  bytes[18] = machine;
  return bytes;
}

TEST(FileKind, IsToldByMagicNumbers) {
  EXPECT_EQ(describeFile(elf(char(190), 2)), "a cubin (ELF for CUDA)");
  EXPECT_EQ(describeFile(elf(62, 1)), "an object file of the host (ELF)");
  EXPECT_EQ(describeFile(elf(62, 3)), "a program or library of the host (ELF)");
  EXPECT_EQ(describeFile("\x7f"
                         "ELF"),
            "a program or library of the host (ELF)");
  EXPECT_EQ(describeFile("\x50\xed\x55\xba..."sv), "a fatbin");
  EXPECT_EQ(describeFile("!<arch>\nx"), "an archive");
  EXPECT_EQ(describeFile("BC\xc0\xde"), "LLVM bitcode");
  EXPECT_EQ(describeFile("ML\xefR..."), "MLIR bytecode");
  EXPECT_EQ(describeFile("\x93NUMPY\x01\x00"sv), "a NumPy array (.npy)");
  EXPECT_EQ(describeFile("\x1f\x8b\x08\x00"sv), "gzip-compressed data");
  EXPECT_EQ(describeFile("\x28\xb5\x2f\xfd\x00"sv), "zstd-compressed data");
  EXPECT_EQ(describeFile("\x10\x00\x00\x00TNX1rest"sv), "a Tenon executable (TNX1)");
  EXPECT_EQ(describeFile("\x10\x00\x00\x00TNP1rest"sv), "a Tenon program (TNP1)");
  EXPECT_EQ(describeFile("\x10\x00\x00\x00TNP2rest"sv), "a Tenon file of another format ('TNP2')");
  EXPECT_EQ(describeFile(""), "an empty file");
  EXPECT_EQ(describeFile("\x01\x02\x03\x04\x05\x06\x07\x08"), "a file of a kind that is not known here, or damaged");
}

TEST(FileKind, TellsTextsByTheirWords) {
  EXPECT_EQ(describeFile("// made by nvcc\n.version 8.0\n.target sm_80\n"), "PTX");
  EXPECT_EQ(describeFile("/* x */ extern \"C\" __global__ void f() {}"), "C++ source");
  EXPECT_EQ(describeFile("#include <tenon/kernel.cuh>\n// func.func\n"), "C++ source");
  EXPECT_EQ(describeFile("// a __global__ kernel\n#map = affine_map<(i) -> (i)>\nfunc.func @f() { return }"),
            "MLIR text");
  EXPECT_EQ(describeFile("module {\n}"), "MLIR text");
  EXPECT_EQ(describeFile("{\"name\": \"k\"}"), "JSON (a manifest?)");
  EXPECT_EQ(describeFile("; ModuleID\ntarget triple = \"nvptx64\""), "LLVM IR text");
  EXPECT_EQ(describeFile("hello there"), "text of a kind that is not known here");
}

TEST(FileKind, SaysWhatToDo) {
  EXPECT_EQ(
      explainProgramWanted(".version 8.0\n"),
      "found PTX, a Tenon program (TNP1) is wanted: it is an object: tenon-link makes an executable (.tnx) of it, "
      "tenon-compile a program that names it");
  EXPECT_EQ(explainExecutableWanted(".version 8.0\n"),
            "found PTX, a Tenon executable (TNX1) is wanted: link it with tenon-link");
  EXPECT_EQ(explainProgramWanted("module {}"), "found MLIR text, a Tenon program (TNP1) is wanted: compile it with "
                                               "tenon-compile");
  EXPECT_EQ(explainProgramWanted("\x93NUMPY\x01"),
            "found a NumPy array (.npy), a Tenon program (TNP1) is wanted: arrays are inputs: --input=@FILE.npy");
  EXPECT_EQ(explainProgramWanted("\x10\x00\x00\x00TNP0rest"sv),
            "found a Tenon file of another format ('TNP0'), a Tenon program (TNP1) is wanted: build it again with the "
            "tools of this version");
  EXPECT_EQ(explainExecutableWanted("?\x01"),
            "found a file of a kind that is not known here, or damaged, a Tenon executable (TNX1) is wanted");
}

} // namespace
} // namespace tenon::abi
