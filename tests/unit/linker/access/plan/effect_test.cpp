// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/effect.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

EffectOf effectOfText(std::string_view instruction) {
  Diagnostics diagnostics;
  ptx::Module module = ptx::parse(
      std::make_shared<SourceFile>("a.ptx", testing::ptxModule(concat(".entry k() {\n", instruction, "\n}\n"))),
      diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  return effectOf(module.functions[0].instructions[0]);
}

struct Case {
  std::string_view text;
  Effect effect;
  ptx::StateSpace space = ptx::StateSpace::Generic;
};

TEST(AccessEffect, TellsWhatAnInstructionDoes) {
  using Space = ptx::StateSpace;
  const Case cases[] = {
      {"bra L; L:", Effect::None},
      {"setp.lt.u64 %p1, %rd1, %rd2;", Effect::Number},
      {"selp.b64 %rd1, %rd2, %rd3, %p1;", Effect::Copy},
      {"add.s64 %rd1, %rd2, %rd3;", Effect::Sum},
      {"sub.s64 %rd1, %rd2, %rd3;", Effect::Difference},
      {"mad.lo.s64 %rd1, %rd2, %rd3, %rd4;", Effect::MultiplyAdd},
      {"mad.hi.u32 %r1, %r2, %r3, %r4;", Effect::Scale},
      {"and.b64 %rd1, %rd2, 15;", Effect::Mask},
      {"shl.b64 %rd1, %rd2, 2;", Effect::Scale},
      {"ld.const.u32 %r1, [c];", Effect::Load, Space::Const},
      {"ld.param::entry.u32 %r1, [c];", Effect::Load, Space::Param},
      {"st.local.u32 [%rd1], %r1;", Effect::Store, Space::Local},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", Effect::Store, Space::Shared},
      {"red.async.relaxed.cluster.global.add.u32 [%rd1], %r1;", Effect::Store, Space::Global},
      {"atom.shared.add.u32 %r1, [%r2], 1;", Effect::Atomic, Space::Shared},
      {"bar.sync 0;", Effect::None},
      {"barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", Effect::Number},
      {"cp.async.commit_group;", Effect::None},
      {"cp.async.mbarrier.arrive.shared.b64 [%r1];", Effect::None},
      {"cp.async.cg.shared.global [%r1], [%rd1], 16;", Effect::CopyToShared, Space::Shared},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 16;", Effect::None, Space::Global},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r3];",
       Effect::CopyToShared, Space::Shared},
      {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;", Effect::CopyToGlobal, Space::Global},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
       Effect::CopyToShared, Space::Shared},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r3];", Effect::StoreToMap,
       Space::Global},
      {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%rd1, {%r2}], [%r3];", Effect::StoreToMap,
       Space::Global},
      {"multimem.ld_reduce.global.add.u32 %r1, [%rd1];", Effect::Load, Space::Global},
      {"multimem.st.global.u32 [%rd1], %r1;", Effect::Store, Space::Global},
      {"multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;", Effect::CopyToGlobal, Space::Global},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f2};", Effect::Scale},
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1}, [%r2];", Effect::Load, Space::Shared},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", Effect::ForeignLoad},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];", Effect::None},
      {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];", Effect::ForeignLoad},
      {"sust.b.1d.b32.trap [s, {%r1}], %r2;", Effect::StoreToMap},
      {"frobnicate.u32 %r1, %r2;", Effect::Scale},
      {"frobnicate.global.u32 %r1, [%rd2];", Effect::Unknown, Space::Global},
  };
  for (const Case &row : cases) {
    EffectOf found = effectOfText(row.text);
    EXPECT_EQ(found.effect, row.effect) << row.text;
    if (row.space != Space::Generic) {
      EXPECT_EQ(found.space, row.space) << row.text;
    }
  }
}

TEST(AccessEffect, OnlyWhatIsSelectedIsCopied) {
  EXPECT_EQ(effectOfText("selp.b64 %rd1, %rd2, %rd3, %p1;").sources, 2);
  EXPECT_EQ(effectOfText("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;").sources, 1);
  EXPECT_EQ(effectOfText("max.u64 %rd1, %rd2, %rd3;").sources, 0) << "all";
}

} // namespace
} // namespace tenon::linker
