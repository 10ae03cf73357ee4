// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

const std::string kDynamic = ".extern .shared .align 16 .b8 smem[];\n";
const std::string kUse = "  .reg .b32 %r;\n  ld.shared.b32 %r, [smem];\n";

TEST(CheckSharedMemory, StaticBytesStayWithinTheLimit) {
  EXPECT_LINKS(linkOne(entry("k", "p", "", "  .shared .align 4 .b8 tile[49152];\n"), makeExport("k", 1)));
  EXPECT_FINDS(linkOne(entry("k", "p", "", "  .shared .align 4 .b8 tile[49156];\n"), makeExport("k", 1)),
               "a.ptx:4:17: error: [K-9] 'k' reaches 49156 bytes of static shared memory, at most 49152 are allowed\n"
               "a.ptx:6:24: note: 'tile': 49156 bytes\n");
}

TEST(CheckSharedMemory, CountsWhatAFunctionBrings) {
  EXPECT_FINDS(linkOne(".func f() { .shared .align 4 .b8 a[30000]; ret; }\n" +
                           entry("k", "p", "", "  .shared .align 4 .b8 b[30000];\n  call f;\n"),
                       makeExport("k", 1)),
               "reaches 60000 bytes");
}

TEST(CheckSharedMemory, DynamicSharedMemoryMustBeDeclared) {
  abi::Export declared = makeExport("k", 1);
  EXPECT_FINDS(
      linkOne(kDynamic + entry("k", "p", "", kUse), declared),
      "a.ptx:4:31: error: [K-9] 'k' reaches 'smem' (extern __shared__), the export declares no dynamic shared memory");
  declared.launch.dynamicSharedBytes = 1024;
  EXPECT_LINKS(linkOne(kDynamic + entry("k", "p", "", kUse), declared));
  EXPECT_LINKS(linkOne(kDynamic + entry("k", "p"), makeExport("k", 1)));
}

TEST(CheckSharedMemory, FactsAreStored) {
  abi::Export declared = makeExport("k", 1);
  declared.launch.dynamicSharedBytes = 1024;
  Linked linked = linkOne(
      kDynamic + entry("k", "p", ".maxntid 64, 2 .minnctapersm 1", "  .shared .align 4 .b8 tile[100];\n" + kUse),
      declared);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  const abi::fb::KernelFacts &facts = *executable.findKernel(0, 0)->facts();
  EXPECT_EQ(facts.static_shared_bytes(), 112u); // dynamic shared memory begins at a multiple of 16
  EXPECT_TRUE(facts.uses_dynamic_shared());
  ASSERT_NE(facts.max_threads(), nullptr);
  EXPECT_EQ(facts.max_threads()->Get(1), 2u);
  EXPECT_EQ(facts.required_threads(), nullptr);
}

} // namespace
} // namespace tenon::linker
