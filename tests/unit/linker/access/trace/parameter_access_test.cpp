// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/module_tracer.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// One letter for each finding of each parameter: a base of an address alone, m with another parameter, f float.
std::string uses(std::string_view parameters, std::string_view body) {
  std::string text = ptxModule(concat(".visible .entry k(", parameters,
                                      ")\n{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n", body, " ret; }\n"));
  Diagnostics diagnostics;
  ptx::Module module = ptx::parse(std::make_shared<SourceFile>("a.ptx", text), diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  std::string out;
  const ptx::Function &kernel = module.functions.front();
  const KernelTrace trace = ModuleTracer(module).trace(kernel, std::vector<bool>(kernel.parameters.size()));
  for (const SlotAccess &access : trace.slots)
    out += concat(access.soleBase ? "a" : "", access.jointBase ? "m" : "", access.loadedAsFloat ? "f" : "", ' ');
  return out;
}

constexpr std::string_view kTwo = ".param .u64 a, .param .u64 b";
constexpr std::string_view kLoad = "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];";

TEST(ParameterAccess, FollowsRegistersToMemory) {
  EXPECT_EQ(
      uses(kTwo, concat(kLoad, "cvta.to.global.u64 %rd3, %rd1; add.s64 %rd4, %rd3, 16; ld.global.v4.f32 {%f1, %f2, "
                               "%f3, %f4}, [%rd4]; st.global.f32 [%rd2+4], %f1;")),
      "a a ");
}

TEST(ParameterAccess, SeesAnIndexAsNoAddress) {
  EXPECT_EQ(
      uses(kTwo, concat(kLoad, "shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3; red.global.add.u32 [%rd4], %r1;")),
      "a  ");
  EXPECT_EQ(uses(kTwo, concat(kLoad, "mad.lo.s64 %rd4, %rd2, 4, %rd1; ld.global.u32 %r1, [%rd4];")), "a  ");
}

TEST(ParameterAccess, IsUnsureOfASumOfTwo) {
  EXPECT_EQ(uses(kTwo, concat(kLoad, "add.s64 %rd4, %rd1, %rd2; ld.global.u32 %r1, [%rd4];")), "m m ");
}

TEST(ParameterAccess, FollowsLoops) {
  EXPECT_EQ(
      uses(".param .u64 a, .param .f32 b",
           "ld.param.u64 %rd1, [a]; ld.param.f32 %f1, [b]; L: st.global.f32 [%rd2], %f1; mov.u64 %rd2, %rd1; bra L;"),
      "a f ");
}

TEST(ParameterAccess, TakesAConversionForAnAddress) {
  EXPECT_EQ(uses(kTwo, concat(kLoad, "cvta.to.global.u64 %rd3, %rd1; add.s64 %rd4, %rd3, %rd2; "
                                     "ld.global.u32 %r1, [%rd4];")),
            "am m ");
}

TEST(ParameterAccess, SeesCopies) {
  EXPECT_EQ(uses(kTwo, concat(kLoad, "cp.async.ca.shared.global [%r1], [%rd1], 16; prefetch.global.L2 [%rd2];")),
            "a a ");
}

} // namespace
} // namespace tenon::linker
