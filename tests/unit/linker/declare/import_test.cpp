// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/import.h"

#include "tests/unit/linker/declare_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

struct Draft {
  std::string text;
  std::string findings;
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
  bool finds(std::string_view part) const { return findings.find(part) != std::string::npos; }
};

Draft draft(std::string body, ImportOptions options = {}, std::string_view target = "sm_80") {
  LinkJob job{.name = "test"};
  job.objects.push_back(objectOf(std::move(body), target));
  Diagnostics diagnostics;
  Draft result;
  result.text = draftManifest(job, options, diagnostics);
  result.findings = diagnostics.toString();
  return result;
}

/// A draft is a manifest: it reads, and with its objects it links.
void expectLinks(const Draft &draft, std::string body, std::string_view target = "sm_80") {
  Diagnostics diagnostics;
  std::string text = draft.text;
  ASSERT_NE(text.find("\"a.ptx\""), std::string::npos) << text;
  // The object is not a file here: it is added by hand.
  text.erase(text.find("    {\"path\""), text.find("\n  ]\n}") - text.find("    {\"path\""));
  LinkJob job = readManifest("draft.json", text, {}, diagnostics);
  ASSERT_EQ(diagnostics.toString(), "") << draft.text;
  job.objects.push_back(objectOf(std::move(body), target));
  Linked linked = linkJob(job);
  EXPECT_FALSE(linked.diagnostics.hasErrors()) << draft.text << linked.text();
}

// As nvcc prints it for sm_80: no .ptr.
constexpr std::string_view kSaxpy =
    R"(.visible .entry saxpy(.param .u64 p0, .param .u64 p1, .param .f32 p2, .param .u32 p3)
.maxntid 256, 1, 1
{
  .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.f32 %f1, [p2]; ld.param.u32 %r1, [p3];
  cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6]; st.global.f32 [%rd7], %f2;
  ret;
}
)";

TEST(Import, TellsPointersFromScalarsAndReadsFromWrites) {
  Draft result = draft(std::string(kSaxpy));
  EXPECT_TRUE(result.has("\"launch\": {\"workgroup_size\": [256]}")) << result.text;
  EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true}, {}]")) << result.text;
  EXPECT_TRUE(result.has("\"constants\": [{\"element\": \"F32\"}, {\"element\": \"I32\"}]")) << result.text;
  EXPECT_TRUE(result.has("{\"path\": \"a.ptx\", \"target\": \"sm_80\"}")) << result.text;
  EXPECT_EQ(result.findings,
            "a.ptx:4:17: warning: draft of 'saxpy': it takes up to 256x1x1 threads (.maxntid): drafted "
            "as its workgroup_size\n");
  EXPECT_TRUE(result.has("    // unsure: it takes up to 256x1x1 threads")) << result.text;
  expectLinks(result, std::string(kSaxpy));
}

TEST(Import, FollowsPointersIntoDeviceFunctions) {
  const std::string body =
      ".func write(.param .b64 f0) { .reg .b64 %r<2>; .reg .b32 %w<2>; ld.param.b64 %r1, [f0];\n"
      "  st.u32 [%r1], 0; ret; }\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n) .reqntid 64\n"
      "{ .reg .b64 %r<6>; .reg .b32 %w<4>;\n"
      "  ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b]; ld.param.u64 %r3, [n];\n"
      "  cvta.to.global.u64 %r4, %r1; add.s64 %r5, %r4, %r3; ld.global.v4.u32 {%w1, _, _, _}, [%r5];\n"
      "  { .param .b64 p; st.param.b64 [p], %r2; call write, (p); }\n"
      "  ret; }\n";
  Draft result = draft(body);
  EXPECT_EQ(result.findings,
            "a.ptx:6:61: warning: draft of 'k': parameter 2 makes an address together with another one: "
            "drafted as i64\n");
  EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true, \"alignment\": 16}, {}]")) << result.text;
  EXPECT_TRUE(result.has("\"constants\": [{\"element\": \"I64\"}]")) << result.text;
  expectLinks(result, body);
}

TEST(Import, SaysWhereItCannotTellWhatIsWritten) {
  const std::string body =
      ".visible .entry k(.param .u64 .ptr .global .align 8 a, .param .u64 .ptr .global .align 4 b)\n"
      ".reqntid 64 { .reg .b64 %r<3>; ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b];\n"
      "  st.global.u64 [%r1], %r2; ret; }\n";
  Draft result = draft(body);
  EXPECT_TRUE(result.finds("it cannot be told whether parameter 1 is written: drafted as a binding that is"))
      << result.findings;
  expectLinks(result, body);
}

TEST(Import, TakesPtrAndReqntidAtTheirWord) {
  const std::string body = ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .b32 n)\n"
                           ".reqntid 8, 4\n{ ret; }\n";
  Draft result = draft(body, {}, "sm_100");
  EXPECT_TRUE(result.has("\"workgroup_size\": [8, 4]")) << result.text;
  EXPECT_TRUE(result.has("\"bindings\": [{\"alignment\": 16}]")) << result.text;
  EXPECT_TRUE(result.finds("parameter 0 is not used: drafted as a binding\n")) << result.findings;
}

TEST(Import, GuessesAndSaysSo) {
  const std::string body = ".extern .shared .align 16 .b8 s[];\n"
                           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .align 2 .b8 h[2],\n"
                           "  .param .align 64 .b8 m[128], .param .align 8 .b8 t[24])\n"
                           "{ .reg .b64 %r<4>; .reg .b32 %w;\n"
                           "  ld.param.u64 %r1, [b]; ld.global.u32 %w, [%r1]; st.shared.u32 [s], %w; ret; }\n";
  Draft result = draft(body, {}, "sm_90");
  EXPECT_TRUE(
      result.finds("a.ptx:5:17: warning: draft of 'k': its workgroup_size is not in the object: drafted as [128]"))
      << result.findings;
  EXPECT_TRUE(result.finds("parameter 0 is not used: drafted as a binding; it may be an i64")) << result.findings;
  EXPECT_TRUE(result.finds("parameter 2 is not used: drafted as i64; it may be a pointer")) << result.findings;
  EXPECT_TRUE(result.finds("parameter 3 has 2 bytes of no type: drafted as f16")) << result.findings;
  EXPECT_TRUE(result.finds("parameter 4 has the size and alignment of a tensor map")) << result.findings;
  EXPECT_TRUE(
      result.finds("with this workgroup_size its addresses stay within 16 bytes of dynamic shared memory: drafted "
                   "so"))
      << result.findings;
  EXPECT_TRUE(result.has("{\"kind\": \"Struct\", \"size\": 24, \"alignment\": 8}")) << result.text;
  expectLinks(result, body, "sm_90");
}

TEST(Import, DraftsScratchPointersAsHidden) {
  const std::string body = ".visible .entry k(.param .u64 .ptr .global .align 1 a, .param .u32 n,\n"
                           "  .param .u64 .ptr .global .align 1 g, .param .u64 .ptr .global .align 1 p)\n"
                           ".reqntid 128\n{ .reg .b64 %r<2>; .reg .b32 %w; ld.param.u64 %r1, [a];\n"
                           "  ld.global.u32 %w, [%r1]; ret; }\n";
  Draft result = draft(body);
  EXPECT_TRUE(result.has("\"hidden_pointers\": 2")) << result.text;
  EXPECT_TRUE(result.finds("the last 2 parameters are pointers that it does not use")) << result.findings;
  expectLinks(result, body);
}

TEST(Import, DraftsAnyOrder) {
  const std::string body = ".visible .entry k(.param .u32 n, .param .u64 a, .param .f32 f, .param .u64 b)\n"
                           ".reqntid 64 { .reg .b64 %r<3>; .reg .b32 %w<2>; .reg .f32 %f;\n"
                           "  ld.param.u32 %w1, [n]; ld.param.f32 %f, [f]; ld.param.u64 %r1, [a];\n"
                           "  ld.param.u64 %r2, [b]; ld.global.u32 %w1, [%r1]; st.global.u32 [%r2], %w1; ret; }\n";
  Draft result = draft(body);
  EXPECT_EQ(result.findings, "");
  EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true}, {}]")) << result.text;
  EXPECT_TRUE(result.has("\"constants\": [{\"element\": \"I32\"}, {\"element\": \"F32\"}]")) << result.text;
  EXPECT_TRUE(result.has("\"parameters\": [{\"constant\": 0}, {\"binding\": 0}, {\"constant\": 1}, {\"binding\": 1}]"))
      << result.text;
  expectLinks(result, body);
}

// What a number is added to is the pointer, wherever it stands; of two that are never apart the first one is taken.
TEST(Import, TellsAnOffsetFromAPointer) {
  const std::string body = ".visible .entry k(.param .u64 step, .param .u64 a, .param .u64 p, .param .u64 q)\n"
                           ".reqntid 64 { .reg .b64 %r<7>;\n"
                           "  ld.param.u64 %r1, [step]; ld.param.u64 %r2, [a]; ld.param.u64 %r3, [p];\n"
                           "  ld.param.u64 %r4, [q]; add.s64 %r5, %r2, %r1; ld.global.u64 %r6, [%r2];\n"
                           "  ld.global.u64 %r6, [%r5]; add.s64 %r5, %r3, %r4; st.global.u64 [%r5], %r6; ret; }\n";
  Draft result = draft(body);
  EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true}, {}]")) << result.text;
  EXPECT_TRUE(result.has("\"parameters\": [{\"constant\": 0}, {\"binding\": 0}, {\"binding\": 1}, {\"constant\": 1}]"))
      << result.text;
  EXPECT_TRUE(result.finds("parameter 0 makes an address together with another one: drafted as i64"))
      << result.findings;
  expectLinks(result, body);
}

TEST(Import, FindsPointersInStructs) {
  const std::string body =
      ".visible .entry k(.param .align 8 .b8 s[32], .param .u64 p, .param .align 8 .b8 t[16])\n"
      ".reqntid 64 { .reg .b64 %r<9>; .reg .b32 %w<3>;\n"
      "  ld.param.u64 %r1, [s+8]; ld.param.v2.u32 {%w1, %w2}, [s+16]; ld.param.u64 %r2, [s+24];\n"
      "  ld.global.u32 %w1, [%r1]; ld.param.u64 %r3, [p]; mul.lo.s64 %r2, %r2, 4; add.s64 %r3, %r3, %r2;\n"
      "  st.global.u32 [%r3], %w1;\n"
      "  ld.param.v2.b64 {%r5, %r6}, [t]; ld.global.v4.u32 {%w1, _, _, _}, [%r5];\n"
      "  st.global.u32 [%r6], %w1; ret; }\n";
  Draft result = draft(body);
  EXPECT_EQ(result.findings, "");
  EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true}, {}, {\"read_only\": true, \"alignment\": 16}, {}]"))
      << result.text;
  EXPECT_TRUE(result.has("\"constants\": [{\"kind\": \"Struct\", \"size\": 32, \"alignment\": 8}]")) << result.text;
  // Of t nothing is left that a caller could pass.
  EXPECT_TRUE(result.has("\"parameters\": [{\"constant\": 0, \"members\": [{\"offset\": 8, \"binding\": 0}]}, "
                         "{\"binding\": 1}, {\"size\": 16, \"alignment\": 8, \"members\": [{\"offset\": 0, "
                         "\"binding\": 2}, {\"offset\": 8, \"binding\": 3}]}]"))
      << result.text;
  expectLinks(result, body);
}

TEST(Import, SaysWhichPointerOfAStructItCannotTellOf) {
  const std::string body = ".visible .entry k(.param .align 8 .b8 s[16], .param .u32 n)\n"
                           ".reqntid 64 { .reg .b64 %r<4>; .reg .b32 %w; .reg .pred %p;\n"
                           "  ld.param.u64 %r1, [s]; ld.param.u64 %r2, [s+8]; ld.global.u32 %w, [%r1];\n"
                           "  ld.global.u32 %w, [%r2]; setp.eq.u32 %p, %w, 0; selp.b64 %r3, %r1, %r2, %p;\n"
                           "  st.global.u32 [%r3], 1; ret; }\n";
  Draft result = draft(body);
  EXPECT_TRUE(result.finds("it cannot be told whether the pointer at byte 8 of parameter 0 is written: drafted as a "
                           "binding that is"))
      << result.findings;
  expectLinks(result, body);
}

// Vectors and cp.async through a pointer that is one of two.
TEST(Import, FindsTheAlignmentOfMergedAddresses) {
  const std::string body = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) .reqntid 64\n"
                           "{ .reg .b64 %r<6>; .reg .b32 %w<3>; .reg .pred %p; .shared .align 16 .b8 s[16];\n"
                           "  ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b]; ld.param.u64 %r3, [c];\n"
                           "  ld.global.u32 %w1, [%r1]; ld.global.u32 %w2, [%r2]; setp.eq.u32 %p, %w1, %w2;\n"
                           "  selp.b64 %r4, %r1, %r2, %p; ld.global.v4.u32 {%w1, _, _, _}, [%r4];\n"
                           "  mov.u32 %w1, s; cp.async.cg.shared.global [%w1], [%r3], 16; ret; }\n";
  Draft result = draft(body);
  const std::string aligned = "{\"read_only\": true, \"alignment\": 16}";
  EXPECT_TRUE(result.has(concat("\"bindings\": [", aligned, ", ", aligned, ", ", aligned, "]"))) << result.text;
  expectLinks(result, body);
}

TEST(Import, GuessesThreadsByTheDimensionsThatAreRead) {
  auto body = [](std::string_view registers, std::string_view bound) {
    return concat(".visible .entry k(.param .u64 a) ", bound, " { .reg .b64 %r; .reg .b32 %w;\n",
                  "  ld.param.u64 %r, [a]; mov.u32 %w, ", registers, "; st.global.u32 [%r], %w; ret; }\n");
  };
  Draft flat = draft(body("%tid.x", "")), square = draft(body("%ntid.y", "")), cube = draft(body("%tid.z", ""));
  EXPECT_TRUE(flat.finds("drafted as [128]\n")) << flat.findings;
  EXPECT_TRUE(square.finds("drafted as [16, 8], since it reads %tid.y")) << square.findings;
  EXPECT_TRUE(square.has("\"workgroup_size\": [16, 8]")) << square.text;
  EXPECT_TRUE(cube.finds("drafted as [8, 4, 4], since it reads %tid.z")) << cube.findings;
  Draft bounded = draft(body("%tid.y", ".maxntid 256, 1, 1"));
  EXPECT_TRUE(bounded.finds("drafted as its workgroup_size; it reads %tid.y, so it may be two-dimensional"))
      << bounded.findings;
  expectLinks(cube, body("%tid.z", ""));
}

TEST(Import, DraftsGridsThatWaitAsCooperative) {
  const std::string body = ".visible .entry k(.param .u64 a) .reqntid 64 { .reg .b64 %r; .reg .b32 %w;\n"
                           "  ld.param.u64 %r, [a]; mov.u32 %w, %envreg2; st.global.u32 [%r], %w; ret; }\n";
  Draft result = draft(body);
  EXPECT_TRUE(result.has("\"cooperative\": true")) << result.text;
  EXPECT_TRUE(result.finds("it reads %envreg1 or %envreg2, as a grid that waits for all of its blocks does: drafted as "
                           "cooperative"))
      << result.findings;
  expectLinks(result, body);
}

TEST(Import, SaysWhereSharedMemoryHasNoLimit) {
  const std::string body =
      ".extern .shared .align 16 .b8 s[];\n"
      ".visible .entry k(.param .u64 a, .param .u32 n) .reqntid 64 { .reg .b64 %r; .reg .b32 %w<3>;\n"
      "  ld.param.u64 %r, [a]; ld.param.u32 %w1, [n]; mov.u32 %w2, s; add.s32 %w2, %w2, %w1;\n"
      "  ld.shared.u32 %w1, [%w2]; st.global.u32 [%r], %w1; ret; }\n";
  Draft result = draft(body);
  EXPECT_TRUE(result.finds("it uses dynamic shared memory, the object does not tell how much: drafted as 1024 bytes"))
      << result.findings;
  expectLinks(result, body);
}

// Two pointers behind pointers: Triton appends such to every kernel, and writes them like this.
TEST(Import, KnowsTritonsScratchPointersBehindPointers) {
  auto body = [](std::string_view threads, std::string_view space) {
    return concat(".visible .entry k(.param .u64 .ptr .global .align 1 a, .param .u64 .ptr", space, " .align 1 g,\n",
                  "  .param .u64 .ptr", space, " .align 1 p) ", threads, "\n{ .reg .b64 %r; .reg .b32 %w;\n",
                  "  ld.param.u64 %r, [a]; ld.global.u32 %w, [%r]; ret; }\n");
  };
  Draft triton = draft(body(".reqntid 128", " .global"));
  EXPECT_TRUE(triton.has("\"hidden_pointers\": 2")) << triton.text;
  EXPECT_TRUE(triton.has("\"bindings\": [{\"read_only\": true}]")) << triton.text;
  expectLinks(triton, body(".reqntid 128", " .global"));
  EXPECT_FALSE(draft(body(".reqntid 128", "")).has("hidden_pointers"));
  EXPECT_FALSE(draft(body(".maxntid 128", " .global")).has("hidden_pointers"));
}

TEST(Import, LeavesOutWhatItCannotDeclare) {
  const std::string bad = ".visible .entry texture(.param .u64 t) { .reg .b64 %r; .reg .f32 %f<4>; .reg .b32 %w;\n"
                          "  ld.param.u64 %r, [t]; mov.u32 %w, 0;\n"
                          "  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%r, {%w}]; ret; }\n"
                          ".visible .entry clusters() .reqntid 64 .reqnctapercluster 2 .blocksareclusters { ret; }\n";
  Draft result = draft(bad + entry("k", "p"), {}, "sm_90");
  EXPECT_TRUE(
      result.finds("a.ptx:6:3: warning: [K-19] 'texture' uses a texture ('tex.1d.v4.f32.s32'), a dispatch passes "
                   "buffers and scalars; it is left out\nfix: read the data through a pointer"))
      << result.findings;
  EXPECT_TRUE(result.finds("warning: [K-8] 'clusters' has .blocksareclusters, which is not supported; it is left out"))
      << result.findings;
  EXPECT_FALSE(result.has("texture\"")) << result.text;
  expectLinks(result, bad + entry("k", "p"), "sm_90");
  EXPECT_TRUE(draft(bad + entry("k", "p"), {.kernels = {"texture"}, .folder = {}}, "sm_90").finds("error: [K-19]"));
}

// More than 32 bits count.
TEST(Import, LeavesOutWhatATargetLacks) {
  const std::string all = ".visible .entry k() .reqntid 32 { ret; }\n";
  const auto drafted = [&](std::string more, ImportOptions options) {
    LinkJob job{.name = "test"};
    job.objects.push_back(objectOf(all, "sm_80"));
    job.objects.push_back(objectOf(all, "sm_90", "b.ptx"));
    job.objects.push_back(objectOf(std::move(more), "sm_90", "c.ptx"));
    Diagnostics diagnostics;
    Draft result;
    result.text = draftManifest(job, options, diagnostics);
    result.findings = diagnostics.toString();
    return result;
  };
  const std::string newer = ".weak .entry of_sm_90() .reqntid 32 { ret; }\n";
  Draft result = drafted(newer, {});
  EXPECT_TRUE(result.has("\"name\": \"k\"")) << result.text;
  EXPECT_FALSE(result.has("of_sm_90")) << result.text;
  EXPECT_EQ(result.findings, "c.ptx:4:14: warning: [K-2] 'of_sm_90' is in no object for 'sm_80'; it is left out\n"
                             "fix: draft the targets that have it by themselves\n");
  EXPECT_TRUE(drafted(newer, {.kernels = {"of_sm_90"}}).finds("error: [K-2] 'of_sm_90' is in no object for 'sm_80'\n"));
}

TEST(Import, RefusesParametersThatNoKernelTakes) {
  const Draft result = draft(".visible .entry k(.param .align 8 .b8 s[4294967304]) { ret; }\n");
  EXPECT_TRUE(
      result.finds("a.ptx:4:39: error: [K-5] parameter 0 of 'k' has 4294967304 bytes, a kernel takes at most 32764 "
                   "bytes of parameters\nfix: pass the data through a buffer"))
      << result.findings;
}

// Its address is taken, as a tensor map's is; that makes it no pointer.
TEST(Import, TakesAggregatesForConstants) {
  const std::string body = ".visible .entry k(.param .u64 a, .param .align 64 .b8 m[128]) .reqntid 32\n"
                           "{ .reg .b64 %r<4>; .reg .b32 %w; ld.param.u64 %r1, [a]; mov.b64 %r2, m;\n"
                           "  cvta.param.u64 %r3, %r2; prefetch.tensormap [%r3]; st.global.u32 [%r1], 1; ret; }\n";
  Draft result = draft(body, {}, "sm_90");
  EXPECT_TRUE(result.has("\"bindings\": [{}],")) << result.text << result.findings;
  EXPECT_TRUE(result.has("\"constants\": [{\"kind\": \"TensorMap\"}]")) << result.text;
}

TEST(Import, TakesWhatIsWiderThanAWordForBytes) {
  const std::string body = ".visible .entry k(.param .u64 a, .param .b128 w, .param .b128 p) .reqntid 32\n"
                           "{ .reg .b64 %r<6>; ld.param.u64 %r1, [a]; ld.param.b64 %r2, [w]; ld.param.b64 %r3, [w+8];\n"
                           "  ld.param.b64 %r4, [p+8]; st.global.u64 [%r1], %r2; st.global.u64 [%r1+8], %r3;\n"
                           "  st.global.u64 [%r4], %r2; ret; }\n";
  Draft result = draft(body, {}, "sm_90");
  EXPECT_TRUE(result.has("\"constants\": [{\"kind\": \"Struct\", \"size\": 16, \"alignment\": 16}")) << result.text;
  expectLinks(result, body, "sm_90");
}

// Where a map leads that the caller passes is the caller's business: what else the kernel takes is proved beside it.
TEST(Import, DraftsInputsBesideAStoreThroughAMap) {
  const std::string store = "  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%r3, {%w1}], [t]; ret; }\n";
  const std::string head = " .reqntid 32 { .reg .b64 %r<4>; .reg .b32 %w<3>; .shared .align 128 .b8 t[128];\n"
                           "  ld.param.u64 %r1, [a]; ld.global.u32 %w1, [%r1]; st.shared.u32 [t], %w1;\n"
                           "  mov.b64 %r2, m; cvta.param.u64 %r3, %r2; mov.u32 %w1, 0;\n";
  for (std::string_view parameters :
       {".param .u64 a, .param .align 64 .b8 m[128]", ".param .align 64 .b8 m[128], .param .u64 a"}) {
    const std::string body = concat(".visible .entry k(", parameters, ")", head, store);
    Draft result = draft(body, {}, "sm_90");
    EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true}],")) << result.text << result.findings;
    expectLinks(result, body, "sm_90");
  }
}

TEST(Import, TakesRecordsAsTheyAre) {
  const std::string body = recordOf("k", kRecordOfPw) + entry("k", "pw");
  Draft result = draft(body);
  EXPECT_EQ(result.findings, "");
  EXPECT_TRUE(result.has("// as its record in the object says")) << result.text;
  EXPECT_TRUE(result.has("\"signature\": [\"const float *\", \"int\"]")) << result.text;
  expectLinks(result, body);
}

TEST(Import, NamesMangledKernelsAsTheirAuthorDid) {
  const std::string body = entry("_Z3onePf", "p") + entry("_Z3twoPf", "p") + entry("_Z3twoPd", "p");
  Draft result = draft(body);
  EXPECT_TRUE(result.has("{\"name\": \"one\", \"symbol\": \"_Z3onePf\"")) << result.text;
  EXPECT_TRUE(result.has("{\"name\": \"_Z3twoPf\",")) << result.text;
  expectLinks(result, body);
}

TEST(Import, TakesTheKernelsAskedFor) {
  const std::string body = entry("_Z3onePf", "p") + entry("two", "p");
  EXPECT_FALSE(draft(body, {.kernels = {"one"}, .folder = {}}).has("two"));
  Draft missing = draft(body, {.kernels = {"twoo"}, .folder = {}});
  EXPECT_EQ(missing.text, "");
  EXPECT_EQ(missing.findings, "a.ptx: error: [K-2] there is no kernel 'twoo'\nfix: did you mean 'two'?\n");
}

TEST(Import, RefusesObjectsWithoutKernels) {
  EXPECT_TRUE(draft("").finds("a.ptx: error: [K-2] there is no kernel to declare\nfix: give the object in which the "
                              "kernel (.entry) has its body"));
  LinkJob job{.name = "test"};
  job.objects.push_back({.path = "k.cu",
                         .bytes = "extern \"C\" __global__ void k() {}",
                         .target = *abi::parseTargetArch("sm_80"),
                         .variantName = {},
                         .declaredAt = {},
                         .provides = {}});
  Diagnostics diagnostics;
  EXPECT_EQ(draftManifest(job, {}, diagnostics), "");
  EXPECT_NE(diagnostics.toString().find("k.cu: error: [K-1] the object is C++ source"), std::string::npos);
}

// A link takes them apart, a draft does not: it says so, and how to get at what it reads.
TEST(Import, SaysHowToDraftWhatAContainerHolds) {
  LinkJob job{.name = "test"};
  job.objects.push_back(objectOf(""));
  job.objects.back().bytes = std::string("!<arch>\nlibkernels.a");
  Diagnostics diagnostics;
  EXPECT_EQ(draftManifest(job, {}, diagnostics), "");
  EXPECT_EQ(diagnostics.toString(),
            "a.ptx: error: [K-1] the object is an archive, a draft is made of PTX\n"
            "fix: give the PTX that it was made of (nvcc -ptx), or that is in it (cuobjdump -xptx all FILE); the "
            "manifest may name this object then\n");
}

TEST(Import, WritesPathsFromTheManifestsFolder) {
  EXPECT_TRUE(draft(entry("k", "p"), {.kernels = {}, .folder = "out/"}).has("\"../a.ptx\""));
  EXPECT_TRUE(draft(entry("k", "p"), {.kernels = {}, .folder = "/"}).has("/a.ptx\""));
  EXPECT_TRUE(draft(entry("k", "p"), {.kernels = {}, .folder = "../out/"}).has("/a.ptx\""));
}

TEST(Import, DraftsATableOfPointersWithANote) {
  const std::string body = R"(.visible .entry pick(.param .align 8 .b8 t[40], .param .u64 out)
{
  .reg .b64 %rd<9>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r3, [t+32]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 8;
  mov.b64 %rd3, t; add.s64 %rd4, %rd3, %rd2; ld.param.u64 %rd5, [%rd4]; ld.global.u32 %r2, [%rd5];
  add.u32 %r2, %r2, %r3; st.global.u32 [%rd1], %r2;
  ret;
}
)";
  Draft result = draft(body);
  EXPECT_TRUE(result.has("\"bindings\": [{\"read_only\": true}, {\"read_only\": true}, {\"read_only\": true}, "
                         "{\"read_only\": true}, {}]"))
      << result.text;
  EXPECT_TRUE(result.has("{\"offset\": 24, \"binding\": 3}")) << result.text;
  EXPECT_TRUE(result.finds("warning: draft of 'pick': parameter 0 is read at places that the kernel computes"))
      << result.findings;
  expectLinks(result, body);
}

} // namespace
} // namespace tenon::linker
