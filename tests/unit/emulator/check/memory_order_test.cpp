// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/memory_order.h"

#include "ptx/parse/parser.h"
#include "support/diagnostics.h"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

MemoryOrder orderOf(const std::string &instruction) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n" +
      instruction + "\n}\n";
  Diagnostics diagnostics;
  ptx::Module module = ptx::parse(std::make_shared<SourceFile>("k.ptx", text), diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
  return memoryOrderOf(module.functions[0].instructions[0]);
}

TEST(MemoryOrder, PlainAccessesAreWeak) {
  MemoryOrder order = orderOf("ld.global.u32 %r0, [%rd0];");
  EXPECT_FALSE(order.strong || order.acquire || order.release || order.isFence || order.readModifyWrite);
}

TEST(MemoryOrder, VolatileAndAtomicsAreStrong) {
  EXPECT_TRUE(orderOf("ld.volatile.global.u32 %r0, [%rd0];").strong);
  EXPECT_TRUE(orderOf("st.relaxed.gpu.global.u32 [%rd0], %r0;").strong);
  MemoryOrder atom = orderOf("atom.global.add.u32 %r0, [%rd0], %r1;");
  EXPECT_TRUE(atom.strong && atom.readModifyWrite && !atom.acquire && !atom.release && atom.wide);
  MemoryOrder both = orderOf("atom.acq_rel.cta.global.add.u32 %r0, [%rd0], %r1;");
  EXPECT_TRUE(both.acquire && both.release && !both.wide);
  EXPECT_TRUE(orderOf("ld.acquire.gpu.global.u32 %r0, [%rd0];").acquire);
  EXPECT_TRUE(orderOf("st.release.gpu.global.u32 [%rd0], %r0;").release);
}

TEST(MemoryOrder, FencesSayHowFarTheyReach) {
  EXPECT_TRUE(orderOf("membar.gl;").isFence && orderOf("membar.gl;").wide);
  EXPECT_FALSE(orderOf("membar.cta;").wide);
  EXPECT_TRUE(orderOf("fence.acq_rel.gpu;").acquire && orderOf("fence.acq_rel.gpu;").release);
  EXPECT_FALSE(orderOf("fence.proxy.async;").isFence);
}

TEST(MemoryOrder, AsynchronousCopiesComeLater) {
  EXPECT_TRUE(orderOf("cp.async.ca.shared.global [%r0], [%rd0], 4;").asynchronous);
  EXPECT_FALSE(orderOf("cp.async.mbarrier.arrive.shared.b64 [%r0];").asynchronous);
}

} // namespace
} // namespace tenon::emulator
