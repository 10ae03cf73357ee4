// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel that linker/access/README.md works through by hand.
#include "linker/access/trace/module_tracer.h"
#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

class ReadmeExample {
public:
  explicit ReadmeExample(std::string_view line8)
      : module(ptx::parse(std::make_shared<SourceFile>(
                              "pick.ptx", testing::ptxModule(concat(
                                              ".visible .entry pick(.param .u64 x, .param .u64 y, .param .u32 n)\n"
                                              "{\n"
                                              ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<6>;\n"
                                              "ld.param.u64 %rd1, [x];\n"
                                              "ld.param.u64 %rd2, [y];\n"
                                              "ld.param.u32 %r1, [n];\n"
                                              "mul.wide.u32 %rd3, %r1, 4;\n"
                                              "add.s64 %rd4, %rd1, %rd3;\n"
                                              "ld.global.u32 %r2, [%rd4];\n"
                                              "setp.eq.u32 %p1, %r2, 0;\n"
                                              "mov.b64 %rd5, %rd2;\n",
                                              line8, "st.global.u32 [%rd5], %r2;\nret;\n}\n"))),
                          diagnostics)) {
    EXPECT_EQ(diagnostics.toString(), "");
  }

  Plan plan() const {
    Plan made;
    PlanBuilder().run(module, module.functions.front(), ptx::ModuleNames(module), slotPerParameter({true, true, false}),
                      made);
    return made;
  }
  /// "Load 5, Store 9": the steps with their instructions.
  std::string steps() const {
    std::string text;
    for (const Step &step : plan().steps) {
      const char *kind = step.kind == StepKind::Load      ? "Load"
                         : step.kind == StepKind::Store   ? "Store"
                         : step.kind == StepKind::Compute ? "Compute"
                                                          : "other";
      text += concat(text.empty() ? "" : ", ", kind, ' ', step.instruction);
    }
    return text;
  }
  KernelTrace trace() const { return ModuleTracer(module).trace(module.functions.front(), {true, true, false}); }

  Diagnostics diagnostics;
  ptx::Module module;
};

TEST(AccessReadmeExample, HasTheStepsThatThePageSays) {
  const ReadmeExample example("@%p1 mov.b64 %rd5, %rd1;\n");
  EXPECT_EQ(example.steps(), "Load 5, Compute 7, Compute 8, Store 9");
  const Plan plan = example.plan();
  const Step &load = plan.steps[0];
  const uint32_t address = plan.values[load.first + load.results];
  ASSERT_GE(address, plan.registerCount) << "it is known before anything runs";
  const Origins &origins = plan.constants[address - plan.registerCount];
  EXPECT_EQ(origins.plus, slotBit(0)) << "x, once";
  EXPECT_EQ(origins.mixed, slotBit(2)) << "n, in no sum";
}

TEST(AccessReadmeExample, FindsWhatThePageSays) {
  const KernelTrace trace = ReadmeExample("@%p1 mov.b64 %rd5, %rd1;\n").trace();
  for (uint32_t parameter : {0u, 1u}) {
    EXPECT_FALSE(trace.slots[parameter].written);
    ASSERT_TRUE(trace.slots[parameter].maybeWritten);
    EXPECT_EQ(trace.slots[parameter].maybeWritten->instruction, 9u);
  }
  EXPECT_FALSE(trace.slots[2].maybeWritten);
}

TEST(AccessReadmeExample, ProvesTheKernelWithoutItsSecondMove) {
  const ReadmeExample example("");
  EXPECT_EQ(example.steps(), "Load 5, Store 8");
  const KernelTrace trace = example.trace();
  EXPECT_TRUE(trace.slots[1].written);
  EXPECT_TRUE(trace.slots[0].addressed);
  EXPECT_FALSE(trace.slots[0].written || trace.slots[0].maybeWritten);
}

} // namespace
} // namespace tenon::linker
