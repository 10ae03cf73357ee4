// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;
using abi::Constant;
using abi::ElementType;

/// One kernel whose parameters are written out: ".param .u64 a, .param .f32 b".
Linked linkParameters(std::string_view parameters, abi::Export declared, std::string_view target = "sm_90",
                      std::string_view version = "9.0") {
  return linkJob(Job()
                     .add(std::move(declared))
                     .object("a.ptx",
                             ptxModule(concat(".visible .entry k(", parameters, ") { ret; }\n"), target, version),
                             target));
}

Constant structure(uint32_t size, uint32_t alignment) {
  return {.kind = abi::ConstantKind::Struct, .size = size, .alignment = alignment};
}

TEST(CheckParameters, CountDiffers) {
  EXPECT_FINDS(
      linkParameters(".param .u64 a, .param .u32 n", makeExport("k", 2, {Constant::word()})),
      "a.ptx:4:17: error: [K-11] 'k' has 2 parameters (.u64, .u32), the layout declares 3 (2 bindings and 1 constant)\n"
      "job.json:7:3: note: export 'k' is declared here\n"
      "fix: declare one binding per pointer and one constant per scalar, and their order where it is another "
      "('parameters'); this kernel begins with 1 64-bit parameter and has 1 after it");
}

TEST(CheckParameters, ExtraPointersMayBeScratch) {
  EXPECT_FINDS(
      linkParameters(".param .u64 a, .param .u64 .ptr .global .align 1 s, .param .u64 .ptr .global .align 1 t",
                     makeExport("k", 1)),
      "fix: declare 2 more bindings; or, if they are a compiler's scratch pointers (Triton), hidden_pointers = 2");
  abi::Export declared = makeExport("k", 1);
  declared.layout.hiddenPointers = 2;
  EXPECT_LINKS(linkParameters(".param .u64 a, .param .u64 .ptr .global .align 1 s, .param .u64 .ptr .global .align 1 t",
                              declared));
}

TEST(CheckParameters, WidthDiffers) {
  EXPECT_FINDS(linkParameters(".param .u64 a, .param .u32 b", makeExport("k", 2)),
               "a.ptx:4:46: error: [K-4] parameter 1 of 'k' is .u32 (4 bytes), the layout declares binding 1 (.u64, a "
               "pointer)\n");
  EXPECT_FINDS(linkParameters(".param .u64 a, .param .u64 n", makeExport("k", 1, {Constant::word()})),
               "[K-4] parameter 1 of 'k' is .u64 (8 bytes), the layout declares constant 0 (a 32-bit word)");
  EXPECT_FINDS(linkParameters(".param .u64 a, .param .u8 n", makeExport("k", 1, {Constant::word()})),
               "fix: declare the constant as i8 (or i1)");
  EXPECT_FINDS(linkParameters(".param .u64 a, .param .align 4 .b8 s[12]", makeExport("k", 1, {Constant::word()})),
               "is .align 4 .b8 [12] (12 bytes), the layout declares constant 0 (a 32-bit word)\n"
               "job.json:7:3: note: export 'k' is declared here\nfix: declare a struct of 12 bytes with alignment 4");
}

TEST(CheckParameters, ReportsEverySlot) {
  Linked linked = linkParameters(".param .u32 a, .param .u32 b, .param .u64 n", makeExport("k", 2, {Constant::word()}));
  EXPECT_EQ(linked.diagnostics.errorCount(), 3u) << linked.text();
}

TEST(CheckParameters, TakesEveryScalarAsItIsPrinted) {
  std::vector<Constant> constants;
  for (ElementType type : {ElementType::I1, ElementType::I8, ElementType::I16, ElementType::F16, ElementType::BF16,
                           ElementType::I32, ElementType::F32, ElementType::I64, ElementType::F64, ElementType::Index})
    constants.push_back(Constant::scalar(type));
  EXPECT_LINKS(
      linkParameters(".param .u64 p, .param .u8 a, .param .s8 b, .param .u16 c, .param .align 2 .b8 d[2], "
                     ".param .b16 e, .param .s32 f, .param .f32 g, .param .b64 h, .param .f64 i, .param .u64 j",
                     makeExport("k", 1, constants)));
}

TEST(CheckParameters, WordsAreUntyped) {
  EXPECT_LINKS(linkParameters(".param .b64 p, .param .f32 a, .param .b32 b, .param .align 4 .b8 c[4]",
                              makeExport("k", 1, {Constant::word(), Constant::word(), Constant::word()})));
}

TEST(CheckParameters, WarnsOfAnotherKindOfTheSameWidth) {
  Linked linked =
      linkParameters(".param .u64 p, .param .u32 a, .param .f64 b",
                     makeExport("k", 1, {Constant::scalar(ElementType::F32), Constant::scalar(ElementType::I64)}));
  EXPECT_FALSE(linked.bytes.empty());
  EXPECT_FINDS(
      linked,
      "warning: [K-4] parameter 1 of 'k' is .u32, the layout declares constant 0 (f32): the same width, another kind");
  EXPECT_FINDS(linked, "fix: declare a float, or take an integer in the kernel");
}

TEST(CheckParameters, PointersMustBePointersToGlobalMemory) {
  EXPECT_LINKS(linkParameters(".param .u64 .ptr .global .align 4 p", makeExport("k", 1)));
  EXPECT_LINKS(linkParameters(".param .u64 .ptr .align 1 p", makeExport("k", 1)));
  EXPECT_FINDS(linkParameters(".param .u64 .ptr .shared .align 4 p", makeExport("k", 1)),
               "[K-4] parameter 0 of 'k' is .u64 .ptr .shared .align 4, the layout declares binding 0 (.u64, a "
               "pointer) to global memory");
  EXPECT_FINDS(linkParameters(".param .f64 p", makeExport("k", 1)), "fix: make it a pointer in the kernel");
  EXPECT_FINDS(
      linkParameters(".param .u64 p, .param .u64 .ptr .global .align 4 q",
                     makeExport("k", 1, {Constant::scalar(ElementType::I64)})),
      "fix: it is a pointer: declare a binding; where a constant comes before it, list the parameters in their order");
}

TEST(CheckParameters, PointerAlignmentMustBePromised) {
  abi::Export declared = makeExport("k", 1);
  EXPECT_LINKS(linkParameters(".param .u64 .ptr .global .align 8 p", declared));
  EXPECT_FINDS(
      linkParameters(".param .u64 .ptr .global .align 16 p", declared),
      "is .u64 .ptr .global .align 16, the layout promises alignment of the element alone\n"
      "job.json:7:3: note: export 'k' is declared here\nfix: declare alignment 16 on binding 0: \"alignment\": 16");
  declared.layout.bindings[0].alignment = 16;
  EXPECT_LINKS(linkParameters(".param .u64 .ptr .global .align 16 p", declared));
}

TEST(CheckParameters, OffsetsAgree) {
  EXPECT_LINKS(linkParameters(".param .u64 p, .param .u32 n, .param .align 8 .b8 s[16]",
                              makeExport("k", 1, {Constant::word(), structure(16, 8)})));
  EXPECT_FINDS(
      linkParameters(".param .u64 p, .param .u32 n, .param .align 8 .b8 s[16]",
                     makeExport("k", 1, {Constant::word(), structure(16, 4)})),
      "[K-4] parameter 2 of 'k' is .align 8 .b8 [16] and begins at byte 16, the layout puts constant 1 (a struct of 16 "
      "bytes, alignment 4) at byte 12\njob.json:7:3: note: export 'k' is declared here\n"
      "fix: declare alignment 8 (it is 4 now)");
  Linked linked = linkParameters(".param .u64 p, .param .align 8 .b8 s[16]", makeExport("k", 1, {structure(16, 4)}));
  EXPECT_FALSE(linked.bytes.empty());
  EXPECT_FINDS(linked, "warning: [K-4] parameter 1 of 'k' is .align 8 .b8 [16] with alignment 8");
}

TEST(CheckParameters, TensorMapsAreAggregates) {
  Constant map{.kind = abi::ConstantKind::TensorMap, .size = 128, .alignment = 64};
  Linked linked = linkParameters(".param .align 64 .b8 m[128], .param .u64 p", makeExport("k", 1, {map}));
  EXPECT_FINDS(linked, "[K-4] parameter 0 of 'k' is .align 64 .b8 [128] (128 bytes), the layout declares binding 0");
  EXPECT_LINKS(linkParameters(".param .u64 p, .param .align 64 .b8 m[128]", makeExport("k", 1, {map})));
}

TEST(CheckParameters, TotalDependsOnTheTarget) {
  const abi::Export declared = makeExport("k", 1, {structure(5000, 8)});
  const char *parameters = ".param .u64 p, .param .align 8 .b8 s[5000]";
  EXPECT_LINKS(linkParameters(parameters, declared, "sm_80", "8.1"));
  EXPECT_FINDS(linkParameters(parameters, declared, "sm_80", "8.0"),
               "[K-5] parameters of 'k' take 5008 bytes, sm_80 with PTX ISA 8.0 takes at most 4352");
}

} // namespace
} // namespace tenon::linker
