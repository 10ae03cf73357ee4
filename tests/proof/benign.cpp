// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels really do with pointers. Buffer 0 is read, the last one is written; nothing here aims at anything else,
// so each refusal of a buffer that was only read is a false one, and is counted.
#include "tests/proof/generator.h"

namespace tenon::proof {
namespace {

using Pointers = std::span<const std::string>;

std::string thread(Body &b) {
  std::string t = b.r32();
  b.line("mov.u32 ", t, ", %tid.x;");
  return t;
}

std::string element(Body &b, const std::string &base, const std::string &index) {
  std::string w = b.r64(), d = b.r64();
  b.line("mul.wide.u32 ", w, ", ", index, ", 4;");
  b.line("add.s64 ", d, ", ", base, ", ", w, ";");
  return d;
}

std::string load(Body &b, const std::string &address) {
  std::string v = b.r32();
  b.line("ld.global.u32 ", v, ", [", address, "];");
  return v;
}

void copy(Body &b, Pointers p, const std::string &) {
  std::string t = thread(b);
  b.line("st.global.u32 [", element(b, p.back(), t), "], ", load(b, element(b, p[0], t)), ";");
}

/// Threads go on from the next multiple of 16 bytes.
void peeled(Body &b, Pointers p, const std::string &) {
  std::string low = b.r64(), missing = b.r64(), rest = b.r64(), from = b.r64(), i = b.r64(), to = b.r64(),
              t = thread(b);
  b.line("and.b64 ", low, ", ", p[0], ", 15;");
  b.line("sub.s64 ", missing, ", 16, ", low, ";");
  b.line("and.b64 ", rest, ", ", missing, ", 15;");
  b.line("mul.wide.u32 ", i, ", ", t, ", 4;");
  b.line("add.s64 ", from, ", ", p[0], ", ", rest, ";");
  b.line("add.s64 ", to, ", ", p.back(), ", ", i, ";");
  std::string q = b.pred(), over = b.label();
  b.line("setp.ne.s64 ", q, ", ", low, ", 0;");
  b.line("@", q, " bra ", over, ";");
  b.line("st.global.u32 [", to, "], 1;");
  b.line(over, ":");
  b.line("st.global.u32 [", to, "+128], ", load(b, from), ";");
}

/// A pointer is the key of a table in another buffer.
void hashed(Body &b, Pointers p, const std::string &) {
  std::string s = b.r64(), h = b.r64(), w = b.r64(), d = b.r64();
  b.line("shr.u64 ", s, ", ", p[0], ", 4;");
  b.line("and.b64 ", h, ", ", s, ", ", b.random.one({"255", "1023", "127"}), ";");
  b.line("shl.b64 ", w, ", ", h, ", 2;");
  b.line("add.s64 ", d, ", ", p.back(), ", ", w, ";");
  b.line("st.global.u32 [", d, "], 1;");
}

void distance(Body &b, Pointers p, const std::string &count) {
  std::string end = element(b, p[0], count), bytes = b.r64(), words = b.r64(), n = b.r32(), last = b.r32();
  b.line("sub.s64 ", bytes, ", ", end, ", ", p[0], ";");
  b.line("shr.s64 ", words, ", ", bytes, ", 2;");
  b.line("cvt.u32.u64 ", n, ", ", words, ";");
  b.line("sub.u32 ", last, ", ", n, ", 1;");
  b.line("st.global.u32 [", element(b, p.back(), last), "], ", load(b, element(b, p[0], last)), ";");
}

/// A loop over pointers, until the last one.
void walked(Body &b, Pointers p, const std::string &count) {
  std::string end = element(b, p[0], count), at = b.r64(), to = b.r64(), q = b.pred(), loop = b.label(), v = b.r32();
  b.line("mov.u64 ", at, ", ", p[0], ";");
  b.line("mov.u64 ", to, ", ", p.back(), ";");
  b.line(loop, ":");
  b.line("ld.global.u32 ", v, ", [", at, "];");
  b.line("st.global.u32 [", to, "], ", v, ";");
  b.line("add.s64 ", at, ", ", at, ", 4;");
  b.line("add.s64 ", to, ", ", to, ", 4;");
  b.line("setp.", b.random.one({"lt.u64 ", "ne.s64 "}), q, ", ", at, ", ", end, ";");
  b.line("@", q, " bra ", loop, ";");
}

/// The place in one buffer that corresponds to a place in another.
void corresponding(Body &b, Pointers p, const std::string &) {
  std::string at = element(b, p[0], thread(b)), offset = b.r64(), to = b.r64();
  b.line("sub.s64 ", offset, ", ", at, ", ", p[0], ";");
  b.line("add.s64 ", to, ", ", p.back(), ", ", offset, ";");
  b.line("st.global.u32 [", to, "], ", load(b, at), ";");
}

void nullTested(Body &b, Pointers p, const std::string &) {
  std::string q = b.pred(), t = thread(b), over = b.label(), v = b.r32();
  b.line("mov.u32 ", v, ", 5;");
  b.line("setp.eq.s64 ", q, ", ", p[0], ", 0;");
  b.line("@", q, " bra ", over, ";");
  b.line("ld.global.u32 ", v, ", [", element(b, p[0], t), "];");
  b.line(over, ":");
  b.line("st.global.u32 [", element(b, p.back(), t), "], ", v, ";");
}

/// A structure of pointers in shared memory, filled by one thread.
void sharedStruct(Body &b, Pointers p, const std::string &) {
  std::string s = b.variable("shared", 32, 8), t = thread(b), q = b.pred(), from = b.r64(), to = b.r64();
  b.line("setp.eq.u32 ", q, ", ", t, ", 0;");
  b.line("@", q, " st.shared.u64 [", s, "], ", p[0], ";");
  b.line("@", q, " st.shared.u64 [", s, "+8], ", p.back(), ";");
  b.line("bar.sync 0;");
  b.line("ld.shared.u64 ", from, ", [", s, "];");
  b.line("ld.shared.u64 ", to, ", [", s, "+8];");
  b.line("st.global.u32 [", element(b, to, t), "], ", load(b, element(b, from, t)), ";");
  b.line("bar.sync 0;");
}

/// The same, beside a tile that every thread has a place in.
void tiled(Body &b, Pointers p, const std::string &) {
  std::string s = b.variable("shared", 16, 8), tile = b.variable("shared", 4096), t = thread(b), from = b.r64(),
              to = b.r64(), base = b.r32(), own = b.r32(), v = b.r32();
  b.line("st.shared.u64 [", s, "], ", p[0], ";");
  b.line("st.shared.u64 [", s, "+8], ", p.back(), ";");
  b.line("mov.u32 ", base, ", ", tile, ";");
  b.line("mad.lo.s32 ", own, ", ", t, ", 4, ", base, ";");
  b.line("ld.shared.u64 ", from, ", [", s, "];");
  b.line("st.shared.u32 [", own, "], ", load(b, element(b, from, t)), ";");
  b.line("bar.sync 0;");
  b.line("ld.shared.u64 ", to, ", [", s, "+8];");
  b.line("ld.shared.u32 ", v, ", [", own, "];");
  b.line("st.global.u32 [", element(b, to, t), "], ", v, ";");
  b.line("bar.sync 0;");
}

/// As nvcc -G does it: everything lives in a depot, functions take addresses of it.
void depot(Body &b, Pointers p, const std::string &) {
  std::string d = b.variable("local", 32, 8), a = b.r64(), g = b.r64(), from = b.r64(), to = b.r64(), t = thread(b),
              name = b.module.name("get");
  b.module.text += concat(".func (.param .b64 r) ", name,
                          "(.param .b64 a, .param .b32 i)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<1>;\n"
                          "ld.param.b64 %rd0, [a];\nld.param.b32 %r0, [i];\nmul.wide.u32 %rd1, %r0, 8;\n"
                          "add.s64 %rd2, %rd0, %rd1;\nld.u64 %rd3, [%rd2];\nst.param.b64 [r], %rd3;\nret;\n}\n");
  b.line("mov.u64 ", a, ", ", d, ";");
  b.line("cvta.local.u64 ", g, ", ", a, ";");
  b.line("st.u64 [", g, "], ", p[0], ";");
  b.line("st.u64 [", g, "+8], ", p.back(), ";");
  auto get = [&](const std::string &result, uint32_t i) {
    b.line("{ .param .b64 x; .param .b32 y; .param .b64 z; st.param.b64 [x], ", g, "; st.param.b32 [y], ", i,
           "; call.uni (z), ", name, ", (x, y); ld.param.b64 ", result, ", [z]; }");
  };
  if (b.random.chance(50)) {
    b.line("ld.u64 ", from, ", [", g, "];");
    b.line("ld.u64 ", to, ", [", g, "+8];");
  } else {
    get(from, 0);
    get(to, 1);
  }
  b.line("st.global.u32 [", element(b, to, t), "], ", load(b, element(b, from, t)), ";");
}

/// Counts in shared memory by what a buffer holds, and adds them to another.
void histogram(Body &b, Pointers p, const std::string &) {
  std::string s = b.variable("shared", 256, 4), t = thread(b), base = b.r32(), own = b.r32(), bin = b.r32(),
              at = b.r32(), n = b.r32();
  b.line("mov.u32 ", base, ", ", s, ";");
  b.line("mad.lo.u32 ", own, ", ", t, ", 4, ", base, ";");
  b.line("st.shared.u32 [", own, "], 0;");
  b.line("st.shared.u32 [", own, "+128], 0;");
  b.line("bar.sync 0;");
  b.line("and.b32 ", bin, ", ", load(b, element(b, p[0], t)), ", 63;");
  b.line("mad.lo.u32 ", at, ", ", bin, ", 4, ", base, ";");
  if (b.random.chance(50))
    b.line("red.shared.add.u32 [", at, "], 1;");
  else
    b.line("atom.shared.add.u32 ", b.r32(), ", [", at, "], 1;");
  b.line("bar.sync 0;");
  b.line("ld.shared.u32 ", n, ", [", own, "];");
  b.line("red.global.add.u32 [", element(b, p.back(), t), "], ", n, ";");
  b.line("bar.sync 0;");
}

/// Whether two buffers overlap decides the way.
void overlapping(Body &b, Pointers p, const std::string &) {
  std::string q = b.pred(), t = thread(b), over = b.label(), v = load(b, element(b, p[0], t));
  b.line("setp.lt.u64 ", q, ", ", p[0], ", ", p.back(), ";");
  b.line("@", q, " bra ", over, ";");
  b.line("add.u32 ", v, ", ", v, ", 1;");
  b.line(over, ":");
  b.line("st.global.u32 [", element(b, p.back(), t), "], ", v, ";");
}

/// Begins at a multiple of 64 bytes. As nvcc -G writes it, the mask stands in a register.
void aligned(Body &b, Pointers p, const std::string &) {
  std::string mask = b.r64(), down = b.r64(), t = thread(b), v = b.r32();
  b.line("mov.b64 ", mask, ", -64;");
  b.line("and.b64 ", down, ", ", p[0], ", ", mask, ";");
  b.line("ld.global.u32 ", v, ", [", element(b, down, t), "];");
  b.line("st.global.u32 [", element(b, p.back(), t), "], ", v, ";");
}

/// The indices of one buffer are places in the next.
void scattered(Body &b, Pointers p, const std::string &) {
  std::string t = thread(b), v = load(b, element(b, p[0], t)), place = b.r32();
  b.line("and.b32 ", place, ", ", v, ", 63;");
  b.line("red.global.max.u32 [", element(b, p.back(), place), "], ", t, ";");
}

/// A reduction across the lanes, of what was read.
void reduced(Body &b, Pointers p, const std::string &) {
  std::string t = thread(b), v = load(b, element(b, p[0], t)), q = b.pred();
  for (uint32_t offset = 16; offset; offset /= 2) {
    std::string other = b.r32(), sum = b.r32();
    b.line("shfl.sync.down.b32 ", other, ", ", v, ", ", offset, ", 31, -1;");
    b.line("add.u32 ", sum, ", ", v, ", ", other, ";");
    v = sum;
  }
  b.line("setp.eq.u32 ", q, ", ", t, ", 0;");
  b.line("@", q, " st.global.u32 [", p.back(), "], ", v, ";");
}

/// An asynchronous copy to shared memory.
void staged(Body &b, Pointers p, const std::string &) {
  std::string s = b.variable("shared", 128), t = thread(b), base = b.r32(), own = b.r32(), v = b.r32();
  b.line("mov.u32 ", base, ", ", s, ";");
  b.line("mad.lo.u32 ", own, ", ", t, ", 4, ", base, ";");
  b.line("cp.async.ca.shared.global [", own, "], [", element(b, p[0], t), "], 4;");
  b.line("cp.async.wait_all;");
  b.line("bar.sync 0;");
  b.line("ld.shared.u32 ", v, ", [", own, "];");
  b.line("st.global.u32 [", element(b, p.back(), t), "], ", v, ";");
  b.line("bar.sync 0;");
}

constexpr Benign kKernels[] = {
    {"copy", copy},
    {"aligned", aligned},
    {"peeled", peeled},
    {"hashed", hashed},
    {"distance", distance},
    {"walked", walked},
    {"corresponding", corresponding},
    {"null-tested", nullTested},
    {"shared-struct", sharedStruct},
    {"tiled", tiled},
    {"depot", depot},
    {"histogram", histogram},
    {"overlapping", overlapping},
    {"scattered", scattered},
    {"reduced", reduced},
    {"staged", staged},
};

} // namespace

std::span<const Benign> benignKernels() {
  return kKernels;
}

} // namespace tenon::proof
