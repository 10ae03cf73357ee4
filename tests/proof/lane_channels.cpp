// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels between the lanes of a warp and the threads of a block. A block is one warp, and every lane brings the same
// field and takes the same away.
#include "tests/proof/launder.h"

namespace tenon::proof {
namespace {

std::string lane(Body &b) {
  std::string d = b.r32();
  b.line("mov.u32 ", d, ", ", b.random.one({"%laneid", "%tid.x"}), ";");
  return d;
}

/// Whether the bit that has the lane's number is set in the field.
std::string myBit(Body &b, const std::string &field) {
  std::string t = b.r32(), u = b.r32(), p = b.pred();
  b.line("shr.u32 ", t, ", ", field, ", ", lane(b), ";");
  b.line("and.b32 ", u, ", ", t, ", 1;");
  b.line("setp.ne.u32 ", p, ", ", u, ", 0;");
  return p;
}

/// Whether the lane's number is below the field.
std::string isBelow(Body &b, const std::string &field) {
  std::string p = b.pred();
  b.line("setp.lt.u32 ", p, ", ", lane(b), ", ", field, ";");
  return p;
}

std::string ballot(Body &b, const std::string &field, uint32_t) {
  std::string d = b.r32();
  b.line("vote.sync.ballot.b32 ", d, ", ", myBit(b, field), ", -1;");
  return d;
}

std::string countedBallot(Body &b, const std::string &field, uint32_t) {
  std::string t = b.r32(), d = b.r32();
  b.line("vote.sync.ballot.b32 ", t, ", ", isBelow(b, field), ", -1;");
  b.line("popc.b32 ", d, ", ", t, ";");
  return d;
}

std::string votes(Body &b, const std::string &field, uint32_t bits) {
  std::string d = b.r32();
  b.line("mov.u32 ", d, ", 0;");
  for (uint32_t i = 0; i < bits; ++i) {
    std::string t = b.r32(), p = b.pred(), q = b.pred();
    b.line("and.b32 ", t, ", ", field, ", ", 1u << i, ";");
    b.line("setp.ne.u32 ", p, ", ", t, ", 0;");
    b.line("vote.sync.", b.random.one({"any", "all"}), ".pred ", q, ", ", p, ", -1;");
    b.line("@", q, " or.b32 ", d, ", ", d, ", ", 1u << i, ";");
  }
  return d;
}

std::string reduced(Body &b, const std::string &field, uint32_t) {
  std::string d = b.r32(), t = b.r32(), u = b.r32();
  switch (b.random.below(4)) {
  case 0: {
    b.line("selp.u32 ", t, ", 1, 0, ", isBelow(b, field), ";");
    b.line("redux.sync.add.u32 ", d, ", ", t, ", -1;");
    break;
  }
  case 1: { // the lane with the field's number
    std::string l = lane(b), p = b.pred();
    b.line("setp.eq.u32 ", p, ", ", l, ", ", field, ";");
    b.line("selp.u32 ", t, ", ", l, ", 0, ", p, ";");
    b.line("redux.sync.max.u32 ", d, ", ", t, ", -1;");
    break;
  }
  case 2: {
    std::string mask = b.r32();
    b.line("mov.u32 ", mask, ", %lanemask_eq;");
    b.line("selp.b32 ", t, ", ", mask, ", 0, ", myBit(b, field), ";");
    b.line("redux.sync.or.b32 ", d, ", ", t, ", -1;");
    break;
  }
  default:
    b.line("redux.sync.min.u32 ", d, ", ", field, ", -1;");
  }
  return d;
}

/// Lanes below 16 hold their number, the others the field: which are like mine?
std::string matched(Body &b, const std::string &field, uint32_t) {
  std::string l = lane(b), p = b.pred(), mine = b.r32(), same = b.r32(), low = b.r32(), where = b.r32(), d = b.r32();
  b.line("setp.lt.u32 ", p, ", ", l, ", 16;");
  b.line("selp.b32 ", mine, ", ", l, ", ", field, ", ", p, ";");
  b.line("match.any.sync.b32 ", same, ", ", mine, ", -1;");
  b.line("and.b32 ", low, ", ", same, ", 0xffff;");
  b.line("bfind.u32 ", where, ", ", low, ";");
  b.line("shfl.sync.idx.b32 ", d, ", ", where, ", 31, 31, -1;");
  return d;
}

/// match.all per number.
std::string matchedAll(Body &b, const std::string &field, uint32_t bits) {
  std::string d = b.r32();
  b.line("mov.u32 ", d, ", 0;");
  for (uint32_t i = 1; i < 1u << bits; ++i) {
    std::string l = lane(b), first = b.pred(), mine = b.r32(), mask = b.r32(), p = b.pred();
    b.line("setp.eq.u32 ", first, ", ", l, ", 0;");
    b.line("selp.b32 ", mine, ", ", i, ", ", field, ", ", first, ";");
    b.line("match.all.sync.b32 ", mask, "|", p, ", ", mine, ", -1;");
    b.line("@", p, " mov.u32 ", d, ", ", i, ";");
  }
  return d;
}

std::string shuffled(Body &b, const std::string &field, uint32_t) {
  std::string d = b.r32(), l = lane(b);
  switch (b.random.below(4)) {
  case 0: // the lane's number, of the lane that has the field's number
    b.line("shfl.sync.idx.b32 ", d, ", ", l, ", ", field, ", 31, -1;");
    break;
  case 1:
    b.line("shfl.sync.bfly.b32 ", d, ", ", field, ", ", 1 + b.random.below(31), ", 31, -1;");
    break;
  case 2: { // how far down a lane has a source: 32 - field lanes
    std::string t = b.r32(), p = b.pred(), votes = b.r32(), count = b.r32();
    b.line("shfl.sync.down.b32 ", t, "|", p, ", ", l, ", ", field, ", 31, -1;");
    b.line("vote.sync.ballot.b32 ", votes, ", ", p, ", -1;");
    b.line("popc.b32 ", count, ", ", votes, ";");
    b.line("sub.u32 ", d, ", 32, ", count, ";");
    break;
  }
  default: {
    std::string t = b.r32();
    b.line("shfl.sync.up.b32 ", t, ", ", l, ", ", field, ", 0, -1;"); // lane 31: 31 - field
    std::string last = b.r32();
    b.line("shfl.sync.idx.b32 ", last, ", ", t, ", 31, 31, -1;");
    b.line("sub.u32 ", d, ", 31, ", last, ";");
  }
  }
  return d;
}

std::string barriers(Body &b, const std::string &field, uint32_t bits) {
  std::string d = b.r32();
  if (b.random.chance(60)) {
    b.line("barrier.sync 0;");
    b.line("barrier.red.popc.u32 ", d, ", 0, ", isBelow(b, field), ";");
    return d;
  }
  b.line("mov.u32 ", d, ", 0;");
  for (uint32_t i = 0; i < bits; ++i) {
    std::string t = b.r32(), p = b.pred(), q = b.pred();
    b.line("and.b32 ", t, ", ", field, ", ", 1u << i, ";");
    b.line("setp.ne.u32 ", p, ", ", t, ", 0;");
    b.line("bar.red.", b.random.one({"or", "and"}), ".pred ", q, ", 0, ", p, ";");
    b.line("@", q, " add.u32 ", d, ", ", d, ", ", 1u << i, ";");
  }
  return d;
}

/// How many lanes go one way.
std::string divergent(Body &b, const std::string &field, uint32_t) {
  std::string d = b.r32(), mask = b.r32(), t = b.r32(), over = b.label();
  b.line("mov.u32 ", mask, ", 0;");
  b.line("@!", isBelow(b, field), " bra ", over, ";");
  b.line("activemask.b32 ", mask, ";");
  b.line(over, ":");
  b.line("bar.warp.sync -1;");
  b.line("popc.b32 ", t, ", ", mask, ";");
  b.line("redux.sync.max.u32 ", d, ", ", t, ", -1;");
  return d;
}

/// The leader of the lanes from the field's number on.
std::string elected(Body &b, const std::string &field, uint32_t) {
  std::string mask = b.r32(), who = b.r32(), p = b.pred(), d = b.r32(), over = b.label(), in = b.pred();
  b.line("shl.b32 ", mask, ", 0xffffffff, ", field, ";");
  b.line("mov.u32 ", who, ", 0;");
  b.line("setp.ge.u32 ", in, ", ", lane(b), ", ", field, ";");
  b.line("@!", in, " bra ", over, ";");
  b.line("elect.sync ", who, "|", p, ", ", mask, ";");
  b.line(over, ":");
  b.line("bar.warp.sync -1;");
  b.line("redux.sync.max.u32 ", d, ", ", who, ", -1;");
  return d;
}

std::string foundBit(Body &b, const std::string &field, uint32_t) {
  std::string n = b.r32(), d = b.r32();
  b.line("add.u32 ", n, ", ", field, ", 1;");
  b.line("fns.b32 ", d, ", 0xffffffff, 0, ", n, ";");
  return d;
}

/// A product of matrices with one field in each row.
std::string multiplied(Body &b, const std::string &field, uint32_t) {
  std::string c[4] = {b.r32(), b.r32(), b.r32(), b.r32()}, d = b.r32(), one = b.r32(), none = b.r32();
  b.line("mov.u32 ", one, ", 1;");
  b.line("mov.u32 ", none, ", 0;");
  b.line("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {", c[0], ", ", c[1], ", ", c[2], ", ", c[3], "}, {", field,
         ", ", field, "}, {", one, "}, {", none, ", ", none, ", ", none, ", ", none, "};");
  b.line("shr.u32 ", d, ", ", c[0], ", 2;");
  return d;
}

std::string moved(Body &b, const std::string &field, uint32_t) {
  std::string d = b.r32(), t = b.r32(), u = b.r32();
  b.line("prmt.b32 ", t, ", ", field, ", 0, 0x1010;"); // every element of the matrix
  b.line("movmatrix.sync.aligned.m8n8.trans.b16 ", u, ", ", t, ";");
  b.line("and.b32 ", d, ", ", u, ", 0xffff;");
  return d;
}

constexpr Channel kWays[] = {
    {"ballot", Class::Lanes, 12, ballot},      {"counted-ballot", Class::Lanes, 4, countedBallot},
    {"votes", Class::Lanes, 4, votes},         {"reduced", Class::Lanes, 5, reduced},
    {"matched", Class::Lanes, 4, matched},     {"matched-all", Class::Lanes, 2, matchedAll},
    {"shuffled", Class::Lanes, 4, shuffled},   {"barriers", Class::Lanes, 4, barriers},
    {"divergent", Class::Lanes, 4, divergent}, {"elected", Class::Lanes, 4, elected},
    {"found-bit", Class::Lanes, 4, foundBit},  {"multiplied", Class::Lanes, 8, multiplied},
    {"moved-matrix", Class::Lanes, 12, moved},
};

} // namespace

std::span<const Channel> laneChannels() {
  return kWays;
}

} // namespace tenon::proof
