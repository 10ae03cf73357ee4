// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fix is in the language of the file that holds the declaration.
#include "linker/passes/advice.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

std::string adviceFor(const char *file) {
  abi::Export declared;
  declared.declaredAt = {file, 3, 1};
  return alignmentAdvice(declared, 2, 16);
}

TEST(AlignmentAdvice, SpeaksTheLanguageOfTheDeclaration) {
  EXPECT_EQ(adviceFor("kernels.json"), "declare alignment 16 on binding 2: \"alignment\": 16");
  EXPECT_EQ(adviceFor("a/b.mlir"), "declare alignment 16 on binding 2: #hal.pipeline.binding<.., alignment = 16>");
  EXPECT_EQ(adviceFor("b.mlir#2"), "declare alignment 16 on binding 2: #hal.pipeline.binding<.., alignment = 16>");
  EXPECT_EQ(adviceFor("k.cu"), "declare alignment 16 on binding 2: .aligned(16) behind its TENON_READ or TENON_WRITE");
}

TEST(AlignmentAdvice, GivesEverySpellingWhereTheFileDoesNotTell) {
  EXPECT_EQ(adviceFor("<stdin>"),
            "declare alignment 16 on binding 2: \"alignment\": 16 in a manifest, #hal.pipeline.binding<.., alignment = "
            "16> in MLIR, .aligned(16) behind its TENON_READ or TENON_WRITE");
}

TEST(SymbolAdvice, NamesWhatTheDeclarationCanHold) {
  auto advice = [](const char *file) {
    abi::Export declared;
    declared.declaredAt = {file, 3, 1};
    return symbolAdvice(declared, "_Z1kPf");
  };
  const std::string start = "is extern \"C\" missing? Declare the kernel extern \"C\"";
  EXPECT_EQ(advice("k.json"), start + ", or give the export \"symbol\": \"_Z1kPf\"");
  EXPECT_EQ(advice("k.mlir"), start + ", or call the export @_Z1kPf");
  EXPECT_EQ(advice("k.cu"), start);
  EXPECT_EQ(advice("-"), start + ", or give the export \"symbol\": \"_Z1kPf\" in a manifest, or call the export "
                                 "@_Z1kPf in MLIR");
}

} // namespace
} // namespace tenon::linker
