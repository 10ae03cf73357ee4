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
      {"setp.lt.u64 %p1, %rd1, %rd2;", Effect::Compare},
      {"selp.b64 %rd1, %rd2, %rd3, %p1;", Effect::Select},
      {"vote.sync.ballot.b32 %r1, %p1, -1;", Effect::Gather},
      {"vote.sync.any.pred %p2, %p1, -1;", Effect::Narrow},
      {"addc.u32 %r1, %r2, %r3;", Effect::Carry},
      {"cvta.shared.u64 %rd1, %rd2;", Effect::ToAddress, Space::Shared},
      {"mov.u64 %rd1, %rd2;", Effect::Copy},
      {"red.shared.add.u32 [%r2], 1;", Effect::Atomic, Space::Shared},
      {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", Effect::Store, Space::Shared},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", Effect::Load, Space::Shared},
      {"tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd1], 3;", Effect::Store, Space::Shared},
      {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;",
       Effect::CopyToGlobal, Space::Global},
      {"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};", Effect::TensorStore},
      {"tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;", Effect::TensorStore},
      {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;", Effect::TensorStore},
      {"tcgen05.shift.cta_group::1.down [%r1];", Effect::TensorStore},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;", Effect::SharedProduct},
      {"mbarrier.arrive.shared.b64 %rd1, [%r1], %r2;", Effect::Synchronise, Space::Shared},
      {"alloca.u64 %rd1, 16;", Effect::LocalAddress},
      {"add.s64 %rd1, %rd2, %rd3;", Effect::Sum},
      {"sub.s64 %rd1, %rd2, %rd3;", Effect::Difference},
      {"mad.lo.s64 %rd1, %rd2, %rd3, %rd4;", Effect::MultiplyAdd},
      {"mad.hi.u32 %r1, %r2, %r3, %r4;", Effect::MultiplyAdd},
      {"and.b64 %rd1, %rd2, 15;", Effect::Mask},
      {"shl.b64 %rd1, %rd2, 2;", Effect::ShiftLeft},
      {"ld.const.u32 %r1, [c];", Effect::Load, Space::Const},
      {"ld.param::entry.u32 %r1, [c];", Effect::Load, Space::Param},
      {"st.local.u32 [%rd1], %r1;", Effect::Store, Space::Local},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", Effect::Store, Space::Shared},
      {"red.async.relaxed.cluster.global.add.u32 [%rd1], %r1;", Effect::Atomic, Space::Global},
      {"atom.shared.add.u32 %r1, [%r2], 1;", Effect::Atomic, Space::Shared},
      {"bar.sync 0;", Effect::None},
      {"barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", Effect::Gather},
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
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f2};", Effect::Gather},
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1}, [%r2];", Effect::Load, Space::Shared},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", Effect::TensorLoad},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];", Effect::None},
      {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];", Effect::ForeignLoad},
      {"sust.b.1d.b32.trap [s, {%r1}], %r2;", Effect::StoreToMap},
      {"frobnicate.u32 %r1, %r2;", Effect::Gather},
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

ptx::Instruction firstInstruction(std::string_view text, ptx::Module &module) {
  Diagnostics diagnostics;
  module = ptx::parse(
      std::make_shared<SourceFile>("a.ptx", testing::ptxModule(concat(".entry k() {\n", text, "\n}\n"))), diagnostics);
  EXPECT_EQ(diagnostics.toString(), "") << text;
  return module.functions[0].instructions[0];
}

constexpr Finish kKeep = Finish::Keep, kTruncate = Finish::Truncate, kLowByte = Finish::LowByte,
                 kLowIndex = Finish::LowIndex, kNarrow = Finish::Narrow, kIndex = Finish::Index;

struct TransferCase {
  std::string_view text;
  Combine combine;
  Finish finish;
  uint32_t source = 0; // of a number that tells more: the operand that is left
};

TEST(AccessEffect, SaysHowOperandsAreCombined) {
  using C = Combine;
  const TransferCase cases[] = {
      {"mov.b64 %rd1, %rd2;", C::Join, kKeep},
      {"mov.b32 %r1, %r2;", C::Join, kTruncate},
      {"cvt.u64.u32 %rd1, %r1;", C::Join, kTruncate},
      {"cvt.u32.u64 %r1, %rd1;", C::Join, kTruncate},
      {"cvt.s64.s64 %rd1, %rd2;", C::Join, kKeep},
      {"cvt.u16.u64 %rs1, %rd1;", C::Join, kTruncate},
      {"cvt.u32.u8 %r1, %r2;", C::Join, kLowIndex},
      {"cvt.u8.s64 %r1, %rd2;", C::Join, kLowByte},
      {"cvt.s8.s64 %r1, %rd2;", C::Join, kLowByte},
      {"cvt.sat.u8.u64 %r1, %rd2;", C::Blend, kKeep},
      {"cvt.rn.f32.u64 %f1, %rd1;", C::Blend, kKeep},
      {"cvt.rzi.u64.f64 %rd1, %fd1;", C::Blend, kKeep},
      {"cvta.to.global.u64 %rd1, %rd2;", C::Join, kKeep},
      {"cvta.global.u64 %rd1, %rd2;", C::Join, kKeep},
      {"cvta.to.shared.u64 %rd1, %rd2;", C::Join, kKeep},
      {"cvta.shared.u64 %rd1, %rd2;", C::Within, kKeep},
      {"cvta.local.u64 %rd1, %rd2;", C::Within, kKeep},
      {"cvta.param.u64 %rd1, %rd2;", C::Within, kKeep},
      {"shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", C::Shuffle, kTruncate},
      {"selp.b64 %rd1, %rd2, %rd3, %p1;", C::Select, kKeep},
      {"selp.b32 %r1, %r2, %r3, %p1;", C::Select, kTruncate},
      {"slct.u64.s32 %rd1, %rd2, %rd3, %r1;", C::Select, kKeep},
      {"max.u64 %rd1, %rd2, %rd3;", C::Extreme, kKeep},
      {"min.s32 %r1, %r2, %r3;", C::Extreme, kTruncate},
      {"min.s16x2 %r1, %r2, %r3;", C::Blend, kKeep},
      {"max.s32.relu %r1, %r2, %r3;", C::Blend, kKeep},
      {"add.s64 %rd1, %rd2, %rd3;", C::Sum, kKeep},
      {"add.s32 %r1, %r2, %r3;", C::Sum, kTruncate},
      {"add.sat.s32 %r1, %r2, %r3;", C::Blend, kKeep},
      {"add.f64 %fd1, %fd2, %fd3;", C::Blend, kKeep},
      {"add.u16x2 %r1, %r2, %r3;", C::Mix, kKeep},
      {"sub.u64 %rd1, %rd2, %rd3;", C::Difference, kKeep},
      {"sub.u32 %r1, %r2, %r3;", C::Difference, kTruncate},
      {"sub.f32 %f1, %f2, %f3;", C::Blend, kKeep},
      {"neg.s64 %rd1, %rd2;", C::Difference, kKeep},
      {"neg.f64 %fd1, %fd2;", C::Blend, kKeep},
      {"not.b64 %rd1, %rd2;", C::Difference, kKeep},
      {"not.b32 %r1, %r2;", C::Difference, kTruncate},
      {"mad.lo.s64 %rd1, %rd2, %rd3, %rd4;", C::MultiplyAdd, kKeep},
      {"mad.wide.s32 %rd1, %r2, %r3, %rd4;", C::MultiplyAdd, kKeep},
      {"mad.lo.s32 %r1, %r2, %r3, %r4;", C::MultiplyAdd, kTruncate},
      {"mad.hi.u64 %rd1, %rd2, %rd3, %rd4;", C::Blend, kKeep},
      {"mad24.hi.u32 %r1, %r2, %r3, %r4;", C::Blend, kKeep},
      {"mul.lo.s64 %rd1, %rd2, %rd3;", C::Mix, kKeep},
      {"mul.wide.u32 %rd1, %r2, %r3;", C::Mix, kKeep},
      {"mul.hi.u64 %rd1, %rd2, %rd3;", C::Blend, kKeep},
      {"mul.f32 %f1, %f2, %f3;", C::Blend, kKeep},
      {"and.b64 %rd1, %rd2, %rd3;", C::Mix, kKeep},
      {"and.b64 %rd1, %rd2, 255;", C::Join, kLowIndex, 1},
      {"and.b64 %rd1, 15, %rd2;", C::Join, kLowIndex, 2},
      {"and.b64 %rd1, %rd2, 256;", C::Join, kIndex, 1},
      {"and.b64 %rd1, %rd2, 4095;", C::Join, kIndex, 1},
      {"and.b64 %rd1, %rd2, 0x5555550000;", C::Join, kNarrow, 1},
      {"and.b64 %rd1, %rd2, 0x5550;", C::Join, kIndex, 1},
      {"and.b64 %rd1, %rd2, 0x7ff8;", C::Join, kIndex, 1},
      {"and.b64 %rd1, %rd2, 0x8000;", C::Join, kNarrow, 1},
      {"and.b64 %rd1, %rd2, 8191;", C::Mix, kKeep},
      {"and.b64 %rd1, %rd2, -16;", C::Adjust, kKeep, 1},
      {"and.b64 %rd1, %rd2, -256;", C::Adjust, kKeep, 1},
      {"and.b64 %rd1, %rd2, -512;", C::Mix, kKeep},
      {"and.b32 %r1, %r2, -256;", C::Adjust, kTruncate, 1},
      {"and.b32 %r1, %r2, -4096;", C::Mix, kKeep},
      {"and.pred %p1, %p2, %p3;", C::Mix, kNarrow},
      {"or.b64 %rd1, %rd2, 4;", C::Adjust, kKeep, 1},
      {"or.b64 %rd1, %rd2, 256;", C::Mix, kKeep},
      {"xor.b64 %rd1, %rd2, 255;", C::Adjust, kKeep, 1},
      {"xor.b64 %rd1, %rd2, %rd3;", C::Mix, kKeep},
      {"lop3.b32 %r1, %r2, %r3, %r4, 0x80;", C::Mix, kKeep},
      {"shl.b64 %rd1, %rd2, 2;", C::Scale, kKeep, 1},
      {"shl.b64 %rd1, %rd2, 5;", C::Scale, kKeep, 1},
      {"shl.b64 %rd1, %rd2, 6;", C::Shift, kKeep},
      {"shl.b32 %r1, %r2, 3;", C::Scale, kTruncate, 1},
      {"shl.b64 %rd1, 2, %r1;", C::Shift, kKeep},
      {"mul.wide.u32 %rd1, %r2, 12;", C::Scale, kKeep, 1},
      {"mul.lo.s64 %rd1, 32, %rd2;", C::Scale, kKeep, 2},
      {"mul.lo.s64 %rd1, %rd2, 33;", C::Mix, kKeep},
      {"mul.lo.s64 %rd1, %rd2, -1;", C::Mix, kKeep},
      {"mul.lo.u32 %r1, %r2, 4;", C::Scale, kTruncate, 1},
      {"mul.hi.u64 %rd1, %rd2, 4;", C::Blend, kKeep},
      {"mad.wide.u32 %rd1, %r2, 4, %rd3;", C::Scale, kKeep, 1},
      {"mad.lo.s64 %rd1, 8, %rd2, %rd3;", C::Scale, kKeep, 2},
      {"mad.lo.s64 %rd1, %rd2, %rd3, 8;", C::MultiplyAdd, kKeep},
      {"mad.hi.u64 %rd1, %rd2, 4, %rd3;", C::Blend, kKeep},
      {"mad.sat.hi.s32 %r1, %r2, 4, %r3;", C::Blend, kKeep},
      {"shr.u64 %rd1, %rd2, 52;", C::Blend, kIndex, 1},
      {"shr.s64 %rd1, %rd2, 52;", C::Blend, kNarrow, 1},
      {"shr.b64 %rd1, %rd2, 52;", C::Blend, kIndex, 1},
      {"shr.u64 %rd1, %rd2, 51;", C::Blend, kKeep},
      {"shr.u32 %r1, %r2, 20;", C::Blend, kIndex, 1},
      {"shr.u32 %r1, %r2, 19;", C::Blend, kKeep},
      {"shr.u64 %rd1, %rd2, %r1;", C::Blend, kKeep},
      {"bfe.u64 %rd1, %rd2, 0, 8;", C::Join, kLowIndex, 1},
      {"bfe.u64 %rd1, %rd2, 1, 8;", C::Blend, kIndex, 1},
      {"bfe.u64 %rd1, %rd2, 20, 12;", C::Blend, kIndex, 1},
      {"bfe.s64 %rd1, %rd2, 0, 8;", C::Join, kLowByte, 1},
      {"bfe.s64 %rd1, %rd2, 20, 12;", C::Blend, kNarrow, 1},
      {"bfe.u64 %rd1, %rd2, 20, 13;", C::Blend, kKeep},
      {"bfe.u64 %rd1, %rd2, %r1, 12;", C::Blend, kKeep},
      {"rem.u64 %rd1, %rd2, 256;", C::Join, kLowIndex, 1},
      {"rem.u64 %rd1, %rd2, 512;", C::Blend, kIndex, 1},
      {"rem.u64 %rd1, %rd2, 4096;", C::Blend, kIndex, 1},
      {"rem.u64 %rd1, %rd2, 4097;", C::Blend, kKeep},
      {"rem.s64 %rd1, %rd2, 2048;", C::Blend, kNarrow, 1},
      {"rem.s64 %rd1, %rd2, 2049;", C::Blend, kKeep},
      {"rem.s64 %rd1, %rd2, 16;", C::Blend, kNarrow, 1},
      {"div.u64 %rd1, %rd2, 16;", C::Blend, kKeep},
      {"setp.lt.u64 %p1, %rd1, %rd2;", C::Blend, kNarrow},
      {"setp.eq.u64 %p1, %rd1, %rd2;", C::Equal, kNarrow},
      {"setp.ne.b64 %p1, %rd1, %rd2;", C::Equal, kNarrow},
      {"set.eq.u32.u64 %r1, %rd1, %rd2;", C::Equal, kNarrow},
      {"setp.eq.s64 %p1, %rd1, 0;", C::Equal, kNarrow},
      {"setp.eq.s64 %p1, %rd1, 1;", C::Equal, kNarrow},
      {"setp.gt.s64 %p1, %rd1, 0;", C::Blend, kNarrow},
      {"setp.eq.and.s64 %p1, %rd1, 0, %p2;", C::Equal, kNarrow},
      {"setp.eq.f64 %p1, %fd1, 0d0000000000000000;", C::Blend, kNarrow},
      {"isspacep.shared %p1, %rd1;", C::Join, kNarrow},
      {"popc.b64 %r1, %rd1;", C::Blend, kNarrow},
      {"clz.b64 %r1, %rd1;", C::Blend, kNarrow},
      {"vote.sync.ballot.b32 %r1, %p1, -1;", C::Blend, Finish::Gather},
      {"redux.sync.add.s32 %r1, %r2, -1;", C::Blend, Finish::Gather},
      {"prmt.b32 %r1, %r2, %r3, 0x5410;", C::Blend, kKeep},
      {"frobnicate.u32 %r1, %r2;", C::Blend, Finish::Gather},
  };
  for (const TransferCase &row : cases) {
    ptx::Module module;
    const ptx::Instruction instruction = firstInstruction(row.text, module);
    const EffectOf effect = effectOf(instruction);
    EXPECT_TRUE(ptx::isComputed(effect.effect)) << row.text;
    const std::optional<Refined> refined = refinedBy(instruction, effect.effect);
    ASSERT_EQ(refined.has_value(), row.source != 0) << row.text;
    const Transfer found = refined ? refined->transfer : transferOf(instruction, effect);
    EXPECT_EQ(int(found.combine), int(row.combine)) << row.text;
    EXPECT_EQ(int(found.finish), int(row.finish)) << row.text;
    if (refined) {
      EXPECT_EQ(refined->source, row.source) << row.text;
      EXPECT_EQ(refined->addend, instruction.opcode == "mad" ? 3u : 0u) << row.text;
    }
  }
}

} // namespace
} // namespace tenon::linker
