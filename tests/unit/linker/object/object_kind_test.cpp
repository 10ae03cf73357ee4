// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/object_kind.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;
using namespace std::string_literals;

TEST(ObjectKind, KnowsEveryKindByItsBytes) {
  const std::string cudaElf = "\x7f"
                              "ELF\x02\x01\x01"s +
                              std::string(11, '\0') + "\xbe\x00"s;
  const std::string hostElf = "\x7f"
                              "ELF\x02\x01\x01"s +
                              std::string(11, '\0') + "\x3e\x00"s;
  EXPECT_EQ(detectObjectKind(cudaElf), ObjectKind::Cubin);
  EXPECT_EQ(detectObjectKind(hostElf), ObjectKind::HostElf);
  EXPECT_EQ(detectObjectKind("\x7f"
                             "ELF"),
            ObjectKind::HostElf)
      << "too short for a machine";
  EXPECT_EQ(detectObjectKind("\x50\xed\x55\xba\x01\x00"s), ObjectKind::Fatbin);
  EXPECT_EQ(detectObjectKind("!<arch>\nx"), ObjectKind::Archive);
  EXPECT_EQ(detectObjectKind("\xed\x43\x4e\x7f"s), ObjectKind::LtoIr);
  EXPECT_EQ(detectObjectKind("BC\xc0\xde"s), ObjectKind::Bitcode);
  EXPECT_EQ(detectObjectKind("PK\x03\x04"s), ObjectKind::Zip);
  EXPECT_EQ(detectObjectKind("\x1f\x8b\x08"s), ObjectKind::Gzip);
  EXPECT_EQ(detectObjectKind("\x28\xb5\x2f\xfd"s), ObjectKind::Zstd);
  EXPECT_EQ(detectObjectKind("\xff\xfe.\0v\0"s), ObjectKind::Utf16);
  EXPECT_EQ(detectObjectKind(".\0v\0e\0r\0s\0"s), ObjectKind::Utf16);
  EXPECT_EQ(detectObjectKind("\0/\0/\0 \0P"s), ObjectKind::Utf16);
  EXPECT_EQ(detectObjectKind("\xef\xbb\xbf.version 8.0"s), ObjectKind::MarkedUtf8);
  EXPECT_EQ(detectObjectKind(".\0v\0er\0\0"s), ObjectKind::Ptx);
  EXPECT_EQ(detectObjectKind("\x10\0\0\0TNX1\0\0"s), ObjectKind::Executable);
  EXPECT_EQ(detectObjectKind("\x10\0\0\0TNP1\0\0"s), ObjectKind::Program);
}

TEST(ObjectKind, KnowsTextsBehindCommentsAndBlanks) {
  EXPECT_EQ(detectObjectKind("// made by hand\n/* twice */\n.version 8.0\n"), ObjectKind::Ptx);
  EXPECT_EQ(detectObjectKind("; ModuleID = 'x'\ntarget triple = \"nvptx64\"\n"), ObjectKind::LlvmText);
  EXPECT_EQ(detectObjectKind("// Kernels.\ngpu.module @k {\n}\n"), ObjectKind::MlirText);
  EXPECT_EQ(detectObjectKind("module attributes {a} {\n}\n"), ObjectKind::MlirText);
  EXPECT_EQ(detectObjectKind("#include <x>\n"), ObjectKind::CudaSource);
  EXPECT_EQ(detectObjectKind("extern \"C\" __global__ void f() {}\n"), ObjectKind::CudaSource);
  EXPECT_EQ(detectObjectKind(""), ObjectKind::Empty);
  EXPECT_EQ(detectObjectKind(" \n// only a comment"), ObjectKind::Empty);
  EXPECT_EQ(detectObjectKind("\x01\x02\x03\x04"), ObjectKind::Unknown);
}

TEST(ObjectKind, RefusalSaysWhatItIsAndWhatToDo) {
  Linked linked = linkJob(Job().add(makeExport("k", 1)).object("k.bc", "BC\xc0\xde"));
  EXPECT_FINDS(linked, "k.bc: error: [K-1] the object is LLVM bitcode\n"
                       "fix: bitcode objects are not supported yet; give PTX (llc -mcpu=sm_80 of an nvptx64 module)\n");
  EXPECT_EQ(linked.diagnostics.errorCount(), 1u) << "a missing entry point is no news then\n" << linked.text();
}

TEST(ObjectKind, EveryKindHasWords) {
  for (int kind = 0; kind <= int(ObjectKind::Unknown); ++kind) {
    EXPECT_FALSE(describe(ObjectKind(kind)).empty()) << kind;
    EXPECT_EQ(adviceFor(ObjectKind(kind)).empty(), ObjectKind(kind) == ObjectKind::Ptx) << kind;
  }
}

} // namespace
} // namespace tenon::linker
