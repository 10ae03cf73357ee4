// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels through memory: tables, marks that are looked for, atomics, copies of so many bytes, stacks.
#include "tests/proof/launder.h"

namespace tenon::proof {
namespace {

std::string zero(Body &b) {
  std::string d = b.r32();
  b.line("mov.u32 ", d, ", 0;");
  return d;
}

/// The address of a variable in its own space, as b32, or as b64 by the generic space.
std::string addressOf(Body &b, const std::string &name) {
  std::string d = b.r32();
  b.line("mov.u32 ", d, ", ", name, ";");
  return d;
}

/// base + field * scale.
std::string at(Body &b, const std::string &base, const std::string &field, uint32_t scale) {
  std::string d = b.r32();
  if (b.random.chance(50)) {
    b.line("mad.lo.u32 ", d, ", ", field, ", ", scale, ", ", base, ";");
  } else {
    std::string t = b.r32();
    b.line("mul.lo.u32 ", t, ", ", field, ", ", scale, ";");
    b.line("add.u32 ", d, ", ", base, ", ", t, ";");
  }
  return d;
}

std::string table(Body &b, const std::string &field, uint32_t bits) {
  const char *space = b.random.one({"const", "global"});
  std::string name = b.module.name("table"),
              text = concat(".", space, " .align 4 .b32 ", name, "[", 1u << bits, "] = {");
  for (uint32_t i = 0; i < 1u << bits; ++i)
    text += concat(i ? ", " : "", i);
  b.module.text += text + "};\n";
  std::string base = b.r64(), offset = b.r64(), address = b.r64(), d = b.r32();
  b.line("mov.u64 ", base, ", ", name, ";");
  b.line("mul.wide.u32 ", offset, ", ", field, ", 4;");
  b.line("add.s64 ", address, ", ", base, ", ", offset, ";");
  b.line("ld.", space, ".u32 ", d, ", [", address, "];");
  return d;
}

/// A mark at the field's place, and a look at every place.
std::string marked(Body &b, const std::string &field, uint32_t bits) {
  const char *space = b.random.one({"shared", "local"});
  std::string name = b.variable(space, 4u << bits, 16), base = addressOf(b, name), d = zero(b);
  for (uint32_t i = 0; i < 1u << bits; ++i)
    b.line("st.", space, ".u32 [", name, "+", 4 * i, "], 0;");
  if (space[0] == 's')
    b.line("bar.sync 0;");
  b.line("st.", space, ".u32 [", at(b, base, field, 4), "], 1;");
  if (space[0] == 's')
    b.line("bar.sync 0;");
  for (uint32_t i = 1; i < 1u << bits; ++i) {
    std::string found = b.r32();
    b.line("ld.", space, ".u32 ", found, ", [", name, "+", 4 * i, "];");
    b.line("mad.lo.u32 ", d, ", ", found, ", ", i, ", ", d, ";");
  }
  if (space[0] == 's')
    b.line("bar.sync 0;");
  return d;
}

std::string stored(Body &b, const std::string &field, uint32_t) {
  const char *space = b.random.one({"shared", "local"});
  std::string name = b.variable(space, 16, 16), d = b.r32();
  switch (b.random.below(3)) {
  case 0:
    b.line("st.", space, ".u32 [", name, "], ", field, ";");
    b.line("ld.", space, ".u32 ", d, ", [", name, "];");
    break;
  case 1: {
    std::string low = b.r32(), high = b.r32(), t = b.r32();
    b.line("st.", space, ".u32 [", name, "+4], ", field, ";");
    b.line("ld.", space, ".u8 ", low, ", [", name, "+4];");
    b.line("ld.", space, ".u8 ", high, ", [", name, "+5];");
    b.line("shl.b32 ", t, ", ", high, ", 8;");
    b.line("or.b32 ", d, ", ", t, ", ", low, ";");
    break;
  }
  default: {
    std::string t = b.r32();
    b.line("shr.u32 ", t, ", ", field, ", 8;");
    b.line("st.", space, ".u8 [", name, "+9], ", t, ";");
    b.line("st.", space, ".u8 [", name, "+8], ", field, ";");
    b.line("ld.", space, ".u16 ", d, ", [", name, "+8];");
  }
  }
  return d;
}

/// An address that is as far from a variable as the field says, and how far that is.
std::string measured(Body &b, const std::string &field, uint32_t) {
  std::string name = b.variable(b.random.one({"shared", "local"}), 16), base = addressOf(b, name), d = b.r32();
  b.line("sub.u32 ", d, ", ", at(b, base, field, 1), ", ", base, ";");
  return d;
}

std::string atomics(Body &b, const std::string &field, uint32_t bits) {
  std::string name = b.variable("shared", 16), d = b.r32(), old = b.r32();
  b.line("st.shared.u32 [", name, "], 0;");
  b.line("bar.sync 0;");
  switch (b.random.below(6)) {
  case 0:
    b.line("atom.shared.exch.b32 ", old, ", [", name, "], ", field, ";");
    break;
  case 1:
    b.line("red.shared.max.u32 [", name, "], ", field, ";");
    break;
  case 2:
    b.line("red.shared.or.b32 [", name, "], ", field, ";");
    break;
  case 3: { // as many as there are lanes below the field
    std::string l = b.r32(), p = b.pred();
    if (bits > 4) {
      b.line("atom.shared.or.b32 ", old, ", [", name, "], ", field, ";");
      break;
    }
    b.line("mov.u32 ", l, ", %laneid;");
    b.line("setp.lt.u32 ", p, ", ", l, ", ", field, ";");
    if (b.random.chance(50))
      b.line("@", p, " red.shared.add.u32 [", name, "], 1;");
    else
      b.line("@", p, " red.shared.inc.u32 [", name, "], 1000;");
    break;
  }
  case 4:
    b.line("atom.shared.cas.b32 ", old, ", [", name, "], 0, ", field, ";");
    break;
  default:
    b.line("atom.shared.max.u32 ", old, ", [", name, "], ", field, ";");
    b.line("atom.shared.min.u32 ", old, ", [", name, "], 0xffffffff;");
  }
  b.line("bar.sync 0;");
  b.line("ld.shared.u32 ", d, ", [", name, "];");
  b.line("bar.sync 0;");
  return d;
}

/// What an atom returns.
std::string returned(Body &b, const std::string &field, uint32_t) {
  std::string name = b.variable("shared", 16), d = b.r32();
  b.line("st.shared.u32 [", name, "], ", field, ";");
  b.line("bar.sync 0;");
  switch (b.random.below(4)) {
  case 0:
    b.line("atom.shared.or.b32 ", d, ", [", name, "], 0;");
    break;
  case 1:
    b.line("atom.shared.add.u32 ", d, ", [", name, "], 0;");
    break;
  case 2:
    b.line("atom.shared.cas.b32 ", d, ", [", name, "], 0xffffffff, 1;");
    break;
  default:
    b.line("atom.shared.max.u32 ", d, ", [", name, "], 0;");
  }
  b.line("bar.sync 0;");
  return d;
}

/// A copy of as many bytes as the field says, out of ones.
std::string copied(Body &b, const std::string &field, uint32_t) {
  std::string source = b.module.name("ones"), target = b.variable("shared", 16), d = b.r32(), address = b.r64();
  b.module.text += concat(".global .align 16 .b8 ", source, "[16] = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1};\n");
  b.line("mov.u64 ", address, ", ", source, ";");
  b.line("cp.async.ca.shared.global [", target, "], [", address, "], 16, ", field, ";");
  b.line("cp.async.wait_all;");
  b.line("bar.sync 0;");
  std::string words[4] = {b.r32(), b.r32(), b.r32(), b.r32()};
  b.line("ld.shared.v4.u32 {", words[0], ", ", words[1], ", ", words[2], ", ", words[3], "}, [", target, "];");
  b.line("mov.u32 ", d, ", 0;");
  for (const std::string &word : words)
    b.line("dp4a.u32.u32 ", d, ", ", word, ", 0x01010101, ", d, ";");
  b.line("bar.sync 0;");
  return d;
}

/// The count with which an mbarrier begins.
std::string awaited(Body &b, const std::string &field, uint32_t) {
  std::string name = b.variable("shared", 16), count = b.r32(), state = b.r64(), pending = b.r32(), d = b.r32(),
              p = b.pred(), l = b.r32();
  b.line("mov.u32 ", l, ", %tid.x;");
  b.line("setp.eq.u32 ", p, ", ", l, ", 0;");
  b.line("add.u32 ", count, ", ", field, ", 40;");
  b.line("@", p, " mbarrier.init.shared.b64 [", name, "], ", count, ";");
  b.line("bar.sync 0;");
  b.line("mov.u64 ", state, ", 0;");
  b.line("@", p, " mbarrier.arrive.shared.b64 ", state, ", [", name, "];");
  b.line("mbarrier.pending_count.b64 ", pending, ", ", state, ";");
  std::string first = b.r32();
  b.line("shfl.sync.idx.b32 ", first, ", ", pending, ", 0, 31, -1;");
  b.line("sub.u32 ", d, ", ", first, ", 40;"); // the state is that before the arrival
  b.line("bar.sync 0;");
  return d;
}

/// What another buffer holds at the field's place: buffers hold the numbers of their words.
std::string ramp(Body &b, const std::string &field, uint32_t bits) {
  if (b.other.empty())
    return stored(b, field, bits);
  std::string offset = b.r64(), address = b.r64(), d = b.r32();
  b.line("mul.wide.u32 ", offset, ", ", field, ", 4;");
  b.line("add.s64 ", address, ", ", b.other, ", ", offset, ";");
  b.line(b.random.one({"ld.global.u32 ", "ld.global.nc.u32 ", "ld.u32 "}), d, ", [", address, "];");
  return d;
}

/// A mark in another buffer.
std::string markedGlobal(Body &b, const std::string &field, uint32_t bits) {
  if (b.other.empty())
    return stored(b, field, bits);
  std::string offset = b.r64(), address = b.r64(), d = zero(b);
  for (uint32_t i = 0; i < 1u << bits; ++i)
    b.line("st.global.u32 [", b.other, "+", 256 + 4 * i, "], 0;");
  b.line("mul.wide.u32 ", offset, ", ", field, ", 4;");
  b.line("add.s64 ", address, ", ", b.other, ", ", offset, ";");
  b.line(b.random.one({"st.global.u32 [", "red.global.add.u32 [", "red.global.or.b32 ["}), address, "+256], 1;");
  b.line("bar.sync 0;");
  for (uint32_t i = 1; i < 1u << bits; ++i) {
    std::string found = b.r32(), p = b.pred();
    b.line("ld.global.u32 ", found, ", [", b.other, "+", 256 + 4 * i, "];");
    b.line("min.u32 ", found, ", ", found, ", 1;");
    b.line("mad.lo.u32 ", d, ", ", found, ", ", i, ", ", d, ";");
  }
  b.line("bar.sync 0;");
  return d;
}

/// Through a word of another buffer, or of a variable of the module.
std::string storedGlobal(Body &b, const std::string &field, uint32_t) {
  std::string base = b.other, d = b.r32();
  if (base.empty() || b.random.chance(30)) {
    std::string name = b.module.name("word");
    b.module.text += concat(".global .align 4 .b32 ", name, ";\n");
    base = b.r64();
    b.line("mov.u64 ", base, ", ", name, ";");
  }
  b.line("st.global.u32 [", base, "], ", field, ";");
  b.line("bar.sync 0;");
  b.line("ld.global.u32 ", d, ", [", base, "];");
  b.line("bar.sync 0;");
  return d;
}

constexpr Channel kWays[] = {
    {"lookup", Class::Memory, 4, table},
    {"marked", Class::Memory, 3, marked},
    {"stored", Class::Memory, 12, stored},
    {"measured", Class::Memory, 12, measured},
    {"ramp", Class::Memory, 8, ramp},
    {"marked-global", Class::Memory, 3, markedGlobal},
    {"stored-global", Class::Memory, 12, storedGlobal},
    {"atomics", Class::Atomics, 12, atomics},
    {"returned", Class::Atomics, 12, returned},
    {"copied", Class::Copies, 4, copied},
    {"awaited", Class::Copies, 8, awaited},
};

} // namespace

std::span<const Channel> memoryChannels() {
  return kWays;
}

} // namespace tenon::proof
