// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

const std::string kTexture = "  .reg .b32 r<9>;\n  .reg .b64 rd<9>;\n  ld.param.u64 rd1, [k_param_0];\n"
                             "  tex.1d.v4.s32.s32 {r1, r2, r3, r4}, [rd1, {r5}];\n";

TEST(CheckHandles, ATextureIsRefusedByItsInstruction) {
  EXPECT_FINDS(
      linkOne(entry("k", "p", "", kTexture), makeExport("k", 0, {abi::Constant::scalar(abi::ElementType::I64)})),
      "a.ptx:9:3: error: [K-19] 'k' uses a texture ('tex.1d.v4.s32.s32'), a dispatch passes buffers and "
      "scalars\njob.json:7:3: note: export 'k' is declared here\nfix: read the data through a pointer");
}

TEST(CheckHandles, ASurfaceIsFoundInAFunction) {
  const std::string helper = ".func f() {\n  .reg .b32 r<3>;\n  .reg .b64 rd<2>;\n"
                             "  sust.b.1d.b32.trap [rd1, {r1}], {r2};\n  ret;\n}\n";
  EXPECT_FINDS(linkOne(helper + entry("k", "p", "", "  call f;\n"), makeExport("k", 1)),
               "[K-19] 'f', which 'k' reaches, uses a surface ('sust.b.1d.b32.trap')");
}

TEST(CheckHandles, AKernelThatIsNoExportMayUseTextures) {
  EXPECT_LINKS(linkOne(entry("k", "p") + entry("other", "p", "",
                                               "  .reg .b32 r<9>;\n  .reg .b64 rd<9>;\n"
                                               "  tex.1d.v4.s32.s32 {r1, r2, r3, r4}, [rd1, {r5}];\n"),
                       makeExport("k", 1)));
}

} // namespace
} // namespace tenon::linker
