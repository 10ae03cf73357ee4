// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

#include <algorithm>
#include <array>

namespace tenon::linker {
namespace {

using namespace testing;
namespace fb = abi::fb;

constexpr std::string_view kHead = ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
                                   "  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>;\n"
                                   "  ld.param.u64 %rd1, [p];\n  ld.param.u64 %rd2, [q];\n";

abi::Export declared(bool readOnly = true, uint32_t alignment = 0) {
  abi::Export value = makeExport("k", 2);
  value.layout.bindings[0].readOnly = readOnly;
  value.layout.bindings[0].alignment = alignment;
  value.layout.bindings[0].name = "x";
  return value;
}

Linked linkBody(std::string_view body, abi::Export value = declared(), bool strict = false,
                std::string_view before = "", std::string_view after = "") {
  Job job;
  job.job.strict = strict;
  job.add(std::move(value)).object("a.ptx", ptxModule(concat(before, kHead, body, "\n  ret;\n}\n", after)));
  return linkJob(job);
}

constexpr std::string_view kGood = "  ld.global.u32 %r1, [%rd1];\n  st.global.u32 [%rd2], %r1;";

std::vector<fb::AccessVerdict> verdicts(const Linked &linked, uint32_t variant = 0) {
  abi::ExecutableView executable = view(linked);
  std::vector<fb::AccessVerdict> result;
  for (fb::AccessVerdict verdict : *executable.raw().variants()->Get(variant)->kernels()->Get(0)->facts()->access())
    result.push_back(verdict);
  return result;
}

TEST(CheckAccess, StoresWhatIsProved) {
  Linked linked = linkBody(kGood);
  EXPECT_LINKS(linked);
  EXPECT_EQ(verdicts(linked), (std::vector{fb::AccessVerdict::ProvedReadOnly, fb::AccessVerdict::Written}));
}

TEST(CheckAccess, AReadOnlyBindingIsNotWritten) {
  EXPECT_FINDS(linkBody("  add.s64 %rd3, %rd1, 64;\n  st.global.u32 [%rd3], 7;\n  st.global.u32 [%rd2], 7;"),
               "a.ptx:10:3: error: [K-13] 'k' writes binding 0 'x' (st.global.u32), the layout declares it read-only\n"
               "job.json:7:3: note: export 'k' is declared here\n"
               "fix: declare binding 0 without read_only, or keep the kernel from writing it\n");
}

TEST(CheckAccess, NamesTheSourceLine) {
  EXPECT_FINDS(linkBody("  .loc 1 12 5\n  st.global.u32 [%rd1], 7;\n  .loc 1 13 1\n  st.global.u32 [%rd2], 7;",
                        declared(), false, "", ".file 1 \"kernels.cu\"\n"),
               "kernels.cu:12:5: note: the source line of this instruction\n");
}

TEST(CheckAccess, NamesTheFunctionThatWrites) {
  EXPECT_FINDS(
      linkBody("  { .param .b64 a; st.param.b64 [a], %rd1;\n  call fill, (a); }\n  st.global.u32 [%rd2], 7;",
               declared(), false,
               ".func fill(.param .b64 to) { .reg .b64 %rd<2>; ld.param.b64 %rd1, [to]; st.u32 [%rd1], 1; ret; }\n"),
      "a.ptx:4:73: error: [K-13] 'fill', which 'k' calls, writes binding 0 'x' (st.u32), the layout declares it");
}

TEST(CheckAccess, WhatCannotBeProvedIsAWarningAndStrictlyAnError) {
  constexpr std::string_view mixed = "  selp.b64 %rd3, %rd1, %rd2, %p1;\n  st.global.u32 [%rd3], 7;";
  EXPECT_FINDS(linkBody(mixed), "a.ptx:10:3: warning: [K-13] cannot prove that 'k' does not write binding 0 'x', which "
                                "the layout declares read-only: the address that st.global.u32 writes may derive from "
                                "it\n");
  EXPECT_FINDS(linkBody(mixed, declared(), /*strict=*/true), "a.ptx:10:3: error: [K-13] cannot prove");
  EXPECT_FINDS(linkBody("  st.global.u64 [%rd2], %rd1;"), "st.global.u64 stores a pointer to it in memory");
  EXPECT_FINDS(linkBody("  { .param .b64 a; st.param.b64 [a], %rd1;\n  P: .callprototype _ (.param .b64 x);\n  call "
                        "%rd3, (a), P; }\n  st.global.u32 [%rd2], 7;"),
               "call passes a pointer to it to code that is not in this object");
  EXPECT_FINDS(
      linkBody("  setp.lt.u64 %p1, %rd1, 4096;\n  @%p1 bra L;\n  st.global.u32 [%rd2], 7;\n  L:"),
      "a.ptx:10:3: warning: [K-13] cannot prove that 'k' does not write binding 0 'x', which the layout declares "
      "read-only: which way the kernel goes at bra depends on bits of the pointer, so its writes may be aimed "
      "with them\n");
  std::string deep;
  for (int i = 0; i < 70; ++i)
    deep += concat(".func f", i, "(.param .b64 a) { .reg .b64 %rd<2>; ld.param.b64 %rd1, [a];\n",
                   i ? concat("{ .param .b64 b; st.param.b64 [b], %rd1; call f", i - 1, ", (b); }") : std::string(),
                   " ret; }\n");
  EXPECT_FINDS(linkBody("  { .param .b64 a; st.param.b64 [a], %rd1;\n  call f69, (a); }", declared(), false, deep),
               "the kernel is too intricate to follow");
  EXPECT_LINKS(linkBody(mixed, declared(/*readOnly=*/false)));
  Linked strict = linkBody(mixed, declared(/*readOnly=*/false), /*strict=*/true);
  EXPECT_LINKS(strict);
  EXPECT_EQ(verdicts(strict), (std::vector{fb::AccessVerdict::Unknown, fb::AccessVerdict::Unknown}));
}

TEST(CheckAccess, ABindingIsUsed) {
  Linked linked = linkJob(
      Job()
          .add(declared())
          .object(
              "a.ptx",
              ptxModule(".visible .entry k(.param .u64 p,\n  .param .u64 q) {\n .reg .b64 %rd<9>; .reg .b32 %r<2>;\n "
                        "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ret; }\n")));
  EXPECT_FINDS(linked, "a.ptx:5:15: warning: [K-14] 'k' does not use binding 1\n"
                       "job.json:7:3: note: export 'k' is declared here\n"
                       "fix: check the order of the layout's slots; or drop the binding and the kernel's parameter\n");
  EXPECT_EQ(verdicts(linked), (std::vector{fb::AccessVerdict::ProvedReadOnly, fb::AccessVerdict::Unused}));
  EXPECT_LINKS(linkOne(entry("k", "pp"), declared())); // takes no notice of any
}

TEST(CheckAccess, AGeneratedKernelNeedNotUseItsBindings) {
  Job job;
  job.add(declared())
      .object("a.ptx", ptxModule(".visible .entry k(.param .u64 p, .param .u64 q) { .reg .b64 %rd<9>;\n"
                                 "ld.param.u64 %rd1, [q]; st.global.u64 [%rd1], 0; ret; }\n"));
  job.job.objects[0].origin = abi::Origin::Generated;
  EXPECT_LINKS(linkJob(job));
}

/// A kernel whose constant is its second parameter: k(float *x, long n, float *y), declared as (x, y, n).
constexpr std::string_view kSwapped = ".visible .entry k(.param .u64 x,\n  .param .u64 n,\n  .param .u64 y) {\n"
                                      "  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<2>;\n"
                                      "  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [n]; ld.param.u64 %rd3, [y];\n"
                                      "  setp.lt.s64 %p1, %rd4, %rd2;\n  ld.global.u32 %r1, [%rd1];\n"
                                      "  @%p1 st.global.u32 [%rd3], %r1;\n  ret; }\n";

TEST(CheckAccess, SwappedSlotsAreAnError) {
  abi::Export value = declared();
  value.layout.constants = {abi::Constant::scalar(abi::ElementType::I64)};
  value.layout.constants[0].name = "n";
  Linked linked = linkOne(std::string(kSwapped), value);
  EXPECT_FINDS(linked, "a.ptx:5:15: error: [K-14] 'k' uses parameter 1 as a number, never as an address; the layout "
                       "declares binding 1\n"
                       "job.json:7:3: note: export 'k' is declared here\n"
                       "fix: the layout's slots and the kernel's parameters stand in a different order: list the "
                       "kernel's ('parameters', K-3)\n");
  EXPECT_FINDS(linked, "a.ptx:6:15: error: [K-14] 'k' uses parameter 2 as an address; the layout declares constant 0 "
                       "'n'\njob.json:7:3: note: export 'k' is declared here\na.ptx:11:3: note: used here by "
                       "st.global.u32\n");
  abi::Export right = makeExport("k", 3);
  EXPECT_FINDS(linkOne(std::string(kSwapped), right),
               "warning: [K-14] 'k' uses parameter 1 as a number, never as an address; the layout declares binding 1");
  abi::Export address =
      makeExport("k", 1, {abi::Constant::scalar(abi::ElementType::I64), abi::Constant::scalar(abi::ElementType::I64)});
  EXPECT_FINDS(linkOne(std::string(kSwapped), address),
               "fix: declare a binding: only bindings are buffers that the program keeps alive and in order\n");
}

/// k(long n, struct { float *x; long stride; float *y; float *unused; } p), with x and y as bindings 1 and 0.
Linked linkStruct(std::string_view body, std::vector<abi::ParameterMember> more = {}) {
  abi::Export value = makeExport("k", 2 + more.size(), {abi::Constant::scalar(abi::ElementType::I64)});
  value.layout.bindings[1].readOnly = true;
  value.layout.bindings[1].name = "x";
  std::vector<abi::ParameterMember> members = {{abi::ParameterKind::Binding, 0, 16},
                                               {abi::ParameterKind::Binding, 1, 0}};
  members.insert(members.end(), more.begin(), more.end());
  value.layout.parameters = {abi::DeclaredParameter::constant(0), abi::DeclaredParameter::structOf(32, 8, members)};
  Job job;
  job.job.strict = true;
  job.add(value).object("a.ptx", ptxModule(concat(".visible .entry k(.param .u64 n, .param .align 8 .b8 p[32])\n{\n"
                                                  "  .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
                                                  "  ld.param.u64 %rd1, [p];\n  ld.param.u64 %rd2, [p+16];\n",
                                                  body, "\n  ret;\n}\n")));
  return linkJob(job);
}

TEST(CheckAccess, PointersInAStructAreToldApart) {
  Linked linked = linkStruct("  ld.global.u32 %r1, [%rd1];\n  st.global.u32 [%rd2], %r1;");
  EXPECT_LINKS(linked);
  EXPECT_EQ(verdicts(linked), (std::vector{fb::AccessVerdict::Written, fb::AccessVerdict::ProvedReadOnly}));
  EXPECT_FINDS(linkStruct("  ld.global.u32 %r1, [%rd2];\n  st.global.u32 [%rd1], %r1;"),
               "[K-13] 'k' writes binding 1 'x' (st.global.u32), the layout declares it read-only");
  // Through the struct's address, both pointers at once.
  EXPECT_FINDS(linkStruct("  ld.param.v2.u64 {%rd3, %rd4}, [p];\n  st.global.u32 [%rd3], 7;\n"
                          "  st.global.u32 [%rd2], 7;"),
               "[K-13] 'k' writes binding 1 'x' (st.global.u32), the layout declares it read-only");
}

TEST(CheckAccess, PointersInAStructAreUsedAsAddresses) {
  EXPECT_FINDS(
      linkStruct("  ld.global.u32 %r1, [%rd1];\n  st.global.u32 [%rd2], %r1;", {{abi::ParameterKind::Binding, 2, 24}}),
      "warning: [K-14] 'k' does not use binding 2\n");
  EXPECT_FINDS(linkStruct("  ld.param.u64 %rd3, [p+8];\n  and.b64 %rd4, %rd3, 1;\n  st.global.u64 [%rd2], %rd4;\n"
                          "  ld.global.u32 %r1, [%rd1];",
                          {{abi::ParameterKind::Binding, 2, 8}}),
               "'k' uses byte 8 of parameter 1 as a number, never as an address; the layout declares binding 2\n");
}

// Only the tensor map leads to it: there is no pointer.
TEST(CheckAccess, ABindingMayBeReachedThroughItsMapAlone) {
  abi::Constant map;
  map.kind = abi::ConstantKind::TensorMap;
  map.element = abi::ElementType::F32;
  map.size = 128;
  map.alignment = 64;
  map.map = abi::TensorMap{.box = {8, 16}};
  abi::Export value = makeExport("k", 2, {map});
  value.layout.bindings[0].alignment = 16;
  value.layout.bindings[0].readOnly = true;
  value.layout.parameters = {abi::DeclaredParameter::binding(1), abi::DeclaredParameter::constant(0)};
  auto link = [&](std::string_view body) {
    Job job;
    job.add(value).object("a.ptx",
                          ptxModule(concat(".visible .entry k(.param .u64 q, .param .align 64 .b8 m[128])\n{\n"
                                           "  .reg .b64 %rd<9>; .reg .b32 %r<9>; .shared .b8 s[512];\n"
                                           "  ld.param.u64 %rd1, [q]; mov.u64 %rd2, m; mov.b32 %r1, s;\n"
                                           "  st.global.u32 [%rd1], 7;\n",
                                           body, "\n  ret;\n}\n"),
                                    "sm_90"),
                          "sm_90");
    return linkJob(job);
  };
  EXPECT_EQ(verdicts(link("  ret;")), (std::vector{fb::AccessVerdict::ProvedReadOnly, fb::AccessVerdict::Written}));
  EXPECT_FINDS(link("  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r2, %r3}], [%r1];"),
               "[K-13] 'k' writes binding 0 (cp.async.bulk.tensor");
}

/// A and B are loaded by maps, D is stored by one, in any order, by themselves or in a struct.
TEST(CheckAccess, AStoreThroughAMapWritesTheBindingOfThatMap) {
  constexpr uint32_t a = 0, b = 1, d = 2;
  constexpr std::array<uint32_t, 3> orders[] = {{a, b, d}, {d, b, a}, {b, d, a}};
  for (const std::array<uint32_t, 3> &order : orders)
    for (bool isStruct : {false, true})
      for (bool isKnown : {true, false}) {
        abi::Export value = makeExport("k", 3);
        std::vector<abi::ParameterMember> members;
        std::string head;
        for (uint32_t i = 0; i < 3; ++i) {
          abi::Constant map;
          map.kind = abi::ConstantKind::TensorMap;
          map.element = abi::ElementType::F32;
          map.size = 128;
          map.alignment = 64;
          map.map = abi::TensorMap{.binding = order[i], .box = {8, 16}};
          value.layout.constants.push_back(map);
          value.layout.bindings[i].alignment = 16;
          value.layout.bindings[i].readOnly = i != d;
          members.push_back({.kind = abi::ParameterKind::Constant, .index = i, .offset = 192 * i});
          if (!isStruct)
            value.layout.parameters.push_back(abi::DeclaredParameter::constant(i));
          head += concat(i ? ", " : "", ".param .align 64 .b8 m", order[i], "[128]");
        }
        if (isStruct)
          value.layout.parameters = {abi::DeclaredParameter::structOf(576, 64, members)};
        const auto at = std::ranges::find(order, d) - order.begin();
        Job job;
        job.job.strict = isKnown;
        job.add(value).object(
            "a.ptx",
            ptxModule(concat(".visible .entry k(", isStruct ? ".param .align 64 .b8 s[576]" : head,
                             ")\n{\n  .reg .b64 %rd<9>; .reg .b32 %r<9>; .shared .b8 t[512];\n  mov.u32 %r1, t;\n",
                             "  mov.u32 %r2, 0; mov.b64 %rd1, ", isStruct ? "s" : concat("m", d),
                             "; cvta.param.u64 %rd2, %rd1; mov.u64 %rd4, 0;\n  add.s64 %rd3, %rd2, ",
                             isKnown ? std::to_string(isStruct ? 192 * at : 0) : "%rd4",
                             ";\n  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r2, %r2}], [%r1];",
                             "\n  ret;\n}\n"),
                      "sm_90"),
            "sm_90");
        const Linked linked = linkJob(job);
        if (isKnown) {
          EXPECT_EQ(verdicts(linked), (std::vector{fb::AccessVerdict::ProvedReadOnly, fb::AccessVerdict::ProvedReadOnly,
                                                   fb::AccessVerdict::Written}));
          continue;
        }
        for (uint32_t binding : {a, b})
          EXPECT_FINDS(linked, concat("[K-13] cannot prove that 'k' does not write binding ", binding,
                                      ", which the layout declares read-only: the tensor map that "
                                      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group stores through may lead "
                                      "to it"));
      }
}

TEST(CheckAccess, WideAccessesNeedTheirAlignment) {
  constexpr std::string_view wide = "  ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n  st.global.f32 [%rd2], %f1;";
  EXPECT_FINDS(linkBody(wide), "a.ptx:9:3: warning: [K-14] 'k' accesses binding 0 'x' 16 bytes at a time "
                               "(ld.global.v4.f32), the layout promises the alignment of its element alone\n");
  EXPECT_FINDS(linkBody(wide, declared(true, 4)), "the layout promises alignment 4\n");
  EXPECT_FINDS(
      linkBody(wide),
      "fix: declare alignment 16 on binding 0: \"alignment\": 16; or test the pointer's low bits and take a narrow");
  EXPECT_LINKS(linkBody(wide, declared(true, 16)));
  EXPECT_LINKS(linkBody(concat("  and.b64 %rd3, %rd1, 15;\n  setp.ne.s64 %p1, %rd3, 0;\n  @%p1 ret;\n", wide)));
  EXPECT_LINKS(linkBody("  ld.global.v2.f32 {%f1,%f2}, [%rd1];\n  st.global.f32 [%rd2], %f1;"));
}

TEST(CheckAccess, WhatIsWrittenIsNotReadThroughTheReadOnlyCache) {
  Linked linked = linkBody("  ld.global.nc.f32 %f1, [%rd2];\n  st.global.f32 [%rd2+4], %f1;\n  ld.global.nc.f32 %f2, "
                           "[%rd1];");
  EXPECT_FINDS(linked, "a.ptx:9:3: warning: [K-14] 'k' reads binding 1 through the read-only cache (ld.global.nc.f32) "
                       "and the kernel writes it: the read may miss the write\n");
  EXPECT_FINDS(linked, "a.ptx:10:3: note: written here by st.global.f32\n");
  EXPECT_EQ(linked.diagnostics.items().size(), 1u);
}

TEST(CheckAccess, IsSilentWhereTheParametersDoNotMatch) {
  Linked linked = linkOne(entry("k", "ppp", "", "  st.global.u32 [%rd1], 1;\n"), declared());
  EXPECT_FINDS(linked, "[K-11]");
  EXPECT_FALSE(linked.has("[K-13]"));
}

} // namespace
} // namespace tenon::linker
